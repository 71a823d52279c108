"""Help pages as a user reads them: in the chosen language, and no type behind a flag that takes no value."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from flows.console import language_now
from prefixcache.help.chinese.flags import COMMANDS, FLAGS


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
    pieces = " ".join(command.collect_usage_pieces(ctx)).replace("[OPTIONS]", "[选项]")
    console.print(Text(f"用法：{ctx.command_path} {pieces}\n"))
    console.print(Text(f"{COMMANDS.get(command.help, command.help or '')}\n", overflow="fold"))
    table = Table(box=None, show_header=False, pad_edge=False)
    for _ in range(2):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for parameter in command.get_params(ctx):
        flags = " ".join(sorted((*parameter.opts, *parameter.secondary_opts), key=len, reverse=True))
        table.add_row(Text(flags, "bold cyan"), Text(_value(parameter, ctx), "yellow"), _told(parameter, ctx))
    console.print(table)


def _value(parameter: Any, ctx: Any) -> str:
    least = getattr(parameter, "min", None)
    shown = str(parameter.display_type_rich(ctx) or "")
    return shown if least is None else f"{shown} ≥{least}"


def _told(parameter: Any, ctx: Any) -> Text:
    text = Text(FLAGS.get(parameter.help or "", parameter.help or ""))
    default = parameter.get_default(ctx, call=False)
    if parameter.required:
        text.append(" [必填]", "red")
    elif not (default is None or default is False or callable(default)):
        text.append(f" [默认 {default}]", "dim")
    if getattr(parameter, "show_envvar", False) and parameter.envvar:
        text.append(f" [环境变量 {parameter.envvar}]", "dim")
    return text
