"""`prefixcache probe` as a user meets it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner, Result

from flows.cli import app
from flows.probe_view import card, closing, opening, wrapped
from prefixcache.help.words import LANGUAGES
from prefixcache.probe.findings import NAMES, Finding, ProbeReport, said
from prefixcache.schemas.catalog import schema_of
from prefixcache.schemas.conformance import misfits
from tests.probe.serving import engine

SECRET = "hunter2hunter2"


def call(*arguments: str | Path, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(app, ["probe", *(str(argument) for argument in arguments)], env=env)


@pytest.fixture(scope="module")
def honest() -> Iterator[str]:
    with engine() as url:
        yield url


@pytest.fixture(scope="module")
def lying() -> Iterator[str]:
    with engine(hit_unit=32) as url:
        yield url


@pytest.mark.engine
class TestWithEngine:
    def test_json_is_one_object_of_its_schema(self, honest: str) -> None:
        result = call("--url", honest, "--json")
        assert result.exit_code == 0
        value = json.loads(result.stdout)
        assert list(misfits(value, schema_of("probe"))) == []
        assert [row["name"] for row in value["findings"]] == list(NAMES)
        [unit] = [row for row in value["findings"] if row["name"] == "hit_unit"]
        assert unit["value"] == 16
        assert unit["readings"][0].keys() >= {"shared", "length", "usage_cached_tokens", "counted_hits"}

    def test_a_contradiction_is_exit_1_and_named_in_words(self, lying: str, tmp_path: Path) -> None:
        file = tmp_path / "server.yaml"
        result = call("--url", lying, "--write-config", file)
        assert result.exit_code == 1
        assert "the server says 16, it matches in 32 tokens" in result.stdout
        assert yaml.safe_load(file.read_text())["prefix_cache_dataset"]["hit_unit"] == 32
        again = call("--url", lying, "--write-config", file)
        assert again.exit_code == 2
        assert "--overwrite" in again.stderr
        assert call("--url", lying, "--write-config", file, "--overwrite").exit_code == 1

    def test_chinese(self, lying: str) -> None:
        result = call("--url", lying, "--lang", "zh")
        assert result.exit_code == 1
        assert "服务声明 Block Size 为 16，实测命中粒度为 32 个 Token" in result.stdout
        assert "命中粒度" in result.stdout

    def test_secrets_are_never_shown(self, honest: str, tmp_path: Path) -> None:
        url = honest.replace("http://", f"http://user:{SECRET}@")
        file = tmp_path / "server.yaml"
        key = {"PREFIXCACHE_API_KEY": f"sk-{SECRET}"}
        for flags in (["--json"], ["--write-config", file], ["--model", "none"]):
            result = call("--url", url, "--metrics-url", f"{url}/metrics?token={SECRET}", *flags, env=key)
            assert SECRET not in result.output
        assert SECRET not in file.read_text()

    def test_a_model_that_is_not_served(self, honest: str) -> None:
        result = call("--url", honest, "--model", "other")
        assert result.exit_code == 2
        assert "reference" in result.stderr


def test_nobody_there_is_exit_3() -> None:
    result = call("--url", "http://127.0.0.1:9", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout)["exit_code"] == 3


@pytest.mark.parametrize(
    "flags",
    [
        ["--url", "nowhere"],
        ["--url", "http://127.0.0.1:9", "--time-limit", "0"],
        ["--url", "http://127.0.0.1:9", "--tokenizer", "/no/such/folder"],
        ["--url", "http://127.0.0.1:9", "--lang", "fr"],
        ["--url", "http://127.0.0.1:9", "--insecure", "--ca-file", "x.pem"],
        [],
    ],
)
def test_wrong_input_is_exit_2(flags: list[str]) -> None:
    assert call(*flags).exit_code == 2


def test_errors_are_told_in_chinese(tmp_path: Path) -> None:
    held = tmp_path / "held.yaml"
    held.touch()
    for flags in (
        ["--time-limit", "0"],
        ["--header", "X"],
        ["--header", "X: secret:a"],
        ["--engine", "vlm"],
        ["--write-config", held],
        ["--model", " "],
    ):
        told = call("--url", "http://127.0.0.1:9", "--lang", "zh", *flags)
        assert told.exit_code == 2
        assert not re.search(r"\b(?:is|are|the|Give|Write|Name|name)\b", told.stderr), told.stderr
    assert "不可访问" in call("--url", "http://127.0.0.1:9", "--lang", "zh").stderr


@pytest.mark.parametrize("width", [10, 17, 30])
@pytest.mark.parametrize(
    "text",
    [
        "与已缓存 Prompt 共享至多 512 个 Token 的 8 条请求均符合（--capacity）。读自计数器。",
        "Two words. And some more.",
    ],
)
def test_lines_are_full_and_nothing_is_lost(text: str, width: int) -> None:
    lines = list(wrapped(text, width))
    assert all(cell_len(line) <= max(width, 16) for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not any(line[0] in "，。）" for line in lines)
    assert not any(line[-1] == "（" for line in lines)


def test_a_place_that_takes_no_file_is_told_before_the_probe(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = call("--url", "http://127.0.0.1:9", "--write-config", tmp_path / "file" / "server.yaml")
    assert result.exit_code == 2
    assert "takes no file" in result.stderr


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    result = call("--url", "http://127.0.0.1:9", "--write-config", tmp_path)
    assert result.exit_code == 2
    assert "folder" in result.stderr


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_card_is_whole_in_80_columns(lang: str) -> None:
    report = ProbeReport("http://a.host.with.a.rather.long.name.example.com:8000/with/a/path")
    report.add(
        Finding("models", ["an/organisation/with-a-model-name-of-more-than-one-column"], "stated"),
        Finding("hit_unit", 1536, "measured", (said("unit.found", unit=1536, drop=1, prompts=20, reach=8192),)),
        Finding("tokenizer", {"agree": 3, "strings": 24}, "measured", (said("tokens.differ", names="a, b [c]"),)),
    )
    console = Console(file=io.StringIO(), width=80)
    console.print(card(report, lang))  # type: ignore[arg-type]
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(cell_len(line) for line in text.splitlines()) <= 80
    assert "1,536" in text
    assert "[c]" in text
    assert list(closing(report, lang))  # type: ignore[arg-type]
    report.contradict("block_size", stated=16, unit=32)
    told = list(opening(report, lang))  # type: ignore[arg-type]
    assert "a.host.with.a.rather.long" in told[0]
    assert "32" in told[1]


def test_help_names_every_flag() -> None:
    text = call("--help").output
    for flag in (
        "--engine",
        "--header",
        "--rank-field",
        "--api",
        "--capacity",
        "--no-reset",
        "--time-limit",
        "--write-config",
        "--tokenizer",
    ):
        assert flag in text
