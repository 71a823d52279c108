"""The closed form of the watermark model against the definition, and the domain's invariants."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.watermark import simulate_cold, simulate_warm
from tests.workload import oracle


@st.composite
def workloads(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """(prefixes, lanes, order) of a few requests."""
    count = draw(st.integers(1, 40))
    prefixes = draw(st.lists(st.integers(0, draw(st.sampled_from([3, 50, 1 << 30]))), min_size=count, max_size=count))
    lanes = draw(st.lists(st.integers(0, draw(st.integers(0, 6))), min_size=count, max_size=count))
    return prefixes, lanes, draw(st.permutations(range(count)))


def arrays(*values: list[int]) -> list[np.ndarray]:
    return [np.array(value, dtype=np.int64) for value in values]


@given(workloads())
@settings(max_examples=300, deadline=None)
def test_cold_equals_the_request_by_request_definition(workload: tuple[list[int], list[int], list[int]]) -> None:
    expected = oracle.simulate_cold(*workload)
    result = simulate_cold(*arrays(*workload))
    assert result.before.tolist() == expected.before
    assert result.hit.tolist() == expected.hit
    assert result.after.tolist() == expected.after


@given(workloads())
@settings(max_examples=150, deadline=None)
def test_warm_hits_every_planned_prefix(workload: tuple[list[int], list[int], list[int]]) -> None:
    prefixes, lanes, _ = workload
    expected = oracle.simulate_warm(prefixes, lanes)
    result = simulate_warm(*arrays(prefixes, lanes))
    assert result.hit.tolist() == expected.hit == prefixes
    assert result.before.tolist() == result.after.tolist() == expected.before


@given(workloads())
@settings(max_examples=200, deadline=None)
def test_total_is_sum_less_the_final_watermarks_whatever_the_order(
    workload: tuple[list[int], list[int], list[int]],
) -> None:
    prefixes, lanes, order = workload
    tops = {lane: max(p for p, other in zip(prefixes, lanes, strict=True) if other == lane) for lane in lanes}
    for sequence in (order, sorted(order), order[::-1]):
        assert simulate_cold(*arrays(prefixes, lanes, sequence)).hit.sum() == sum(prefixes) - sum(tops.values())


@given(workloads())
@settings(max_examples=150, deadline=None)
def test_the_first_request_of_each_lane_hits_nothing(workload: tuple[list[int], list[int], list[int]]) -> None:
    prefixes, lanes, order = workload
    hit = simulate_cold(*arrays(prefixes, lanes, order)).hit
    for lane in set(lanes):
        assert hit[next(request for request in order if lanes[request] == lane)] == 0


@given(workloads(), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_interleavings_that_keep_each_lanes_order_change_no_hit(
    workload: tuple[list[int], list[int], list[int]], random: Random
) -> None:
    prefixes, lanes, order = workload
    queues = {lane: [request for request in order if lanes[request] == lane] for lane in set(lanes)}
    slots = list(lanes)
    random.shuffle(slots)
    other = [queues[lane].pop(0) for lane in slots]
    one, two = (simulate_cold(*arrays(prefixes, lanes, sequence)) for sequence in (order, other))
    assert one.hit.tolist() == two.hit.tolist()
    assert one.before.tolist() == two.before.tolist()


@given(workloads(), st.data())
@settings(max_examples=200, deadline=None)
def test_one_unit_more_adds_one_unit_unless_it_raises_the_lanes_maximum(
    workload: tuple[list[int], list[int], list[int]], data: st.DataObject
) -> None:
    prefixes, lanes, order = workload
    chosen = data.draw(st.integers(0, len(prefixes) - 1))
    is_maximum = prefixes[chosen] == max(p for p, lane in zip(prefixes, lanes, strict=True) if lane == lanes[chosen])
    raised = [p + (request == chosen) for request, p in enumerate(prefixes)]
    before, after = (simulate_cold(*arrays(p, lanes, order)).hit.sum() for p in (prefixes, raised))
    assert after - before == (0 if is_maximum else 1)


def test_nothing_to_simulate() -> None:
    assert len(simulate_cold(*arrays([], [], [])).hit) == 0
    assert len(simulate_warm(*arrays([], [])).hit) == 0


def test_the_rfcs_monotone_example() -> None:
    """RFC 3.3.4: with rising prefixes each request hits its predecessor's."""
    assert simulate_cold(*arrays([16, 32, 48, 64], [0] * 4, [0, 1, 2, 3])).hit.tolist() == [0, 16, 32, 48]
