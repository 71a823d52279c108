"""Everything a user meets has words in both languages: a missing or left-over entry fails here by name."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path
from typing import Any, get_args

import pytest

from prefixcache import errors
from prefixcache.analysis import verdict
from prefixcache.analysis.rundir import load_run
from prefixcache.dataset.check import check_dataset
from prefixcache.files import read_json, read_jsonl
from prefixcache.help.config_keys import config_keys
from prefixcache.help.entries import CONFIG, all_entries, find
from prefixcache.help.fields import FILES
from prefixcache.help.words import UNITS, Words
from prefixcache.help.words.cli import CLI
from prefixcache.help.words.codes import CHECKS, EXIT_CODES, STATUSES, WARNINGS
from prefixcache.help.words.dataset import DATASET
from prefixcache.help.words.failures import KINDS as FAILURE_KINDS
from prefixcache.help.words.failures import kind_name
from prefixcache.help.words.run import RUN
from prefixcache.load.records.rows import NOT_IN_ROW, RequestRecord
from prefixcache.load.records.rows import STATUSES as REQUEST_STATUSES
from prefixcache.load.request.failures import ANSWER_KINDS, WIRE_KINDS
from prefixcache.pipeline import STAGES as PIPELINE
from prefixcache.report.build import report_of
from prefixcache.report.strings import STRINGS
from prefixcache.workload.plan_report import FAIL, PASS, WARNING
from tests.report.handmade import make_run
from tests.support.datasets import made

ROOT = Path(errors.__file__).parents[1]
FIELDS = DATASET | RUN
TABLES = {"config": CONFIG, "fields": FIELDS, "statuses": STATUSES, "exit": EXIT_CODES, "warnings": WARNINGS}
TABLES["checks"] = CHECKS
ALL = [(table, name, words) for table, entries in TABLES.items() for name, words in entries.items()]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words") / "data"
    made(folder, request_count=12, execution={"mode": "compare"}, prefix={"group_count": 2})
    return folder


@pytest.mark.parametrize(("table", "name", "words"), ALL, ids=[f"{table}-{name}" for table, name, _ in ALL])
def test_a_meaning_is_one_line_in_each_language(table: str, name: str, words: Words) -> None:
    for text in (words.en, words.zh):
        assert text.strip() == text != ""
        assert "\n" not in text
    assert re.search(r"[\u4e00-\u9fff]", words.zh), f"{name} is not in Chinese"
    assert not re.search(r"[\u4e00-\u9fff]", words.en), f"{name} is not in English"
    assert words.en.endswith(".")
    assert words.zh.endswith("。")
    assert words.unit == "" or words.unit in UNITS
    assert words.default is None or all(words.default)


def test_every_configuration_key_has_words() -> None:
    assert {key.path: key.word for key in config_keys() if key.word not in CONFIG} == {}


def test_no_words_of_a_key_are_left_over() -> None:
    assert set(CONFIG) == {key.word for key in config_keys()}


def test_the_walk_finds_nested_listed_and_tagged_keys() -> None:
    paths = {key.path for key in config_keys()}
    assert paths >= {"seed", "target.hit_ratio", "prefix.groups[].id", "input_length.mode", "output_length.mean"}
    assert paths >= {"input_length.bins[].range", "prefix.groups[].input_length.max", "validation.on_failure"}
    modes = next(key for key in config_keys() if key.path == "input_length.mode").values
    assert "truncated_normal" in modes
    assert len(modes) == 7
    assert {key.variant for key in config_keys() if key.path == "input_length.file"} == {"explicit", "empirical"}
    defaults = {key.path: key.default for key in config_keys()}
    assert defaults["block_size"] == "16"
    assert defaults["validation.pass_tolerance"] == "0.01"
    assert defaults["execution.gating"] == "watermark"


def unknown(file: str, keys: Any) -> set[str]:
    """Fields without an entry, or that `fields.py` does not place in the file."""
    return {key for key in keys if key not in FIELDS or key not in FILES[file]}


def test_every_field_of_the_report_is_known(tmp_path: Path) -> None:
    report = report_of(load_run(make_run(tmp_path)))
    assert unknown("report/prefix_cache_report.json", report) - set(CONFIG) == set()


@pytest.mark.parametrize("name", ["manifest.json", "validation_report.json"])
def test_every_field_of_the_dataset_is_known(dataset: Path, name: str) -> None:
    sections = {key.path for key in config_keys()}  # `target` in the manifest is the configuration's target
    assert {
        key for key in unknown(name, read_json(dataset / name)) if key not in sections or key not in FILES[name]
    } == set()


@pytest.mark.parametrize("name", ["request_metadata.jsonl", "data.jsonl"])
def test_every_column_of_the_dataset_is_known(dataset: Path, name: str) -> None:
    assert unknown(name, next(iter(read_jsonl(dataset / name)))) == set()


def test_every_column_of_the_results_is_known() -> None:
    columns = {"pass" if name == "pass_name" else name for name in RequestRecord.__dataclass_fields__}
    columns -= set(NOT_IN_ROW)
    assert unknown("runtime/request_results.jsonl", columns | {"ttft_s", "tpot_s", "e2e_s"}) == set()


def test_every_field_that_is_placed_has_words() -> None:
    sections = {key.path for key in config_keys()}
    placed = {name for names in FILES.values() for name in names}
    assert placed - set(FIELDS) - sections == set()


def warning_codes() -> set[str]:
    """First arguments of `warn(...)` and of contradictions, which `--allow-misfit` makes warnings, read off the source
    of the load room."""
    found = set()
    for path in (ROOT / "prefixcache" / "load").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                code = str(node.args[0].value)
                if name in ("warn", "_warn", "_error", "Contradiction") and code.isidentifier():
                    found.add(code)
    # The recorder's statuses but the good one; the code is put together from them.
    return found | {f"kv_events_{status}" for status in ("not_available", "partial")}


def test_every_warning_code_has_words() -> None:
    named_by_the_report = {key.removeprefix("code.") for key in STRINGS if key.startswith("code.")}
    assert {"residue", "requests_failed"} <= warning_codes()
    assert {"tokenizer_differs", "prefix_caching_off", "kv_capacity"} <= warning_codes()
    assert (warning_codes() | named_by_the_report) - set(WARNINGS) == set()
    assert warning_codes() - named_by_the_report == set(), "codes that a report would show raw"


def test_every_kind_of_failure_has_words() -> None:
    assert set(WIRE_KINDS) | set(ANSWER_KINDS) == set(FAILURE_KINDS)
    assert kind_name("refused", 1) == "refused（连接被拒绝）"
    assert kind_name("http_429", 1) == "http_429（HTTP 429）"
    assert kind_name("refused", 0) == "refused"
    (entry,) = [entry for entry in find("first_byte_timeout") if entry.topic == "failure"]
    assert "首字节超时" in entry.words.zh


def test_every_stage_has_its_chinese_name() -> None:
    """Whatever an error or a pipeline names as its stage."""
    found = {stage.name for stage in PIPELINE}
    for path in [*(ROOT / "prefixcache").rglob("*.py"), *(ROOT / "flows").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "stage" and isinstance(node.value, ast.Constant):
                found.add(str(node.value.value))
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STAGE":
                found.add(str(ast.literal_eval(node.value)))
    assert {"fault plan", "config", "run_benchmark", "publish"} <= found
    assert {stage for stage in found if f"stage.{stage}" not in CLI} == set()


def test_every_status_has_words() -> None:
    assert {PASS, WARNING, FAIL, *REQUEST_STATUSES, *verdict.CODES, "complete", "partial"} - set(STATUSES) == set()
    assert {f"status.{status}" for status in (PASS, WARNING, FAIL)} <= set(CLI)


def test_every_exit_code_has_words() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "exit_code")]
    assert {"0", "130", *(str(kind.exit_code) for kind in kinds)} == set(EXIT_CODES)


def test_every_check_has_words(dataset: Path) -> None:
    names = {check["name"] for check in check_dataset(dataset)["checks"]}
    assert names - set(CHECKS) == set()
    assert {f"check.{name}" for name in names} - set(CLI) == set()


def test_every_entry_is_reached_by_its_name() -> None:
    assert all(entry.name and entry.words.en for entry in all_entries())
    assert len({(entry.topic, entry.name, entry.words.en) for entry in all_entries()}) == len(all_entries())


def places(words: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(words) if name}


@pytest.mark.parametrize("key", CLI)
def test_the_command_line_says_the_same_in_both_languages(key: str) -> None:
    english, chinese = CLI[key]
    assert english.strip()
    assert chinese.strip()
    assert places(english) == places(chinese)


def test_chinese_is_not_left_in_english() -> None:
    latin = {key for key, (_, chinese) in CLI.items() if not re.search(r"[\u4e00-\u9fff]", chinese)}
    assert latin == {
        "colon", "comma", "list", "simulate.sourced", "stage.warmup", "probe.name.block_size", "probe.name.tokenizer",
        "probe.value.order_evidence.tracing", "column.group", "column.warmup",
        "counted.unit.block", "counted.unit.token",
        "column.kv_tokens", "fact.group", "fact.e2e", "fact.ttft", "inspect.suffix",
        "inspect.tokens_of", "inspect.unknown", "place.group",
    }  # fmt: skip


def test_what_the_commands_say_is_in_the_table_and_nothing_is_left_over() -> None:
    sources = [*(ROOT / "flows").rglob("*.py"), *(ROOT / "prefixcache" / "help").rglob("*.py")]
    sources += [ROOT / "prefixcache" / "report" / f"{name}.py" for name in ("sweep", "paired", "slo_curve", "counted")]
    sources += [ROOT / "prefixcache" / name for name in ("analysis/paired/compare.py", "load/slo_points.py")]
    text = "\n".join(path.read_text() for path in sources if path.parent.name != "words")
    said = set(re.findall(r"say\(\s*f?[\"']([a-z_.]+)[\"']", text))
    assert said - set(CLI) == set()
    # Keys put together from a name.
    groups: tuple[str, ...] = (
        "status.",
        "check.",
        "column.",
        "fact.",
        "init.",
        "inspect.",
        "place.",
        "pass_name.",
        "method.",
    )
    groups += ("tier.", "source.", "metric.", "over.", "limit.", "compare_warning.", "search_warning.")
    groups += ("counted.", "stage.", "probe.")  # tests/probe/test_parts.py looks at these
    quoted = {key for key in CLI if f'"{key}"' in text or f"'{key}'" in text}
    assert {key for key in CLI if key not in quoted and not key.startswith(groups)} == set()


def test_the_languages_are_those_of_the_report() -> None:
    from prefixcache.help.words import LANGUAGES, Language
    from prefixcache.report.strings import LANGUAGES as OF_THE_REPORT

    assert get_args(Language) == LANGUAGES == OF_THE_REPORT
