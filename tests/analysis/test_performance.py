from __future__ import annotations

from typing import Any

import pytest

from prefixcache.analysis.performance import distribution, summarise, summarise_by


def row(status: str = "ok", **more: Any) -> dict[str, Any]:
    ok = status == "ok"
    return {
        "status": status,
        "endpoint": "a",
        "sent_s": 0.0,
        "input_len": 100,
        "prompt_tokens": 100 if ok else None,
        "completion_tokens": 10 if ok else None,
        "ttft_s": 1.0 if ok else 99.0,
        "tpot_s": 0.1 if ok else None,
        "e2e_s": 2.0 if ok else None,
        "gate_wait_s": 0.5,
        "lag_s": 0.0,
        "gate_broken": False,
        **more,
    }


def test_percentiles_interpolate_linearly() -> None:
    found = distribution([4.0, 1.0, None, 3.0, 2.0])
    assert found["count"] == 4
    assert (found["min"], found["mean"], found["max"]) == (1.0, 2.5, 4.0)
    assert found["p50"] == 2.5
    assert found["p90"] == pytest.approx(3.7)
    assert found["p99"] == pytest.approx(3.97)


def test_nothing_known_is_null() -> None:
    assert distribution([None]) == {
        "count": 0,
        **dict.fromkeys(("mean", "min", "max", "p50", "p90", "p95", "p99")),
    }
    assert summarise([], 0.0)["success_rate"] is None


def test_latencies_are_those_of_good_requests_and_rates_of_all() -> None:
    rows = [row(), row(), row("timeout"), row("cancelled", sent_s=None)]
    found = summarise(rows, 4.0)
    assert (found["requests"], found["ok"], found["failed"]) == (4, 2, 2)
    assert found["counts_by_status"] == {"cancelled": 1, "ok": 2, "timeout": 1}
    assert (found["success_rate"], found["timeout_rate"]) == (0.5, 0.25)
    assert found["ttft_s"]["max"] == 1.0
    assert found["request_throughput"] == 0.5
    assert (found["input_token_throughput"], found["output_token_throughput"]) == (50.0, 5.0)
    assert found["qps_sent"] == 0.75
    assert found["gate_wait_s"]["count"] == 3


def test_parts_by_column() -> None:
    parts = summarise_by([row(), row(endpoint="b"), row("timeout", endpoint="b")], "endpoint", 1.0)
    assert {name: part["requests"] for name, part in parts.items()} == {"a": 1, "b": 2}


def test_what_an_older_run_did_not_record_is_null() -> None:
    found = summarise([row(), row("timeout")], 1.0)
    assert found["ttfb_s"]["count"] == found["time_to_text_s"]["count"] == found["slot_wait_s"]["count"] == 0
    assert found["retries"] is None
    assert found["without_retried"] is None
    assert found["failures_by_kind"] == {"timeout": 1}


def test_first_byte_and_first_text_count_from_sending() -> None:
    rows = [row(sent_s=5.0, first_byte_s=5.5, first_text_s=None), row(sent_s=1.0, first_byte_s=1.25, first_text_s=3.0)]
    found = summarise(rows, 1.0)
    assert (found["ttfb_s"]["min"], found["ttfb_s"]["max"]) == (0.25, 0.5)
    assert (found["time_to_text_s"]["count"], found["time_to_text_s"]["mean"]) == (1, 2.0)


def test_retried_requests_are_counted_and_the_latencies_given_without_them() -> None:
    once = {"attempts": 1, "retried": (), "failure": None}
    rows = [
        row(**once),
        row(**once | {"attempts": 3, "retried": ("http_503", "refused"), "ttft_s": 7.0}),
        row("http_error", **once | {"attempts": 2, "retried": ("http_503",), "failure": "http_429"}),
        row("cancelled", **once | {"attempts": 0, "failure": "cancelled"}, sent_s=None),
    ]
    found = summarise(rows, 1.0)
    kinds = {"http_503": 2, "refused": 1}
    assert found["retries"] == {"requests": 2, "attempts": 6, "by_kind": kinds, "possibly_warm": 1}
    assert found["failures_by_kind"] == {"cancelled": 1, "http_429": 1}
    assert found["ttft_s"]["max"] == 7.0
    assert (found["without_retried"]["requests"], found["without_retried"]["ttft_s"]["max"]) == (1, 1.0)


def test_the_wait_for_a_slot_in_an_open_loop() -> None:
    rows = [row(scheduled_s=1.0, ready_s=0.2), row(scheduled_s=1.0, ready_s=1.5), row(scheduled_s=None, ready_s=9.0)]
    found = summarise(rows, 1.0)["slot_wait_s"]
    assert (found["count"], found["min"], found["max"]) == (2, 0.0, 0.5)
