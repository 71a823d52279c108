"""`prefixcache plan`: what can be reached and how, without a tokenizer, without Prefect, in a moment."""

from __future__ import annotations

from typing import Any

import typer
from rich.table import Table

from flows.console import emit_json, err, out, reporting_errors, warn
from flows.options import AsJson, Config, Language, Settings, Sources, TokenizerOption
from prefixcache.help.messages import language_of, named, reason_of, say
from prefixcache.help.words import Language as Chosen

ASSUMPTION = say("plan.assumption", "en")


def plan(
    config: Config,
    tokenizer: TokenizerOption = None,
    source: Sources = None,
    settings: Settings = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Plan a dataset and print its figures; exit 1 if the target cannot be reached."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.config import load_config
        from prefixcache.workload.plan import plan_dataset
        from prefixcache.workload.plan_report import FAIL, plan_report

        loaded = load_config(config, tokenizer=tokenizer, sources=source or (), settings=settings or ())
        warn(loaded.warnings)
        report = plan_report(loaded.config, plan_dataset(loaded.config))
        report["assumptions"] = [ASSUMPTION]
        report["warnings"] = list(loaded.warnings)
        if as_json:
            emit_json(report)
        else:
            show_plan(report, chosen)
            err.print(f"[dim]{say('plan.assumption', chosen)}[/]", soft_wrap=True)
        if report["status"] == FAIL:
            raise typer.Exit(1)


def show_plan(report: dict[str, Any], lang: Chosen = "en") -> None:
    """The plan as a table per group and a line per suggestion."""
    colour = {"PASS": "green", "PASS_WITH_WARNING": "yellow"}.get(report["status"], "red")
    status = named("status", report["status"], lang)
    out.print(f"[bold]{report['dataset_id']}[/]  [{colour}]{status}[/]  {_verdict(report, lang)}", soft_wrap=True)
    figures = {"requests": "request_count", "tokens": "input_tokens", "hits": "expected_hit_tokens", "lanes": "lanes"}
    key = "plan.sums_one" if report["lanes"] == 1 else "plan.sums"
    out.print(say(key, lang, **{name: f"{report[field]:,}" for name, field in figures.items()}))
    out.print(_groups(report["groups"], lang))
    if report["reason"]:
        out.print(f"[red]{say('plan.why', lang)}[/] {reason_of(report, lang)}", soft_wrap=True)
    for entry in report["suggestions"]:
        mark = "[green]•[/]" if entry["needed"] is not None else "[dim]•[/]"
        out.print(f"{mark} {entry['text'] if lang == 'en' else entry['text_zh']}", soft_wrap=True)


def _verdict(report: dict[str, Any], lang: Chosen) -> str:
    designed, maximum = _percent(report["designed_hit_ratio"]), _percent(report["max_reachable_hit_ratio"])
    if report["target_hit_ratio"] is None:
        return say("plan.without_target", lang, designed=designed, maximum=maximum)
    target, deviation = _percent(report["target_hit_ratio"]), f"{report['signed_deviation'] * 100:+.4f}"
    return say("plan.verdict", lang, target=target, designed=designed, deviation=deviation, maximum=maximum)


def _groups(groups: list[dict[str, Any]], lang: Chosen) -> Table:
    """A row per group; a column with targets where groups have their own."""
    own = any(group.get("target_hit_ratio") is not None for group in groups)
    names = ["group", "requests", "input_tokens", "expected_hits", *(["target"] if own else []), "ratio"]
    table = Table(*(say(f"column.{name}", lang) for name in (*names, "master_prefix", "cold_start", "at_most")))
    for column in table.columns[1:]:
        column.justify = "right"
    for group in groups:
        table.add_row(
            group["group_id"],
            f"{group['request_count']:,}",
            f"{group['input_tokens']:,}",
            f"{group['expected_hit_tokens']:,}",
            *([_percent(group["target_hit_ratio"])] if own else []),
            _percent(group["designed_hit_ratio"]),
            f"{group['master_prefix_len']:,}",
            f"{group['cold_start_loss']:,}",
            _percent(group["max_reachable_hit_ratio"]),
        )
    return table


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio * 100:.4f} %"
