from __future__ import annotations

from typing import Any

from prefixcache.engines.aggregate import Figure, Figures
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.quantities import Quantity
from prefixcache.load.counters.figures import measured, prompt_token_check
from prefixcache.load.counters.residue import Residue
from prefixcache.load.records.rows import RequestRecord


def figures(unit: str = "token", **deltas: float) -> Figures:
    return Figures(VLLM, {Quantity(name): Figure(0, value, value, unit) for name, value in deltas.items()})


def record(number: int = 0, **more: Any) -> RequestRecord:
    values: dict[str, Any] = {
        "pass_name": "cold",
        "request_id": f"r{number}",
        "prefix_group_id": "a",
        "order_index": number,
        "phase": "measured",
        "endpoint": "http://h",
        "planned_dp_id": 0,
        "planned_route": None,
        "actual_route": None,
        "ready_s": 1.0,
        "sent_s": 1.25,
        "first_byte_s": 1.5,
        "first_token_s": 1.5,
        "last_token_s": 2.5,
        "gate_wait_s": 0.125,
        "lag_s": 0.125,
        "gate_broken": False,
        "input_len": 100,
        "prompt_tokens": 100,
        "completion_tokens": 5,
        "cached_tokens": 0,
        "expected_hit_len": 0,
        "http_status": 200,
        "status": "ok",
        "error": None,
    }
    return RequestRecord(**(values | more))


def test_latencies_of_a_record() -> None:
    row = record().to_row()
    assert (row["ttft_s"], row["tpot_s"], row["e2e_s"]) == (0.25, 0.25, 1.25)
    assert row["pass"] == "cold"
    assert record(completion_tokens=1).tpot_s is None
    assert record(completion_tokens=None).tpot_s is None
    assert record(first_token_s=None, last_token_s=None).to_row()["ttft_s"] is None


def test_agreement_needs_no_explanation() -> None:
    found = prompt_token_check(
        figures(prompt_tokens=200, queries=200, hits=64, prompt_tokens_local_hit=64), [record(0), record(1)]
    )
    assert (found["difference"], found["explanation"]) == (0, [])


def test_each_difference_has_its_own_explanation() -> None:
    def why(*records: RequestRecord, **deltas: float) -> str:
        return " ".join(prompt_token_check(figures(**deltas), records)["explanation"])

    assert "somebody else" in why(record(), prompt_tokens=300)
    assert "1 of 2 requests failed" in why(record(0), record(1, status="timeout"), prompt_tokens=100)
    assert "the tokenizers differ" in why(record(prompt_tokens=101), prompt_tokens=101)
    assert "lookups were repeated" in why(record(), prompt_tokens=100, queries=3000)
    assert "by source 32" in why(record(), prompt_tokens=100, queries=100, hits=64, prompt_tokens_local_hit=32)
    assert why(record()) == ""  # nothing known, nothing claimed


def test_blocks_are_not_taken_for_tokens() -> None:
    found = figures("block", queries=10, hits=5)
    assert (measured(found).query_tokens, measured(found).rate, found.hit_rate) == (None, None, 0.5)


def test_residue_needs_evidence_and_its_absence_needs_proof() -> None:
    class First:
        domain, request_id = 0, "r0"

    def residue() -> Residue:
        return Residue([First()])  # type: ignore[list-item]

    unknown, clean, dirty, excess = residue(), residue(), residue(), residue()
    unknown.see(record(cached_tokens=None))
    unknown.see(record(1, cached_tokens=64))  # not the first: it may hit
    unknown.total(32, 64)
    clean.see(record(cached_tokens=0))
    dirty.see(record(cached_tokens=16))
    dirty.total(64, 64)
    excess.total(80, 64)
    assert [r.detected for r in (unknown, clean, dirty, excess)] == [None, False, True, True]
