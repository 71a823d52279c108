"""A table as an Excel workbook (ECMA-376 SpreadsheetML), with the standard library alone.

Text is written as inline strings, never as formulas, so a cell that begins with ``=`` stays a text.
"""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
"""Excel's limits: rows of a sheet with the header, columns, characters of a cell."""
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal tables are equal bytes
_BATCH = 500
_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" \
ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" \
ContentType="application/xml"/><Override PartName="/xl/workbook.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override \
PartName="/xl/worksheets/sheet1.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/><Override \
PartName="/xl/styles.xml" \
ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>"""
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_RELS = (
    f'{_HEAD}<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" Type="{_RELATION}/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>'
)
_BOOK_RELS = (
    f'{_HEAD}<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" Type="{_RELATION}/worksheet" '
    f'Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{_RELATION}/styles" Target="styles.xml"/>'
    "</Relationships>"
)
# Style 0 is plain, style 1 the bold header.
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/>'
    '<sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/>'
    '<diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
    '</cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" '
    'fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle '
    'name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
# What XML cannot hold (and the CR, which parsers turn into LF) as _xHHHH_; a text that looks like that is escaped too.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def write_xlsx(file: BinaryIO, names: Sequence[str], rows: Iterable[Sequence[Any]], sheet: str = "requests") -> int:
    """Write one sheet with a bold, frozen header and a filter; equal tables give equal bytes.

    Args:
        file: opened for writing.
        names: the header.
        rows: cells are None (left empty), bool, int, float or text; a number that is not finite is left empty.

    Returns:
        Number of rows written, the header left out.

    Raises:
        ValueError: more rows, columns or characters than Excel takes.
    """
    if len(names) > MAX_COLUMNS:
        raise ValueError(f"{len(names):,} columns are more than a sheet holds ({MAX_COLUMNS:,})")
    count = 0
    letters = [column_letters(n) for n in range(len(names))]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path, text in (
            ("[Content_Types].xml", _TYPES),
            ("_rels/.rels", _RELS),
            ("xl/workbook.xml", _book(sheet)),
            ("xl/_rels/workbook.xml.rels", _BOOK_RELS),
            ("xl/styles.xml", _STYLES),
        ):
            archive.writestr(_entry(path), text)
        with archive.open(_entry("xl/worksheets/sheet1.xml"), "w", force_zip64=True) as part:
            part.write(_opening(names).encode())
            part.write(_row(1, letters, names, ' s="1"').encode())
            for batch in _batches(rows):
                lines = [_row(count + n, letters, row, "") for n, row in enumerate(batch, 2)]
                count += len(batch)
                if count >= MAX_ROWS:
                    raise ValueError(f"more rows than a sheet holds ({MAX_ROWS - 1:,} and a header)")
                part.write("".join(lines).encode())
            last = f"{letters[-1]}{count + 1}" if letters else "A1"
            part.write(f'</sheetData><autoFilter ref="A1:{last}"/></worksheet>'.encode())
    return count


def column_letters(number: int) -> str:
    """Excel's name of a column: 0 is A, 26 is AA."""
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def cell_text(text: str) -> str:
    """A text as XML holds it: markup escaped, control characters as Excel's ``_xHHHH_``."""
    return escape(_UNSAFE.sub(lambda found: f"_x{ord(found[0]):04X}_", text))


def _entry(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, date_time=_EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _book(sheet: str) -> str:
    return (
        f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATION}"><sheets><sheet name="{cell_text(sheet)}" sheetId="1" '
        'r:id="rId1"/></sheets></workbook>'
    )


def _opening(names: Sequence[str]) -> str:
    widths = "".join(
        f'<col min="{n}" max="{n}" width="{max(10, min(len(name) + 3, 40))}" customWidth="1"/>'
        for n, name in enumerate(names, 1)
    )
    return (
        f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" '
        'topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
        f"<cols>{widths}</cols><sheetData>"
    )


def _row(number: int, letters: Sequence[str], values: Sequence[Any], style: str) -> str:
    cells = "".join(_cell(f"{at}{number}", value, style) for at, value in zip(letters, values, strict=True))
    return f'<row r="{number}">{cells}</row>'


def _cell(at: str, value: Any, style: str) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return f'<c r="{at}"{style} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{at}"{style}><v>{value!r}</v></c>'
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    if len(text) > MAX_TEXT // 2 and (size := len(text.encode("utf-16-le", "surrogatepass")) // 2) > MAX_TEXT:
        raise ValueError(f"cell {at} has {size:,} characters, Excel takes {MAX_TEXT:,}")
    return f'<c r="{at}"{style} t="inlineStr"><is><t xml:space="preserve">{cell_text(text)}</t></is></c>'


def _batches(rows: Iterable[Sequence[Any]]) -> Iterator[list[Sequence[Any]]]:
    batch: list[Sequence[Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
