"""Seconds and memory of planning, generating and validating, as a Markdown table: `python -m benchmarks.generation`.

Every run is a process of its own, so that no cache of an earlier one helps and its peak memory is its own. The clock
stands around the work alone: start-up and imports are not in it. This parent imports nothing heavy, because a child's
recorded peak would begin at its parent's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RFC = ("rfc_fixed_single_prefix", "rfc_progressive_single_prefix", "rfc_progressive_multi_prefix")
VALIDATED = "rfc_progressive_single_prefix"


@dataclass(frozen=True)
class Measured:
    """One run: seconds of the work, input tokens it went over, peak RSS of the process and of its largest child."""

    seconds: float
    tokens: int
    mib: float


def plan_of(requests: int) -> Callable[[Path, int], int]:
    """Lengths, groups, order, prefixes and watermarks of a cold dataset with 100 groups; returns its input tokens."""
    from prefixcache.config import parse_config
    from prefixcache.workload.plan import plan_dataset

    config = parse_config(
        {
            "dataset_id": "benchmark",
            "request_count": requests,
            "input_length": {"mode": "truncated_normal", "min": 1024, "max": 8192, "mean": 4096, "std": 1024},
            "target": {"hit_ratio": 0.5},
            "prefix": {"group_count": 100},
        }
    )
    return lambda _folder, _workers: int(plan_dataset(config).shape.lengths.sum())


def generate_of(name: str) -> Callable[[Path, int], int]:
    """An RFC example with the embedded tokenizer and the synthetic source, in process; returns its input tokens."""
    from prefixcache.config import load_config
    from prefixcache.pipeline import generate_prefix_cache_dataset
    from prefixcache.stages.stage import InProcess

    config = load_config(ROOT / "examples" / f"{name}.yaml", tokenizer="embedded", sources=["synthetic"]).config

    def work(folder: Path, workers: int) -> int:
        report = generate_prefix_cache_dataset(config, folder, InProcess(workers)).report
        assert report["validation_status"] == "PASS"
        return int(report["input_tokens"])

    return work


def validate_of() -> Callable[[Path, int], int]:
    """All checks over a dataset that lies in the folder; returns its input tokens."""
    from prefixcache.dataset.check import check_dataset

    def work(folder: Path, _workers: int) -> int:
        result = check_dataset(folder)
        assert result["intact"]
        return int(result["input_tokens"])

    return work


@dataclass(frozen=True)
class Case:
    """A row of the table. ``needs_dataset``: it reads one that was generated before, outside of the clock."""

    key: str
    title: str
    prepare: Callable[[], Callable[[Path, int], int]]
    needs_dataset: bool = False


CASES = (
    Case("plan-1k", "plan 1,000 requests, 100 groups", lambda: plan_of(1_000)),
    Case("plan-100k", "plan 100,000 requests, 100 groups", lambda: plan_of(100_000)),
    *(Case(name, f"generate `{name}.yaml`", lambda name=name: generate_of(name)) for name in RFC),  # type: ignore[misc]
    Case("validate", f"validate `{VALIDATED}.yaml`'s dataset", validate_of, needs_dataset=True),
)


def run_case(case: Case, folder: Path, workers: int) -> dict[str, Any]:
    """In the child: do the work once under the clock."""
    work = case.prepare()
    began = time.perf_counter()
    tokens = work(folder, workers)
    seconds = time.perf_counter() - began
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {"seconds": seconds, "tokens": tokens, "mib": max(peaks) / 1024}


def in_child(key: str, folder: Path, workers: int) -> Measured:
    """One run in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.generation", "--case", key, "--folder", str(folder)]
    done = subprocess.run(
        [*command, "--workers", str(workers)], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    return Measured(**json.loads(done.stdout))


def measure(case: Case, runs: int, workers: int, scratch: Path) -> list[Measured]:
    """``runs`` runs, each into a folder of its own; a case that reads a dataset finds it there."""
    if case.needs_dataset:
        folder = scratch / case.key
        in_child(VALIDATED, folder, workers)
        return [in_child(case.key, folder, workers) for _ in range(runs)]
    results = []
    for number in range(runs):
        with tempfile.TemporaryDirectory(dir=scratch, prefix=f"{case.key}-{number}-") as folder:
            results.append(in_child(case.key, Path(folder), workers))
    return results


def row(case: Case, results: list[Measured]) -> str:
    seconds = sorted(result.seconds for result in results)
    middle = statistics.median(seconds)
    rate = results[0].tokens / middle / 1e6
    peak = max(result.mib for result in results)
    return (
        f"| {case.title} | {results[0].tokens / 1e6:.2f} M | {middle:.2f} s | {seconds[0]:.2f} – {seconds[-1]:.2f} s "
        f"| {rate:,.2f} M | {peak:.0f} MiB |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generation", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs per case (default 5)")
    parser.add_argument("--workers", type=int, default=2, help="processes that build shards (default 2)")
    parser.add_argument("--only", default="", help="cases whose key contains this text")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        case = next(case for case in CASES if case.key == options.case)
        print(json.dumps(run_case(case, options.folder, options.workers)))
        return
    print(
        f"{options.runs} runs each, {options.workers} workers, {os.cpu_count()} CPUs, "
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}\n"
    )
    print("| work | input tokens | median | least – most | input tokens per second | peak RSS of one process |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="prefixcache-benchmark-") as scratch:
        for case in CASES:
            if options.only in case.key:
                print(row(case, measure(case, options.runs, options.workers, Path(scratch))), flush=True)


if __name__ == "__main__":
    main()
