"""What the command line prints: results on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from prefixcache.errors import EnvironmentFailure, PrefixCacheError

DEBUG_VARIABLE = "PREFIXCACHE_DEBUG"
# Where stdout is no terminal, lines are as long as they are.
out = Console(highlight=False, width=None if sys.stdout.isatty() else 160)
err = Console(stderr=True, highlight=False)


def emit_json(value: Any) -> None:
    """One JSON object on stdout."""
    sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n")
    sys.stdout.flush()


def warn(messages: Iterator[str] | tuple[str, ...] | list[str]) -> None:
    for message in messages:
        err.print(f"[yellow]warning:[/] {_plain(message)}", soft_wrap=True)


def fail(error: PrefixCacheError, *, as_json: bool = False, report: dict[str, Any] | None = None) -> NoReturn:
    """One clear message, and the error's exit code."""
    if as_json:
        emit_json((report or {}) | {"error": {"message": error.message, **error.context()}})
    err.print(f"[red]error:[/] {_plain(str(error))}", soft_wrap=True)
    raise typer.Exit(error.exit_code)


def _plain(text: str) -> str:
    return text.replace("[", "\\[")


@contextmanager
def reporting_errors(*, as_json: bool = False) -> Iterator[None]:
    """The product's errors as one message; what nobody foresaw without a wall of text."""
    try:
        yield
    except PrefixCacheError as error:
        fail(error, as_json=as_json)
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        err.print("[yellow]interrupted[/]; the same command again goes on where it stopped.")
        raise typer.Exit(130) from None
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        fail(EnvironmentFailure(what, remedy="check the path, its permissions and the free space."), as_json=as_json)
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        unforeseen = EnvironmentFailure(
            f"unforeseen {type(error).__name__}: {str(error)[:300]}",
            remedy=f"this is a defect; please report it with the traceback that {DEBUG_VARIABLE}=1 shows.",
        )
        fail(unforeseen, as_json=as_json)


@contextmanager
def stage_progress(*, quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A live list of stages on stderr; silent where stderr is no terminal or ``quiet``."""
    columns = (
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("{task.description:<18}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, disable=quiet or not err.is_terminal) as progress:
        rows: dict[str, Any] = {}

        def observe(stage: str, done: int, total: int) -> None:
            if stage not in rows:
                rows[stage] = progress.add_task(stage, total=total)
            progress.update(rows[stage], completed=done, total=total)

        yield observe
