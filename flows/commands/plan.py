"""`prefixcache plan`: what can be reached and how, without a tokenizer, without Prefect, in a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from flows.console import emit_json, err, out, reporting_errors, warn
from flows.narrow import without_lines
from flows.options import AsJson, Config, Language, Settings, Sources, TokenizerOption
from flows.size_options import AskedEngine, AskedPages, AskedUrls, ProbeReport, finder_of
from prefixcache.errors import locating
from prefixcache.help.messages import language_of, named, reason_of, say
from prefixcache.help.words import Language as Chosen
from prefixcache.report.formats import signed

if TYPE_CHECKING:
    from prefixcache.config import PrefixCacheDatasetConfig
    from prefixcache.workload.frame import Frame

ASSUMPTION = say("plan.assumption", "en")
Probe = Annotated[
    bool,
    typer.Option(
        "--probe-tokenizer",
        help="Load the tokenizer and count what it, the chat template and prompt.system put around every text.",
    ),
]


def plan(
    config: Config,
    tokenizer: TokenizerOption = None,
    source: Sources = None,
    settings: Settings = None,
    url: AskedUrls = None,
    metrics_url: AskedPages = None,
    engine: AskedEngine = None,
    probe_report: ProbeReport = None,
    probe: Probe = False,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Plan a dataset and print its figures; exit 1 if the target cannot be reached."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.config.load import NO_TOKENIZER, load_config
        from prefixcache.workload.plan import plan_dataset
        from prefixcache.workload.plan_report import FAIL, plan_report
        from prefixcache.workload.shape import NO_FRAME

        sizes = finder_of(url, metrics_url, engine, probe_report)
        loaded = load_config(config, tokenizer=tokenizer, sources=source or (), settings=settings or (), sizes=sizes)
        warnings = [text for text in loaded.warnings if probe or text != NO_TOKENIZER]
        warn(warnings)
        frame = _probed(loaded.config) if probe else NO_FRAME
        with locating(stage="plan_prefixes", dataset_id=loaded.config.dataset_id):
            report = plan_report(loaded.config, plan_dataset(loaded.config, frame=frame))
        report["assumptions"] = [] if probe else [ASSUMPTION]
        report |= {"head_tokens": frame.head, "tail_tokens": frame.tail} if probe else {}
        report["warnings"] = warnings
        if as_json:
            emit_json(report)
        else:
            show_plan(report, chosen)
            key = "plan.frame" if probe else "plan.assumption"
            err.print(f"[dim]{say(key, chosen, head=frame.head, tail=frame.tail)}[/]", soft_wrap=True)
        if report["status"] == FAIL:
            raise typer.Exit(1)


def _probed(config: PrefixCacheDatasetConfig) -> Frame:
    from prefixcache.stages.probe_tokenizer import probe_frame  # loads transformers

    return probe_frame(config)


def show_plan(report: dict[str, Any], lang: Chosen = "en") -> None:
    """The plan as a table per group and a line per suggestion."""
    colour = {"PASS": "green", "PASS_WITH_WARNING": "yellow"}.get(report["status"], "red")
    status = named("status", report["status"], lang)
    out.print(f"[bold]{report['dataset_id']}[/]  [{colour}]{status}[/]  {_verdict(report, lang)}", soft_wrap=True)
    figures = {"requests": "request_count", "tokens": "input_tokens", "hits": "expected_hit_tokens", "lanes": "lanes"}
    key = "plan.sums_one" if report["lanes"] == 1 else "plan.sums"
    out.print(say(key, lang, **{name: f"{report[field]:,}" for name, field in figures.items()}))
    out.print(without_lines(_groups(report["groups"], lang), out.width))
    if report["reason"]:
        out.print(f"[red]{say('plan.why', lang)}[/] {reason_of(report, lang)}", soft_wrap=True)
    for entry in report["suggestions"]:
        mark = "[green]•[/]" if entry["needed"] is not None else "[dim]•[/]"
        out.print(f"{mark} {entry['text'] if lang == 'en' else entry['text_zh']}", soft_wrap=True)


def _verdict(report: dict[str, Any], lang: Chosen) -> str:
    designed, maximum = _percent(report["designed_hit_ratio"]), _percent(report["max_reachable_hit_ratio"])
    if report["target_hit_ratio"] is None:
        return say("plan.without_target", lang, designed=designed, maximum=maximum)
    target, deviation = _percent(report["target_hit_ratio"]), signed(report["signed_deviation"] * 100, 4)
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
