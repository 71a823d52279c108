"""How a pass went, from small tables whose figures can be counted by hand."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

from prefixcache.analysis.conduct import (
    client_view,
    differing_requests,
    first_request_hits,
    gate_waits,
    inversions,
    order_as_sent,
    request_counts,
    routes,
)
from prefixcache.analysis.rundir import load_run
from tests.report.handmade import FOUR, Ask, make_run


def rows_of(path: Path, *asks: Ask):  # type: ignore[no-untyped-def]
    return load_run(make_run(path, asks)).measured("cold")


def test_requests_are_counted_whatever_became_of_them(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, Ask(), Ask(status="timeout"), Ask(status="http_error"), Ask(status=None), Ask())
    assert request_counts(rows) == {
        "planned": 5,
        "ok": 2,
        "failed": 2,
        "not_sent": 1,
        "by_status": {"ok": 2, "http_error": 1, "timeout": 1},
    }


def test_the_client_sum_is_null_as_soon_as_one_figure_is_missing(tmp_path: Path) -> None:
    assert client_view(rows_of(tmp_path / "a", *FOUR))["cached_tokens"] == 200
    view = client_view(rows_of(tmp_path / "b", Ask(cached=48), Ask(cached=None), Ask(status="timeout")))
    assert view == {
        "cached_tokens": None,
        "sent_tokens": 300,
        "known_requests": 1,
        "known_cached_tokens": 48,
        "known_expected_tokens": 50,
        "known_input_tokens": 100,
    }
    nothing = client_view(rows_of(tmp_path / "c", Ask(cached=None)))
    assert (nothing["known_requests"], nothing["known_cached_tokens"]) == (0, None)


def test_differing_requests_are_counted_and_the_first_twenty_listed(tmp_path: Path) -> None:
    asks = [Ask(hit=0), Ask(cached=66), *(Ask(cached=34) for _ in range(30)), Ask(cached=None)]
    found = differing_requests(rows_of(tmp_path, *asks))
    assert (found["count"], found["more"], found["fewer"], found["net_tokens"]) == (31, 1, 30, 16 - 30 * 16)
    assert found["compared"] == 32
    assert len(found["first"]) == 20
    assert found["first"][0] == {
        "request_id": "r1",
        "group_id": "math",
        "order_index": 1,
        "expected_hit_len": 50,
        "cached_tokens": 66,
    }


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65, 200])
def test_inversions_are_those_of_brute_force(size: int) -> None:
    luck = random.Random(size)
    values = [float(luck.randrange(50)) for _ in range(size)]
    slow = sum(a > b for a, b in itertools.combinations(values, 2))
    assert inversions(np.array(values)) == slow


def test_order_counts_pairs_in_all_and_within_lanes(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, Ask("a"), Ask("b", late=0.15), Ask("a"), Ask("b"), Ask("a", status=None))
    assert order_as_sent(rows) == {"sent": 4, "inversions": 1, "inversions_within_lanes": 0}
    rows = rows_of(tmp_path / "lane", Ask("a", late=0.15), Ask("a"), Ask("a"))
    assert order_as_sent(rows)["inversions_within_lanes"] == 1


def test_gate_waits_leave_the_event_loop_out(tmp_path: Path) -> None:
    waits = gate_waits(rows_of(tmp_path, *FOUR))
    assert (waits["waited"], waits["broken"]) == (3, 0)
    assert waits["total_s"] == pytest.approx(0.15)
    assert gate_waits(rows_of(tmp_path / "none", Ask(status=None)))["max_s"] is None


def test_an_unknown_route_is_not_a_right_one(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, Ask(route=0, went_to=0), Ask(route=1, went_to=0), Ask(route=1), Ask())
    found = routes(rows)
    assert (found["planned"], found["known"], found["mismatches"]) == (3, 2, 1)
    assert found["first"] == [{"request_id": "r1", "planned_route": 1, "actual_route": 0}]
    assert routes(rows_of(tmp_path / "u", Ask(route=1)))["mismatches"] is None


def test_the_first_request_of_each_domain_is_looked_at(tmp_path: Path) -> None:
    asks = (Ask(hit=0), Ask(hit=0, domain=1, cached=64), Ask(domain=1), Ask())
    assert first_request_hits(rows_of(tmp_path, *asks)) == {
        "detected": True,
        "checked_domains": 2,
        "domains": 2,
        "requests": [{"request_id": "r1", "planned_dp_id": 1, "cached_tokens": 64}],
    }


def test_an_overtaken_first_request_proves_nothing(tmp_path: Path) -> None:
    found = first_request_hits(rows_of(tmp_path, Ask(hit=0, cached=16, late=0.5), Ask()))
    assert (found["detected"], found["checked_domains"]) == (None, 0)
