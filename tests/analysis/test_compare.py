"""Paired comparison over runs made by hand: small numbers that a reader can add up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixcache.analysis.paired.bootstrap import Draws
from prefixcache.analysis.paired.compare import compare_runs
from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl, write_json, write_jsonl
from prefixcache.report.paired import comparison_tables, headline, render_comparison
from prefixcache.schemas.catalog import schema_of
from prefixcache.schemas.conformance import misfits
from tests.report.handmade import FOUR, Ask, make_run
from tests.report.test_html import HOSTILE, Page

DRAWS = Draws(resamples=200)
MANY = tuple(Ask(hit=hit % 96) for hit in range(40))


def edited(path: Path, edit: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Path:
    """Change or drop rows of the results."""
    file = path / "runtime" / "request_results.jsonl"
    rows = [edit(dict(row)) for row in read_jsonl(file)]
    write_jsonl(file, [row for row in rows if row is not None])
    return path


def slower(factor: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def edit(row: dict[str, Any]) -> dict[str, Any]:
        jitter = 1 + int(row["request_id"][1:]) % 5 / 10
        return row | {name: row[name] and row[name] * factor * jitter for name in ("ttft_s", "tpot_s", "e2e_s")}

    return edit


def test_speedups_of_a_run_that_is_twice_as_fast(tmp_path: Path) -> None:
    slow = edited(make_run(tmp_path / "slow", MANY), slower(2))
    fast = edited(make_run(tmp_path / "fast", MANY), slower(1))
    report = compare_runs([slow, fast], ["before", "after"], DRAWS)
    (found,) = report["comparisons"]
    assert found["baseline"] == {"label": "before", "pass": "cold"}
    assert found["candidate"] == {"label": "after", "pass": "cold"}
    assert (found["paired_by"], found["pairing"]["pairs"]) == ("request_id", 40)
    for metric in ("ttft_s", "tpot_s", "e2e_s"):
        each = found["speedups"][metric]
        assert each["pairs"] == 40
        assert each["baseline_s"]["mean"] == pytest.approx(2 * each["candidate_s"]["mean"])
        for statistic in ("mean", "p50", "p90", "p99"):
            # Pairs differ by one factor throughout: there is nothing to be uncertain of.
            assert each[statistic]["ratio"] == pytest.approx(2)
            assert each[statistic]["low"] == pytest.approx(2)
            assert each[statistic]["high"] == pytest.approx(2)
    assert found["throughput"]["request_throughput"]["ratio"] == 1.0
    assert found["differences"] == []
    assert found["warnings"] == []


def test_a_cold_and_a_hot_pass_of_one_run(tmp_path: Path) -> None:
    asks = [Ask(hit=0, hot_hit=64), Ask(hit=48, hot_hit=64), Ask(hit=64), Ask(hit=64)]
    report = compare_runs([make_run(tmp_path / "both", asks, mode="compare")], draws=DRAWS)
    (found,) = report["comparisons"]
    assert (found["baseline"]["pass"], found["candidate"]["pass"]) == ("cold", "hot")
    assert [row["field"] for row in found["differences"]] == ["pass"]
    hits = found["hit_ratio"]
    assert (hits["designed"]["baseline"], hits["designed"]["candidate"]) == (176 / 400, 256 / 400)
    assert hits["measured"]["difference"] == pytest.approx(0.2)
    assert [w["code"] for w in found["warnings"]] == ["few_pairs"]


def test_a_cold_dataset_beside_a_warm_one_compares_the_passes_of_their_targets(tmp_path: Path) -> None:
    cold = make_run(tmp_path / "cold", FOUR)
    warm = make_run(tmp_path / "warm", FOUR, mode="warmup", semantics="static_prefix_ratio")
    (found,) = compare_runs([cold, warm], draws=DRAWS)["comparisons"]
    assert (found["baseline"]["pass"], found["candidate"]["pass"]) == ("cold", "hot")
    fields = {row["field"] for row in found["differences"]}
    assert {"pass", "dataset.execution_mode", "dataset.target.semantics"} <= fields


def test_what_differs_is_told(tmp_path: Path) -> None:
    first = make_run(tmp_path / "a", target=0.5)
    second = make_run(tmp_path / "b", target=0.6, order="input_len_asc", manifest={"dataset_digest": "f" * 64})
    run = second / "runtime" / "run.json"
    changed = read_json(run)
    changed["options"]["concurrency"] = 8
    changed["servers"][0] |= {"version": "2", "block_size": 32}
    write_json(run, changed)
    (found,) = compare_runs([first, second], draws=DRAWS)["comparisons"]
    told = {row["field"]: (row["baseline"], row["candidate"]) for row in found["differences"]}
    assert told == {
        "dataset.dataset_digest": ("d" * 64, "f" * 64),
        "dataset.target.hit_ratio": (0.5, 0.6),
        "dataset.request_order.within_group": ("generated", "input_len_asc"),
        "run.concurrency": (4, 8),
        "server[0].version": ("1", "2"),
        "server[0].block_size": (16, 32),
    }


def test_requests_without_a_partner_are_counted_and_left_out(tmp_path: Path) -> None:
    first = make_run(tmp_path / "a", [Ask(name=f"r{n}", hit=0) for n in range(6)])
    second = make_run(
        tmp_path / "b",
        [
            Ask(name="r1", hit=0),
            Ask(name="r2", hit=0, status="timeout"),
            Ask(name="r3", hit=0, length=90),
            Ask(name="r5", hit=0),
            Ask(name="r9", hit=0),
        ],
    )

    def edit(row: dict[str, Any]) -> dict[str, Any]:
        if row["request_id"] == "r5":
            row |= {"attempts": 2, "retried": ["http_503"], "completion_tokens": 7}
        return row

    (found,) = compare_runs([first, edited(second, edit)], draws=DRAWS)["comparisons"]
    assert found["pairing"] == {
        "planned_in_both": 4,
        "pairs": 3,
        "only_in_baseline": 2,
        "only_in_candidate": 1,
        "not_answered_in_baseline": 0,
        "not_answered_in_candidate": 1,
        "retried": 1,
        "other_input_len": 1,
        "other_output_len": 1,
    }
    counts = {warning["code"]: warning["count"] for warning in found["warnings"]}
    assert counts == {
        "unpaired": 3, "not_answered": 1, "retried": 1, "other_input_len": 1, "other_output_len": 1, "few_pairs": 3,
        "run_failed": 1,
    }  # fmt: skip


def test_sets_of_other_names_are_paired_by_number(tmp_path: Path) -> None:
    names = ("t50", "t90")
    runs = [
        make_run(
            tmp_path / name, [Ask(name=f"{name}-{n}", hit=0) for n in range(4)], manifest={"dataset_id": name}
        )
        for name in names
    ]  # fmt: skip
    (found,) = compare_runs(runs, draws=DRAWS)["comparisons"]
    assert (found["paired_by"], found["pairing"]["pairs"]) == ("request_number", 4)


def test_what_was_never_answered_has_no_figures(tmp_path: Path) -> None:
    good = make_run(tmp_path / "a")
    bad = make_run(tmp_path / "b", [Ask(hit=0, status="timeout") for _ in range(4)])
    report = compare_runs([good, bad], draws=DRAWS)
    (found,) = report["comparisons"]
    assert found["speedups"]["ttft_s"]["pairs"] == 0
    assert found["speedups"]["ttft_s"]["mean"] is None
    assert "no_pairs" in {warning["code"] for warning in found["warnings"]}
    assert "–" in Page(render_comparison(report, "en")).text


def test_runs_that_are_not_complete_are_named_with_their_status(tmp_path: Path) -> None:
    runs = []
    for name, status in (("whole", "complete"), ("broken", "failed"), ("half", "partial")):
        run = make_run(tmp_path / name, MANY)
        write_json(run / "runtime" / "run.json", read_json(run / "runtime" / "run.json") | {"status": status})
        runs.append(run)
    failed, partial = compare_runs(runs, draws=DRAWS)["comparisons"]
    for found, name, status in ((failed, "broken", "failed"), (partial, "half", "partial")):
        (warning,) = found["warnings"]
        assert (warning["code"], warning["count"]) == (f"run_{status}", 1)
        for text in (warning["text_en"], warning["text_zh"]):
            assert name in text and status in text
        assert re.search(r"[\u4e00-\u9fff]", warning["text_zh"])


def test_the_json_is_what_its_schema_says(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / "a"), make_run(tmp_path / "b", [Ask(hit=0, status="timeout") for _ in range(4)])]
    both = make_run(tmp_path / "c", mode="compare")
    for report in (compare_runs(runs, draws=DRAWS), compare_runs([both], draws=DRAWS)):
        assert list(misfits(json.loads(json.dumps(report)), schema_of("run_comparison"))) == []


def test_the_first_run_is_the_baseline_of_all_others(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / name / "run") for name in "abc"]
    found = compare_runs(runs, draws=DRAWS)["comparisons"]
    assert [(f["baseline"]["label"], f["candidate"]["label"]) for f in found] == [
        ("1 run", "2 run"),
        ("1 run", "3 run"),
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_escaped_and_whole(language: str, tmp_path: Path) -> None:
    runs = [make_run(tmp_path / "a", MANY), make_run(tmp_path / "b", MANY, target=0.9)]
    report = compare_runs(runs, [HOSTILE, "b"], DRAWS)
    page = Page(render_comparison(report, language))  # type: ignore[arg-type]
    assert HOSTILE in page.text
    assert not [tag for tag, attributes in page.tags if tag == "img" or attributes.get("src")]
    assert len(page.scripts) == 2
    (found,) = report["comparisons"]
    assert headline(found, language) in page.text  # type: ignore[arg-type]
    for grid in comparison_tables(report, found, language):  # type: ignore[arg-type]
        assert all(len(row) == len(grid.columns) for row in grid.rows)
        assert all(re.sub(r"\s+", " ", cell) in page.text for row in grid.rows for cell in row if cell)


def test_the_same_runs_give_the_same_figures(tmp_path: Path) -> None:
    runs = [edited(make_run(tmp_path / "a", MANY), slower(2)), make_run(tmp_path / "b", MANY)]
    assert compare_runs(runs, draws=DRAWS) == compare_runs(runs, draws=DRAWS)
    other = compare_runs(runs, draws=Draws(200, seed=1))
    assert other["comparisons"] != compare_runs(runs, draws=DRAWS)["comparisons"]


@pytest.mark.parametrize(
    ("count", "labels", "draws", "field"),
    [
        (0, [], DRAWS, "--run"),
        (1, [], DRAWS, "--run"),
        (2, ["one"], DRAWS, "--label"),
        (2, ["one", "one"], DRAWS, "--label"),
        (2, [], Draws(resamples=0), "--resamples"),
        (2, [], Draws(confidence=1.0), "--confidence"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_error(
    count: int, labels: list[str], draws: Draws, field: str, tmp_path: Path
) -> None:
    runs = [make_run(tmp_path / str(n)) for n in range(count)]
    with pytest.raises(InputError) as caught:
        compare_runs(runs, labels, draws)
    assert caught.value.field == field
