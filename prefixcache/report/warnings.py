"""Everything that was odd: what the run warned of, and what only the comparison shows."""

from __future__ import annotations

from typing import Any

from prefixcache.analysis.rundir import RunDirectory
from prefixcache.help.chinese.text import chinese_of
from prefixcache.report.formats import count, percent
from prefixcache.report.strings import LANGUAGES, named, text


def all_warnings(run: RunDirectory, passes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each ``{code, pass, source, text_en, text_zh}``.

    ``source`` is ``run`` (run.json, whose sentences are English; the Chinese text names the code first) or ``report``.
    """
    again = {figures["name"] for figures in passes if _retried(figures)}
    handed_on = run.run.get("warnings") or ()
    found = [_of_run(w) for w in handed_on if w.get("code") != "retried" or w.get("pass") not in again]
    found += _of_files(run)
    for figures in passes:
        found += _of_pass(run, figures)
    return found


def _retried(figures: dict[str, Any]) -> dict[str, Any] | None:
    """What the records tell of requests that were sent again; None: none was, or they do not tell."""
    told: dict[str, Any] = (figures["performance"] or {}).get("retries") or {}
    return told if told.get("requests") else None


def _of_run(warning: dict[str, Any]) -> dict[str, Any]:
    message = str(warning.get("message", ""))
    code = str(warning.get("code", ""))
    return {
        "code": code,
        "pass": warning.get("pass"),
        "source": "run",
        "text_en": message,
        "text_zh": f"{named('code', code, 'zh')}：{chinese_of(message)}",
    }


def _own(code: str, pass_name: str | None, **values: object) -> dict[str, Any]:
    texts = {f"text_{language}": text(f"warn.{code}", language, **values) for language in LANGUAGES}
    return {"code": code, "pass": pass_name, "source": "report", **texts}


def _of_files(run: RunDirectory) -> list[dict[str, Any]]:
    found = []
    if run.broke_off:
        error = run.run.get("error") or {}
        found.append(_own("run_not_complete", None, reason=error.get("message") or run.status))
    status = run.validation.get("validation_status")
    if status not in (None, "PASS"):
        found.append(_own("dataset_status", None, status=status, reason=run.validation.get("reason") or status))
    return found


def _of_pass(run: RunDirectory, figures: dict[str, Any]) -> list[dict[str, Any]]:
    name, found = figures["name"], []
    ratio = figures["actual_hit_rate"]
    if ratio is not None and ratio > 1:
        hits, queries = count(figures["measured_hit_tokens"], "?"), count(figures["measured_query_tokens"], "?")
        found.append(_own("ratio_over_one", name, ratio=percent(ratio, ""), hits=hits, queries=queries))
    off, routes = figures["differing_requests"], figures["routes"]
    if off["count"]:
        numbers = {key: count(off[key], "") for key in ("count", "compared")}
        found.append(_own("requests_differ", name, **numbers))
    if routes["mismatches"]:
        numbers = {"count": count(routes["mismatches"], ""), "known": count(routes["known"], "")}
        found.append(_own("route_mismatch", name, **numbers))
    if again := _retried(figures):
        numbers = {"count": count(again["requests"], ""), "warm": count(again["possibly_warm"], "")}
        found.append(_own("requests_retried", name, **numbers))
    claims = {p.get("name"): p.get("expected_hit_tokens") for p in run.manifest.get("passes") or ()}
    # Of the whole plan, also where a bound of the load sent a part of it.
    claimed, summed = claims.get(name), int(run.expected_column(name).sum())
    if claimed is not None and claimed != summed:
        found.append(_own("manifest_differs", name, claimed=count(claimed, ""), summed=count(summed, "")))
    return found
