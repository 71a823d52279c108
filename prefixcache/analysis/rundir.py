"""A run directory as data: what was planned, what was sent, what the server's counters say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from prefixcache.analysis.tables import (
    PLAN_COLUMNS,
    RESULT_COLUMNS,
    SAMPLE_COLUMNS,
    Table,
    empty_table,
    read_table,
)
from prefixcache.errors import InputError
from prefixcache.files import read_json
from prefixcache.schemas.passes import PASSES_OF_MODE
from prefixcache.schemas.versions import check_version


@dataclass(frozen=True)
class RunDirectory:
    """Everything a report is made of. Files that a broken-off run did not write are empty here.

    Args:
        path: the directory.
        manifest, validation: of the dataset.
        plan: one row per request in send order (``PLAN_COLUMNS``).
        results: one row per answer (``RESULT_COLUMNS``); ``results_complete`` is False if the run broke off.
        samples: polled gauges.
        run: run.json.
        counters, performance: pass name → its entry in prefix_cache_metrics.json, performance_metrics.json.
    """

    path: Path
    manifest: dict[str, Any]
    validation: dict[str, Any]
    plan: pl.DataFrame
    results: pl.DataFrame
    samples: pl.DataFrame
    results_complete: bool
    run: dict[str, Any] = field(default_factory=dict)
    counters: dict[str, dict[str, Any]] = field(default_factory=dict)
    performance: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def passes(self) -> tuple[str, ...]:
        """Planned passes in the order in which they run."""
        planned = tuple(str(p["name"]) for p in self.manifest.get("passes") or ())
        mode = str(self.manifest.get("execution_mode"))
        return planned or PASSES_OF_MODE.get(mode) or tuple(self.counters) or ("cold",)

    @property
    def target(self) -> float | None:
        """Target hit ratio, 0-1; None where the dataset has none (replay)."""
        value = self.part("target").get("hit_ratio")
        return None if value is None else float(value)

    @property
    def target_pass(self) -> str:
        """The pass whose ratio the target constrains: hot for ``static_prefix_ratio``, else cold (domain.md 4)."""
        wanted = "hot" if self.part("target").get("semantics") == "static_prefix_ratio" else "cold"
        return wanted if wanted in self.passes else self.passes[0]

    @property
    def status(self) -> str:
        """``complete``, ``partial`` or ``failed``; a run without its run.json, with fewer answers than it tells of or
        without counters is partial."""
        status = str(self.run.get("status") or "partial")
        whole = self.results_complete and not self.lost_answers and self.counters
        return status if whole or status != "complete" else "partial"

    @property
    def lost_answers(self) -> int:
        """Answers that run.json tells of and the results do not hold."""
        told = {str(p.get("name")): p.get("requests") for p in self.run.get("passes") or ()}
        held = dict(self.results.filter(pl.col("phase") == "measured").group_by("pass").len().iter_rows())
        return sum(max(0, n - held.get(name, 0)) for name, n in told.items() if isinstance(n, int))

    @property
    def broke_off(self) -> bool:
        """It did not come to its end, or lost answers since; a run that is partial only because counters are missing
        did."""
        return bool(self.run.get("error")) or not self.run.get("finished_at") or self.lost_answers > 0

    def part(self, name: str) -> dict[str, Any]:
        """A nested part of the manifest, empty if absent."""
        value = self.manifest.get(name)
        return value if isinstance(value, dict) else {}

    @property
    def hit_unit(self) -> int:
        """Tokens in which hits were planned."""
        return int(self.manifest.get("hit_unit") or self.manifest.get("block_size") or 1)

    def expected_column(self, pass_name: str) -> pl.Series:
        """Designed hit tokens of each request in a pass, in send order."""
        own = f"expected_hit_len_{pass_name}"
        if own in self.plan.columns and self.plan[own].null_count() < self.plan.height:
            return self.plan[own]
        return self.plan["expected_hit_len"]

    def sending(self, pass_name: str) -> dict[str, Any] | None:
        """How many requests of how many a finished pass sent, and which bounds of the load kept the others back."""
        found = [entry for entry in self.run.get("passes") or () if entry.get("name") == pass_name]
        sending = found[0].get("sending") if found else None
        return sending if isinstance(sending, dict) else None

    def measured(self, pass_name: str) -> pl.DataFrame:
        """The plan's rows in send order with ``expected`` and the answers of a pass (null where nothing was sent).

        Requests that a bound of the load kept back (its limit, its duration, the end of its shape) are left out.
        """
        answers = self.results.filter((pl.col("pass") == pass_name) & (pl.col("phase") == "measured"))
        answers = answers.unique("request_id", keep="last", maintain_order=True)
        own = answers.drop("pass", "phase", "prefix_group_id", "planned_dp_id", "input_len")
        plan = self.plan.with_columns(self.expected_column(pass_name).alias("expected"))
        limit = (self.run.get("options") or {}).get("limit")
        planned = plan.head(limit) if limit else plan
        rows = planned.join(own, on="request_id", how="left", maintain_order="left")
        sending = self.sending(pass_name)
        if sending and sum((sending.get("unsent") or {}).values()):
            return rows.filter(pl.col("status").is_not_null())
        return rows


def load_run(path: Path) -> RunDirectory:
    """Read a run directory (docs/architecture.md).

    Raises:
        InputError: it is not a run directory, or a file in it cannot be read.
    """
    dataset, runtime = path / "dataset", path / "runtime"
    if not runtime.is_dir() or not (dataset / "manifest.json").is_file():
        raise _not_a_run(path, "it lacks dataset/manifest.json or runtime/")
    plan_file = dataset / "request_metadata.jsonl"
    if not plan_file.is_file():
        raise _not_a_run(path, "dataset/request_metadata.jsonl is missing")
    plan = read_table(plan_file, PLAN_COLUMNS).frame.sort("order_index", maintain_order=True)
    if plan.is_empty():
        raise _not_a_run(path, "dataset/request_metadata.jsonl has no request")
    results, whole = _growing(runtime / "request_results.jsonl", RESULT_COLUMNS)
    samples, _ = _growing(runtime / "metrics_samples.jsonl", SAMPLE_COLUMNS)
    return RunDirectory(
        path=path,
        manifest=_json(dataset / "manifest.json"),
        validation=_json(dataset / "validation_report.json"),
        plan=plan,
        results=results.frame,
        samples=samples.frame,
        results_complete=whole and not results.cut,
        run=_json(runtime / "run.json"),
        counters=_by_pass(_json(runtime / "prefix_cache_metrics.json")),
        performance=_by_pass(_json(runtime / "performance_metrics.json")),
    )


def _growing(path: Path, columns: Any) -> tuple[Table, bool]:
    """A file that a run appends to, or what a broken-off run left of it; the flag says which."""
    if path.is_file():
        return read_table(path, columns), True
    partial = path.with_name(f"{path.name}.partial")
    return (read_table(partial, columns) if partial.is_file() else empty_table(columns)), False


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = read_json(path)
    except orjson.JSONDecodeError:
        raise _not_a_run(path.parent.parent, f"{path.parent.name}/{path.name} is not JSON") from None
    if not isinstance(value, dict):
        return {}
    check_version(path.stem, value, field="run_dir")
    passes = value.get("passes") or []
    if not isinstance(passes, list) or not all(isinstance(entry, dict) for entry in passes):
        raise _not_a_run(path.parent.parent, f"the passes of {path.parent.name}/{path.name} are no list of objects")
    return value


def _by_pass(file: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {str(entry["pass"]): entry for entry in file.get("passes") or () if "pass" in entry}


def _not_a_run(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} is not a readable run directory: {what}" if path.exists() else f"there is no folder {path}",
        field="run_dir",
        remedy="Give the directory that `prefixcache run` wrote (--run-dir).",
        stage="report",
    )
