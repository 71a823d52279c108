"""The workbook, read back as a reader of the standard would: by its parts and its XML."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from prefixcache.report import xlsx
from prefixcache.report.xlsx import MAX_ROWS, MAX_TEXT, cell_text, column_letters, write_xlsx

NS = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


def written(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    buffer = io.BytesIO()
    write_xlsx(buffer, names, rows)
    return buffer.getvalue()


def sheet_of(data: bytes) -> ElementTree.Element:
    """Follow the package's relations from the root to the sheet, as a reader does."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    assert archive.testzip() is None
    types = archive.read("[Content_Types].xml").decode()

    def target(part: str, kind: str, base: str) -> str:
        relations = ElementTree.fromstring(archive.read(part)).findall(PACKAGE)
        return base + next(r.get("Target", "") for r in relations if r.get("Type", "").endswith(f"/{kind}"))

    book = target("_rels/.rels", "officeDocument", "")
    assert f'PartName="/{book}"' in types
    sheets = ElementTree.fromstring(archive.read(book)).findall("m:sheets/m:sheet", NS)
    assert len(sheets) == 1
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels")).findall(PACKAGE)
    names = {r.get("Id"): f"xl/{r.get('Target')}" for r in relations}
    assert all(f'PartName="/{name}"' in types and name in archive.namelist() for name in names.values())
    return ElementTree.fromstring(archive.read(names[sheets[0].get(RELATION)]))


def unescaped(text: str) -> str:
    """ECMA-376 22.9.2.19 (ST_Xstring): ``_xHHHH_`` is the character of that number."""
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), text)


def cells(data: bytes) -> list[list[Any]]:
    rows = []
    for row in sheet_of(data).findall("m:sheetData/m:row", NS):
        values: dict[str, Any] = {}
        for cell in row.findall("m:c", NS):
            place = cell.get("r", "")
            assert place.endswith(str(row.get("r")))
            assert cell.find("m:f", NS) is None, "a formula"
            kind, number = cell.get("t"), cell.find("m:v", NS)
            if kind == "inlineStr":
                values[place.rstrip("0123456789")] = unescaped(cell.find("m:is/m:t", NS).text or "")  # type: ignore[union-attr]
            else:
                assert number is not None
                text = str(number.text)
                values[place.rstrip("0123456789")] = bool(int(text)) if kind == "b" else float(text)
        rows.append(values)
    width = max(len(row) for row in rows)
    return [[row.get(column_letters(n)) for n in range(width)] for row in rows]


ROWS = [
    (1, 0.1, "plain", True, None),
    (-5, 1e-7, '=HYPERLINK("http://x","y")', False, "+1"),
    (2**40, float("nan"), "<a & b>", True, "@x"),
    (0, float("inf"), "tab\there\r\nand \x00 \x1b[31m \ufffe", None, "-2"),
    (7, 2.0, " _x0041_ stays, 中文 𓀀 ", True, ""),
]
NAMES = ("a", "b", "text & more", "yes", "last")


def test_what_is_written_is_read_back() -> None:
    read = cells(written(NAMES, ROWS))
    assert read[0] == list(NAMES)
    expected = [
        [None if isinstance(v, float) and (v != v or abs(v) == float("inf")) else v for v in row] for row in ROWS
    ]
    assert read[1:] == expected


def test_an_installed_reader_agrees() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(written(NAMES, ROWS)))
    values = [list(row) for row in book.active.iter_rows(values_only=True)]
    assert values[1][:4] == [1, 0.1, "plain", True]
    assert values[2][2].startswith("=HYPERLINK")


def test_header_bold_and_frozen_with_a_filter() -> None:
    data = written(NAMES, ROWS)
    sheet = sheet_of(data)
    pane = sheet.find("m:sheetViews/m:sheetView/m:pane", NS)
    assert pane is not None
    assert (pane.get("state"), pane.get("ySplit"), pane.get("topLeftCell")) == ("frozen", "1", "A2")
    styles = ElementTree.fromstring(zipfile.ZipFile(io.BytesIO(data)).read("xl/styles.xml"))
    fonts = styles.findall("m:fonts/m:font", NS)
    bold = [xf.get("fontId") for xf in styles.findall("m:cellXfs/m:xf", NS)]
    header, first = sheet.findall("m:sheetData/m:row", NS)[:2]
    for cell in header.findall("m:c", NS):
        assert fonts[int(str(bold[int(str(cell.get("s")))]))].find("m:b", NS) is not None
    assert all(cell.get("s") is None for cell in first.findall("m:c", NS))
    assert sheet.find("m:autoFilter", NS).get("ref") == "A1:E6"  # type: ignore[union-attr]
    order = [child.tag.partition("}")[2] for child in sheet]
    assert order == ["sheetViews", "cols", "sheetData", "autoFilter"], "the standard fixes the order"


def test_equal_tables_are_equal_bytes() -> None:
    assert written(NAMES, ROWS) == written(NAMES, ROWS)


def test_no_rows() -> None:
    assert cells(written(("a", "b"), [])) == [["a", "b"]]


def test_column_letters() -> None:
    assert [column_letters(n) for n in (0, 25, 26, 51, 52, 701, 702, 16383)] == [
        "A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "XFD",
    ]  # fmt: skip


def test_escapes_are_escaped() -> None:
    assert cell_text("_x000D_") == "_x005F_x000D_"
    assert cell_text("a_b") == "a_b"
    assert unescaped(cell_text("_x0041__x0042_\r")) == "_x0041__x0042_\r"


def test_what_excel_cannot_hold_is_refused_not_cut() -> None:
    written(("a",), [("x" * MAX_TEXT,)])
    with pytest.raises(ValueError, match="cell A2 has 32,768 characters"):
        written(("a",), [("x" * (MAX_TEXT + 1),)])
    with pytest.raises(ValueError, match="32,768 characters"):
        written(("a",), [("𓀀" * (MAX_TEXT // 2 + 1),)])
    with pytest.raises(ValueError, match="columns"):
        written(tuple("x" for _ in range(16_385)), [])


def test_more_rows_than_a_sheet_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_ROWS == 1_048_576
    monkeypatch.setattr(xlsx, "MAX_ROWS", 4)  # a million rows take seconds
    assert len(cells(written(("a",), [(1,)] * 3))) == 4
    with pytest.raises(ValueError, match="more rows"):
        written(("a",), [(1,)] * 4)


def test_it_is_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    with open(path, "wb") as file:
        assert write_xlsx(file, ("a",), iter([(1,), (2,)])) == 2
    assert cells(path.read_bytes()) == [["a"], [1.0], [2.0]]
