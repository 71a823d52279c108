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
        {
            "tiers": told("Slower tiers; only if asked for.", _tiers()),
            "like": told("The run whose server and client were taken; only if asked for.", _like()),
            "sweeps": told("One sweep per pass.", many(_sweep({"name": "str"}))),
        },
    )
    return document("dataset_simulation", "Output of simulate --dataset", "Hits of a dataset, a pass a row.", body)


def clocked_simulation() -> Schema:
    """Of a recorded run."""
    request = obj(
        {
            **fields("str", "request_id prefix_group_id"),
            "domain": "nat",
            "input_len": "nat",
            "expected_hit_len": told("Hits of the plan. Unit: tokens.", "nat"),
            "told": told("Whether the events themselves tell its hits; if not the model's stand in.", "bool"),
            "event_hit_tokens": EVENT_HITS,
            "led_hit_tokens": LED_HITS,
            "answered_hit_tokens": told("What the answer's usage says; null: nothing. Unit: tokens.", "nat?"),
        }
    )
    off = "Requests whose answers say otherwise; null: no answer tells. Unit: requests."
    deviation = "minus measured_hit_ratio; null: not measured. Unit: percentage points."
    figures = obj(
        {
            "name": one_of("cold", "hot", "replay"),
            **fields("nat", "request_count input_tokens"),
            "expected_hit_tokens": told("Hits of the plan. Unit: tokens.", "nat"),
            "designed_hit_ratio": told("expected_hit_tokens / input_tokens.", "ratio?"),
            "event_hit_tokens": EVENT_HITS,
            "event_hit_ratio": told("event_hit_tokens / input_tokens.", "ratio?"),
            "led_hit_tokens": LED_HITS,
            "led_hit_ratio": told("led_hit_tokens / input_tokens.", "ratio?"),
            "measured_hit_tokens": told("Of the server's counters; null: not available. Unit: tokens.", "nat?"),
            "measured_query_tokens": told("Of the server's counters; null: not available. Unit: tokens.", "nat?"),
            "measured_hit_ratio": told("measured_hit_tokens / measured_query_tokens.", "num?"),
            "event_deviation_pp": told(f"event_hit_ratio {deviation}", "num?"),
            "led_deviation_pp": told(f"led_hit_ratio {deviation}", "num?"),
            "told_requests": told("Requests whose hits the events themselves tell. Unit: requests.", "nat"),
            "event_requests_off": told(off, "nat?"),
            "led_requests_off": told(off, "nat?"),
            "evicted_blocks": told("Blocks that lost their content, as recorded. Unit: blocks.", "nat"),
            "led_evicted_blocks": told("The same of the model. Unit: blocks.", "nat"),
            "unknown_events": told("Stored events that belong to no request of the pass. Unit: count.", "nat"),
            "requests": told("One row a request, in send order.", many(request)),
        }
    )
    body = obj(
        {
            "schema_version": "nat",
            "dataset_id": "str",
            "engine": told("Model of the cache (docs/cache-models.md).", "str"),
            "block_size": "nat",
            "num_blocks": BLOCKS,
            "parameters": _parameters(),
            "passes": many(figures),
            "warnings": told("What to know of the figures.", "str[]"),
        }
    )
    text = "Hits of a recorded run, as its KV events tell them."
    return document("clocked_simulation", "Output of simulate --clocked-by", text, body)


EVENT_HITS = told("Hits as the recorded KV events tell them. Unit: tokens.", "nat")
LED_HITS = told("Hits of the model led by the recorded steps. Unit: tokens.", "nat")


def _parameters() -> Schema:
    value: Schema = {"type": ["string", "number", "boolean", "null"]}
    row = obj(
        {
            "name": "str",
            "value": told("As it was used; null: none.", value),
            "source": told("Where it comes from.", one_of("flag", "run", "dataset", "default")),
        }
    )
    return told("Sizes and limits, and where each comes from.", many(row))


def _like() -> Schema:
    seconds = told("Of the fitted pace. Unit: seconds.", "num")
    share = told("Share of the pairs of requests that end in the measured order.", "ratio")
    error = told("Differences of all times to first and last token over the sum of the measured ones.", "num")
    pace = obj(
        {
            "pass": told("Pass of the run that was fitted.", "str"),
            **dict.fromkeys(("step_s", "token_s", "delay_s", "spacing_s"), seconds),
            "requests": told("Requests that were compared. Unit: requests.", "nat"),
            "time_error": error,
            "order_agreement": share,
            "default_time_error": error,
            "default_order_agreement": share,
        }
    )
    measured = obj(
        {
            "name": one_of("cold", "hot", "replay"),
            "hit_tokens": told("Of the server's counters; null: not comparable. Unit: tokens.", "nat?"),
            "query_tokens": told("Of the server's counters; null: not comparable. Unit: tokens.", "nat?"),
            "hit_ratio": told("hit_tokens / query_tokens.", "num?"),
            "deviation_pp": told("Simulated minus measured. Unit: percentage points.", "num?"),
        }
    )
    return obj(
        {
            "dataset_id": "str",
            "same_dataset": told("Whether the run sent the dataset that is simulated.", "bool"),
            "parameters": _parameters(),
            "pace": told("Fitted to the run's times; null: not asked for.", nullable(pace)),
            "measured": told("What the run measured of the simulated passes; empty: another dataset.", many(measured)),
        }
    )


def _tiers() -> Schema:
    size = {"oneOf": [*SIZE["oneOf"], {"type": "null"}]}
    return obj(
        {
            "write": told("What slower tiers get.", one_of("through", "evicted")),
            "host_blocks": told("Blocks of each domain's host tier; null: none. Unit: blocks.", size),
            "external_blocks": told("Blocks of each domain's external tier; null: none. Unit: blocks.", size),
        }
    )


def _tier_counters() -> Schema:
    row = obj(
        {
            "tier": told("Which.", one_of("device", "host", "external")),
            "query_tokens": told("Tokens that no faster tier had. Unit: tokens.", "nat"),
            "hit_tokens": told("Of these, found in this tier. Unit: tokens.", "nat"),
            "hit_ratio": told("hit_tokens / query_tokens; null: nothing was asked.", "ratio?"),
        }
    )
    return told("Counters of each tier, the fastest first; only with slower tiers.", many(row))


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
        "hit_tokens": told("Simulated hits after the last-token rule, of all tiers together. Unit: tokens.", "nat"),
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
            "hit_tokens": told("Simulated hits, of all tiers together. Unit: tokens.", "nat"),
            "evicted_blocks": told("Blocks that lost their content meanwhile. Unit: blocks.", "nat"),
            "used_blocks": used,
        },
        {
            f"{tier}_hit_tokens": told(f"Of these, from the {tier} tier. Unit: tokens.", "nat")
            for tier in ("device", "host", "external")
        },
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
        },
        {"tiers": _tier_counters()},
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
