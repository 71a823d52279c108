"""Help pages on 80 columns: nothing is cut, in either language."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.help.chinese.flags import COMMANDS, FLAGS

HAN = re.compile(r"[\u4e00-\u9fff]")
ALL = get_command(app)
BY_NAME = ALL.commands  # type: ignore[attr-defined]


def help_of(name: str, language: str, width: int = 80) -> str:
    shown = CliRunner().invoke(app, [name, "--lang", language, "--help"], env={"COLUMNS": str(width)})
    assert shown.exit_code == 0
    return shown.stdout


def solid(text: str) -> str:
    """Without frames, line breaks and blanks."""
    return re.sub(r"[\s│╭╮╰╯─]", "", text)


@pytest.mark.parametrize("name", list(BY_NAME))
def test_nothing_is_cut(name: str) -> None:
    english, chinese = help_of(name, "en"), help_of(name, "zh")
    for page in (english, chinese):
        assert "…" not in page or (name, page) == ("simulate", english), "Typer cuts its two longest flags"
        assert "<bool>" not in page
        assert max(len(line) + len(HAN.findall(line)) for line in page.splitlines()) <= 80
    for parameter in BY_NAME[name].params:
        # A column at a time: flags and help stand side by side, so the help is sought by its words.
        assert all(flag in chinese for flag in (*parameter.opts, *parameter.secondary_opts))
        assert name == "simulate" or all(flag in english for flag in parameter.opts)
        assert all(word in solid(english) for word in map(solid, re.split(r"[ ]", parameter.help)))


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("name", list(BY_NAME))
def test_every_flag_is_told_in_chinese(name: str, width: int) -> None:
    """Beside it, or below it where there is no room: values that are long never leave a meaning without any."""
    page = solid(help_of(name, "zh", width))
    assert "用法：" in page
    for parameter in BY_NAME[name].params:
        assert solid(FLAGS[parameter.help]) in page, parameter.opts
    assert solid(FLAGS["Show this message and exit."]) in page


def test_a_flag_without_chinese_is_told_in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    english = "Tokens per KV-cache block."
    monkeypatch.delitem(FLAGS, english)
    line = next(line for line in help_of("serve", "zh").splitlines() if line.startswith("--block-size"))
    assert english in line
    assert "[默认 16]" in line


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_the_list_of_commands_is_chinese(arguments: list[str]) -> None:
    shown = CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "PREFIXCACHE_LANG": "zh"})
    page = shown.stdout + shown.stderr
    assert page.startswith("用法：")
    assert "选项" in page
    assert not re.search(r"Usage|Options|Commands|Show this message", page)
    for name, command in BY_NAME.items():
        assert re.search(rf"^{name} ", page, re.MULTILINE)
        assert solid(COMMANDS[command.help]) in solid(page)
    english = CliRunner().invoke(app, arguments, env={"COLUMNS": "80", "PREFIXCACHE_LANG": "en"})
    assert "Usage" in english.stdout + english.stderr
    assert not HAN.search(english.stdout + english.stderr)


def test_every_command_and_flag_has_chinese_words() -> None:
    missing = {command.help for command in (*BY_NAME.values(), ALL)} - set(COMMANDS)
    assert missing == set()
    helps = {parameter.help for command in (*BY_NAME.values(), ALL) for parameter in command.params}
    assert helps - set(FLAGS) == set()
    of_pages = {"Show this message and exit.", "Language of the output: en or zh."}
    assert set(FLAGS) - helps - of_pages == set(), "words that no flag has any more"
    assert set(COMMANDS) == {command.help for command in (*BY_NAME.values(), ALL)}
    assert [text for text in (*FLAGS.values(), *COMMANDS.values()) if not HAN.search(text)] == []


def test_the_page_tells_required_default_and_range() -> None:
    page = help_of("search", "zh")
    assert "[必填]" in page
    assert "[默认 256]" in page
    assert re.search(r"--retries +N ≥0", page)
    assert "[默认 0]" in page
    assert page.startswith("用法：")
    assert "prefixcache search [选项]" in page or "search [选项]" in page


def test_a_table_of_figures_is_whole_in_80_columns() -> None:
    from rich.table import Table

    from flows.narrow import without_lines

    table = Table(
        "group", "requests", "input tokens", "expected hits", "ratio", "master prefix", "cold start", "at most"
    )
    figures = ("default", "1,000", "4,075,952", "2,037,984", "50.0002 %", "3,792", "3,792", "99.2373 %")
    table.add_row(*figures)
    console = Console(width=80, file=io.StringIO())
    console.print(without_lines(table, console.width))
    assert isinstance(console.file, io.StringIO)
    assert all(figure in console.file.getvalue() for figure in figures)
