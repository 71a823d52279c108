"""Paired comparison of runs, or of the passes of one run (RFC 3.3.20, compare mode)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prefixcache.analysis.comparison import compare_pass
from prefixcache.analysis.paired.bootstrap import Draws, Interval, ratio_intervals, throughput_interval
from prefixcache.analysis.paired.differences import differences
from prefixcache.analysis.paired.pairs import Side, pair
from prefixcache.analysis.rundir import RunDirectory, load_run
from prefixcache.errors import InputError
from prefixcache.help.messages import say
from prefixcache.help.words import LANGUAGES

SCHEMA_VERSION = 1
METRICS = ("ttft_s", "tpot_s", "e2e_s")
PERCENTILES = (50.0, 90.0, 99.0)
MOST_RESAMPLES = 100_000
FEW = 30
"""Below so many pairs bootstrap intervals are too narrow more often than they say."""


def compare_runs(
    run_dirs: Sequence[Path],
    labels: Sequence[str] = (),
    draws: Draws = Draws(),
) -> dict[str, Any]:
    """Compare every run with the first one, pass by pass; of one run its second pass with its first.

    Passes of the same name are compared; where two runs share none (a warm and a cold dataset), the passes that their
    targets constrain.

    Args:
        run_dirs: what ``run`` wrote.
        labels: names for them, in their order; the folders' names where there are none.
        draws: of the bootstrap.

    Returns:
        ``comparisons[]``: per pair of passes the pairing, speed-ups (baseline / candidate for latencies, candidate /
        baseline for throughput: above 1 the candidate is faster) with intervals, hit ratios, and what differs.

    Raises:
        InputError: one run with one pass, labels that do not fit, a run that cannot be read, a bad number.
    """
    _check(run_dirs, labels, draws)
    runs = [load_run(path) for path in run_dirs]
    names = _labels(run_dirs, labels)
    return {
        "schema_version": SCHEMA_VERSION,
        "runs": [_told(run, name) for run, name in zip(runs, names, strict=True)],
        "bootstrap": asdict(draws),
        "comparisons": [_compare(*sides, draws) for sides in _sides(runs, names)],
    }


def _check(run_dirs: Sequence[Path], labels: Sequence[str], draws: Draws) -> None:
    if not run_dirs:
        raise InputError("no run is given", field="--run", remedy="Give the folders of one or more runs.")
    places = [path.resolve() for path in run_dirs]
    if twice := next((path for path, place in zip(run_dirs, places, strict=True) if places.count(place) > 1), None):
        raise InputError(
            f"{twice} is given twice", field="--run", remedy="Give another run, or one run alone to compare its passes."
        )
    if labels and (len(labels) != len(run_dirs) or len(set(labels)) != len(labels)):
        raise InputError(
            f"{len(labels)} labels ({len(set(labels))} different) stand beside {len(run_dirs)} runs",
            field="--label",
            remedy="Give one for each --run, in the same order, or none.",
        )
    if not 1 <= draws.resamples <= MOST_RESAMPLES:
        raise InputError(
            f"{draws.resamples} is not 1 to {MOST_RESAMPLES:,}", field="--resamples", remedy="Give e.g. 2000."
        )
    if not 0 < draws.confidence < 1:
        raise InputError(f"{draws.confidence} is not between 0 and 1", field="--confidence", remedy="Give e.g. 0.95.")


def _labels(run_dirs: Sequence[Path], labels: Sequence[str]) -> list[str]:
    if labels:
        return list(labels)
    names = [path.resolve().name for path in run_dirs]
    return names if len(set(names)) == len(names) else [f"{n} {name}" for n, name in enumerate(names, 1)]


def _sides(runs: Sequence[RunDirectory], names: Sequence[str]) -> list[tuple[Side, Side]]:
    first = runs[0]
    if len(runs) == 1:
        if len(first.passes) < 2:
            raise InputError(
                f"{first.path} has one pass, {first.passes[0]}, and stands alone",
                field="--run",
                remedy="Give a second --run, or a run of a compare dataset, which has a cold and a hot pass.",
            )
        return [(Side(names[0], first, first.passes[0]), Side(names[0], first, other)) for other in first.passes[1:]]
    found = []
    for run, name in zip(runs[1:], names[1:], strict=True):
        shared = [p for p in first.passes if p in run.passes]
        pairs = [(p, p) for p in shared] or [(first.target_pass, run.target_pass)]
        found += [(Side(names[0], first, one), Side(name, run, other)) for one, other in pairs]
    return found


def _told(run: RunDirectory, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "dataset_id": run.manifest.get("dataset_id"),
        "execution_mode": run.manifest.get("execution_mode"),
        "run_status": run.status,
        "passes": list(run.passes),
        "started_at": run.run.get("started_at"),
    }


def _compare(baseline: Side, candidate: Side, draws: Draws) -> dict[str, Any]:
    found = pair(baseline, candidate)
    result = {
        "baseline": {"label": baseline.label, "pass": baseline.pass_name},
        "candidate": {"label": candidate.label, "pass": candidate.pass_name},
        "paired_by": found.paired_by,
        "pairing": found.counts,
        "speedups": {metric: _speedup(found.both, metric, draws) for metric in METRICS},
        "throughput": _throughput(baseline, candidate, draws),
        "hit_ratio": _hits(baseline, candidate),
        "differences": differences(baseline, candidate),
    }
    return result | {"warnings": _warnings(result, baseline, candidate)}


def _speedup(both: pl.DataFrame, metric: str, draws: Draws) -> dict[str, Any]:
    """Ratios of the mean and of percentiles over the pairs in which both latencies are known."""
    known = both.select(metric, f"{metric}_right").drop_nulls()
    first, second = known[metric].to_numpy(), known[f"{metric}_right"].to_numpy()
    names = ("mean", *(f"p{p:.0f}" for p in PERCENTILES))
    if not len(first):
        return {"pairs": 0, "baseline_s": None, "candidate_s": None, **dict.fromkeys(names)}
    values = [[float(v.mean()), *(float(p) for p in np.percentile(v, PERCENTILES))] for v in (first, second)]
    intervals = ratio_intervals(first, second, PERCENTILES, draws)
    ratios = {
        name: _ratio(a / b if b else None, interval)
        for name, a, b, interval in zip(names, *values, intervals, strict=True)
    }
    own = [dict(zip(names, each, strict=True)) for each in values]
    return {"pairs": len(first), "baseline_s": own[0], "candidate_s": own[1], **ratios}


def _ratio(value: float | None, interval: Interval) -> dict[str, Any]:
    known = value is not None
    return {
        "ratio": value,
        "low": interval.low if known else None,
        "high": interval.high if known else None,
        "method": interval.method,
    }


def _throughput(baseline: Side, candidate: Side, draws: Draws) -> dict[str, Any]:
    """Answered requests and output tokens per second, of the passes as wholes: pairs have no throughput."""
    passes = [side.run.performance.get(side.pass_name) or {} for side in (baseline, candidate)]
    interval = throughput_interval(_gaps(baseline), _gaps(candidate), draws)
    found = {}
    for name in ("request_throughput", "output_token_throughput"):
        first, second = (each.get(name) for each in passes)
        ratio = second / first if first and second is not None else None
        known = interval if name == "request_throughput" else Interval(None, None, "block")
        found[name] = {"baseline": first, "candidate": second, **_ratio(ratio, known)}
    return found


def _gaps(side: Side) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Seconds between completions of answered requests."""
    rows = side.run.measured(side.pass_name)
    ends = rows.filter(pl.col("status") == "ok")["last_token_s"].drop_nulls().sort().to_numpy()
    return np.diff(ends, prepend=0.0)


def _hits(baseline: Side, candidate: Side) -> dict[str, Any]:
    """Designed and measured hit ratios and candidate − baseline, as ratios (0.01 is one percentage point)."""
    first, second = (compare_pass(side.run, side.pass_name) for side in (baseline, candidate))
    found = {}
    for name, key in (
        ("designed", "designed_hit_ratio"),
        ("measured", "actual_hit_rate"),
        ("usage", "client_hit_ratio"),
    ):
        a, b = first[key], second[key]
        found[name] = {"baseline": a, "candidate": b, "difference": None if a is None or b is None else b - a}
    return found


def _warnings(result: dict[str, Any], baseline: Side, candidate: Side) -> list[dict[str, Any]]:
    """What speaks against reading the ratios as they stand."""
    counts = result["pairing"]
    seen = {
        "no_pairs": not counts["pairs"],
        "unpaired": counts["only_in_baseline"] + counts["only_in_candidate"],
        "not_answered": counts["not_answered_in_baseline"] + counts["not_answered_in_candidate"],
        "retried": counts["retried"],
        "other_input_len": counts["other_input_len"],
        "other_output_len": counts["other_output_len"],
        "few_pairs": 0 if counts["pairs"] >= FEW or not counts["pairs"] else counts["pairs"],
    }
    return [
        *(_worded(code, int(number)) for code, number in seen.items() if number),
        *_not_complete(baseline, candidate),
    ]


def _not_complete(baseline: Side, candidate: Side) -> list[dict[str, Any]]:
    """Runs that failed, and runs that are partial, by their labels."""
    runs = {id(side.run): side for side in (baseline, candidate)}.values()
    found = []
    for status in ("failed", "partial"):
        if labels := [side.label for side in runs if side.run.status == status]:
            found.append(_worded(f"run_{status}", len(labels), runs=", ".join(labels)))
    return found


def _worded(code: str, count: int, **more: str) -> dict[str, Any]:
    texts = {f"text_{lang}": say(f"compare_warning.{code}", lang, count=f"{count:,}", **more) for lang in LANGUAGES}
    return {"code": code, "count": count, **texts}
