"""A run directory made by hand: small numbers that a reader can add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefixcache.analysis.performance import summarise, summarise_by
from prefixcache.files import write_json, write_jsonl

SERVER = "http://server:8000"


@dataclass(frozen=True)
class Ask:
    """A planned request and its answer. ``cached`` None is a usage without cached tokens, "as planned" the default."""

    group: str = "math"
    length: int = 100
    hit: int = 50
    hot_hit: int | None = None
    cached: int | str | None = "as planned"
    status: str | None = "ok"
    domain: int = 0
    route: int | None = None
    went_to: int | None = None
    late: float = 0.0
    name: str | None = None


FOUR = (Ask(hit=0), Ask(hit=48), Ask(hit=80), Ask(hit=72))
"""400 input tokens, 200 of them designed to hit."""


def make_run(
    path: Path,
    asks: Sequence[Ask] = FOUR,
    *,
    mode: str = "progressive_prefix_fill",
    semantics: str = "order_aware_global",
    target: float | None = 0.5,
    counters: dict[str, dict[str, Any]] | None = None,
    manifest: dict[str, Any] | None = None,
    validation: dict[str, Any] | None = None,
    run: dict[str, Any] | None = None,
    order: str = "generated",
) -> Path:
    """Write ``dataset/`` and ``runtime/``. ``counters``: pass → what differs in its entry of the metrics file."""
    names = {"compare": ("cold", "hot"), "warmup": ("hot",), "hot": ("hot",)}.get(mode, ("cold",))
    _dataset(path / "dataset", asks, names, mode, semantics, target, order, manifest or {}, validation or {})
    rows = [row for name in names for row in _results(asks, name)]
    write_jsonl(path / "runtime" / "request_results.jsonl", rows)
    figures = [_performance(name, [r for r in rows if r["pass"] == name]) for name in names]
    write_json(path / "runtime" / "performance_metrics.json", {"passes": figures})
    entries = [_counters(asks, name) | (counters or {}).get(name, {}) for name in names]
    write_json(path / "runtime" / "prefix_cache_metrics.json", {"passes": entries})
    samples = [
        {"pass": name, "t_s": t / 10, "endpoint": SERVER, "engine": "0", "kv_usage": t / 100}
        for name in names
        for t in range(5)
    ]
    write_jsonl(path / "runtime" / "metrics_samples.jsonl", samples)
    failed = sum(ask.status != "ok" for ask in asks)
    write_json(path / "runtime" / "run.json", _run("failed" if failed else "complete") | (run or {}))
    return path


def expected(ask: Ask, name: str) -> int:
    return ask.hot_hit if name == "hot" and ask.hot_hit is not None else ask.hit


def _dataset(
    folder: Path,
    asks: Sequence[Ask],
    names: Sequence[str],
    mode: str,
    semantics: str,
    target: float | None,
    order: str,
    manifest: dict[str, Any],
    validation: dict[str, Any],
) -> None:
    main = "hot" if semantics == "static_prefix_ratio" else "cold"
    plan, marks = [], {}
    for n, ask in enumerate(asks):
        lane = (ask.domain, ask.group)
        plan.append(
            {
                "request_id": ask.name or f"r{n}",
                "prefix_group_id": ask.group,
                "order_index": n,
                "input_len": ask.length,
                "planned_prefix_len": ask.hit,
                "cached_watermark_before": marks.get(lane, 0),
                "expected_hit_len": expected(ask, main),
                "expected_hit_len_cold": ask.hit,
                "expected_hit_len_hot": expected(ask, "hot"),
                "planned_dp_id": ask.domain,
                "planned_route": ask.route,
            }
        )
        marks[lane] = max(marks.get(lane, 0), ask.hit)
    write_jsonl(folder / "request_metadata.jsonl", plan)
    tokens = sum(ask.length for ask in asks)
    passes = [{"name": n, "expected_hit_tokens": sum(expected(a, n) for a in asks)} for n in names]
    groups = [{"group_id": g, "master_prefix_len": 80} for g in dict.fromkeys(ask.group for ask in asks)]
    write_json(
        folder / "manifest.json",
        {
            "dataset_id": "handmade",
            "dataset_digest": "d" * 64,
            "order_digest": "e" * 64,
            "tokenizer": {"name": "numbers", "sha256": "0" * 64, "embedded": False},
            "block_size": 16,
            "hit_unit": 16,
            "seed": 7,
            "execution_mode": mode,
            "target": {"hit_ratio": target, "semantics": semantics},
            "request_order": {"within_group": order, "across_group": "interleave"},
            "routing": {"cache_scope": "global", "cache_domains": len({ask.domain for ask in asks})},
            "passes": passes,
            "groups": groups,
            "input_tokens": tokens,
            **manifest,
        },
    )
    write_json(
        folder / "validation_report.json",
        {"validation_status": "PASS", "max_reachable_hit_ratio": 0.9, "certificate": {"holds": True}, **validation},
    )


def _results(asks: Sequence[Ask], name: str) -> list[dict[str, Any]]:
    rows = []
    for n, ask in enumerate(asks):
        if ask.status is None:
            continue
        ok, sent = ask.status == "ok", n * 0.1 + ask.late
        cached = expected(ask, name) if ask.cached == "as planned" else ask.cached
        rows.append(
            {
                "pass": name,
                "request_id": ask.name or f"r{n}",
                "prefix_group_id": ask.group,
                "order_index": n,
                "phase": "measured",
                "endpoint": SERVER,
                "planned_dp_id": ask.domain,
                "planned_route": ask.route,
                "actual_route": ask.went_to,
                "sent_s": sent,
                "last_token_s": sent + 0.2 if ok else None,
                "gate_wait_s": 0.05 if n else 0.0,
                "lag_s": 0.0001,
                "gate_broken": False,
                "input_len": ask.length,
                "prompt_tokens": ask.length if ok else None,
                "completion_tokens": 4 if ok else None,
                "cached_tokens": cached if ok else None,
                "status": ask.status,
                "ttft_s": 0.05 if ok else None,
                "tpot_s": 0.05 if ok else None,
                "e2e_s": 0.2 if ok else None,
            }
        )
    return rows


def _performance(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "pass": name,
        **summarise(rows, 1.0),
        "chain": {"longest": 4, "permitted_mean_concurrency": 1.0},
        "by_group": summarise_by(rows, "prefix_group_id", 1.0),
    }


def figure(delta: int | None, unit: str = "tokens", flags: Sequence[str] = ()) -> dict[str, Any]:
    return {"before": 0, "after": delta, "delta": delta, "unit": unit, "flags": list(flags)}


def counted(hits: int | None, queries: int | None) -> dict[str, Any]:
    """An entry's counters with other hits and queries than planned."""
    pair = {"hits": figure(hits), "queries": figure(queries)}
    return {
        "measured_hit_tokens": hits,
        "measured_query_tokens": queries,
        "actual_hit_rate": None if hits is None or not queries else hits / queries,
        "global": {"counters": pair, "notes": []},
    }


def _counters(asks: Sequence[Ask], name: str) -> dict[str, Any]:
    hits, queries = sum(expected(a, name) for a in asks), sum(a.length for a in asks)
    own = counted(hits, queries)
    engine = {"engine": "0", "counters": own["global"]["counters"], "hit_rate": hits / queries}
    return own | {
        "pass": name,
        "status": "complete",
        "endpoints": [{**engine, "endpoint": SERVER, "engine": None, "status": "ok", "engines": [engine]}],
        "domains": [],
        "residue": {"detected": False if name == "cold" else None, "evidence": []},
        "kv_usage": {"mean": 0.02, "max": 0.04, "samples": 5},
        "reset": [{"endpoint": SERVER, "answer": "done"}],
        "prompt_token_check": {"planned_tokens": queries, "server_prompt_tokens": queries, "difference": 0},
    }


def _run(status: str) -> dict[str, Any]:
    return {
        "prefixcache_version": "0.1.0",
        "status": status,
        "error": None,
        "started_at": "2026-01-01T00:00:00+00:00",
        "finished_at": "2026-01-01T00:01:00+00:00",
        "options": {"model": "m", "concurrency": 4, "gating": "watermark", "send": "text", "sampling": {"seed": 0}},
        "servers": [{"endpoint": SERVER, "adapter": "vllm", "version": "1", "model": "m", "block_size": 16}],
        "warnings": [],
    }
