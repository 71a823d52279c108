"""How a simulation is shown on the terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from flows.console import out
from prefixcache.help.messages import named, say
from prefixcache.help.words import Language
from prefixcache.report.formats import signed


def show_trace(report: dict[str, Any], lang: Language) -> None:
    """One row per size of the cache."""
    _head(report, lang)
    names = ("num_blocks", "requests", "blocks", "hit_blocks", "block_ratio", "input_tokens", "hit_tokens", "ratio")
    table = _table(names, lang, left=0)
    for row in report["results"]:
        table.add_row(
            _size(row["num_blocks"], lang),
            *(f"{row[name]:,}" for name in ("requests", "blocks", "hit_blocks")),
            _percent(row["block_hit_ratio"]),
            *(f"{row[name]:,}" for name in ("input_tokens", "hit_tokens")),
            _percent(row["token_hit_ratio"]),
        )
    out.print(table)
    if "sweep" in report:
        _show_sweep(report["sweep"], "", lang)


def show_dataset(report: dict[str, Any], lang: Language) -> None:
    """Per pass a row in total, per group and per domain."""
    out.print(f"[bold]{report['dataset_id']}[/]", soft_wrap=True)
    _head(report, lang)
    names = ("part", "requests", "input_tokens", "expected_hits", "designed", "hit_tokens", "ratio", "evicted")
    for figures in report["passes"]:
        table = _table(names, lang, left=1)
        name = named("pass_name", figures["name"], lang)
        _add(table, say("simulate.total", lang, name=name), figures)
        for group in figures["groups"]:
            _add(table, group["group_id"], group)
        if len(figures["domain_figures"]) > 1:
            for domain in figures["domain_figures"]:
                _add(table, say("simulate.domain", lang, number=domain["domain"]), domain)
        out.print(table)
        _show_usage(figures, lang)
        if "tiers" in figures:
            _show_tiers(figures, lang)
    if "like" in report:
        _show_like(report["like"], lang)
    for sweep in report.get("sweeps", []):
        _show_sweep(sweep, named("pass_name", sweep["name"], lang), lang)


def show_clocked(report: dict[str, Any], lang: Language) -> None:
    """Per pass three ways to know its hits, the measured one last."""
    out.print(f"[bold]{report['dataset_id']}[/]", soft_wrap=True)
    size = _size(report["num_blocks"], lang)
    head = say("simulate.head_of_run", lang, engine=report["engine"], block_size=report["block_size"])
    out.print(head + say("simulate.size", lang, size=size), soft_wrap=True)
    names = ("how", "input_tokens", "hit_tokens", "ratio", "off_measured", "requests_off", "evicted")
    for figures in report["passes"]:
        table = _table(names, lang, left=1)
        table.title = named("pass_name", figures["name"], lang)
        tokens = f"{figures['input_tokens']:,}"
        for way, title, evicted in (
            ("event", "simulate.event", "evicted_blocks"),
            ("led", "simulate.led", "led_evicted_blocks"),
        ):
            table.add_row(
                say(title, lang),
                tokens,
                f"{figures[f'{way}_hit_tokens']:,}",
                _percent(figures[f"{way}_hit_ratio"]),
                _points(figures[f"{way}_deviation_pp"], lang),
                _count(figures[f"{way}_requests_off"]),
                f"{figures[evicted]:,}",
            )
        queries, hits = (_count(figures[f"measured_{name}_tokens"]) for name in ("query", "hit"))
        table.add_row(say("simulate.measured", lang), queries, hits, _percent(figures["measured_hit_ratio"]))
        out.print(table)
        told, all_of = f"{figures['told_requests']:,}", f"{figures['request_count']:,}"
        out.print(say("simulate.told", lang, told=told, requests=all_of), soft_wrap=True)


def _show_tiers(figures: dict[str, Any], lang: Language) -> None:
    table = _table(("tier", "queries", "hit_tokens", "ratio"), lang, left=1)
    for row in figures["tiers"]:
        cells = (f"{row['query_tokens']:,}", f"{row['hit_tokens']:,}", _percent(row["hit_ratio"]))
        table.add_row(named("tier", row["tier"], lang), *cells)
    total = (f"{figures['input_tokens']:,}", f"{figures['hit_tokens']:,}", _percent(figures["token_hit_ratio"]))
    table.add_row(say("simulate.all_tiers", lang), *total)
    out.print(table)


def _show_like(like: dict[str, Any], lang: Language) -> None:
    parts = [
        say(
            "simulate.sourced",
            lang,
            name=row["name"],
            value=_size(row["value"], lang) if row["name"] == "num_blocks" else row["value"],
            source=named("source", row["source"], lang),
        )
        for row in like["parameters"]
    ]
    out.print(say("simulate.like", lang, parameters=say("list", lang).join(parts)), soft_wrap=True)
    if (pace := like["pace"]) is not None:
        out.print(
            say(
                "simulate.pace",
                lang,
                step=f"{pace['step_s'] * 1e3:.3g}",
                token=f"{pace['token_s'] * 1e6:.3g}",
                delay=f"{pace['delay_s'] * 1e3:.3g}",
                spacing=f"{pace['spacing_s'] * 1e3:.3g}",
                error=f"{pace['time_error'] * 100:.1f}",
                default=f"{pace['default_time_error'] * 100:.1f}",
                order=f"{pace['order_agreement'] * 100:.2f}",
            ),
            soft_wrap=True,
        )
    for row in like["measured"]:
        name = named("pass_name", row["name"], lang)
        ratio, points = _percent(row["hit_ratio"]), _points(row["deviation_pp"], lang)
        out.print(say("simulate.beside", lang, name=name, ratio=ratio, deviation=points), soft_wrap=True)


def _points(value: float | None, lang: Language) -> str:
    return "–" if value is None else f"{signed(value, 4)} {say('simulate.pp', lang)}"


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _head(report: dict[str, Any], lang: Language) -> None:
    key = "simulate.head_one" if report["domains"] == 1 else "simulate.head"
    words = say(key, lang, **{name: report[name] for name in ("engine", "block_size", "domains", "routing")})
    if "num_blocks" in report:
        words += say("simulate.size", lang, size=_size(report["num_blocks"], lang))
    if report.get("concurrency", 1) > 1:
        words += say("simulate.flight", lang, concurrency=report["concurrency"], gating=report["gating"])
    out.print(words, soft_wrap=True)


def _add(table: Table, name: str, figures: dict[str, Any]) -> None:
    designed = figures["expected_hit_tokens"]
    table.add_row(
        name,
        f"{figures['request_count']:,}",
        f"{figures['input_tokens']:,}",
        "–" if designed is None else f"{designed:,}",
        _percent(figures["designed_hit_ratio"]),
        f"{figures['hit_tokens']:,}",
        _percent(figures["token_hit_ratio"]),
        f"{figures['evicted_blocks']:,}",
    )


def _show_usage(figures: dict[str, Any], lang: Language) -> None:
    if not figures["usage"]:
        return
    most, last = max(point["used_blocks"] for point in figures["usage"]), figures["usage"][-1]
    share = "" if last["used_share"] is None else f" ({_percent(last['used_share'])})"
    out.print(say("simulate.usage", lang, most=f"{most:,}", last=f"{last['used_blocks']:,}", share=share))
    if figures["in_flight"] is not None:
        out.print(say("simulate.preemptions", lang, count=f"{figures['in_flight']['preemptions']:,}"))


def _show_sweep(sweep: dict[str, Any], name: str, lang: Language) -> None:
    title = f"{name}  " if name else ""
    ratio, tokens = _percent(sweep["ideal_token_hit_ratio"]), f"{sweep['ideal_hit_tokens']:,}"
    how = named("method", sweep["method"], lang)
    out.print(f"{title}{say('simulate.ideal', lang, ideal=ratio, tokens=tokens)}  [dim]{how}[/]", soft_wrap=True)
    table = _table(("num_blocks", "hit_tokens", "ratio", "of_ideal"), lang, left=0)
    shares = [(row["num_blocks"], f"{row['share']:.0%}") for row in sweep["needed"]]
    rows = {row["num_blocks"]: row for row in [*sweep["points"], *sweep["needed"]]}
    for blocks in sorted(rows):
        row = rows[blocks]
        share = row["hit_tokens"] / sweep["ideal_hit_tokens"] if sweep["ideal_hit_tokens"] else None
        met = say("list", lang).join(share for needed, share in shares if needed == blocks)
        mark = say("simulate.needed", lang, share=met) if met else ""
        cells = (f"{blocks:,}", f"{row['hit_tokens']:,}", _percent(row["token_hit_ratio"]), f"{_percent(share)}{mark}")
        table.add_row(*cells, style="bold" if mark else None)
    out.print(table)


def _table(names: tuple[str, ...], lang: Language, *, left: int) -> Table:
    """``left``: columns that are texts."""
    table = Table(*(say(f"column.{name}", lang) for name in names))
    for column in table.columns[left:]:
        column.justify = "right"
    return table


def _size(blocks: int | str, lang: Language) -> str:
    return f"{blocks:,}" if isinstance(blocks, int) else say("simulate.unbounded", lang)


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio * 100:.4f} %"
