"""Tables and lines on narrow terminals.

Apart, because commands that only plan are not to wait for the imports of figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.table import Table

ROOMY = 100
"""Columns from which a table of many figures has room for lines between them."""
_CHINESE, _OPEN, _CLOSE = r"\u2e80-\u9fff", r"（《“\[", r"，。；：？！、）》”\]"
PIECE = re.compile(rf"[{_OPEN}]*(?:[{_CHINESE}]|[^\s{_CHINESE}{_OPEN}{_CLOSE}]+|.)[{_CLOSE}]*\s*")
"""What is not torn: a word or a Chinese character, with the marks around it and spaces behind."""


def without_lines(table: Table, width: int) -> Table:
    """The table, on a narrow terminal without lines, so that its figures stay whole."""
    if width < ROOMY:
        table.box, table.padding, table.pad_edge = None, (0, 1, 0, 0), False
    return table


def wrapped(text: str, width: int) -> Iterator[str]:
    """Lines of at most so many columns. Chinese has no spaces: between its characters a line may end anywhere but
    before a closing mark."""
    line = ""
    for piece in PIECE.findall(text):
        if line and cell_len(line + piece.rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += piece
    if line:
        yield line.rstrip()
