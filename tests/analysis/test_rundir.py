"""Reading run directories, whole and broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixcache.analysis.rundir import load_run
from prefixcache.analysis.tables import RESULT_COLUMNS, read_table
from prefixcache.errors import InputError
from prefixcache.files import read_json, write_json
from tests.report.handmade import FOUR, Ask, make_run


def test_what_is_no_run_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a readable run directory") as caught:
        load_run(tmp_path)
    assert caught.value.field == "run_dir"
    assert caught.value.remedy


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no folder .*/nope"):
        load_run(tmp_path / "nope")


def test_broken_json_names_the_file(tmp_path: Path) -> None:
    make_run(tmp_path)
    (tmp_path / "runtime" / "run.json").write_text("{")
    with pytest.raises(InputError, match=r"runtime/run\.json is not JSON"):
        load_run(tmp_path)


def test_a_killed_run_keeps_its_whole_rows(tmp_path: Path) -> None:
    make_run(tmp_path)
    whole = tmp_path / "runtime" / "request_results.jsonl"
    lines = whole.read_bytes().splitlines(keepends=True)
    whole.with_name("request_results.jsonl.partial").write_bytes(b"".join(lines[:2]) + lines[2][:40])
    whole.unlink()
    run = load_run(tmp_path)
    assert run.results["request_id"].to_list() == ["r0", "r1"]
    assert (run.results_complete, run.status) == (False, "partial")


def test_a_broken_line_in_the_middle_is_an_error(tmp_path: Path) -> None:
    make_run(tmp_path)
    path = tmp_path / "runtime" / "request_results.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{oops\n" + lines[1])
    with pytest.raises(InputError, match="line 2 is not JSON"):
        read_table(path, RESULT_COLUMNS)
    path.write_bytes(b'{"request_id": "a", "sent_s": "soon"}\n')
    with pytest.raises(InputError, match="wrong type"):
        read_table(path, RESULT_COLUMNS)


def test_each_pass_has_its_own_expected_hits_and_answers(tmp_path: Path) -> None:
    asks = (Ask(hit=0, hot_hit=64, cached=None), Ask(hit=32, hot_hit=64, cached=None))
    run = load_run(make_run(tmp_path, asks, mode="compare"))
    assert run.passes == ("cold", "hot")
    assert run.measured("cold")["expected"].to_list() == [0, 32]
    assert run.measured("hot")["expected"].to_list() == [64, 64]


@pytest.mark.parametrize(
    ("mode", "semantics", "name"),
    [
        ("progressive_prefix_fill", "order_aware_global", "cold"),
        ("compare", "order_aware_global", "cold"),
        ("compare", "static_prefix_ratio", "hot"),
        ("warmup", "static_prefix_ratio", "hot"),
    ],
)
def test_the_target_belongs_to_one_pass(tmp_path: Path, mode: str, semantics: str, name: str) -> None:
    assert load_run(make_run(tmp_path, FOUR, mode=mode, semantics=semantics)).target_pass == name


def test_a_run_that_lost_answers_is_not_complete(tmp_path: Path) -> None:
    make_run(tmp_path)
    told = read_json(tmp_path / "runtime" / "run.json")
    write_json(
        tmp_path / "runtime" / "run.json", {**told, "status": "complete", "passes": [{"name": "cold", "requests": 4}]}
    )
    assert (load_run(tmp_path).status, load_run(tmp_path).lost_answers) == ("complete", 0)
    path = tmp_path / "runtime" / "request_results.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    run = load_run(tmp_path)
    assert (run.status, run.lost_answers, run.broke_off) == ("partial", 3, True)
    path.write_bytes(b"")
    assert load_run(tmp_path).lost_answers == 4


def test_a_complete_run_whose_counters_are_gone_is_not_complete(tmp_path: Path) -> None:
    make_run(tmp_path)
    assert load_run(tmp_path).status == "complete"
    (tmp_path / "runtime" / "prefix_cache_metrics.json").unlink()
    assert load_run(tmp_path).status == "partial"


@pytest.mark.parametrize("name", ["run.json", "performance_metrics.json", "prefix_cache_metrics.json"])
@pytest.mark.parametrize("passes", [5, ["cold"]])
def test_passes_that_are_none_name_their_file(tmp_path: Path, name: str, passes: object) -> None:
    make_run(tmp_path)
    path = tmp_path / "runtime" / name
    write_json(path, {**read_json(path), "passes": passes})
    with pytest.raises(InputError, match=f"runtime/{name}"):
        load_run(tmp_path)
