"""What the documents show is what the program prints, and they leave out no command, flag, key or room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.help.config_keys import config_keys
from prefixcache.report.words_page import PAGE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
THREE = ("target.short", "designed.short", "measured.short")


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks_of(name: str) -> Iterator[str]:
    """The console blocks of a document."""
    yield from re.findall(r"```console\n(.*?)```", text_of(name), re.DOTALL)


def call(*arguments: str | Path, lang: str = "en") -> str:
    environment = {"PREFIXCACHE_LANG": lang}
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], env=environment)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dataset and run of the demo; `printed.txt` and `printed.zh.txt` are what it said."""
    folder = tmp_path_factory.mktemp("demo")
    for lang, name in (("zh", "printed.zh.txt"), ("en", "printed.txt")):
        printed = call("demo", "--no-prefect", "--output", folder, lang=lang).replace(str(folder), "outputs")
        (folder / name).write_text(printed)
    return folder


@pytest.mark.engine
@pytest.mark.parametrize(("name", "printed"), [("README.md", "printed.txt"), ("README.zh-CN.md", "printed.zh.txt")])
def test_the_demo_prints_what_the_readme_shows(name: str, printed: str, demo: Path) -> None:
    def lines(text: str) -> list[str]:
        text = re.sub(r"(http://127\.0\.0\.1):\d+", r"\1:PORT", text)  # the engine takes a free one
        weather = re.compile(
            r"warning: (requests were sent late|the client's event loop stood still)|警告："
        )  # a busy machine
        text = re.sub(r"(Warnings|警告) \d+", r"\1", text)
        return sorted(line.rstrip() for line in text.splitlines() if line.strip() and not weather.match(line))

    block = next(block for block in blocks_of(name) if "outputs/demo_dataset" in block)
    assert lines(block) == lines((demo / printed).read_text())


@pytest.mark.engine
def test_validate_names_the_checks_that_the_page_shows(demo: Path) -> None:
    marks = re.compile(r"^✓ (\w+)", re.MULTILINE)
    shown = next(block for block in blocks_of("docs/cli.md") if block.startswith("$ prefixcache validate"))
    printed = call("validate", "--dataset", demo / "demo_dataset", "--lang", "en")
    assert marks.findall(shown) == marks.findall(printed)
    for check in marks.findall(printed):
        assert f"| `{check}` |" in text_of("docs/cli.md")


@pytest.mark.engine
def test_the_dry_run_is_the_one_that_the_page_shows(demo: Path) -> None:
    labels = re.compile(r"┃ (pass.*?)┃\n")
    shown = next(block for block in blocks_of("docs/cli.md") if "--dry-run" in block)
    printed = call("run", "--dataset", demo / "demo_dataset", "--url", "http://127.0.0.1:9", "--dry-run")
    (first,), (second,) = labels.findall(shown), labels.findall(printed)
    assert [cell.strip() for cell in first.split("┃")] == [cell.strip() for cell in second.split("┃")]
    assert "KV tokens: what stays cached" in printed
    assert "KV tokens: what stays cached" in shown


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md", "docs/cli.md"])
def test_three_way_tables_have_the_labels_of_today(name: str) -> None:
    tables = [block for block in blocks_of(name) if "pp (runtime)" in block or "个百分点（运行实现）" in block]
    assert tables
    for block in tables:
        at = 1 if "运行实现" in block else 0
        cells = {cell.strip() for line in block.splitlines() for cell in line.split("│")}
        assert {PAGE[word][at] for word in THREE} <= cells


def sections() -> dict[str, str]:
    """docs/cli.md by command."""
    found = re.finditer(r"^## (\w+)\n(.*?)(?=^## |\Z)", text_of("docs/cli.md"), re.MULTILINE | re.DOTALL)
    return {match[1]: match[2] for match in found}


def test_every_command_and_flag_is_in_the_page_of_the_command_line() -> None:
    missing = []
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        assert f"| {name} |" in text_of("docs/cli.md").replace("\n", " |") or name in sections(), name
        for parameter in command.params:
            for flag in (*parameter.opts, *parameter.secondary_opts):
                known = re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", sections()[name])
                if flag.startswith("-") and flag != "--help" and not known:
                    missing.append(f"{name} {flag}")
    assert missing == []


def test_no_flag_of_the_page_is_invented() -> None:
    """First column of the tables of flags."""
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        known = {flag for parameter in command.params for flag in parameter.opts}
        for row in re.findall(r"^\| (`-.*?) \|", sections()[name], re.MULTILINE):
            assert set(re.findall(r"`(--[a-z-]+|-\w)", row)) <= known, (name, row)


def test_every_configuration_key_is_in_its_page() -> None:
    text = text_of("docs/configuration.md")
    leaves = {key.path.rpartition(".")[2].removesuffix("[]") for key in config_keys()}
    assert [leaf for leaf in sorted(leaves) if not re.search(rf"[`.]{leaf}\b", text)] == []


def test_every_room_is_in_the_map() -> None:
    rooms = [path.parent.name for path in sorted((ROOT / "prefixcache").glob("*/__init__.py"))]
    assert [room for room in rooms if f"`prefixcache/{room}/`" not in text_of("docs/architecture.md")] == []


def test_both_readmes_have_the_same_parts_commands_and_figures() -> None:
    english, chinese = text_of("README.md"), text_of("README.zh-CN.md")

    def parts(text: str) -> list[str]:
        return [line.split()[0] for line in text.splitlines() if re.match(r"#+ ", line)]

    def code(text: str) -> list[str]:
        """Without what is said in a language: comments, and of what is printed all but the command."""
        found = re.findall(r"```\w*\n.*?```", text, re.DOTALL)
        plain = [re.sub(r" *# .*", "", block) for block in found]
        return [re.sub(r"^(?!\$ ).*\n", "", block, flags=re.M) if "```console" in block else block for block in plain]

    def links(text: str) -> set[str]:
        found = set(re.findall(r"\]\(([^)]+)\)", text)) - {"README.md", "README.zh-CN.md"}
        return {link.replace(".zh-CN.md", ".md") for link in found}  # a page may have a Chinese twin

    def rows(text: str) -> list[list[str]]:
        """Figures of tables; units and names may be said otherwise."""
        return [re.findall(r"[\d,.]+\d", line) for line in text.splitlines() if line.startswith("|")]

    for text in (english, chinese):
        assert 0 < text.index("PREFIXCACHE_LANG=zh") < text.index("make demo   #")
    shown = "".join(blocks_of("README.zh-CN.md"))
    assert not re.search(r"target|designed|Hit ratio|evidence|reference engine at", shown), "its samples are Chinese"
    assert parts(english) == parts(chinese)
    assert code(english) == code(chinese)
    assert links(english) == links(chinese)
    assert [sorted(row) for row in rows(english)] == [sorted(row) for row in rows(chinese)]
