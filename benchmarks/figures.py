"""Which figures there are: the cases behind each, and what is computed from two of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

GROUPS = 10
TARGET = 0.5
FEWEST = 5  # requests a group, that the target can be reached
Work = Literal["plan", "simulate", "generate", "reporting", "validate", "command", "first command"]
How = Literal["seconds ratio", "seconds difference", "share of the whole", "peak ratio"]


@dataclass(frozen=True)
class Case:
    """One kind of work that is measured.

    Args:
        key, title: its name on the command line and in tables.
        work: a function of :mod:`benchmarks.work`; ``first command``, ``command``: the command line through Prefect,
            into a new folder, or once more into the one that it has made.
        runner: of the command line.
        requests: of the dataset. mean: input tokens of a request.
        unit: what is counted. before: work done once, outside of the clock, in the folder that the case then finds.
        workers: processes that build shards; None: what is asked for.
        tokenizer: None: the one that is asked for. settled: its own, so that it never shrinks.
        fixed: all requests are equally long.
    """

    key: str
    title: str
    work: Work
    requests: int
    mean: int = 4096
    groups: int = GROUPS
    unit: str = "input tokens"
    before: str | None = None
    workers: int | None = None
    tokenizer: str | None = None
    settled: bool = False
    fixed: bool = False
    runner: str = "threads"

    def shrunk(self, factor: int) -> Case:
        if self.settled:
            return self
        return replace(self, requests=max(self.requests // factor, FEWEST * self.groups))


@dataclass(frozen=True)
class Comparison:
    """A number from the figure's two cases, run by run: the first against the second."""

    key: str
    title: str
    how: How


@dataclass(frozen=True)
class Figure:
    """What one command measures. ``full``: only asked for by name or with ``--full``."""

    key: str
    cases: tuple[Case, ...]
    comparisons: tuple[Comparison, ...] = ()
    full: bool = False


def dataset(requests: int, mean: int, groups: int, tokenizer: str, *, fixed: bool = False) -> dict[str, Any]:
    """A cold dataset with target 0.5; lengths around ``mean``, so that prefixes differ from request to request."""
    spread = {"mode": "truncated_normal", "min": mean // 4, "max": 2 * mean - mean // 4, "mean": mean, "std": mean // 4}
    return {
        "dataset_id": f"benchmark-{requests}x{mean}",
        "seed": 1,
        "request_count": requests,
        "block_size": 16,
        "tokenizer": {"path": tokenizer},
        "input_length": {"mode": "fixed", "value": mean} if fixed else spread,
        "target": {"hit_ratio": TARGET},
        "prefix": {"group_count": groups},
        "execution": {"mode": "cold"},
    }


def generation(key: str, requests: int, mean: int = 4096, workers: int | None = None) -> Case:
    with_workers = "" if workers is None else f", {workers} worker{'s' if workers > 1 else ''}"
    title = f"generate {requests:,} × {mean:,}{with_workers}"
    return Case(key, title, "generate", requests, mean, workers=workers)


def validation(key: str, requests: int) -> Case:
    return Case(key, f"validate {requests:,} × 4,096", "validate", requests, before="generate")


def rerun(key: str, requests: int, full: bool) -> Figure:
    """The tiny dataset's run is Prefect's start; its embedded tokenizer is loaded in no time."""
    title = f"the same command again, {requests:,} × 4,096"
    own = Case(key, title, "command", requests, before="command")
    tiny = Case(
        *(f"{key}-start", "the same command again, 20 × 64", "command", 20, 64),
        groups=1,
        before="command",
        tokenizer="embedded",
        settled=True,
    )
    beyond = Comparison(f"{key}-beyond", f"{title}: beyond Prefect's start", "seconds difference")
    return Figure(key, (own, tiny), (beyond,), full)


def by_runner(runner: str, workers: int) -> Case:
    title = f"generate 10,000 × 4,096 through Prefect, {runner}, {workers} worker{'s' if workers > 1 else ''}"
    return Case(f"{runner}-{workers}", title, "first command", 10_000, workers=workers, runner=runner)


FIGURES = (
    Figure(
        "plan", (Case("plan", "plan, order, watermarks of 100,000 × 4,096, 100 groups", "plan", 100_000, groups=100),)
    ),
    Figure(
        "simulator",
        (
            Case(
                *("simulator", "the certificate's simulator, 100,000 × 256 block keys", "simulate", 100_000),
                unit="block keys",
                before="keys",
                fixed=True,
            ),
        ),
    ),
    Figure("1k", (generation("1k", 1_000),)),
    Figure("10k", (generation("10k", 10_000),)),
    Figure("validate-10k", (validation("validate-10k", 10_000),)),
    Figure(
        "workers",
        (generation("workers-1", 10_000, workers=1), generation("workers-2", 10_000, workers=2)),
        (Comparison("workers-speedup", "two workers against one", "seconds ratio"),),
    ),
    rerun("rerun-10k", 10_000, full=False),
    Figure(
        "reporting",
        (Case("reporting", "reports of progress while 10,000 × 4,096 are generated", "reporting", 10_000),),
        (Comparison("reporting-share", "reports of progress: share of the wall time", "share of the whole"),),
    ),
    Figure("100k", (generation("100k", 100_000),), full=True),
    Figure(
        "scale",
        (generation("scale-1m", 1_000_000, 1024), generation("scale-100k", 100_000, 1024)),
        (
            Comparison("scale-seconds", "1,000,000 × 1,024 against 100,000 × 1,024: seconds", "seconds ratio"),
            Comparison("scale-peak", "1,000,000 × 1,024 against 100,000 × 1,024: peak RSS", "peak ratio"),
        ),
        full=True,
    ),
    Figure(
        "runners",
        tuple(
            by_runner(*case) for case in (("threads", 1), ("threads", 2), ("threads", 4), ("processes", 2), ("dask", 2))
        ),
        full=True,
    ),
    Figure("validate", (validation("validate", 100_000),), full=True),
    rerun("rerun", 100_000, full=True),
)


def chosen(keys: Iterable[str], full: bool) -> list[Figure]:
    """The figures of these names, or the set.

    Raises:
        SystemExit: no figure has such a name.
    """
    names = list(keys)
    if unknown := sorted(set(names) - {figure.key for figure in FIGURES}):
        known = ", ".join(figure.key for figure in FIGURES)
        raise SystemExit(f"error: no figure is called {', '.join(unknown)}. Remedy: choose from {known}.")
    return [figure for figure in FIGURES if (figure.key in names if names else full or not figure.full)]
