"""The order sent against the planned one, with brute force as the oracle."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from prefixcache.load.dataset import Planned
from prefixcache.load.records.rows import RequestRecord
from prefixcache.load.sending.order_proof import order_proof
from tests.load.findings.test_load_figures import record


def plan(lanes: list[int]) -> list[Planned]:
    return [Planned(n, f"r{n}", f"g{lane}", n, 20, 1, 16, 0, None, {"cold": 0}) for n, lane in enumerate(lanes)]


def sent(moments: list[float | None]) -> list[RequestRecord]:
    records = [replace(record(sent=0.0), request_id=f"r{n}", sent_s=at) for n, at in enumerate(moments)]
    return records[::-1]  # in whatever order they ended


@given(st.lists(st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 30))), max_size=60))
def test_inversions_are_counted_and_named(rows: list[tuple[int, int | None]]) -> None:
    requests = plan([lane for lane, _ in rows])
    moments: list[float | None] = [None if at is None else at / 8 for _, at in rows]
    known = [(n, at) for n, at in enumerate(moments) if at is not None]
    pairs = [(a, b) for (a, s), (b, t) in combinations(known, 2) if s > t]
    proof = order_proof(requests, sent(moments))
    assert proof["compared"] == len(known)
    assert proof["inversions"] == len(pairs)
    assert proof["inversions_within_lanes"] == sum(rows[a][0] == rows[b][0] for a, b in pairs)
    assert proof["as_planned"] is (None if len(known) < 2 else not pairs)
    overtaken: dict[str, Any] = {}
    for a, b in pairs:  # the last one that overtook it
        overtaken[f"r{a}"] = f"r{b}"
    assert {row["request_id"]: row["overtaken_by"] for row in proof["first"]} == dict(list(overtaken.items())[:20])
    for row in proof["first"]:
        later = moments[int(row["overtaken_by"][1:])]
        assert later is not None
        assert row["by_s"] == round(row["sent_s"] - later, 6) > 0
