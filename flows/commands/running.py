"""Running and reporting for every command that runs: through Prefect or in process, with its progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from flows.console import err, note, out, warn
from flows.sending_options import sending_of
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of, say


def check_language(language: str) -> None:
    if language not in ("en", "zh"):
        raise InputError(f"{language!r} is unknown", field="--lang", remedy="write en or zh.")


def execute(
    dataset: Path,
    run_dir: Path,
    *,
    no_prefect: bool,
    quiet: bool,
    urls: list[str],
    metrics_urls: list[str],
    language: str,
    reach: dict[str, Any] | None = None,
    timeouts: dict[str, Any] | None = None,
    sending: dict[str, Any] | None = None,
    live: bool = False,
    **choices: Any,
) -> dict[str, Any]:
    """Run and report, through Prefect or in process; prints the comparison unless ``quiet``; returns the report.

    ``reach``: ``insecure, ca_file, proxy``, how servers are reached. ``timeouts``, ``sending``: the command's options.
    ``live``: show the dashboard, if there is a terminal.
    """
    from prefixcache.engines.http import Connection, Timeouts
    from prefixcache.load.options import RunOptions
    from prefixcache.load.sending import Sending

    connection = Connection(**(reach or {}))
    timeouts = timeouts or {"timeout": 300.0}
    options = RunOptions(
        urls=tuple(urls),
        metrics_urls=tuple(metrics_urls),
        connection=connection,
        timeouts=Timeouts.of(*timeouts.values()),
        sending=sending_of(sending) if sending else Sending(),
        **choices,
    )
    choices |= timeouts | (sending or {})  # the flow makes its own of them
    with run_progress(quiet=quiet, live=live, language=language) as progress:
        if no_prefect:
            from prefixcache.load.run import run_benchmark
            from prefixcache.report.build import build_prefix_cache_report

            run_benchmark(dataset, run_dir, options, progress)
            report = build_prefix_cache_report(run_dir, language)
        else:
            report = _as_flow(dataset, run_dir, urls, metrics_urls, language, progress, reach or {}, choices)
    if not quiet:
        from prefixcache.report.console import print_comparison

        print_comparison(report, out, language)
        warn([entry[f"text_{language}"] for entry in report["warnings"]])
        path = run_dir / "report" / "prefix_cache_report.html"
        out.print(say("report.path", language_of(language), path=path), soft_wrap=True)
    return report


def _as_flow(
    dataset: Path,
    run_dir: Path,
    urls: list[str],
    metrics_urls: list[str],
    language: str,
    progress: Any,
    reach: dict[str, Any],
    choices: dict[str, Any],
) -> dict[str, Any]:
    from flows.addresses import shown
    from flows.local_server import ready_prefect
    from prefixcache.engines.endpoint import parse_endpoint

    for url in (*urls, *metrics_urls):  # a malformed one must not reach Prefect's records
        parse_endpoint(url)
    ready_prefect()
    from flows.results import value_of
    from flows.run import run as flow
    from flows.secrets import veiled
    from tasks.run_benchmark import watched

    plain = {name: str(value.resolve()) if isinstance(value, Path) else value for name, value in choices.items()}
    plain |= {name: list(value) for name, value in plain.items() if isinstance(value, tuple)}
    plain |= {"header": veiled(plain["header"])} if plain.get("header") else {}
    ca_file, proxy = reach.get("ca_file"), reach.get("proxy")
    with watched(progress):
        report: dict[str, Any] = value_of(
            flow(
                dataset=str(dataset.resolve()),
                run_dir=str(run_dir.resolve()),
                url=shown(urls),
                metrics_url=shown(metrics_urls),
                language=language,
                insecure=bool(reach.get("insecure")),
                ca_file=str(ca_file.resolve()) if ca_file else None,
                proxy=shown([proxy])[0] if proxy else None,
                return_state=True,
                **plain,
            )
        )
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
            name = f"{event.pass_name} {event.phase}".strip()
            failed = f"[red]{event.failed} failed[/]" if event.failed else ""
            if name not in rows:
                rows[name] = bars.add_task(name, total=event.total, failed=failed)
            bars.update(rows[name], completed=event.done, total=event.total, failed=failed)
            if event.note:
                note(event.note)

        yield show
