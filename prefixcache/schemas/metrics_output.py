"""Schema of what `prefixcache metrics --json` prints."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, document, fields, many, mapping, nullable, obj, told

UNIT = "token, block, object; mixed where endpoints count in different units; null: nothing is counted."


def _figures() -> dict[str, str | Schema]:
    counts = {
        "queries": "Looked up, in `unit`; null: not known.",
        "hits": "Hit in the device's memory, in `unit`; null: not known.",
        "external_queries": "Looked up in outer tiers: what missed in the device's memory.",
        "external_hits": "Hit in outer tiers.",
    }
    ratios = {
        "hit_ratio": "hits / queries.",
        "external_hit_ratio": "external_hits / external_queries.",
        "total_hit_ratio": "(hits + external_hits) / queries.",
    }
    return {
        **{name: told(text, "num?") for name, text in (counts | ratios).items()},
        "reset": told("Whether the counters began anew in between.", "bool"),
        "at_least": told(
            "What was counted for certain, where the counters began anew; else null.",
            nullable(obj(fields("num?", "queries hits"))),
        ),
        "unit": told(UNIT, "str?"),
        "not_available": told("Figure that is null → why.", mapping("str")),
        "beside": told("Other quantities, each in its own unit.", mapping("num")),
    }


def metrics() -> Schema:
    """Output of metrics."""
    row = obj(
        {
            "endpoint": "str",
            "engine_label": told("Engine (DP rank) of the endpoint; null: the page tells none apart.", "str?"),
            "role": told("prefill, decode or mixed; decode endpoints are not in the total.", "str"),
            "status": "str",
            **_figures(),
        }
    )
    whole = obj({**_figures(), "partial": told("Whether an endpoint, or one of its figures, is missing.", "bool")})
    store = obj({"store": told("lmcache, ucm or mooncake.", "str"), "endpoint": "str", **_figures()})
    body = obj(
        {
            "schema_version": "nat",
            "engine": told("Framework whose counters these are.", "str"),
            "status": told("complete, partial or reset_detected.", "str"),
            "unit": told(UNIT, "str?"),
            "domains": told("One entry for each engine, or for each endpoint that tells none apart.", many(row)),
            "endpoints": told("One entry for each endpoint.", many(row)),
            "global": told("All of them, summed before anything is divided.", whole),
            "stores": told("Caches behind the engines; never added to them.", many(store)),
            "warnings": told("What is odd about the pages or the figures.", "str[]"),
        }
    )
    return document("metrics", "Output of metrics", "What servers counted between two moments.", body)
