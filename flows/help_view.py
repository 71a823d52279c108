"""Help pages as a user reads them: in the chosen language, and no type behind a flag that takes no value."""

from __future__ import annotations

import re
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from flows.console import language_now
from flows.narrow import wrapped
from prefixcache.help.chinese.flags import COMMANDS, FLAGS

GAP, MOST_LEFT = 2, 24
"""Blanks between columns; the width of flags and of their values at most, where they can be broken."""
LEAST_MEANING, INDENT = 24, 4
"""Columns that a meaning needs beside them; else it stands below, so far to the right."""
USAGE = {"[OPTIONS]": "[选项]", "COMMAND [ARGS]...": "命令 [参数]..."}
KINDS = {"str": "文本", "int": "整数", "float": "数值", "list[str]": "文本", "path": "路径", "bool": ""}


class Command(TyperCommand):
    """Typer's command, but for how its help reads."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters; one that takes no value shows none."""
        found: list[Any] = super().get_params(ctx)
        for parameter in found:
            if getattr(parameter, "is_flag", False) and parameter.metavar is None:
                parameter.metavar = ""
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Typer's page in English, a page of our own in Chinese: Typer breaks lines at blanks alone and cuts the
        rest."""
        if language_now() == "zh":
            show_chinese(self, ctx)
        else:
            super().format_help(ctx, formatter)


def show_chinese(command: Any, ctx: Any) -> None:
    """The help of a command in Chinese; a text without a translation stays English."""
    console = Console(highlight=False)
    pieces = " ".join(command.collect_usage_pieces(ctx))
    for english, chinese in USAGE.items():
        pieces = pieces.replace(english, chinese)
    console.print(Text(f"用法：{ctx.command_path} {pieces}\n"))
    console.print(Text(f"{COMMANDS.get(command.help, command.help or '')}\n", overflow="fold"))
    rows = []
    for parameter in command.get_params(ctx):
        flags = [*sorted(parameter.opts, key=len, reverse=True), *parameter.secondary_opts]
        rows.append((_lines(flags, " "), _lines(_value(parameter, ctx).split("|"), "|"), _told(parameter, ctx)))
    console.print(_side_by_side(rows, console.width))


def show_commands(group: Any, ctx: Any) -> None:
    """The help of the whole command line in Chinese: options, then a line or two for each command."""
    show_chinese(group, ctx)
    console = Console(highlight=False)
    console.print(Text("\n命令："))
    listed = [(name, group.get_command(ctx, name)) for name in group.list_commands(ctx)]
    rows = [(name, "", Text(COMMANDS.get(command.help, command.help or ""))) for name, command in listed]
    console.print(_side_by_side(rows, console.width))


def _lines(parts: list[str], between: str) -> str:
    """The parts on as many lines as keep them within a column."""
    lines = [""]
    for number, part in enumerate(parts):
        piece = part if number == len(parts) - 1 else part + between
        if lines[-1] and cell_len(lines[-1] + piece.rstrip()) > MOST_LEFT:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _side_by_side(rows: list[tuple[str, str, Text]], width: int) -> Table:
    """Flags, values and what they mean; on a terminal without room for the three, the meaning below its flag.

    Rich would give the meaning what the others leave, be it nothing.
    """
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    texts = ([flags for flags, _, _ in rows], [value for _, value, _ in rows])
    left = [max((cell_len(line) for text in column for line in text.splitlines()), default=0) for column in texts]
    room = width - sum(left) - GAP * sum(map(bool, left))
    if room < LEAST_MEANING:
        table.add_column(overflow="fold")
        for flags, value, meaning in rows:
            table.add_row(Text(f"{' '.join(flags.split())} {''.join(value.splitlines())}".rstrip(), "bold cyan"))
            table.add_row(Padding(_broken(meaning, width - INDENT), (0, 0, 0, INDENT)))
        return table
    table.add_column(no_wrap=True)
    if left[1]:
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for flags, value, meaning in rows:
        values = [Text(value, "yellow")] if left[1] else []
        table.add_row(Text(flags, "bold cyan"), *values, _broken(meaning, room))
    return table


def _broken(text: Text, width: int) -> Text:
    """The text in lines that no Chinese mark begins; Rich breaks at blanks, and then anywhere."""
    lines, end = [], 0
    for line in wrapped(text.plain, width):
        begin = text.plain.index(line, end)
        end = begin + len(line)
        lines.append(text[begin:end])
    return Text("\n").join(lines)


def _value(parameter: Any, ctx: Any) -> str:
    """What stands behind the flag: ``PATH``, ``en|zh``, ``INT ≥1``."""
    least = getattr(parameter, "min", None)
    shown = str(parameter.display_type_rich(ctx) or "")
    shown = re.sub(r"^<(.*?)( range)?>$", r"\1", shown)
    shown = KINDS.get(shown, shown)
    return shown if least is None else f"{shown} ≥{least:g}"


def _told(parameter: Any, ctx: Any) -> Text:
    text = Text(FLAGS.get(parameter.help or "", parameter.help or ""))
    default = parameter.get_default(ctx, call=False)
    if parameter.required:
        text.append(" [必填]", "red")
    elif default is True:
        text.append(" [默认开启]", "dim")
    elif not (default is None or default is False or default == "" or callable(default)):
        text.append(f" [默认 {default}]", "dim")
    if getattr(parameter, "show_envvar", False) and parameter.envvar:
        text.append(f" [环境变量 {parameter.envvar}]", "dim")
    return text
