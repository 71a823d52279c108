"""Every real capture, read and told: the figures beside each were taken from the pages by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.engines.detect import detect_adapter
from prefixcache.engines.offline import adapter_of, read_pairs, snapshots
from prefixcache.engines.page import parse_page
from prefixcache.engines.told import tell

DATA = Path(__file__).parent / "data"
BARE = "# HELP {family}num_requests_running Requests.\nother_total 1\n"
"""A page of the framework that has counted nothing yet."""


def told(before: Path, after: Path) -> dict[str, Any]:
    first, second = snapshots(read_pairs([before], [after]))
    return tell(adapter_of("auto", first, second), first, second)


GOLDEN: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "vllm032_bs32_after": (
        "vllm",
        "vllm032_bs32_fresh",
        {
            "queries": 836828,
            "hits": 47456,
            "external_queries": 0,
            "external_hits": 0,
            "unit": "token",
            "beside": {"prompt_tokens": 836956, "prompt_tokens_local_hit": 47456, "preemptions": 0},
        },
    ),
    "vllm032_bs128_after": ("vllm", "vllm032_bs128_fresh", {"unit": "token"}),
    "vllm032_dp2_after": (
        "vllm",
        None,
        {"queries": 1548, "hits": 1024, "unit": "token", "beside": {"prompt_tokens": 1548}},
    ),
    "vllm032_external_after": (
        "vllm",
        None,
        {"queries": 1212, "hits": 640, "external_queries": 572, "external_hits": 256, "unit": "token"},
    ),
    "vllm032_lru_bs32_n64_after": (
        "vllm",
        None,
        {"queries": 186417, "hits": 88864, "unit": "token", "beside": {"preemptions": 3}},
    ),
    "sglang_after": (
        "sglang",
        "sglang_fresh",
        {
            "queries": 58606,
            "hits": 6580,
            "external_queries": None,
            "external_hits": 0,
            "unit": "token",
            "beside": {"evicted_tokens": 35072, "prompt_tokens_computed": 52026},
        },
    ),
    "sglang_page32_after": ("sglang", None, {"queries": 58606, "hits": 6400, "unit": "token"}),
    "llamacpp_after": (
        "llamacpp",
        "llamacpp_fresh",
        {"queries": 20938, "hits": 511, "external_queries": None, "external_hits": None, "unit": "token"},
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_every_capture(name: str, tmp_path: Path) -> None:
    engine, fresh, expected = GOLDEN[name]
    before = tmp_path / "before.prom"
    before.write_text(BARE.format(family=f"{engine}:") if fresh is None else (DATA / f"{fresh}.prom").read_text())
    found = told(before, DATA / f"{name}.prom")
    assert found["engine"] == engine
    whole = dict(found["global"])
    beside = expected.get("beside", {})
    assert {k: whole[k] for k in expected if k != "beside"} == {k: v for k, v in expected.items() if k != "beside"}
    assert {k: whole["beside"][k] for k in beside} == beside
    assert whole["hit_ratio"] == whole["hits"] / whole["queries"]
    assert whole["total_hit_ratio"] == (whole["hits"] + (whole["external_hits"] or 0)) / whole["queries"]
    assert (found["status"], whole["reset"], whole["partial"]) == ("complete", False, False)


def test_there_is_a_golden_expectation_for_every_capture() -> None:
    known = {name for name, (_, fresh, _) in GOLDEN.items()} | {fresh for _, fresh, _ in GOLDEN.values() if fresh}
    assert {path.stem for path in DATA.glob("*.prom")} == known
    shared = Path(__file__).parents[3] / "shared" / "data" / "metrics"
    if not shared.is_dir():
        pytest.skip("the shared captures are not beside this checkout; the copies in tests/engines/data are complete")
    assert {path.stem for path in shared.glob("*.prom")} == known


def test_ranks_of_a_page_are_told_apart() -> None:
    rows = told(DATA / "vllm032_dp2_after.prom", DATA / "vllm032_dp2_after.prom")["domains"]
    assert [(row["engine_label"], row["queries"]) for row in rows] == [("0", 0), ("1", 0)]
    assert [row["hit_ratio"] for row in rows] == [None, None], "nothing was asked, so there is no ratio"


def test_a_page_of_another_process_is_a_reset() -> None:
    found = told(DATA / "vllm032_bs32_fresh.prom", DATA / "vllm032_external_after.prom")
    row = found["domains"][0]
    assert (found["status"], row["reset"], row["queries"], row["hit_ratio"]) == ("reset_detected", True, None, None)
    assert row["at_least"] == {"queries": 1212, "hits": 640}
    assert any("restarted" in text and "queries at least 1,212" in text for text in found["warnings"])


def test_captures_need_no_warning_but_what_is_odd_about_them() -> None:
    found = told(DATA / "vllm032_bs32_fresh.prom", DATA / "vllm032_bs32_after.prom")
    assert len(found["warnings"]) == 1
    assert "836,828 tokens were looked up, 836,956 prompt tokens" in found["warnings"][0]
    sglang = told(DATA / "sglang_fresh.prom", DATA / "sglang_after.prom")["warnings"]
    assert any("last prefill batch" in text for text in sglang)


def test_vllm_facts_of_every_page() -> None:
    for name, block in (("vllm032_bs32_fresh", 32), ("vllm032_bs128_after", 128), ("sglang_page32_after", 32)):
        page = parse_page((DATA / f"{name}.prom").read_text())
        assert detect_adapter(page).cache_facts(page).block_size == block
