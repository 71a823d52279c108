"""Valid configurations: one that uses every block, and a small one to be changed."""

from __future__ import annotations

from typing import Any


def full() -> dict[str, Any]:
    return {
        "dataset_id": "full",
        "seed": 1,
        "request_count": 10,
        "block_size": 16,
        "hit_unit": 32,
        "hit_drop": 1,
        "max_model_len": 4096,
        "tokenizer": {"path": "some/tokenizer", "revision": "main", "trust_remote_code": False},
        "input_length": {"mode": "explicit", "values": [100] * 10},
        "output_length": {"mode": "fixed", "value": 4},
        "target": {"scope": "global", "hit_ratio": 0.5, "semantics": "order_aware_global"},
        "prefix": {
            "mode": "multi_prefix",
            "nested_prefix": True,
            "minimum_non_shared_length": 16,
            "groups": [{"id": "a", "request_weight": 1}, {"id": "b", "request_weight": 2}],
        },
        "suffix": {
            "source": "synthetic",
            "mode": "concat",
            "divergence_block": True,
            "collision_detection": {"enabled": True, "window_blocks": 2},
        },
        "request_order": {"within_group": "generated", "across_group": "grouped"},
        "execution": {"mode": "cold", "warmup_rounds": 0, "concurrency": 2, "gating": "none"},
        "routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "bound"},
        "planning": {"objective": "proportional", "block_residual_calibration": True, "max_iterations": 9},
        "validation": {"pass_tolerance": 0.01, "warning_tolerance": 0.02, "on_failure": "warn"},
    }


def merged(changes: dict[str, Any]) -> dict[str, Any]:
    """The small one with top-level keys replaced; those that are `...` are left out."""
    raw = {"dataset_id": "rules", "request_count": 10, "input_length": 100, "target": {"hit_ratio": 0.5}, **changes}
    return {key: value for key, value in raw.items() if value is not ...}
