"""Digests of drawn lengths, orders and groups for seed 42: they must never change, on any machine or hash seed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from prefixcache.workload.groups import assign_groups
from prefixcache.workload.lengths import draw_lengths
from prefixcache.workload.ordering import send_order
from tests.workload.configs import configure

MODELS: dict[str, Any] = {
    "fixed": 4096,
    "explicit": {"mode": "explicit", "values": [3, 1, 4, 1, 5, 9, 2, 6] * 250},
    "truncated_normal": {"mode": "truncated_normal", "min": 1024, "max": 8192, "mean": 4096, "std": 1024},
    "uniform": {"mode": "uniform", "min": 1, "max": 5000},
    "lognormal": {"mode": "lognormal", "min": 16, "max": 32768, "median": 900, "sigma": 1.1},
    "histogram": {
        "mode": "histogram",
        "bins": [
            {"range": [0, 1000], "weight": 2},
            {"range": [1000, 2000], "weight": 3},
            {"range": [4000, 8000], "weight": 5},
        ],
    },
}


def _digest(values: Any) -> str:
    return hashlib.sha256(np.asarray(values).astype("<i8").tobytes()).hexdigest()[:16]


def digests() -> dict[str, str]:
    """A short digest for each length model, for groups and for the shuffled order."""
    result = {}
    for name, model in MODELS.items():
        config = configure(request_count=2000, input_length=model, output_length=model, hit_ratio=0.5)
        result[name] = _digest(draw_lengths(config.input_length, 2000, 42))
        result[f"{name} out"] = _digest(draw_lengths(config.output_length, 2000, 42, field="output_length"))
    groups = assign_groups([500, 900, 600], 42)
    result["groups"] = _digest(groups)
    ones = np.ones(2000, dtype=np.int64)
    order = send_order(groups, ones, ones, within="shuffle", across="shuffle", preserve=True, seed=42)
    result["order"] = _digest(order)
    return result


if __name__ == "__main__":
    print(json.dumps(digests()))
