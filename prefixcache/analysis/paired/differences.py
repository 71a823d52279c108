"""What two runs differ in besides their answers: dataset, order, mode, target, load, server."""

from __future__ import annotations

from typing import Any

from prefixcache.analysis.paired.pairs import Side

_MANIFEST = ("dataset_id", "dataset_digest", "order_digest", "block_size", "hit_unit", "hit_drop", "seed",
             "request_count", "input_tokens", "execution_mode")  # fmt: skip
_NESTED = {
    "target": ("hit_ratio", "semantics", "scope"),
    "request_order": ("within_group", "across_group"),
    "routing": ("cache_scope", "cache_domains", "policy"),
    "tokenizer": ("name", "sha256"),
}
_OPTIONS = ("model", "concurrency", "load", "max_in_flight", "duration", "limit", "gating", "send", "isolation",
            "allow_residue", "sampling", "timeouts_s", "retries")  # fmt: skip
_SERVER = ("endpoint", "engine_name", "adapter", "version", "model", "max_model_len", "block_size", "num_gpu_blocks",
           "kv_cache_tokens_per_engine", "enable_prefix_caching", "hit_alignment")  # fmt: skip


def differences(baseline: Side, candidate: Side) -> list[dict[str, Any]]:
    """``{field, baseline, candidate}`` for everything that the two runs state otherwise; the pass comes first."""
    first, second = _facts(baseline), _facts(candidate)
    names = [*first, *(name for name in second if name not in first)]
    return [
        {"field": name, "baseline": first.get(name), "candidate": second.get(name)}
        for name in names
        if first.get(name) != second.get(name)
    ]


def _facts(side: Side) -> dict[str, Any]:
    run = side.run
    facts: dict[str, Any] = {"pass": side.pass_name}
    facts |= {f"dataset.{name}": run.manifest.get(name) for name in _MANIFEST}
    for part, names in _NESTED.items():
        facts |= {f"dataset.{part}.{name}": run.part(part).get(name) for name in names}
    options = run.run.get("options") or {}
    facts |= {f"run.{name}": options.get(name) for name in _OPTIONS}
    facts["run.prefixcache_version"] = run.run.get("prefixcache_version")
    servers = run.run.get("servers") or []
    facts["servers"] = len(servers)
    for number, server in enumerate(servers):
        facts |= {f"server[{number}].{name}": server.get(name) for name in _SERVER}
    return facts
