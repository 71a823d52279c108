"""Many groups at once: the same plan as group by group, and in seconds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.config import parse_config
from prefixcache.workload import prefixes as planning
from prefixcache.workload.frame import Frame
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report

MODES = {"cold": "progressive_prefix_fill", "warm": "warmup"}


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    requests=st.integers(1, 60),
    groups=st.integers(1, 12),
    length=st.sampled_from([100, *({"mode": "uniform", "min": a, "max": b} for a, b in ((40, 300), (90, 96)))]),
    ratio=st.sampled_from([0, 0.1, 0.37, 0.5, 0.8]),
    mode=st.sampled_from(sorted(MODES.values())),
    domains=st.integers(1, 3),
    policy=st.sampled_from(["bound", "round_robin"]),
    head=st.sampled_from([0, 3, 17]),
    drop=st.integers(0, 2),
    unit=st.sampled_from([1, 4, 16]),
    calibrate=st.booleans(),
)
def test_in_step_is_as_one_by_one(
    seed: int,
    requests: int,
    groups: int,
    length: Any,
    ratio: float,
    mode: str,
    domains: int,
    policy: str,
    head: int,
    drop: int,
    unit: int,
    calibrate: bool,
) -> None:
    config = parse_config(
        {
            "dataset_id": "many",
            "seed": seed,
            "request_count": requests,
            "input_length": length,
            "block_size": unit,
            "hit_drop": drop,
            "target": {"hit_ratio": ratio},
            "prefix": {"group_count": groups},
            "execution": {"mode": mode},
            "routing": {"cache_scope": "dp_local", "dp_size": domains, "policy": policy} if domains > 1 else {},
            "planning": {"block_residual_calibration": calibrate},
        }
    )
    few = planning.FEW_GROUPS
    found = []
    try:
        for limit in (10**9, 0):
            planning.FEW_GROUPS = limit
            found.append(plan_dataset(config, frame=Frame(head, 0)))
    finally:
        planning.FEW_GROUPS = few
    one, other = found
    assert one.prefixes.tolist() == other.prefixes.tolist()
    assert one.adjusted_requests == other.adjusted_requests


@pytest.mark.parametrize(
    ("requests", "groups", "ratio", "seconds"),
    [
        (1_000_000, 1_000, 0.3, 40),
        (1_000_000, 100_000, 0.3, 90),
        (20, 200_000, 0.3, 90),
        (200_000, 100_000, 0.9, 90),
    ],
)
def test_large_plans_take_seconds(requests: int, groups: int, ratio: float, seconds: float) -> None:
    """Several times what it takes here: what is quadratic takes hours."""
    config = parse_config(
        {
            "dataset_id": "large",
            "request_count": requests,
            "input_length": {"mode": "uniform", "min": 40, "max": 400},
            "target": {"hit_ratio": ratio},
            "prefix": {"group_count": groups},
        }
    )
    begun = time.perf_counter()
    plan = plan_dataset(config)
    report = plan_report(config, plan)
    assert time.perf_counter() - begun < seconds
    assert len(report["groups"]) == groups
    if plan.reachable:
        assert int(plan.of_pass("cold").hit.sum()) == plan.goal
    assert np.all(plan.prefixes <= plan.ceilings)
