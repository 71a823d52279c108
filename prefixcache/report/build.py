"""The report of a run directory: ``report/prefix_cache_report.json`` and ``.html`` (RFC 3.3.17-3.3.21, 3.5.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefixcache.analysis.breakdown import domain_rows, endpoint_rows, group_rows
from prefixcache.analysis.comparison import compare_pass
from prefixcache.analysis.rundir import RunDirectory, load_run
from prefixcache.analysis.slo import Slo, parse_slo
from prefixcache.analysis.verdict import judge_pass, worst_pass
from prefixcache.files import write_bytes, write_json
from prefixcache.logs import log, percent
from prefixcache.report.html import render_html
from prefixcache.report.strings import LANGUAGES, language_of
from prefixcache.report.verdict_text import verdict_text
from prefixcache.report.warnings import all_warnings

SCHEMA_VERSION = 1
REPORT_JSON = "prefix_cache_report.json"
REPORT_HTML = "prefix_cache_report.html"
TOP_FIGURES = (
    "target_hit_ratio",
    "designed_hit_ratio",
    "actual_hit_rate",
    "expected_hit_tokens",
    "measured_hit_tokens",
    "measured_query_tokens",
    "construction_deviation",
    "runtime_deviation",
)


def build_prefix_cache_report(run_dir: Path, language: str = "en", slo: str | None = None) -> dict[str, Any]:
    """Write a run's report, as far as the run went.

    Args:
        run_dir: what ``run`` wrote (docs/architecture.md).
        language: ``en`` or ``zh``, of the HTML; the JSON has the verdict and the warnings in both.
        slo: thresholds for goodput (``prefixcache.analysis.slo``); those that the run was given if None.

    Returns:
        The JSON: the same for the same run directory, whatever the language, the machine and the time.

    Raises:
        InputError: not a run directory, an unreadable file, an unknown language, thresholds that cannot be read.
    """
    chosen = language_of(language)
    run = load_run(run_dir)
    report = report_of(run, slo)
    page = render_html(report, run, chosen)
    write_json(run_dir / "report" / REPORT_JSON, report)
    write_bytes(run_dir / "report" / REPORT_HTML, page.encode())
    log("report").info(
        "dataset %s: run %s, verdict %s, target %s, designed %s, measured %s",
        *(report["dataset"]["id"], report["run_status"], report["verdict"]["code"]),
        *(percent(report[name]) for name in TOP_FIGURES[:3]),
    )
    return report


def report_of(run: RunDirectory, slo: str | None = None) -> dict[str, Any]:
    """The report's JSON. Ratios and deviations are numbers (1 percentage point = 0.01), null = not available."""
    limits = slo_of(run, slo)
    passes = [compare_pass(run, name, limits) for name in run.passes]
    for figures in passes:
        figures["verdict"] = judge_pass(run, figures)
    main = next(p for p in passes if p["is_target_pass"])
    status = run.validation.get("validation_status")
    return {
        "schema_version": SCHEMA_VERSION,
        **{name: main[name] for name in TOP_FIGURES},
        "validation_status": status,
        "run_status": run.status,
        "verdict": {
            "code": worst_pass(passes)["verdict"]["code"],
            "pass": worst_pass(passes)["name"],
            **{f"text_{language}": verdict_text(passes, status, language) for language in LANGUAGES},
        },
        "target_pass": main["name"],
        "slo": None if limits is None else limits.to_json(),
        "passes": passes,
        "warnings": all_warnings(run, passes),
        "dataset": _dataset(run),
        "server": _server(run),
        **_breakdowns(run),
        "performance": {name: run.performance.get(name) or _of(passes, name)["performance"] for name in run.passes},
        "residue": _residue(passes),
        "first_request_hit": next((p["first_request_hit"] for p in passes if p["first_request_hit"]), None),
    }


def slo_of(run: RunDirectory, given: str | None) -> Slo | None:
    """The thresholds given now, else those that the run was given, else None."""
    text = (run.run.get("options") or {}).get("slo") if given is None else given
    return None if text is None else parse_slo(str(text))


def _of(passes: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(p for p in passes if p["name"] == name)


def _breakdowns(run: RunDirectory) -> dict[str, list[dict[str, Any]]]:
    groups, domains, endpoints = [], [], []
    facts = run.manifest.get("groups") or []
    known = run.plan["planned_dp_id"].max()
    used = known + 1 if isinstance(known, int) else 1
    cache_domains = max(used, int(run.part("routing").get("cache_domains") or 1))
    for name in run.passes:
        rows, counters = run.measured(name), run.counters.get(name, {})
        groups += group_rows(rows, name, facts)
        domains += domain_rows(rows, name, counters)
        endpoints += endpoint_rows(rows, name, counters, cache_domains)
    return {"groups": groups, "domains": domains, "endpoints": endpoints}


def _dataset(run: RunDirectory) -> dict[str, Any]:
    manifest, validation = run.manifest, run.validation
    tokenizer = run.part("tokenizer")
    return {
        "id": manifest.get("dataset_id"),
        "digest": manifest.get("dataset_digest"),
        "order_digest": manifest.get("order_digest"),
        "generator_version": manifest.get("generator_version"),
        "package_version": manifest.get("package_version"),
        "tokenizer": tokenizer.get("name"),
        "tokenizer_sha256": tokenizer.get("sha256"),
        "embedded_tokenizer": tokenizer.get("embedded"),
        "block_size": manifest.get("block_size"),
        "hit_unit": manifest.get("hit_unit"),
        "seed": manifest.get("seed"),
        "request_count": run.plan.height,
        "input_tokens": int(run.plan["input_len"].sum()),
        "group_count": run.plan["prefix_group_id"].n_unique(),
        "execution_mode": manifest.get("execution_mode"),
        "semantics": run.part("target").get("semantics"),
        "request_order": run.part("request_order"),
        "routing": run.part("routing"),
        "max_reachable_hit_ratio": validation.get("max_reachable_hit_ratio"),
        "certificate_holds": (validation.get("certificate") or {}).get("holds"),
        "validation_reason": validation.get("reason"),
        "prompts_stored": _prompts_stored(run),
    }


def _prompts_stored(run: RunDirectory) -> str:
    """What the run's own dataset folder holds of the prompts: ``both``, ``text``, ``ids`` or ``none``."""
    if (run.run.get("options") or {}).get("without_prompts") is True:
        return "none"
    if run.part("prompt").get("form") == "ids":
        return "ids"
    output = run.part("config").get("output")
    return "text" if isinstance(output, dict) and output.get("prompts") == "text" else "both"


def _server(run: RunDirectory) -> dict[str, Any]:
    options = run.run.get("options") or {}
    load = ("concurrency", "load", "max_in_flight", "duration_s", "limit", "gating")
    shown = ("model", *load, "send", "allow_residue", "timeouts_s", "poll_interval_s", "sampling")
    return {
        "endpoints": run.run.get("servers") or [],
        "options": {name: options.get(name) for name in shown},
        "prefixcache_version": run.run.get("prefixcache_version"),
        "started_at": run.run.get("started_at"),
        "finished_at": run.run.get("finished_at"),
        "error": run.run.get("error"),
    }


def _residue(passes: list[dict[str, Any]]) -> dict[str, Any]:
    """Over all passes: true if one has it, false if one was found clean and none has it, else null."""
    states = [p["residue"]["detected"] for p in passes]
    return {
        "detected": True if True in states else False if False in states else None,
        "evidence": [text for p in passes for text in p["residue"]["evidence"]],
    }
