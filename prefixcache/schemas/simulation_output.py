"""Schemas of what `prefixcache simulate --json` prints."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, document, fields, kind_of, many, mapping, nullable, obj, one_of, told

SIZE: Schema = {"oneOf": [{"type": "integer", "minimum": 1}, {"const": "unbounded"}]}
BLOCKS = told("Blocks of each domain's cache, as given: a number or unbounded. Unit: blocks.", SIZE)


def trace_simulation() -> Schema:
    """Of a request trace."""
    result = obj(
        {
            "num_blocks": BLOCKS,
            "requests": told("Requests of the trace. Unit: requests.", "nat"),
            "blocks": told("Blocks that count, summed over requests. Unit: blocks.", "nat"),
            "hit_blocks": told("Leading blocks found, before the last-token rule. Unit: blocks.", "nat"),
            "block_hit_ratio": told("hit_blocks / blocks; null: no blocks.", "ratio?"),
            "input_tokens": "nat",
            "hit_tokens": told("Hit tokens after the last-token rule. Unit: tokens.", "nat"),
            "token_hit_ratio": told("hit_tokens / input_tokens; null: no tokens.", "ratio?"),
        }
    )
    body = obj(
        {
            **_server(),
            "count_partial": told("Whether last blocks that are not full count.", "bool"),
            "results": told("One row per size of the cache, in the order given.", many(result)),
            "warnings": told("What to know of the figures.", "str[]"),
        },
        {"sweep": _sweep({})},
    )
    return document("trace_simulation", "Output of simulate --trace", "Hits of a request trace, a row a size.", body)


def dataset_simulation() -> Schema:
    """Of a dataset."""
    body = obj(
        {
            **_server(),
            "dataset_id": "str",
            "num_blocks": BLOCKS,
            "hit_drop": told("Matched blocks that the engine computes all the same. Unit: blocks.", "nat"),
            "concurrency": told("Requests in flight; 1: one at a time. Unit: requests.", "nat"),
            "gating": told("When requests in flight may be sent; null: one at a time.", "str?"),
            "passes": many(_pass()),
            "warnings": told("What to know of the figures.", "str[]"),
        },
        {"sweeps": told("One sweep per pass.", many(_sweep({"name": "str"})))},
    )
    return document("dataset_simulation", "Output of simulate --dataset", "Hits of a dataset, a pass a row.", body)


def _server() -> dict[str, str | Schema]:
    return {
        "schema_version": "nat",
        "engine": told("Model of the cache (docs/cache-models.md).", "str"),
        "block_size": "nat",
        "domains": told("Caches that share nothing. Unit: count.", "nat"),
        "routing": told("How requests come to a domain; planned: as the dataset was made.", "str"),
    }


def _sums() -> dict[str, str | Schema]:
    return {
        **fields("nat", "request_count input_tokens"),
        "expected_hit_tokens": told("Hits of the plan; null: the dataset has no such pass. Unit: tokens.", "nat?"),
        "designed_hit_ratio": told("expected_hit_tokens / input_tokens.", "ratio?"),
        "hit_tokens": told("Simulated hits after the last-token rule. Unit: tokens.", "nat"),
        "token_hit_ratio": told("hit_tokens / input_tokens; null: no tokens.", "ratio?"),
        "evicted_blocks": told("Blocks that lost their content. Unit: blocks.", "nat"),
    }


def _pass() -> Schema:
    used = told("Blocks that hold content a later request could hit. Unit: blocks.", "nat")
    request = obj(
        {
            **fields("str", "request_id prefix_group_id"),
            "domain": "nat",
            "input_len": "nat",
            "expected_hit_len": told("Hits of the plan; null: the dataset has no such pass. Unit: tokens.", "nat?"),
            "hit_tokens": told("Simulated hits. Unit: tokens.", "nat"),
            "evicted_blocks": told("Blocks that lost their content meanwhile. Unit: blocks.", "nat"),
            "used_blocks": used,
        }
    )
    share = told("used_blocks / blocks of all domains; null: unbounded.", "ratio?")
    sample = mapping("nat")
    flight = obj(
        {
            "preemptions": told("Requests that were pushed out and began again. Unit: count.", "nat"),
            "steps": told("Steps of each domain's engine.", "nat[]"),
            "samples": told("Blocks held by running requests, running and waiting ones, over time.", many(sample)),
        }
    )
    return obj(
        {
            "name": one_of("cold", "hot", "replay"),
            **_sums(),
            "groups": many(obj({"group_id": "str", **_sums()})),
            "domain_figures": told("The same figures per cache domain.", many(obj({"domain": "nat", **_sums()}))),
            "usage": told(
                "The caches of all domains over the requests in send order.",
                many(obj({"order_index": "nat", "used_blocks": used, "used_share": share})),
            ),
            "in_flight": told("What only requests in flight have; null: one at a time.", nullable(flight)),
            "requests": told("One row a request, in send order.", many(request)),
        }
    )


def _sweep(named: dict[str, str | Schema]) -> Schema:
    figures: dict[str, str | Schema] = {
        "num_blocks": told("Blocks of each domain's cache. Unit: blocks.", "nat"),
        "hit_tokens": told("Hit tokens at this size. Unit: tokens.", "nat"),
        "token_hit_ratio": told("hit_tokens / input tokens.", "ratio?"),
    }
    share = told("Share of the unbounded ideal.", "ratio")
    body = obj(
        {
            **named,
            "method": told("stack_distances: exact in one pass; simulated: size by size.", kind_of("str")),
            "ideal_hit_tokens": told("Hit tokens of an unbounded cache. Unit: tokens.", "nat"),
            "ideal_token_hit_ratio": told("The same as a ratio of the input tokens.", "ratio?"),
            "points": told("Hits against size.", many(obj(figures))),
            "needed": told("The size that each share of the ideal needs.", many(obj({"share": share, **figures}))),
        }
    )
    return told("Hits against the size of the cache.", body)
