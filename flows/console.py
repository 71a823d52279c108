"""What the command line prints: results on stdout, everything else on stderr."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from flows.field_names import name_flags
from flows.plain_text import PlainConsole, encodable
from flows.signals import signal_of
from prefixcache.errors import EnvironmentFailure, PrefixCacheError, of_system
from prefixcache.help.messages import error_text, finding_of, named, say
from prefixcache.help.words import LANGUAGES, Language
from prefixcache.stages.progress import Observer
from prefixcache.stages.progress import Progress as StageProgress

DEBUG_VARIABLE = "PREFIXCACHE_DEBUG"
# Where stdout is no terminal, lines are as long as they are.
out = PlainConsole(highlight=False, width=None if sys.stdout.isatty() else 160)
err = PlainConsole(stderr=True, highlight=False)
_language: Language = "en"
_printed = False
"""Whether stdout has its JSON object."""


def begin(language: str) -> None:
    """A command line starts: nothing is printed yet, and errors are told in ``language``, if it is known."""
    global _language, _printed
    _language = next((known for known in LANGUAGES if known == language), "en")
    _printed = False


def language_now() -> Language:
    """The language of the command line that runs."""
    return _language


def emit_json(value: Any) -> None:
    """One JSON object on stdout."""
    global _printed
    _printed = True
    options = orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY
    try:
        data = orjson.dumps(value, option=options)
    except orjson.JSONEncodeError:  # a file's name may hold what UTF-8 cannot
        data = orjson.dumps(encodable(value), option=options)
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.flush()


def warn(messages: Iterator[str] | tuple[str, ...] | list[str]) -> None:
    for message in messages:
        text = _plain(finding_of(message, _language))
        err.print(_led("yellow", "warning", text), soft_wrap=True)


def _led(colour: str, key: str, text: str, **values: str) -> str:
    """A label and what it leads; Chinese marks have their blank within."""
    return f"[{colour}]{say(key, _language, **values)}[/]{'' if _language == 'zh' else ' '}{text}"


def note(message: str) -> None:
    """What somebody waits for."""
    err.print(f"[dim]{_plain(finding_of(message, _language))}[/]", soft_wrap=True)


def fail(error: PrefixCacheError, *, as_json: bool = False, report: dict[str, Any] | None = None) -> NoReturn:
    """One clear message, and the error's exit code."""
    if as_json and not _printed:
        _emit_error(type(error).__name__, error.exit_code, error.as_json(), report)
    text = _plain(error_text(error, _language))
    err.print(_led("red", "error", text), soft_wrap=True)
    raise typer.Exit(error.exit_code)


def interrupted(number: int, *, as_json: bool = False, again: str = "again.afresh") -> NoReturn:
    """A signal ended the command: exit code 128 + its number.

    Args:
        number: of the signal.
        again: key of the words that say what the same command does when it is called again.
    """
    name = signal.Signals(number).name
    if as_json and not _printed:
        told = PrefixCacheError(f"interrupted by {name}", remedy=say(again, "en"))
        _emit_error("Interrupted", 128 + number, told.as_json())
    err.print(_led("yellow", "interrupted", say(again, _language), signal=name), soft_wrap=True)
    raise typer.Exit(128 + number)


def _emit_error(kind: str, exit_code: int, error: dict[str, Any], report: dict[str, Any] | None = None) -> None:
    emit_json((report or {}) | {"error": {"type": kind, **error}, "exit_code": exit_code})


def _plain(text: str) -> str:
    return text.replace("[", "\\[")


@contextmanager
def reporting_errors(
    *, as_json: bool = False, again: str = "again.afresh", flags: Collection[str] = ()
) -> Iterator[None]:
    """The product's errors as one message; what nobody foresaw without a wall of text.

    Args:
        again: key of the words that say what the command does when it is called again after an interruption.
        flags: names of parameters; a field that is one of them is told as its flag.
    """
    try:
        yield
    except PrefixCacheError as error:
        name_flags(error, flags)
        fail(error, as_json=as_json)
    except (typer.Exit, typer.Abort):
        raise
    except OSError as error:
        fail(of_system(error), as_json=as_json)
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        unforeseen = EnvironmentFailure(
            f"unforeseen {type(error).__name__}: {str(error)[:300]}",
            remedy=f"this is a defect; please report it with the traceback that {DEBUG_VARIABLE}=1 shows.",
        )
        fail(unforeseen, as_json=as_json)
    except BaseException as error:
        number = signal_of(error)
        if number is None:
            raise
        interrupted(number, as_json=as_json, again=again)


REFRESH_PER_SECOND = 2
WIDE = 100
"""Columns from which there is room for a bar beside the figures."""


@contextmanager
def stage_progress(*, quiet: bool, console: Console = err) -> Iterator[Observer]:
    """A live list of stages on stderr, whole in 80 columns; silent where stderr is no terminal or ``quiet``."""
    columns = (
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("{task.description:<16}"),
        *((BarColumn(bar_width=min(24, console.width - WIDE + 12)),) if console.width >= WIDE else ()),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[dim]{task.fields[told]}[/]", table_column=Column(no_wrap=True, overflow="ellipsis")),
    )
    # Drawing takes 4 ms: ten times a second, as by default, it would be 4 % of a generation.
    with Progress(
        *columns, console=console, disable=quiet or not console.is_terminal, refresh_per_second=REFRESH_PER_SECOND
    ) as progress:
        rows: dict[str, Any] = {}

        def observe(state: StageProgress) -> None:
            if state.stage not in rows:
                rows[state.stage] = progress.add_task(
                    named("stage", state.stage, _language), total=state.total, told=""
                )
            progress.update(rows[state.stage], completed=state.done, total=state.total, told=state.rates)

        yield observe
