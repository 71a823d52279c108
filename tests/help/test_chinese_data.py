"""Real mistakes about sources, datasets, simulations and runs in Chinese: no English phrase is left in what is told."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prefixcache.analysis.paired.compare import compare_runs
from prefixcache.analysis.rundir import load_run
from prefixcache.analysis.slo import parse_slo
from prefixcache.analysis.slo_search import Loads, parse_loads
from prefixcache.content.source_files import read_rows
from prefixcache.dataset.contents import read_manifest
from prefixcache.dataset.form_check import form_problems
from prefixcache.dataset.lookup import find_request
from prefixcache.dataset.reorder import parse_order
from prefixcache.dataset.request_traces import read_request_trace
from prefixcache.errors import EnvironmentFailure, PrefixCacheError
from prefixcache.files import read_json
from prefixcache.help.chinese.text import chinese_of
from prefixcache.help.messages import error_text, note_of, reason_of
from prefixcache.report.export import format_of
from prefixcache.report.strings import language_of
from prefixcache.report.xlsx import write_xlsx
from prefixcache.simulation.engines import Engine
from prefixcache.simulation.sizes import parse_sizes
from prefixcache.simulation.tiers import HOST, Tiers
from prefixcache.stages.away import run_away
from prefixcache.stages.verdict_on_collisions import describe
from prefixcache.stages.workspace import exclusive, output_folder
from tests.support.datasets import made

PHRASE = re.compile(r"(?<![\w./'-])[a-z]+ [a-z]{2,}(?![\w/=])")
HAN = re.compile(r"[\u4e00-\u9fff]")
ROWS = [{"request_id": f"set-{number:05d}"} for number in range(12)]
Mistake = Callable[[Path], Any]


def english_in(text: str) -> list[str]:
    """Two small words beside each other, outside of `code` and but for the name of a field."""
    return PHRASE.findall(re.sub(r"`[^`]*`|hash id", "", text))


def file_of(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def trace(line: str) -> Mistake:
    return lambda folder: read_request_trace(file_of(folder, "trace.jsonl", line.encode()), 16)


def source(name: str, content: bytes) -> Mistake:
    return lambda folder: read_rows(file_of(folder, name, content))


def full_folder(folder: Path) -> Any:
    for name in "abcdefg":
        file_of(folder, name, b"")
    return read_rows(folder, gsm8k=True)


def empty_folder(folder: Path) -> Any:
    (folder / "set").mkdir()
    return read_rows(folder / "set")


def linked_shards(folder: Path) -> Any:
    (folder / "shards").symlink_to(folder)
    with exclusive(folder):
        pass


def foreign_files(folder: Path) -> Any:
    file_of(folder, "mine.txt", b"")
    with exclusive(folder):
        pass


def half_a_run(folder: Path) -> Any:
    (folder / "runtime").mkdir()
    (folder / "dataset").mkdir()
    file_of(folder, "dataset/manifest.json", b"{}")
    return load_run(folder)


def other_version(folder: Path) -> Any:
    return run_away("build_shards", -1, "0", None, folder, None)  # type: ignore[arg-type]  # refused before it is used


MISTAKES: dict[str, Mistake] = {
    "packed": source("a.jsonl", gzip.compress(b"{}")),
    "parquet as csv": source("a.csv", b"PAR1"),
    "excel": source("a.jsonl", b"PK\x03\x04"),
    "no utf-8": source("a.txt", b"\xff\xfe\xfa"),
    "other files": full_folder,
    "empty folder": empty_folder,
    "no file": lambda folder: read_rows(folder / "none.jsonl", gsm8k=True),
    "no manifest": read_manifest,
    "no dataset": lambda folder: read_manifest(folder / "none"),
    "beyond": lambda folder: find_request(ROWS, "#12"),
    "several": lambda folder: find_request(ROWS, "-0000"),
    "none": lambda folder: find_request(ROWS, "sat-00099"),
    "no order": lambda folder: parse_order("size", "cold"),
    "no order within": lambda folder: parse_order("sorted/interleave", "cold"),
    "no order across": lambda folder: parse_order("generated/sorted", "cold"),
    "no requests": trace(""),
    "no object": trace("[1]"),
    "no fields": trace("{}"),
    "no time": trace('{"timestamp": -1, "input_length": 16, "hash_ids": [], "output_length": 1}'),
    "no list": trace('{"timestamp": 0, "input_length": 16, "hash_ids": 3, "output_length": 1}'),
    "no length": trace('{"timestamp": 0, "input_length": -4, "hash_ids": [1], "output_length": 1}'),
    "no hash": trace('{"timestamp": 0, "input_length": 16, "hash_ids": [-1], "output_length": 1}'),
    "trace is a folder": lambda folder: read_request_trace(folder, 16),
    "no trace": lambda folder: read_request_trace(folder / "My trace.jsonl", 16),
    "no output": lambda folder: output_folder(" "),
    "output is a file": lambda folder: output_folder(file_of(folder, "one", b"")),
    "linked shards": linked_shards,
    "foreign files": foreign_files,
    "other version": other_version,
    "no run": load_run,
    "half a run": half_a_run,
    "no threshold": lambda folder: parse_slo("fast"),
    "threshold twice": lambda folder: parse_slo("ttft=1,ttft=2"),
    "threshold 0": lambda folder: parse_slo("ttft=0"),
    "no load": lambda folder: parse_loads("1,many"),
    "no loads": lambda folder: Loads(()),
    "no runs": lambda folder: compare_runs([]),
    "one run twice": lambda folder: compare_runs([folder, folder]),
    "no size": lambda folder: parse_sizes("0"),
    "tiers without a size": lambda folder: Tiers((HOST,), (8,)).check(Engine("lru"), None, 1, False),
    "tiers of lru": lambda folder: Tiers((HOST,), (8,), "evicted").check(Engine("lru"), 9, 1, False),
    "tiers in a sweep": lambda folder: Tiers((HOST,), (8,)).check(Engine("lru"), 9, 1, True),
    "unknown ending": lambda folder: format_of(None, folder / "table.doc"),
    "unknown format": lambda folder: format_of("doc", folder / "table"),
    "unknown language": lambda folder: language_of("fr"),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_in_chinese(mistake: Mistake, tmp_path: Path) -> None:
    with pytest.raises(PrefixCacheError) as raised:
        mistake(tmp_path)
    error = raised.value
    assert error.remedy
    for text in (error.message, error.remedy):
        assert HAN.search(chinese_of(text)), text
    told = error_text(error, "zh").replace(str(tmp_path), "")
    assert not english_in(told), told


@pytest.mark.parametrize("unresolved", [0, 3])
@pytest.mark.parametrize("warmup", [0, 2])
@pytest.mark.parametrize("groups", [[], ["a", "b"]])
@pytest.mark.parametrize("semantics", ["independent_block", "content_defined_chunk"])
def test_what_collides_is_told_in_chinese(unresolved: int, warmup: int, groups: list[str], semantics: str) -> None:
    """Every combination that a report may hold, with all its numbers."""
    if not unresolved and not warmup and not groups:
        return
    found = {
        "unresolved_requests": unresolved,
        "colliding_warmup_prompts": warmup,
        "cross_group_masters": {"colliding_groups": groups},
        "cache_match_semantics": semantics,
        "max_retries": 8,
    }
    chinese = chinese_of(describe(found))
    assert not english_in(chinese), chinese
    numbers = [int(number) for number in re.findall(r"\d+", chinese)]
    assert numbers == [number for number in (unresolved, warmup, len(groups), 8) if number]


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("made")
    made(folder)
    return dict(read_json(folder / "manifest.json"))


@pytest.mark.parametrize(
    "change",
    [
        {"request_count": 0},
        {"execution_mode": "compare"},
        {"request_count": "many"},
        {"status": "GOOD"},
        {"block_size": -1},
        {"passes": []},
    ],
)
def test_a_misfit_of_the_manifest_is_told_in_chinese(change: dict[str, Any], manifest: dict[str, Any]) -> None:
    problems = form_problems(manifest | change, None)
    assert problems
    for problem in problems:
        assert HAN.search(chinese_of(problem)), problem
        assert not english_in(chinese_of(problem)), chinese_of(problem)


@pytest.mark.parametrize(
    ("names", "rows"), [(["a"] * 16_385, []), (["a"], [["x" * 32_768]])], ids=["columns", "characters"]
)
def test_what_excel_cannot_hold_is_told_in_chinese(names: list[str], rows: list[list[str]]) -> None:
    with pytest.raises(ValueError, match=r"Excel|sheet") as raised:
        write_xlsx(io.BytesIO(), names, rows)
    assert not english_in(chinese_of(f"Excel cannot hold this table: {raised.value}"))


def test_a_refusal_of_the_disk_is_told_in_chinese_part_by_part() -> None:
    told = EnvironmentFailure(
        "requests-00001.parquet: No space left on device; build_shards: 3 of 5 shards are whole and kept; simulate and "
        "what follows is missing",
        remedy="free space on the disk, raise the limit, or name a folder on another disk; the same command again goes "
        "on from what is whole.",
    )
    assert not english_in(error_text(told, "zh"))


def test_parts_that_are_sentences_are_told_one_by_one() -> None:
    """A place of one sentence does not take the next one in."""
    first = "the certificate does not hold: real token ids hit otherwise than planned"
    second = "texts do not encode to their token ids"
    assert HAN.search(chinese_of(first))
    assert HAN.search(chinese_of(second))
    assert chinese_of(f"{first}; {second}") == f"{chinese_of(first)}；{chinese_of(second)}"


@pytest.mark.parametrize(
    "note",
    [
        "prompts are token ids only, there is no text to encode",
        "no text was kept (output.prompts: ids), there is no text to encode",
        "3 prompts re-encoded, 40 tokens (gigatoken, equal to the tokenizer)",
    ],
)
def test_a_note_of_a_check_is_told_in_chinese(note: str) -> None:
    assert HAN.search(note_of({"note": note}, "zh"))
    assert not english_in(note_of({"note": note}, "zh"))
    assert note_of({"note": note}, "en") == note


@pytest.mark.parametrize(
    "reason",
    [
        "in this order 3000 tokens hit, -1.5432 pp off the target",
        "the certificate does not hold: real token ids hit otherwise than planned; texts do not encode to their token "
        "ids; 3 requests and 2 warmup prompts share blocks that must be unique, after up to 8 retries",
    ],
)
def test_the_reason_of_a_verdict_is_told_in_chinese(reason: str) -> None:
    chinese = reason_of({"reason": reason, "reachable": True}, "zh")
    assert HAN.search(chinese)
    assert not english_in(chinese), chinese
