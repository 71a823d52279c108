"""`prefixcache plan`: what can be reached and how, without a tokenizer, without Prefect, in a moment."""

from __future__ import annotations

from typing import Any

import typer
from rich.table import Table

from flows.console import emit_json, err, out, reporting_errors, warn
from flows.options import AsJson, Config, Settings, Sources, TokenizerOption

ASSUMPTION = "plan needs no tokenizer: it assumes that nothing stands before or after the text (K = t = 0)"


def plan(
    config: Config,
    tokenizer: TokenizerOption = None,
    source: Sources = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Plan a dataset and print its figures; exit 1 if the target cannot be reached."""
    with reporting_errors(as_json=as_json):
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
            show_plan(report)
            err.print(f"[dim]{ASSUMPTION}[/]", soft_wrap=True)
        if report["status"] == FAIL:
            raise typer.Exit(1)


def show_plan(report: dict[str, Any]) -> None:
    """The plan as a table per group and a line per suggestion."""
    colour = {"PASS": "green", "PASS_WITH_WARNING": "yellow"}.get(report["status"], "red")
    out.print(
        f"[bold]{report['dataset_id']}[/]  [{colour}]{report['status']}[/]  "
        f"target {_percent(report['target_hit_ratio'])}, designed {_percent(report['designed_hit_ratio'])} "
        f"({report['signed_deviation'] * 100:+.4f} pp), "
        f"at most {_percent(report['max_reachable_hit_ratio'])}",
        soft_wrap=True,
    )
    out.print(
        f"{report['request_count']:,} requests, {report['input_tokens']:,} input tokens, "
        f"{report['expected_hit_tokens']:,} expected hits, {report['lanes']} lane{'s' * (report['lanes'] != 1)}"
    )
    table = Table(
        "group", "requests", "input tokens", "expected hits", "ratio", "master prefix", "cold start", "at most"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for group in report["groups"]:
        table.add_row(
            group["group_id"],
            f"{group['request_count']:,}",
            f"{group['input_tokens']:,}",
            f"{group['expected_hit_tokens']:,}",
            _percent(group["designed_hit_ratio"]),
            f"{group['master_prefix_len']:,}",
            f"{group['cold_start_loss']:,}",
            _percent(group["max_reachable_hit_ratio"]),
        )
    out.print(table)
    if report["reason"]:
        out.print(f"[red]why:[/] {report['reason']}", soft_wrap=True)
    for entry in report["suggestions"]:
        mark = "[green]•[/]" if entry["needed"] is not None else "[dim]•[/]"
        out.print(f"{mark} {entry['text']}", soft_wrap=True)


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio * 100:.4f} %"
