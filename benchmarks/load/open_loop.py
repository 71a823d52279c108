"""Ten thousand requests at 200 a second against the reference engine: lost, late, and how much memory it took.

    python -m benchmarks.load.open_loop [--requests 10000] [--rate 200] [--json]

The whole product runs: dataset, preflight, passes, counters, records. Memory is that of the largest process, for a
quarter of the requests and for all, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import machine, run_process

CONFIG = {
    "input_length": {"mode": "fixed", "value": 128},
    "output_length": {"mode": "fixed", "value": 16},
    "block_size": 16,
    "target": {"hit_ratio": 0.5},
    "prefix": {"group_count": 10},
    "execution": {"mode": "cold", "gating": "none"},
    "routing": {"cache_scope": "global"},
    "seed": 1,
}
HEAD = (
    "| requests | rate, asked → achieved | lost | in flight at most | lag p50 / p99 / most, ms | stalls, longest ms "
    "| largest process |\n|---:|---:|---:|---:|---:|---:|---:|"
)


def measure(requests: int, rate: float, folder: Path) -> dict[str, Any]:
    """One run in this process."""
    from prefixcache.config.load import parse_config
    from prefixcache.load.options import RunOptions
    from prefixcache.load.run import run_benchmark
    from prefixcache.pipeline import generate_prefix_cache_dataset
    from prefixcache.reference.options import EngineOptions
    from prefixcache.reference.process import EngineProcess
    from prefixcache.stages.stage import InProcess

    config = parse_config({**CONFIG, "dataset_id": "open-loop", "request_count": requests})
    generate_prefix_cache_dataset(config, folder / "dataset", InProcess(1))
    with EngineProcess(EngineOptions("embedded", block_size=16, num_blocks=200_000, decode_tps=200)) as engine:
        options = RunOptions(urls=(engine.url,), load=f"poisson:{rate:g}", gating="none")
        summary = run_benchmark(folder / "dataset", folder / "run", options)
    [figures] = json.loads((folder / "run/runtime/performance_metrics.json").read_text())["passes"]
    rows = (folder / "run/runtime/request_results.jsonl").read_bytes().count(b"\n")
    return {
        "requests": requests,
        "rows": rows,
        "failed": summary.failed_requests,
        "lag_s": figures["lag_s"],
        "load": figures["load"],
        "warnings": [warning["code"] for warning in summary.warnings],
    }


def show(found: dict[str, Any], peak_mib: float) -> str:
    lag, load = found["lag_s"], found["load"]
    moments = " / ".join(f"{lag[name] * 1e3:.2f}" for name in ("p50", "p99", "max"))
    stalls = f"{load['sender']['stalls']}, {load['sender']['longest_stall_s'] * 1e3:.1f}"
    lost = found["requests"] - found["rows"] + found["failed"]
    rates = f"{load['asked_rate']:.1f} → {load['achieved_rate']:.1f}"
    peak = load["in_flight_peak"]
    return f"| {found['requests']:,} | {rates} | {lost} | {peak} | {moments} | {stalls} | {peak_mib:.0f} MiB |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of the table")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.here is not None:
        print(json.dumps(measure(chosen.requests, chosen.rate, chosen.here)))
        return
    if not chosen.json:
        print(f"{', '.join(f'{name} {value}' for name, value in machine().items())}\n\n{HEAD}")
    for requests in (chosen.requests // 4, chosen.requests):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "benchmarks.load.open_loop", "--requests", str(requests)]
            done = run_process([*command, "--rate", str(chosen.rate), "--here", folder])
        found = done.answer()
        print(
            json.dumps({**found, "peak_mib": done.peak_mib}) if chosen.json else show(found, done.peak_mib), flush=True
        )


if __name__ == "__main__":
    main()
