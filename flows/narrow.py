"""Tables on narrow terminals. Apart, because commands that only plan are not to wait for the imports of figures."""

from __future__ import annotations

from rich.table import Table

ROOMY = 100
"""Columns from which a table of many figures has room for lines between them."""


def without_lines(table: Table, width: int) -> Table:
    """The table, on a narrow terminal without lines, so that its figures stay whole."""
    if width < ROOMY:
        table.box, table.padding, table.pad_edge = None, (0, 1, 0, 0), False
    return table
