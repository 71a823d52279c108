"""`prefixcache simulate` as a user meets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

from flows.cli import app
from prefixcache.schemas.catalog import schema_of
from tests.conftest import SHARED
from tests.support.datasets import made

ROWS = [
    {"timestamp": 2, "input_length": 9, "output_length": 3, "hash_ids": [1, 2, 3]},
    {"timestamp": 0, "input_length": 8, "output_length": 3, "hash_ids": [1, 2]},
    {"timestamp": 2, "input_length": 12, "output_length": 3, "hash_ids": [1, 2, 4]},
]


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["simulate", *map(str, arguments)])


def printed(*arguments: str | Path) -> dict[str, Any]:
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    value: dict[str, Any] = orjson.loads(result.stdout)
    return value


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in ROWS))
    return path


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("simulate") / "set"
    made(root, execution={"mode": "compare"}, prefix={"groups": [{"id": "a"}, {"id": "b"}]})
    return root


def test_a_trace_gives_one_row_per_size(trace: Path) -> None:
    """By hand: 8 tokens are two blocks; 9 hit both; 12 have a third of their own, which no one left."""
    report = printed("--trace", trace, "--block-size", "4", "--num-blocks", "2,100,unbounded")
    assert [row["num_blocks"] for row in report["results"]] == [2, 100, "unbounded"]
    assert report["results"][0] == {
        "num_blocks": 2,
        "requests": 3,
        "blocks": 7,
        "hit_blocks": 4,
        "block_hit_ratio": 4 / 7,
        "input_tokens": 29,
        "hit_tokens": 16,
        "token_hit_ratio": 16 / 29,
    }
    assert report["engine"] == "lru"
    assert Draft202012Validator(schema_of("trace_simulation")).is_valid(report)


def test_partial_blocks_and_domains(trace: Path) -> None:
    whole = printed("--trace", trace, "--block-size", "4", "--num-blocks", "9", "--count-partial")
    assert whole["results"][0]["blocks"] == 8
    split = printed("--trace", trace, "-b", "4", "-n", "9", "--domains", "2", "--routing", "round_robin", "--sweep")
    assert split["results"][0]["hit_blocks"] == 2
    assert split["sweep"]["needed"][-1]["num_blocks"] == 2
    assert Draft202012Validator(schema_of("trace_simulation")).is_valid(split)


def test_the_published_trace_as_the_issue_calls_it() -> None:
    path = SHARED / "data" / "traces" / "conversation_trace.jsonl"
    if not path.is_file():
        pytest.skip("the trace is not there: it is expected in ../shared/data/traces beside the checkout")
    report = printed("--trace", path, "--block-size", "512", "--num-blocks", "1000,10000,unbounded")
    assert [(row["hit_blocks"], row["hit_tokens"]) for row in report["results"]] == [
        (12990, 6650880),
        (62005, 31746560),
        (105592, 54063104),
    ]
    assert {row["blocks"] for row in report["results"]} == {276491}


def test_a_dataset_as_the_issue_calls_it(dataset: Path) -> None:
    report = printed(
        "--dataset", dataset, "--engine", "vllm", "--num-blocks", "60", "--block-size", "16", "--dp", "2",
        "--routing", "round_robin", "--concurrency", "4",
    )  # fmt: skip
    assert [row["name"] for row in report["passes"]] == ["cold", "hot"]
    assert (report["domains"], report["routing"], report["concurrency"]) == (2, "round_robin", 4)
    assert len(report["passes"][0]["requests"]) == 40
    assert Draft202012Validator(schema_of("dataset_simulation")).is_valid(report)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_people_read(lang: str, trace: Path, dataset: Path, tmp_path: Path) -> None:
    result = call("--trace", trace, "-b", "4", "-n", "2,unbounded", "--lang", lang, "--sweep")
    assert result.exit_code == 0, result.output
    page = tmp_path / "sweep.html"
    shown = call("--dataset", dataset, "--num-blocks", "60", "--html", page, "--lang", lang)
    assert shown.exit_code == 0, shown.output
    words = {"en": ("unbounded", "hit tokens", "of the ideal"), "zh": ("不限", "命中 Token", "达到理想值")}[lang]
    assert all(word in result.stdout for word in words)
    assert words[1] in shown.stdout
    html = page.read_text(encoding="utf-8")
    assert "Plotly.newPlot" in html
    assert "small" in html
    assert "http://" not in html.partition("<script>")[0]


@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ((), "--trace, --dataset", "neither"),
        (("--trace", "TRACE", "--dataset", "TRACE"), "--trace, --dataset", "a trace and a dataset"),
        (("--trace", "TRACE", "-b", "4"), "--num-blocks", "is missing"),
        (("--trace", "TRACE", "-b", "4", "-n", "0"), "--num-blocks", "'0' is no number of blocks"),
        (("--trace", "TRACE", "-b", "4", "-n", "5,many"), "--num-blocks", "'many'"),
        (("--trace", "TRACE", "-b", "4", "-n", "5,"), "--num-blocks", "''"),
        (("--trace", "TRACE", "-b", "0", "-n", "5"), "--block-size", "'0' is not allowed"),
        (("--trace", "absent.jsonl", "-n", "5"), "--trace", "cannot read absent.jsonl"),
        (("--trace", "TRACE", "-n", "5", "--pass", "hot"), "--pass", "does not go with a trace"),
        (("--trace", "TRACE", "-n", "5", "--concurrency", "4"), "--concurrency", "does not go with a trace"),
        (("--dataset", "DATASET", "-n", "5", "--count-partial"), "--count-partial", "does not go with a dataset"),
        (("--dataset", "DATASET"), "--num-blocks", "is missing"),
        (("--dataset", "DATASET", "-n", "60,70"), "--num-blocks", "2 sizes are given"),
        (("--dataset", "DATASET", "-n", "5"), "--num-blocks", "the null block"),
        (("--dataset", "TRACE", "-n", "60"), "--dataset", "is not a folder"),
        (("--dataset", "DATASET", "-n", "60", "--lang", "fr"), "--lang", "'fr' is unknown"),
    ],
)
def test_mistakes_end_in_one_message(
    arguments: tuple[str, ...], field: str, said: str, trace: Path, dataset: Path
) -> None:
    places = {"TRACE": trace, "DATASET": dataset}
    result = call(*(places.get(argument, argument) for argument in arguments), "--json")
    assert result.exit_code == 2, result.output
    error = orjson.loads(result.stdout)["error"]
    assert error["type"] == "InputError"
    assert error["field"] == field
    assert said in error["message"]
    assert error["remedy"]
    assert "Traceback" not in result.stderr


def test_it_imports_no_prefect_and_others_no_compiler(trace: Path) -> None:
    code = "import sys\nfrom flows.cli import app\n{}\nprint(*sorted({{'numba', 'prefect'}} & set(sys.modules)))"
    run = "app(['simulate', '--trace', sys.argv[1], '-b', '4', '-n', '9', '--json'], standalone_mode=False)"
    for work, expected in (("", ""), (run, "numba")):
        done = subprocess.run(
            [sys.executable, "-c", code.format(work), trace], capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1].strip() == expected


def test_it_runs_where_no_compiled_code_can_be_kept(trace: Path, tmp_path: Path) -> None:
    """numba finds no folder for it: the package's own, the named one and the user's cannot be written."""
    code = (
        "import sys\n"
        "from numba.core import caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "from flows.cli import app\n"
        "app(['simulate', '--trace', sys.argv[1], '-b', '4', '-n', '9', '--json'], standalone_mode=False)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, trace], capture_output=True, text=True, check=True)
    assert orjson.loads(done.stdout)["results"][0]["hit_blocks"] == 4
