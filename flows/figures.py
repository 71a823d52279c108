"""The three-way figures as Prefect artifacts: a table and the verdict, well under the UI's size limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from prefixcache.help.words import LANGUAGES
from prefixcache.report.slo_curve import SEARCH_HTML, answer


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


def publish_search(report: dict[str, Any], folder: Path) -> None:
    """An SLO search: the curve as a table, one row a point, and the answer with where its page lies."""
    load = report["over"]
    rows = [
        {
            load: point["value"],
            "requests": point["requests"],
            "failed": point["failed"],
            "attainment %": _percent(point["attainment"]),
            "goodput/s": point["goodput"],
            "answered/s": point["request_throughput"],
            "measured hits %": _percent(point["actual_hit_rate"]),
            "meets": point["meets"],
        }
        for point in sorted(report["points"], key=lambda point: point["value"])
    ]
    about = f"Dataset {report['dataset_id']}, SLO {report['slo_text']}"
    create_table_artifact(key="prefixcache-slo-curve", description=about, table=rows)
    texts = [answer(report, language) for language in LANGUAGES]
    texts += [warning["text_en"] for warning in report["warnings"]]
    page = f"Page: `{folder / SEARCH_HTML}`"
    create_markdown_artifact(
        key="prefixcache-slo-answer", description=about, markdown="\n\n".join([f"**{texts[0]}**", *texts[1:], page])
    )


def _percent(ratio: float | None) -> float | str:
    return "not available" if ratio is None else round(ratio * 100, 4)
