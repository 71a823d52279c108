"""What a run will take, computed from the plan alone: tokens, KV cache, the gates' chain, a stated estimate of time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.sending.gate import Chain, Gating, Lane, chain
from prefixcache.load.sending.pace import Pace


def warm_lanes(dataset: RunDataset) -> dict[Lane, int]:
    """Lane → planned prefix of its warmup prompt, in tokens."""
    return {w.item.lane: w.prefix for w in dataset.warmup}


def pass_gating(dataset: RunDataset, pass_name: str, gating: Gating) -> Gating:
    """The rule that a pass needs: after a replay everything is cached, so nobody waits for anybody."""
    return "none" if dataset.prepared_by(pass_name) == "replay" else gating


def pass_chain(dataset: RunDataset, pass_name: str, gating: Gating) -> Chain:
    """Longest chain of a pass and the concurrency it permits."""
    gating = pass_gating(dataset, pass_name, gating)
    warm = warm_lanes(dataset) if dataset.prepared_by(pass_name) == "warmup" else None
    return chain([r.item for r in dataset.requests], gating, head=dataset.head, warm=warm)


def kv_tokens_needed(dataset: RunDataset, pass_name: str) -> dict[int, int]:
    """Cache domain → tokens that stay cached if nothing is evicted, in whole blocks.

    Each lane's longest planned prefix once (the head once per domain), plus what each request does not share, outputs
    included.
    """
    block = dataset.block_size
    longest: dict[Lane, int] = defaultdict(int)
    own: dict[int, int] = defaultdict(int)

    def add(planned: Planned) -> None:
        lane = planned.item.lane
        longest[lane] = max(longest[lane], planned.prefix)
        own[planned.domain] += -(-(planned.input_len + planned.output_len) // block) * block - planned.prefix

    for request in dataset.requests:
        add(request)
    for prompt in dataset.warmup if dataset.prepared_by(pass_name) == "warmup" else ():
        add(prompt)
    needed: dict[int, int] = dict(own)
    head_counted: set[int] = set()
    for (domain, _), prefix in longest.items():
        needed[domain] += prefix - (dataset.head if domain in head_counted else 0)
        head_counted.add(domain)
    return needed


@dataclass(frozen=True, slots=True)
class Rates:
    """Assumed speed of the server in tokens per second (0: takes no time), and where the assumption comes from."""

    prefill_tps: float
    decode_tps: float
    source: str


def _unmeasured(dataset: RunDataset, pass_name: str) -> list[Planned]:
    """What is sent before the measured interval of a pass, in order."""
    match dataset.prepared_by(pass_name):
        case "warmup":
            return [*dataset.warmup] * dataset.warmup_rounds
        case "replay":
            return [*dataset.requests]
        case _:
            return []


def estimate(
    dataset: RunDataset, gating: Gating, concurrency: int | None, rates: Rates | None, pace: Pace | None = None
) -> dict[str, Any]:
    """``{seconds, assumption}``; seconds is null without stated rates, 0 where computing takes no time: what remains
    is the overhead of client and server, of which nothing is known.

    Prefill is taken as serial within a cache domain, decoding as spread over the requests in flight. A pass of an open
    loop takes as long as its schedule at least.
    """
    if rates is None:
        return {"seconds": None, "assumption": "neither the server nor the options state its rates"}
    if not rates.prefill_tps and not rates.decode_tps:
        return {"seconds": 0.0, "assumption": f"prefill and decode take no time, {rates.source}"}
    seconds = 0.0
    for name in dataset.passes:
        compute: dict[int, int] = defaultdict(int)
        for request in dataset.requests:
            compute[request.domain] += request.input_len - request.hits.get(name, 0)
        outputs = sum(request.output_len for request in dataset.requests)
        once = {
            prompt.request_id: prompt for prompt in _unmeasured(dataset, name)
        }  # a second round finds it all cached
        for prompt in once.values():
            compute[prompt.domain] += prompt.input_len
            outputs += prompt.output_len if dataset.prepared_by(name) == "replay" else 0
        in_flight = max(
            1.0, min(concurrency or len(dataset.requests), pass_chain(dataset, name, gating).mean_concurrency)
        )
        busy = max(compute.values()) / rates.prefill_tps if rates.prefill_tps else 0.0
        busy += outputs / rates.decode_tps / in_flight if rates.decode_tps else 0.0
        seconds += max(busy, (pace.schedule_s if pace is not None else None) or 0.0)
    text = (
        f"prefill {rates.prefill_tps:g} and decode {rates.decode_tps:g} tokens/s ({rates.source}; 0 takes no time), "
        "prefill serial within a cache domain"
    )
    return {"seconds": round(seconds, 3), "assumption": text}


def plan_facts(
    dataset: RunDataset,
    gating: Gating,
    concurrency: int | None,
    rates: Rates | None = None,
    pace: Pace | None = None,
) -> dict[str, Any]:
    """What ``run --dry-run`` prints: per pass requests, tokens, KV tokens and chain; in total the estimated time.

    Args:
        dataset, gating: what is run.
        concurrency: requests in flight at most; None: any number.
        rates: assumed speed of the server.
        pace: the load of a measured pass; None: a closed loop of ``concurrency``.
    """
    inputs = sum(r.input_len for r in dataset.requests)
    outputs = sum(r.output_len for r in dataset.requests)
    passes: list[dict[str, Any]] = []
    for name in dataset.passes:
        links = pass_chain(dataset, name, gating)
        kv = kv_tokens_needed(dataset, name)
        warm = _unmeasured(dataset, name)
        passes.append(
            {
                "name": name,
                "requests": len(dataset.requests),
                "input_tokens": inputs,
                "output_tokens": outputs,
                "warmup_requests": len(warm),
                "warmup_tokens": sum(w.input_len for w in warm),
                "warmup_output_tokens": sum(w.output_len for w in warm),
                "expected_hit_tokens": sum(r.hits.get(name, 0) for r in dataset.requests),
                "kv_tokens_needed": sum(kv.values()),
                "kv_tokens_needed_by_domain": {str(d): kv[d] for d in sorted(kv)},
                "longest_chain": links.longest,
                "permitted_mean_concurrency": round(links.mean_concurrency, 3),
            }
        )
    return {
        "dataset_id": dataset.dataset_id,
        "execution_mode": dataset.mode,
        "gating": gating,
        "concurrency": concurrency,
        "load": f"closed:{concurrency}" if pace is None else pace.shape.text,
        "scheduled_seconds": None if pace is None else pace.schedule_s,
        "requests": sum(p["requests"] + p["warmup_requests"] for p in passes),
        "input_tokens": sum(p["input_tokens"] + p["warmup_tokens"] for p in passes),
        "output_tokens": sum(p["output_tokens"] + p["warmup_output_tokens"] for p in passes),
        "kv_tokens_needed": max(p["kv_tokens_needed"] for p in passes),
        "estimated_time": estimate(dataset, gating, concurrency, rates, pace),
        "passes": passes,
    }
