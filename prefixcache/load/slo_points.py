"""The points of an SLO search: each is one run in a folder of its own, and none is run twice.

``points/concurrency-16/`` is a run directory like any other; ``points/concurrency-16.json`` says for which dataset,
servers and options it was finished. The objective is no part of that: another one is read off the same runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import orjson
import polars as pl

from prefixcache.analysis.rundir import RunDirectory, load_run
from prefixcache.analysis.slo import Slo, goodput
from prefixcache.analysis.slo_search import Bounds, Loads, number, search
from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.engines.snapshot import metrics_source
from prefixcache.errors import InputError
from prefixcache.files import read_json, write_json
from prefixcache.help.messages import say
from prefixcache.help.words import LANGUAGES
from prefixcache.load.options import Progress, ProgressCallback, RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.load.shapes.numbers import LARGEST, MOST_SLOTS

SCHEMA_VERSION = 1
SEARCH_JSON = "search.json"
PER_SLOT = 10
"""Below so many requests per slot, the load's rise and end weigh in."""
Over = Literal["concurrency", "rate"]
_NOT_IN_KEY = ("urls", "metrics_urls", "connection", "slo", "overwrite", "without_prompts", "assumed_prefill_tps",
               "assumed_decode_tps", "variant_dataset", "api_key")  # fmt: skip


@dataclass(slots=True)
class SloPoints:
    """Runs and judges the points of one search.

    Args:
        dataset: folder of the dataset.
        folder: of the search.
        options: of every point's run; concurrency and load are the point's own.
        over: what is varied: the concurrency of a closed loop, or the rate of Poisson arrivals.
        slo: what a request must hold.
        pass_name: the pass that is judged; the target's pass if None.
        max_in_flight: over rates, requests in flight at most.
        progress: as for a run.

    Raises:
        InputError: options that leave nothing to vary.
    """

    dataset: Path
    folder: Path
    options: RunOptions
    over: Over
    slo: Slo
    pass_name: str | None = None
    max_in_flight: int | None = None
    progress: ProgressCallback | None = None
    told: dict[Decimal, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.over not in ("concurrency", "rate"):
            raise InputError(f"{self.over!r} is unknown", field="--over", remedy="Choose concurrency or rate.")
        if self.pass_name is not None and not self.pass_name.strip():
            raise InputError("no pass is named", field="--pass", remedy="Write cold, hot or replay, or leave it out.")
        if self.over == "concurrency" and self.max_in_flight is not None:
            raise InputError(
                "a closed loop is bounded by its concurrency",
                field="--max-in-flight",
                remedy="Leave it out, or search --over rate.",
            )
        if self.max_in_flight is not None and not 1 <= self.max_in_flight <= MOST_SLOTS:
            what = f"{self.max_in_flight} is not 1 to {MOST_SLOTS:,}"
            raise InputError(what, field="--max-in-flight", remedy="Give a number of requests.")
        if self.options.concurrency is not None or self.options.load is not None:
            raise InputError(
                "a search sets the load itself", field="--load", remedy="Leave out the load and the concurrency."
            )

    def measure(self, value: Decimal) -> dict[str, Any]:
        """The figures of a point; it is run unless it was finished before.

        Raises:
            InputError, EnvironmentFailure: as :func:`~prefixcache.load.run.run_benchmark`.
        """
        options = self._options(value)
        name = f"{self.over}-{value.normalize():f}"
        place, mark = self.folder / "points" / name, self.folder / "points" / f"{name}.json"
        key = self._key(options)
        reused = _finished(place, mark, key)
        if not reused:
            mark.unlink(missing_ok=True)
            run_benchmark(self.dataset, place, replace(options, overwrite=True), self._passed_on)
            write_json(mark, {"schema_version": SCHEMA_VERSION, "over": self.over, "value": number(value), "key": key})
        figures = {"value": number(value), "reused": reused, "folder": f"points/{name}", **self._judge(load_run(place))}
        self.told[value] = figures
        self._tell(figures)
        return figures

    def _passed_on(self, event: Progress) -> None:
        """A run's steps; what it says when a pass begins would be said again for every point."""
        if self.progress is not None:
            self.progress(replace(event, note="") if event.phase == "measured" and not event.done else event)

    def _tell(self, figures: dict[str, Any]) -> None:
        if self.progress is None:
            return
        share, rate = figures["attainment"], figures["goodput"]
        note = (
            f"{self.over} {figures['value']:g}: {figures['good_requests']:,} of {figures['requests']:,} requests good"
        )
        if share is not None and rate is not None:
            note += f" ({share:.2%}), {rate:.4g} per second"
        self.progress(Progress("", "point", 1, 1, note=note + (", finished before" if figures["reused"] else "")))

    def _options(self, value: Decimal) -> RunOptions:
        if self.over == "concurrency":
            if value != value.to_integral_value():
                raise _half_a_request(value, "--resolution")
            return replace(self.options, concurrency=int(value))
        return replace(self.options, load=f"poisson:{value.normalize():f}", max_in_flight=self.max_in_flight)

    def _key(self, options: RunOptions) -> str:
        """Digest of everything that makes a point's run what it is; no credentials go in."""
        manifest = read_json(self.dataset / "manifest.json")
        variant = options.variant_dataset
        facts = {
            "dataset": [manifest.get("dataset_digest"), manifest.get("order_digest")],
            "variant": read_json(variant / "manifest.json").get("dataset_digest") if variant else None,
            "urls": [parse_endpoint(url).base for url in options.urls],
            "metrics_urls": [metrics_source(url).label for url in options.metrics_urls],
            "options": {name: _named_only(value) for name, value in asdict(options).items() if name not in _NOT_IN_KEY},
        }
        return hashlib.sha256(orjson.dumps(facts, default=str, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def _judge(self, run: RunDirectory) -> dict[str, Any]:
        name = run.target_pass if self.pass_name is None else self.pass_name
        if name not in run.passes:
            raise InputError(
                f"the dataset has no pass {name!r}", field="--pass", remedy=f"Choose one of {', '.join(run.passes)}."
            )
        entry, counters = run.performance.get(name) or {}, run.counters.get(name) or {}
        rows = run.measured(name).filter(pl.col("status").is_not_null())
        shown = ("request_throughput", "output_token_throughput", "duration_s", "failed")
        return {
            "pass": name,
            "run_status": run.status,
            **goodput(rows.to_dicts(), self.slo, entry.get("duration_s")),
            **{metric: entry.get(metric) for metric in shown},
            **{metric: _spread(entry.get(metric)) for metric in ("ttft_s", "tpot_s", "e2e_s", "lag_s")},
            "permitted_mean_concurrency": (entry.get("chain") or {}).get("permitted_mean_concurrency"),
            "actual_hit_rate": counters.get("actual_hit_rate"),
            "designed_hit_ratio": counters.get("designed_hit_ratio"),
            "residue": (counters.get("residue") or {}).get("detected"),
        }


def _named_only(value: Any) -> Any:
    """Of headers only the names: their values may be credentials."""
    if not isinstance(value, dict):
        return value
    return {name: sorted(each) if name == "headers" else each for name, each in value.items()}


def _spread(found: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: (found or {}).get(name) for name in ("mean", "p50", "p99")}


def _finished(place: Path, mark: Path, key: str) -> bool:
    """The folder holds a run to its end for this very key."""
    try:
        found, run = read_json(mark), read_json(place / "runtime" / "run.json")
    except (OSError, orjson.JSONDecodeError):
        return False
    if not isinstance(found, dict) or not isinstance(run, dict):
        return False
    return found.get("key") == key and bool(run.get("finished_at")) and not run.get("error")


def check_loads(over: Over, bounds: Bounds | Loads) -> None:
    """Could runs have these loads?

    Raises:
        InputError: one is above what a run can have, or half a request.
    """
    given = isinstance(bounds, Loads)
    most = LARGEST if over == "rate" else MOST_SLOTS
    if bounds.high > most:
        raise InputError(
            f"{number(bounds.high)} is above {most:,.0f}, the highest {over}",
            field="--points" if given else "--high",
            remedy="Give a lower one.",
        )
    if isinstance(bounds, Loads) and over == "concurrency":
        for value in bounds.values:
            if value != value.to_integral_value():
                raise _half_a_request(value, "--points")


def _half_a_request(value: Decimal, field_name: str) -> InputError:
    return InputError(f"{value} requests cannot be in flight", field=field_name, remedy="Give a whole number.")


def search_slo(points: SloPoints, bounds: Bounds | Loads, measure: Any = None) -> dict[str, Any]:
    """Search, or measure the given loads, and write ``search.json``.

    Args:
        points: runs and judges a point.
        bounds: where is searched; or the loads that are measured.
        measure: what to call for a point instead of ``points.measure`` (a task that calls it).

    Returns:
        What is written: the objective, the answer (``prefixcache.analysis.slo_search.search``), every point's figures,
        warnings.

    Raises:
        InputError: loads that no run can have.
    """
    run = measure or points.measure
    check_loads(points.over, bounds)

    def attainment(value: Decimal) -> float | None:
        share = run(value)["attainment"]
        return None if share is None else float(share)

    found = search(bounds, attainment)
    figures = {each["value"]: each for each in points.told.values()}
    shown = [{**figures[point["value"]], "meets": point["meets"]} for point in found["points"]]
    report = {
        "schema_version": SCHEMA_VERSION,
        "dataset_id": read_json(points.dataset / "manifest.json").get("dataset_id"),
        "pass": shown[0]["pass"],
        "over": points.over,
        "slo": points.slo.to_json(),
        "slo_text": str(points.slo),
        "attainment": bounds.attainment,
        **{name: number(getattr(bounds, name)) for name in ("low", "high")},
        "resolution": None if isinstance(bounds, Loads) else number(bounds.step),
        "confirm": None if isinstance(bounds, Loads) else bounds.confirm,
        "loads": [number(value) for value in bounds.values] if isinstance(bounds, Loads) else None,
        **found,
        "points": shown,
    }
    report["warnings"] = _warnings(report)
    write_json(points.folder / SEARCH_JSON, report)
    return report


def _warnings(report: dict[str, Any]) -> list[dict[str, Any]]:
    points: Sequence[dict[str, Any]] = report["points"]
    closed = report["over"] == "concurrency"
    seen = {
        "not_monotone": len(report["exceptions"]),
        "gated": sum(closed and (p["permitted_mean_concurrency"] or p["value"]) < p["value"] for p in points),
        "few_requests": sum(closed and p["requests"] < PER_SLOT * p["value"] for p in points),
        "residue": sum(p["residue"] is True for p in points),
    }
    return [
        {"code": code, "count": count,
         **{f"text_{lang}": say(f"search_warning.{code}", lang, count=count) for lang in LANGUAGES}}
        for code, count in seen.items()
        if count
    ]  # fmt: skip
