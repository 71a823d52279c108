"""Tables of ready text on the terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from flows.console import out
from prefixcache.report.sheet import Grid


def show_grid(grid: Grid) -> None:
    table = Table(title=Text(grid.title) if grid.title else None, title_justify="left")
    for number, column in enumerate(grid.columns):
        table.add_column(Text(column), justify="left" if number < grid.texts else "right")
    for number, row in enumerate(grid.rows):
        table.add_row(*(Text(cell) for cell in row), style="bold" if number in grid.strong else None)
    out.print(table)
