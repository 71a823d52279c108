"""Plan and results of every request side by side, and the files they are exported to."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from prefixcache.errors import InputError
from prefixcache.files import read_jsonl, write_jsonl
from prefixcache.report.export import FORMATS, export_requests, format_of
from prefixcache.report.join import COLUMNS, join_requests
from tests.report.handmade import Ask, make_run
from tests.report.test_xlsx import cells

ASKS = (
    Ask(hit=0, hot_hit=48),
    Ask(hit=48, hot_hit=48, cached=32),
    Ask(hit=80, hot_hit=80, cached=None, group="code"),
    Ask(hit=72, hot_hit=80, status="timeout"),
    Ask(hit=16, hot_hit=16, status=None),
)


def oracle(run: Path, passes: Sequence[str], target: str) -> list[dict[str, Any]]:
    """The join, row by row, from the two files alone."""
    plan = list(read_jsonl(run / "dataset" / "request_metadata.jsonl"))
    answers = {(r["pass"], r["request_id"]): r for r in read_jsonl(run / "runtime" / "request_results.jsonl")}
    rows = []
    for name in passes:
        for request in plan:
            answer = answers.get((name, request["request_id"]), {})
            both = {**answer, **request, "pass": name}
            expected = request[f"expected_hit_len_{name}"]
            cached = answer.get("cached_tokens")
            both |= {"expected_hit_len": expected, "expected_hit_ratio": expected / request["input_len"]}
            both["hit_difference"] = None if cached is None else cached - expected
            if name != target:
                both |= {"cached_watermark_before": None, "cached_watermark_after": None}
            rows.append({column: both.get(column) for column in COLUMNS})
    return rows


@pytest.mark.parametrize(
    ("mode", "semantics", "passes", "target"),
    [
        ("progressive_prefix_fill", "order_aware_global", ("cold",), "cold"),
        ("compare", "static_prefix_ratio", ("cold", "hot"), "hot"),
        ("compare", "order_aware_global", ("cold", "hot"), "cold"),
    ],
)
def test_the_join_is_the_oracles(mode: str, semantics: str, passes: Sequence[str], target: str, tmp_path: Path) -> None:
    run = make_run(tmp_path, ASKS, mode=mode, semantics=semantics)
    assert join_requests(run).rows(named=True) == oracle(run, passes, target)


def test_what_is_not_known_is_null(tmp_path: Path) -> None:
    rows = join_requests(make_run(tmp_path, ASKS)).rows(named=True)
    assert [row["hit_difference"] for row in rows] == [0, -16, None, None, None]
    assert [row["status"] for row in rows] == ["ok", "ok", "ok", "timeout", None]
    assert rows[4]["ttft_s"] is rows[4]["endpoint"] is rows[4]["gate_broken"] is None
    assert rows[3]["ttft_s"] is None


def test_warmup_answers_and_earlier_tries_are_left_out(tmp_path: Path) -> None:
    run = make_run(tmp_path, ASKS[:2])
    path = run / "runtime" / "request_results.jsonl"
    rows = list(read_jsonl(path))
    warm = {**rows[0], "phase": "warmup", "cached_tokens": 999}
    again = {**rows[1], "cached_tokens": 48}
    write_jsonl(path, [*rows, again, warm])
    assert join_requests(run)["cached_tokens"].to_list() == [0, 48]


def test_a_run_that_broke_off_is_joined_as_far_as_it_went(tmp_path: Path) -> None:
    run = make_run(tmp_path, ASKS[:3])
    path = run / "runtime" / "request_results.jsonl"
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.unlink()
    path.with_name("request_results.jsonl.partial").write_bytes(first + b'{"pass": "co')
    assert join_requests(run)["status"].to_list() == ["ok", None, None]
    path.with_name("request_results.jsonl.partial").unlink()
    assert join_requests(run)["status"].to_list() == [None, None, None]


def test_the_send_order_is_the_datasets(tmp_path: Path) -> None:
    run = make_run(tmp_path, ASKS)
    path = run / "dataset" / "request_metadata.jsonl"
    write_jsonl(path, list(read_jsonl(path))[::-1])
    assert join_requests(run)["order_index"].to_list() == [0, 1, 2, 3, 4]


TEXTS = ("=1+1", 'plain, "quoted"\nline', "-2 is text", "中文", "\tx")


def with_prompts(run: Path) -> Path:
    ids = [row["request_id"] for row in read_jsonl(run / "dataset" / "request_metadata.jsonl")]
    rows = [{"request_id": name, "prompt": text} for name, text in zip(ids, TEXTS, strict=True)]
    rows[3] = {"request_id": ids[3], "messages": [{"role": "user", "content": "hi"}]}  # type: ignore[dict-item]
    write_jsonl(run / "dataset" / "data.jsonl", rows[:4])
    return run


def test_prompts_only_where_asked_for(tmp_path: Path) -> None:
    run = with_prompts(make_run(tmp_path, ASKS))
    assert "prompt" not in join_requests(run).columns
    frame = join_requests(run, with_prompts=True)
    assert frame["prompt"].to_list() == [*TEXTS[:3], '[{"role":"user","content":"hi"}]', None]
    for kind in ("csv", "jsonl"):
        export_requests(run, tmp_path / f"without.{kind}")
        text = (tmp_path / f"without.{kind}").read_text()
        assert not any(prompt in text for prompt in TEXTS[:3])


def test_prompts_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no data\.jsonl"):
        join_requests(make_run(tmp_path), with_prompts=True)


def read_back(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return pl.read_parquet(path).rows(named=True)
    if path.suffix == ".jsonl":
        return [orjson.loads(line) for line in path.read_bytes().splitlines()]
    if path.suffix == ".xlsx":
        names, *rows = cells(path.read_bytes())
        return [dict(zip(names, row, strict=True)) for row in rows]
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: value or None for name, value in row.items()} for row in csv.DictReader(file)]


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_holds_the_same_table(kind: str, tmp_path: Path) -> None:
    run = with_prompts(make_run(tmp_path / "run", ASKS))
    output = tmp_path / f"out.{kind}"
    frame = export_requests(run, output, with_prompts=True)
    expected = frame.rows(named=True)
    read = read_back(output)
    assert len(read) == len(expected) == 5
    for row, wanted in zip(read, expected, strict=True):
        assert list(row) == [*COLUMNS, "prompt"]
        for name, value in wanted.items():
            if kind == "csv" and value is not None:
                text = {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value
                safe = f"'{value}" if name == "prompt" and str(value)[0] in "=+-@\t\r" else text
                assert row[name] == (safe if isinstance(safe, str) else str(safe))
            else:
                assert row[name] == value
    export_requests(run, tmp_path / "again", kind, with_prompts=True)
    assert (tmp_path / "again").read_bytes() == output.read_bytes()


def test_a_servers_error_text_is_no_formula_in_csv(tmp_path: Path) -> None:
    run = make_run(tmp_path, ASKS[:2])
    path = run / "runtime" / "request_results.jsonl"
    rows = list(read_jsonl(path))
    write_jsonl(path, [rows[0] | {"error": "=cmd|'/c calc'!A1"}, rows[1] | {"error": "HTTP 500: =x"}])
    export_requests(run, tmp_path / "out.csv")
    assert [row["error"] for row in read_back(tmp_path / "out.csv")] == ["'=cmd|'/c calc'!A1", "HTTP 500: =x"]


def test_a_prompt_too_long_for_excel_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    run = with_prompts(make_run(tmp_path / "run", ASKS))
    path = run / "dataset" / "data.jsonl"
    rows = list(read_jsonl(path))
    write_jsonl(path, [{**rows[0], "prompt": "x" * 40_000}, *rows[1:]])
    with pytest.raises(InputError, match="Excel cannot hold") as caught:
        export_requests(run, tmp_path / "out.xlsx", with_prompts=True)
    assert "parquet" in str(caught.value.remedy)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]
    export_requests(run, tmp_path / "out.xlsx")


def test_what_a_run_recorded_is_never_overwritten(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    for place in ("runtime/request_results.jsonl", "dataset/new.jsonl", "report/../runtime/x.jsonl"):
        (run / "report").mkdir(exist_ok=True)
        with pytest.raises(InputError, match="inside the run's own"):
            export_requests(run, run / place)
    with pytest.raises(InputError, match="is a folder"):
        export_requests(run, tmp_path, "csv")
    export_requests(run, run / "report" / "requests.csv")


def test_the_format() -> None:
    assert [format_of(None, Path(f"x.{kind}")) for kind in FORMATS] == list(FORMATS)
    assert format_of(None, Path("x.XLSX")) == "xlsx"
    assert format_of("csv", Path("x.xlsx")) == "csv"
    with pytest.raises(InputError, match="does not tell the format"):
        format_of(None, Path("x.txt"))
    with pytest.raises(InputError, match="'xls' is no format"):
        format_of("xls", Path("x.xlsx"))


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a readable run directory"):
        join_requests(tmp_path)
