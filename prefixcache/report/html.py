"""The page: one HTML file that needs nothing beside itself, no network and no other file."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from prefixcache.analysis.rundir import RunDirectory
from prefixcache.analysis.verdict import worst_pass
from prefixcache.report.figures import all_figures
from prefixcache.report.formats import count, percent
from prefixcache.report.goodput import goodput_table
from prefixcache.report.particulars import conduct, reproduction
from prefixcache.report.stages import stage_table
from prefixcache.report.strings import STRINGS, Language, named, text
from prefixcache.report.tables import Tables

SYMBOLS = {"exact": "✓", "within_range": "≈", "misfit": "≉", "deviates": "≠", "polluted": "!", "incomplete": "…"}


def render_html(report: dict[str, Any], run: RunDirectory, language: Language) -> str:
    """The report as HTML.

    Args:
        report: ``build.report_of(run)``.
        run: for the figures that need single requests.
        language: of all words but those that a server or the run wrote.
    """
    tables = Tables(report, language)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            lang="zh-CN" if language == "zh" else "en",
            t={key: text(key, language) for key in STRINGS},
            report=report,
            header=_header(report, tables),
            verdict=_verdict(report, tables),
            cards=_cards(report, tables),
            tables=tables,
            conduct=conduct(tables),
            goodput=goodput_table(tables),
            stages=stage_table(tables),
            reproduction=reproduction(tables),
            warnings=_warnings(report, tables),
            figures=all_figures(report, run, language),
            plotly=_plotly(),
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("prefixcache.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _plotly() -> Markup:
    """plotly.js, inlined. It holds no ``</script``, which would end its element."""
    from plotly.offline import get_plotlyjs  # slow to import and needed here only

    return Markup(get_plotlyjs())


def _header(report: dict[str, Any], tables: Tables) -> list[tuple[str, str]]:
    dataset, server, missing = report["dataset"], report["server"], tables.missing
    engines = {str(e.get("engine_name") or e.get("adapter")) for e in server["endpoints"]}
    values = {
        "dataset": dataset["id"],
        "mode": dataset["execution_mode"],
        "requests": f"{count(dataset['request_count'], missing)} · {count(dataset['input_tokens'], missing)} "
        f"{tables.word('tokens')}",
        "dataset_status": report["validation_status"],
        "server": " · ".join(filter(None, (", ".join(sorted(engines)), server["options"]["model"]))) or None,
        "started": server["started_at"],
        "run_status": report["run_status"],
        "section.warnings": count(len(report["warnings"]), missing),
    }
    return [(tables.word(key), missing if value is None else str(value)) for key, value in values.items()]


def _verdict(report: dict[str, Any], tables: Tables) -> dict[str, str]:
    code = report["verdict"]["code"]
    return {
        "code": code,
        "symbol": SYMBOLS[code],
        "title": tables.word(f"verdict.{code}"),
        "text": report["verdict"][f"text_{tables.language}"],
    }


def _cards(report: dict[str, Any], tables: Tables) -> dict[str, str]:
    """The three big numbers of the target's pass, with the deviations between them."""
    main = next(p for p in report["passes"] if p["is_target_pass"])
    missing, target = tables.missing, main["target_hit_ratio"]

    def share(hits: int | None, tokens: int | None, key: str = "of_tokens") -> str:
        if hits is None or tokens is None:
            return missing
        return tables.word(key, hits=count(hits, missing), tokens=count(tokens, missing))

    goal = None if target is None else round(target * main["input_tokens"])
    return {
        "pass": tables.pass_name(main["name"]) if tables.several else "",
        "target": percent(target, missing),
        "target_tokens": share(goal, main["input_tokens"], "goal_tokens"),
        "designed": percent(main["designed_hit_ratio"], missing),
        "designed_tokens": share(main["expected_hit_tokens"], main["input_tokens"]),
        "measured": percent(main["actual_hit_rate"], missing),
        "measured_tokens": share(main["measured_hit_tokens"], main["measured_query_tokens"]),
        "construction": tables.pp(main["construction_deviation"]),
        "runtime": tables.pp(main["runtime_deviation"]),
        "incomplete": tables.word("incomplete_mark") if main["incomplete"] else "",
        "code": worst_pass([main])["verdict"]["code"],
    }


def _warnings(report: dict[str, Any], tables: Tables) -> list[tuple[str, str]]:
    rows = []
    for warning in report["warnings"]:
        where = f" · {tables.pass_name(warning['pass'])}" if warning["pass"] else ""
        label = named("code", warning["code"], tables.language)
        words = warning[f"text_{tables.language}"]
        if warning["source"] == "run":  # the label stands before it already
            words = words.removeprefix(f"{label}：")
        rows.append((label + where, words))
    return rows
