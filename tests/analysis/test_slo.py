from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from prefixcache.analysis.slo import goodput, parse_slo
from prefixcache.errors import InputError


def row(status: str = "ok", **more: Any) -> dict[str, Any]:
    return {"status": status, "ttft_s": 0.2, "tpot_s": 0.02, "e2e_s": 1.0, "completion_tokens": 10, **more}


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("ttft=0.5,tpot=0.05,e2e=3", {"ttft": 0.5, "tpot": 0.05, "e2e": 3.0}),
        ("e2e = 3s , ttft=500ms", {"ttft": 0.5, "e2e": 3.0}),
        ("tpot=.05", {"tpot": 0.05}),
        ("tpot=30ms", {"tpot": 0.03}),
    ],
)
def test_thresholds_are_read_and_written_alike(text: str, limits: dict[str, float]) -> None:
    slo = parse_slo(text)
    assert slo.limits == limits
    assert parse_slo(str(slo)) == slo


def test_small_limits_are_not_written_with_an_exponent() -> None:
    assert str(parse_slo("tpot=0.00001ms")) == "tpot=0.00000001"


@pytest.mark.parametrize(
    "text",
    ["", "ttft", "ttft=", "ttft=x", "ttft=0", "ttft=-1", "p99=1", "ttft=1,ttft=2", "ttft=1,", "ttft=1h", "ttft=1e9",
     "ttft=inf", "ttft=9999999999"],
)  # fmt: skip
def test_what_is_no_slo_is_one_clear_error(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_slo(text)
    assert caught.value.field == "--slo"
    assert caught.value.message.count(repr(text)) == 1  # not the same text twice
    assert "ttft=0.5" in str(caught.value.remedy)


def test_all_thresholds_must_hold_and_failures_are_not_good() -> None:
    rows = [
        row(),
        row(ttft_s=0.5),  # the limit itself holds
        row(ttft_s=0.5000001),
        row(tpot_s=0.06),
        row("timeout", ttft_s=0.1),
        row(tpot_s=None, completion_tokens=1),  # one token: nothing further to wait for
        row(tpot_s=None, completion_tokens=None),  # nobody knows
    ]
    found = goodput(rows, parse_slo("ttft=0.5,tpot=50ms"), 2.0)
    assert found["requests"] == 7
    assert found["good_requests"] == 3
    assert found["goodput"] == 1.5
    assert found["attainment"] == pytest.approx(3 / 7)
    ttft, tpot = found["thresholds"]["ttft_s"], found["thresholds"]["tpot_s"]
    assert (ttft["limit_s"], ttft["met"], ttft["unknown"]) == (0.5, 5, 0)
    assert (tpot["met"], tpot["unknown"]) == (4, 1)


def test_a_retry_makes_no_request_good() -> None:
    rows = [row(retried=["http_503"]), row(retried=["keepalive_closed"]), row(retried=None), row(retried=[])]
    found = goodput(rows, parse_slo("e2e=1"), 1.0)
    assert (found["good_requests"], found["only_by_retry"]) == (3, 1)
    assert found["thresholds"]["e2e_s"]["met"] == 4


def test_against_the_definition_of_vllms_benchmark() -> None:
    random = np.random.default_rng(4)
    rows = [row(ttft_s=float(t), e2e_s=float(e)) for t, e in random.uniform(0, 1, (200, 2))]
    wanted = 0
    for r in rows:
        if r["ttft_s"] <= 0.4 and r["e2e_s"] <= 0.7:
            wanted += 1
    assert 0 < wanted < 200
    assert goodput(rows, parse_slo("ttft=400ms,e2e=0.7"), 10)["goodput"] == wanted / 10


def test_no_requests_and_no_duration_are_null() -> None:
    found = goodput([], parse_slo("e2e=1"), None)
    assert (found["attainment"], found["goodput"], found["good_requests"]) == (None, None, 0)


def test_an_unknown_name_is_told_from_a_broken_threshold() -> None:
    with pytest.raises(InputError, match="'ttfs' is unknown, known are ttft, tpot, e2e"):
        parse_slo("tpot=1,ttfs=500ms")
    with pytest.raises(InputError, match="'tpot=1h' is no threshold"):
        parse_slo("ttft=1,tpot=1h")
