"""Seconds, memory and tokens per second of planning, generating, proving and validating.

    python -m benchmarks.generation                 the figures that take minutes
    python -m benchmarks.generation --full          all of them
    python -m benchmarks.generation --case 100k     one

Every run is a process of its own. Cases that are compared take turns, so that what else the machine does hits both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import FIGURES, Case, Comparison, Figure, chosen, dataset
from benchmarks.measure import Ended, Run, machine, run_process, spread
from benchmarks.tokenizer import tokenizer_path

HEAD = "| work | went over | median | least – most | per second | largest process |\n|---|---:|---:|---:|---:|---:|"
COMMAND = "from flows.cli import main; main()"


@dataclass(frozen=True)
class Setting:
    """What holds for all runs of a call. ``scratch``: for datasets, removed at the end."""

    scratch: Path
    tokenizer: str
    workers: int

    def workers_of(self, case: Case) -> int:
        return case.workers or self.workers

    def tokenizer_of(self, case: Case) -> str:
        return case.tokenizer or self.tokenizer


def in_child(work: str, case: Case, folder: Path, setting: Setting) -> Run:
    """One run of a function of :mod:`benchmarks.work`."""
    given = {
        "folder": str(folder),
        "requests": case.requests,
        "mean": case.mean,
        "groups": case.groups,
        "tokenizer": setting.tokenizer_of(case),
        "workers": setting.workers_of(case),
        "fixed": case.fixed,
    }
    environment = {**os.environ, "PREFECT_HOME": str(setting.scratch / "prefect")} if work == "reporting" else None
    ended = run_process([sys.executable, "-m", "benchmarks.work", work, json.dumps(given)], environment)
    _must_end_well(ended, case)
    answer = ended.answer()
    return Run(answer["seconds"], answer["count"], ended.peak_mib, answer["whole"])


def by_command(case: Case, folder: Path, setting: Setting) -> Run:
    """`prefixcache generate` through Prefect, with its records in the scratch folder; the whole command is timed."""
    config = folder.with_suffix(".yaml")
    config.write_text(json.dumps(dataset(case.requests, case.mean, case.groups, setting.tokenizer_of(case))))
    environment = {**os.environ, "PREFECT_HOME": str(setting.scratch / "prefect")}
    environment.pop("PREFECT_API_URL", None)  # a server of its own, started and ended by the command
    words: list[str | Path] = [
        "generate",
        "--config",
        config,
        "--output",
        folder,
        "--workers",
        str(setting.workers_of(case)),
        "--runner",
        case.runner,
        "--json",
    ]
    ended = run_process([sys.executable, "-c", COMMAND, *words], environment)
    _must_end_well(ended, case)
    return Run(ended.wall, json.loads(ended.printed)["input_tokens"], ended.peak_mib)


def again(case: Case, folder: Path, setting: Setting) -> Run:
    """The command once more: it must find everything made."""
    data = folder / "data.jsonl"
    before = data.stat().st_mtime_ns
    run = by_command(case, folder, setting)
    if data.stat().st_mtime_ns != before:
        raise SystemExit(f"error: {case.title}: the dataset was written again, this is no unchanged re-run.")
    return run


def _must_end_well(ended: Ended, case: Case) -> None:
    if ended.code:
        raise SystemExit(f"error: {case.title} ended with code {ended.code}; what it said stands above.")


def prepared(case: Case, setting: Setting) -> Path:
    """A folder of the case's own, with what has to lie there before the clock starts."""
    folder = setting.scratch / case.key
    folder.mkdir()
    if case.before == "command":
        by_command(case, folder, setting)
    elif case.before:
        in_child(case.before, case, folder, setting)
    return folder


def run_once(case: Case, folder: Path, setting: Setting) -> Run:
    if case.work == "command":
        return again(case, folder, setting)
    if case.work == "first command":
        own = folder / "set"
        try:
            return by_command(case, own, setting)
        finally:
            shutil.rmtree(own, ignore_errors=True)
    if case.before:
        return in_child(case.work, case, folder, setting)
    with tempfile.TemporaryDirectory(dir=setting.scratch, prefix=f"{case.key}-") as fresh:
        return in_child(case.work, case, Path(fresh), setting)


def measure(figure: Figure, runs: int, setting: Setting) -> dict[str, Any]:
    """All runs of a figure's cases, as plain data."""
    where = machine()
    folders = [prepared(case, setting) for case in figure.cases]
    results: list[list[Run]] = [[] for _ in figure.cases]
    for _ in range(runs):
        for case, folder, found in zip(figure.cases, folders, results, strict=True):
            found.append(run_once(case, folder, setting))
    for folder in folders:
        shutil.rmtree(folder)
    rows = [as_row(case, found, setting) for case, found in zip(figure.cases, results, strict=True)]
    return {
        "figure": figure.key,
        "runs": runs,
        "cases": rows,
        "comparisons": [compared(each, results[0], results[-1]) for each in figure.comparisons],
        "machine": where,
    }


def as_row(case: Case, found: Sequence[Run], setting: Setting) -> dict[str, Any]:
    seconds = spread([run.seconds for run in found])
    tokenizer = setting.tokenizer_of(case)
    return {
        "case": case.key,
        "title": case.title,
        "requests": case.requests,
        "mean_input_tokens": case.mean,
        "groups": case.groups,
        "workers": setting.workers_of(case),
        "tokenizer": Path(tokenizer).name,
        "unit": case.unit,
        "count": found[0].count,
        "seconds": seconds,
        "per_second": found[0].count / statistics.median(run.seconds for run in found)
        if case.work not in ("command", "reporting")
        else None,
        "peak_mib": round(max(run.peak_mib for run in found), 1),
        "peaks_mib": [round(run.peak_mib, 1) for run in found],
    }


def compared(comparison: Comparison, first: Sequence[Run], second: Sequence[Run]) -> dict[str, Any]:
    """The comparison of each pair of runs that stood side by side."""
    pairs = list(zip(first, second, strict=True))
    if comparison.how == "seconds ratio":
        values = [own.seconds / other.seconds for own, other in pairs]
    elif comparison.how == "share of the whole":
        values = [100 * run.seconds / run.whole for run in first if run.whole]
    elif comparison.how == "peak ratio":
        values = [own.peak_mib / other.peak_mib for own, other in pairs]
    else:
        values = [own.seconds - other.seconds for own, other in pairs]
    return {"comparison": comparison.key, "title": comparison.title, "how": comparison.how, **spread(values)}


def lines(result: dict[str, Any]) -> list[str]:
    """Rows of the table, then the comparisons."""
    rows = []
    for row in result["cases"]:
        seconds, rate = row["seconds"], row["per_second"]
        each = "–" if rate is None else f"{rate / 1e6:,.2f} M"
        rows.append(
            f"| {row['title']} | {row['count'] / 1e6:,.2f} M {row['unit']} | {seconds['median']:.2f} s "
            f"| {seconds['least']:.2f} – {seconds['most']:.2f} s | {each} | {row['peak_mib']:.0f} MiB |"
        )
    return [*rows, *(f"| {row['title']} | | {in_words(row)} | | |" for row in result["comparisons"])]


def in_words(row: dict[str, Any]) -> str:
    """Median and spread of a comparison, as two cells."""
    if row["how"] == "seconds difference":
        return f"{row['median']:.2f} s | {row['least']:.2f} – {row['most']:.2f} s"
    if row["how"] == "share of the whole":
        return f"{row['median']:.2f} % | {row['least']:.2f} – {row['most']:.2f} %"
    return f"{row['median']:.2f} × | {row['least']:.2f} – {row['most']:.2f} ×"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.generation", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--case", action="append", default=[], metavar="NAME", help="a figure; may be repeated")
    parser.add_argument("--full", action="store_true", help="all figures: an hour or less, 20 GB in the folder")
    parser.add_argument("--list", action="store_true", help="name the figures and end")
    parser.add_argument("--runs", type=int, default=3, help="runs of each case (default 3)")
    parser.add_argument("--workers", type=int, default=2, help="processes that build shards (default 2)")
    parser.add_argument("--tokenizer", default="qwen", help="qwen (default), embedded, or a folder")
    parser.add_argument("--folder", type=Path, help="where datasets are made and removed (default: the system's)")
    parser.add_argument("--shrink", type=int, default=1, help="divide the requests: to try it, not to quote it")
    parser.add_argument("--json", action="store_true", help="one JSON line a figure on stdout, the table on stderr")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(f"{each.key:14}{'full' if each.full else '':6}{each.cases[0].title}" for each in FIGURES))
        return
    shown = sys.stderr if options.json else sys.stdout
    figures = chosen(options.case, options.full)
    tokenizer = tokenizer_path(options.tokenizer)
    where = ", ".join(f"{name} {value}" for name, value in machine().items())
    print(f"{options.runs} runs each, {options.workers} workers; {where}\n\n{HEAD}", file=shown, flush=True)
    with tempfile.TemporaryDirectory(prefix="prefixcache-benchmark-", dir=options.folder) as scratch:
        setting = Setting(Path(scratch).resolve(), tokenizer, options.workers)
        for figure in figures:
            small = Figure(figure.key, tuple(case.shrunk(options.shrink) for case in figure.cases), figure.comparisons)
            result = {**measure(small, options.runs, setting), "shrunk": options.shrink}
            print("\n".join(lines(result)), file=shown, flush=True)
            if options.json:
                print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
