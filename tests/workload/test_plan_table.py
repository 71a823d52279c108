"""50/60/90 % x fixed and variable lengths x one and many groups x cold and warm, 1,000 requests each."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report
from tests.workload import oracle
from tests.workload.configs import configure

LENGTHS: dict[str, Any] = {
    "fixed": 4096,
    "variable": {"mode": "truncated_normal", "min": 1024, "max": 8192, "mean": 4096, "std": 1024},
}
GROUPS: dict[str, Any] = {
    "one group": {"mode": "single_prefix"},
    "many groups": {
        "mode": "multi_prefix",
        "groups": [{"id": name, "request_weight": weight} for name, weight in (("a", 0.5), ("b", 0.3), ("c", 0.2))],
    },
}
SEMANTICS = {"cold": "order_aware_global", "warm": "static_prefix_ratio"}


@pytest.mark.parametrize("temperature", SEMANTICS)
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("ratio", ["0.50", "0.60", "0.90"])
def test_designed_is_the_target_to_half_a_unit(ratio: str, lengths: str, groups: str, temperature: str) -> None:
    config = configure(
        request_count=1000,
        block_size=16,
        input_length=LENGTHS[lengths],
        target={"hit_ratio": ratio, "semantics": SEMANTICS[temperature]},
        prefix=GROUPS[groups],
    )
    plan = plan_dataset(config)
    report = plan_report(config, plan)
    total = sum(plan.shape.lengths.tolist())
    lanes = oracle.lanes_of(plan.shape.groups.tolist(), [0] * 1000)
    prefixes, order = plan.prefixes.tolist(), plan.order.tolist()
    hits = oracle.hits(prefixes, lanes, order, cold=temperature == "cold")
    assert report["status"] == "PASS"
    assert report["expected_hit_tokens"] == hits
    assert abs(Fraction(hits, total) - Fraction(ratio)) <= Fraction(16, 2 * total)
    assert report["signed_deviation"] == pytest.approx(hits / total - float(ratio), abs=1e-15)
    assert report["reason"] is None
    assert report["suggestions"] == []
    assert sum(row["target_hit_tokens"] for row in report["groups"]) == hits
