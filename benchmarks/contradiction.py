"""A server that says 16 and matches in 32: what the probe names, what the preflight predicts, what a run measures.

    python -m benchmarks.contradiction

The figures of README's section on servers. The reference engine, its embedded tokenizer, no network.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from prefixcache.config.load import parse_config
from prefixcache.load.options import RunOptions
from prefixcache.load.preflight.dry_run import dry_run
from prefixcache.load.preflight.options import PreflightOptions
from prefixcache.load.run import run_benchmark
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.run import probe_server
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.stages.stage import InProcess

SAYS, MATCHES_IN = 16, 32
CONFIG: dict[str, Any] = {
    "dataset_id": "d",
    "request_count": 40,
    "block_size": SAYS,
    "input_length": {"mode": "uniform", "min": 200, "max": 900},
    "target": {"hit_ratio": 0.5},
}


def figures(folder: Path) -> dict[str, Any]:
    """The unit as probed, and hit ratios (0-1) of a dataset planned for what the server says."""
    dataset, run, report = folder / "dataset", folder / "run", folder / "probe.json"
    generate_prefix_cache_dataset(parse_config(CONFIG), dataset, InProcess(1))
    with EngineProcess(EngineOptions("embedded", block_size=SAYS, hit_unit=MATCHES_IN)) as engine:
        probed = probe_server(ProbeOptions(engine.url))
        report.write_text(json.dumps(probed.to_json()))
        options = RunOptions(urls=(engine.url,), checks=PreflightOptions(allow_misfit=True, probe_report=report))
        check = dry_run(dataset, options)["server_check"]
        run_benchmark(dataset, run, options)
    counted = json.loads((run / "runtime" / "prefix_cache_metrics.json").read_text())["passes"][0]
    return {
        "stated_block_size": probed.value("block_size"),
        "hit_unit": probed.value("hit_unit"),
        "designed": counted["designed_hit_ratio"],
        "predicted": check["combined"]["predicted_hit_ratio"],
        "measured": counted["actual_hit_rate"],
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        found = figures(Path(home))
    print(f"the server says {found['stated_block_size']}, the probe measures {found['hit_unit']}")
    for name in ("designed", "predicted", "measured"):
        print(f"{name:<9} {found[name]:.2%}")


if __name__ == "__main__":
    main()
