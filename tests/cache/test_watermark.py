"""The closed form of the watermark model against the definition, and the domain's invariants."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.watermark import simulate_cold, simulate_replay, simulate_warm
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


# Heads and drops


@st.composite
def framed(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], list[int], int, int]:
    """(prefixes, lanes, domains, order, head, drop): every prefix holds the head, a lane lies in one domain."""
    prefixes, lanes, order = draw(workloads())
    head, drop = draw(st.integers(0, 5)), draw(st.integers(0, 3))
    home = draw(st.lists(st.integers(0, 2), min_size=max(lanes) + 1, max_size=max(lanes) + 1))
    return [p + head for p in prefixes], lanes, [home[lane] for lane in lanes], order, head, drop


@given(framed())
@settings(max_examples=300, deadline=None)
def test_cold_with_a_head_and_a_drop_equals_the_definition(
    case: tuple[list[int], list[int], list[int], list[int], int, int],
) -> None:
    prefixes, lanes, domains, order, head, drop = case
    expected = oracle.simulate_cold(prefixes, lanes, order, domains=domains, head=head, drop=drop)
    p, lane, sent, domain = arrays(prefixes, lanes, order, domains)
    result = simulate_cold(p, lane, sent, domains=domain, head=head, drop=drop)
    assert result.before.tolist() == expected.before
    assert result.hit.tolist() == expected.hit
    assert result.after.tolist() == expected.after


@given(framed())
@settings(max_examples=200, deadline=None)
def test_a_domain_loses_its_head_once_and_its_lanes_what_rises_above_it(
    case: tuple[list[int], list[int], list[int], list[int], int, int],
) -> None:
    """Invariant 1: per cold domain the hits are all prefixes less [K + sum over lanes of (max P - K)]."""
    prefixes, lanes, domains, order, head, _ = case
    p, lane, sent, domain = arrays(prefixes, lanes, order, domains)
    hit = simulate_cold(p, lane, sent, domains=domain, head=head).hit
    for number in set(domains):
        here = domain == number
        tops = [int(p[lane == which].max()) for which in set(lane[here].tolist())]
        assert hit[here].sum() == p[here].sum() - (head + sum(top - head for top in tops))


@given(framed())
@settings(max_examples=150, deadline=None)
def test_the_first_of_a_domain_hits_nothing_and_of_a_later_lane_the_head(
    case: tuple[list[int], list[int], list[int], list[int], int, int],
) -> None:
    prefixes, lanes, domains, order, head, drop = case
    p, lane, sent, domain = arrays(prefixes, lanes, order, domains)
    hit = simulate_cold(p, lane, sent, domains=domain, head=head, drop=drop).hit
    opened: set[int] = set()
    seen: set[int] = set()
    for request in order:
        if lanes[request] not in seen:
            met = head if domains[request] in opened else 0
            assert hit[request] == max(0, met - drop)
        seen.add(lanes[request])
        opened.add(domains[request])


@given(framed(), st.data())
@settings(max_examples=200, deadline=None)
def test_one_unit_more_with_a_head_and_a_drop(
    case: tuple[list[int], list[int], list[int], list[int], int, int], data: st.DataObject
) -> None:
    """Invariant 4: a unit more adds a unit, unless it is the lane's maximum or falls to the drop."""
    prefixes, lanes, domains, order, head, drop = case
    chosen = data.draw(st.integers(0, len(prefixes) - 1))
    raised = [p + (request == chosen) for request, p in enumerate(prefixes)]
    lane, sent, domain = arrays(lanes, order, domains)
    before, after = (
        simulate_cold(p, lane, sent, domains=domain, head=head, drop=drop).hit.sum() for p in arrays(prefixes, raised)
    )
    tops = max(p for p, which in zip(prefixes, lanes, strict=True) if which == lanes[chosen])
    worthless = prefixes[chosen] == tops or prefixes[chosen] < drop
    assert after - before == (0 if worthless else 1)


def test_warm_and_replay_drop_what_the_engine_throws_away() -> None:
    prefixes, lanes, lengths = arrays([32, 16, 0, 48], [0, 0, 1, 1], [50, 17, 16, 49])
    assert simulate_warm(prefixes, lanes, drop=16).hit.tolist() == [16, 0, 0, 32]
    replay = simulate_replay(lengths, prefixes, lanes, unit=16, drop=16)
    assert replay.hit.tolist() == [32, 0, 0, 32]
    assert simulate_replay(lengths, prefixes, lanes, unit=16).hit.tolist() == [48, 16, 0, 48]
    assert replay.before.tolist() == replay.after.tolist() == [32, 32, 48, 48]
