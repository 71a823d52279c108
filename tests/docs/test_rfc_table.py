"""docs/rfc.md names tests and modules that exist, and a row that names no test says which later work holds it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "rfc.md"
CITED = re.compile(r"`((?:[\w/]+\.py)?(?:::\w+)*)`")


def rows() -> Iterator[list[str]]:
    """Cells of every row of every table, without heads and rules."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("|") and not re.fullmatch(r"[|:\- ]+", line):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if cells[-1] != "shown by":
                yield cells


@cache
def functions_of(name: str) -> frozenset[str]:
    """Functions of a test file, methods as `Class::name` too."""
    found = set()
    for node in ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))


def cited(cell: str) -> Iterator[tuple[str, str]]:
    """(file, test) of a cell; `::test` belongs to the file named before it, a file alone stands for its tests."""
    file = ""
    for text in CITED.findall(cell):
        path, _, test = text.partition("::")
        if path and not path.rpartition("/")[2].startswith("test_"):
            continue  # a module
        file = path or file
        if file:
            yield file, test


def missing(cell: str) -> list[str]:
    wrong = []
    for file, test in cited(cell):
        if not (ROOT / "tests" / file).is_file():
            wrong.append(file)
        elif not functions_of(file) or (test and test not in functions_of(file)):
            wrong.append(f"{file}::{test}")
    return wrong


def test_every_test_of_the_table_exists() -> None:
    assert [(cells[0], name) for cells in rows() for name in missing(cells[-1])] == []


def test_every_module_of_the_table_exists() -> None:
    gone = []
    for cells in rows():
        for name in re.findall(r"`([\w/]+(?:\.py|/))`", " ".join(cells[1:-1])):
            if not any((ROOT / base / name).exists() for base in ("prefixcache", ".")):
                gone.append((cells[0], name))
    assert gone == []


def test_a_row_without_a_test_names_what_will_hold_it() -> None:
    bare = [cells[0] for cells in rows() if not list(cited(cells[-1])) and not re.search(r"Later: \w+", cells[-1])]
    assert bare == []


def test_all_clauses_have_a_row() -> None:
    """1.3's twenty goals, 2.1-2.8, 3.1-3.5 with their parts, 4.1-4.12, 6.1-6.10."""
    named = {cells[0].split()[0] for cells in rows()}
    wanted = {str(goal) for goal in range(1, 21)}
    parts = {"2": 8, "3.1": 6, "3.2": 6, "3.3": 23, "3.4": 6, "3.5": 3, "4": 12, "6": 10}
    wanted |= {f"{clause}.{number}" for clause, count in parts.items() for number in range(1, count + 1)}
    assert sorted(wanted - named) == []


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [
        ("`docs/test_rfc_table.py::test_every_test_of_the_table_exists`, `::test_all_clauses_have_a_row`", []),
        ("`docs/test_rfc_table.py` (all)", []),
        ("`docs/test_nothing.py::test_x`", ["docs/test_nothing.py"]),
        ("`docs/test_rfc_table.py::test_x`", ["docs/test_rfc_table.py::test_x"]),
        ("`docs/test_rfc_table.py`, `::test_x`", ["docs/test_rfc_table.py::test_x"]),
        ("`flows/test_help_commands.py::TestInit::test_x`", ["flows/test_help_commands.py::TestInit::test_x"]),
    ],
)
def test_the_reader_finds_what_is_not_there(cell: str, wrong: list[str]) -> None:
    assert missing(cell) == wrong


def test_the_readmes_say_that_texts_are_not_real_traffic() -> None:
    """RFC 4.7."""
    for name, words in (("README.md", "it is not your traffic"), ("README.zh-CN.md", "并不等同于你的真实业务流量")):
        assert words in (ROOT / name).read_text(encoding="utf-8")
