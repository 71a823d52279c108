"""The three-way figures as Prefect artifacts: a table and the verdict, well under the UI's size limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact


def publish_figures(report: dict[str, Any], run_dir: Path) -> None:
    """One row per pass, and the verdict with where the HTML lies."""
    dataset = report["dataset"]["id"]
    rows = [
        {
            "dataset": dataset,
            "pass": row["name"],
            "target %": _percent(report["target_hit_ratio"]),
            "designed %": _percent(row["designed_hit_ratio"]),
            "measured %": _percent(row["actual_hit_rate"]),
            "measured − designed pp": _percent(row["runtime_deviation"]),
            "expected hit tokens": row["expected_hit_tokens"],
            "measured hit tokens": row["measured_hit_tokens"],
        }
        for row in report["passes"]
    ]
    create_table_artifact(key="prefixcache-three-way", description=f"Dataset {dataset}", table=rows)
    html = run_dir / "report" / "prefix_cache_report.html"
    create_markdown_artifact(
        key="prefixcache-verdict",
        description=f"Verdict on {dataset}",
        markdown=f"**{report['verdict']['text_en']}**\n\n{report['verdict']['text_zh']}\n\nReport: `{html}`",
    )


def _percent(ratio: float | None) -> float | str:
    return "not available" if ratio is None else round(ratio * 100, 4)
