"""Running and reporting for every command that runs: through Prefect or in process, with its progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import signature
from typing import Any, Literal

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from flows.console import err, note, out, warn
from flows.run_options import options_of
from flows.secrets import refuse_blocks
from flows.stored_parameters import stored
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of, say


def check_language(language: str) -> None:
    if language not in ("en", "zh"):
        raise InputError(f"{language!r} is unknown", field="--lang", remedy="write en or zh.")


def execute(
    given: dict[str, Any], *, no_prefect: bool, quiet: bool, language: str, live: bool = False
) -> dict[str, Any]:
    """Run and report, through Prefect or in process; prints the comparison unless ``quiet``; returns the report.

    Args:
        given: parameters of the command: ``dataset`` and ``run_dir`` as folders, and those that
            :func:`flows.run_options.options_of` knows.
        live: show the dashboard, if there is a terminal.
    """
    options = options_of(given)  # a mistake is told before anything begins
    run_dir = given["run_dir"]
    with run_progress(quiet=quiet, live=live, language=language) as progress:
        if no_prefect:
            from prefixcache.load.run import run_benchmark
            from prefixcache.report.build import build_prefix_cache_report

            refuse_blocks(given)
            run_benchmark(given["dataset"], run_dir, options, progress)
            report = build_prefix_cache_report(run_dir, language)
        else:
            report = as_flow("run", given, progress, language)
    if not quiet:
        from prefixcache.report.console import print_comparison

        print_comparison(report, out, language)
        warn([entry[f"text_{language}"] for entry in report["warnings"]])
        path = run_dir / "report" / "prefix_cache_report.html"
        out.print(say("report.path", language_of(language), path=path), soft_wrap=True)
    return report


def as_flow(name: Literal["run", "search"], given: dict[str, Any], progress: Any, language: str) -> dict[str, Any]:
    """Run the flow ``flows.<name>`` in this process, with what Prefect may keep of the parameters; its report."""
    from flows.local_server import ready_prefect

    ready_prefect()
    from flows.results import value_of
    from tasks.run_benchmark import watched

    flow = getattr(import_module(f"flows.{name}"), name)
    parameters = stored(given, signature(flow.fn).parameters)
    with watched(progress):
        report: dict[str, Any] = value_of(flow(**parameters, language=language, return_state=True))
    return report


@contextmanager
def run_progress(*, quiet: bool, live: bool = False, language: str = "en") -> Iterator[Any]:
    """A line per pass and phase on stderr, or the dashboard; silent without a terminal. Notes are printed in any
    case."""
    if live and err.is_terminal:
        from flows.live_view import live_progress

        with live_progress(err, language_of(language)) as show_frames:
            yield show_frames
        return
    if live:
        note(say("live.no_terminal", language_of(language)))
    columns = (
        SpinnerColumn(finished_text="[green]✓[/]"),
        TextColumn("{task.description:<18}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, disable=quiet or not err.is_terminal) as bars:
        rows: dict[str, Any] = {}

        def show(event: Any) -> None:
            if event.phase == "point":  # of a search: its runs have the rows
                if event.note:
                    note(event.note)
                return
            name = f"{event.pass_name} {event.phase}".strip()
            failed = f"[red]{event.failed} failed[/]" if event.failed else ""
            if name not in rows:
                rows[name] = bars.add_task(name, total=event.total, failed=failed)
            bars.update(rows[name], completed=event.done, total=event.total, failed=failed)
            if event.note:
                note(event.note)

        yield show
