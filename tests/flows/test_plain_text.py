"""Texts from outside cannot steer the terminal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text

from flows.plain_text import PlainConsole, encodable, plain

HOSTILE = "a\x1b[2Jb\x1b]0;title\x07c\rd\x9be\u202ef\udcffg"


def test_everything_that_steers_is_written_out() -> None:
    assert plain(HOSTILE) == r"a\x1b[2Jb\x1b]0;title\x07c\x0dd\x9be\u202ef\udcffg"
    assert plain("两行\n\tand é 🎉") == "两行\n\tand é 🎉"


def test_texts_and_tables_but_not_the_consoles_own_colours() -> None:
    stream = io.StringIO()
    console = PlainConsole(file=stream, force_terminal=True, width=120, color_system="standard", highlight=False)
    console.print(f"[red]no[/] {plain('x')} \x1b\\[5m", soft_wrap=True)
    table = Table()
    table.add_column("head\x1b\\[6m")
    table.add_row("cell\x1b\\[7m")
    table.add_row(Text("own\x1b[8m"))
    console.print(table)
    shown = stream.getvalue()
    assert "\x1b[31mno\x1b[0m" in shown
    for number in (5, 6, 7, 8):
        assert f"\\x1b[{number}m" in shown and f"\x1b[{number}m" not in shown


def test_json_of_a_name_that_no_encoding_holds() -> None:
    assert encodable({"a\udcff": ["b\udcfe", 1, None]}) == {"a\\udcff": ["b\\udcfe", 1, None]}


@pytest.mark.parametrize("as_json", [False, True])
def test_the_name_of_a_file(as_json: bool, tmp_path: Path) -> None:
    name = os.fsdecode(b"no\x1b[2J\xffset")
    main = "import sys; from flows.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", main, "validate", "-d", str(tmp_path / name), *(["--json"] if as_json else [])]
    ended = subprocess.run(command, capture_output=True)
    assert ended.returncode in (1, 2, 3)
    assert b"unforeseen" not in ended.stdout + ended.stderr
    assert b"\x1b" not in ended.stdout + ended.stderr
    assert rb"no\x1b[2J\udcffset" in ended.stderr.replace(b"\n", b"")
    if as_json:
        assert "\\udcff" in json.loads(ended.stdout)["error"]["message"]
