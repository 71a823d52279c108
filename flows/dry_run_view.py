"""What a run would take, on the terminal: `prefixcache run --dry-run`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from rich.table import Table

from flows.console import emit_json, note, out, warn
from flows.narrow import without_lines
from flows.run_options import options_of
from prefixcache.errors import InputError
from prefixcache.help.messages import finding_of, language_of, say
from prefixcache.help.words import Language


def tell_dry_run(given: Mapping[str, Any], *, as_json: bool, lang: str = "en") -> None:
    """``given``: the command's parameters, ``dataset`` as a folder."""
    from prefixcache.load.preflight.dry_run import dry_run

    facts = dry_run(given["dataset"], options_of(given))
    check, language = facts["server_check"], language_of(lang)
    misfits = [c for c in check["contradictions"] if c["severity"] == "error"]
    if as_json:
        emit_json(facts)
    else:
        _show(facts, check, misfits, language)
    if misfits:  # as the run itself would end; that a server does not answer yet is no misfit
        raise typer.Exit(InputError.exit_code)


def _show(facts: dict[str, Any], check: dict[str, Any], misfits: list[dict[str, Any]], language: Language) -> None:
    show_facts(facts, language)
    if error := check["error"]:
        _tell_misfit(error["message"], error.get("remedy"), language)
    for each in misfits[1:]:
        _tell_misfit(each["text"], each["remedy"], language)
    warn([entry["message"] for entry in check["warnings"]])
    for text in check["notes"]:
        note(text)


def _tell_misfit(message: str, remedy: str | None, language: Language) -> None:
    told = say("remedy", language, text=finding_of(remedy or "", language))
    warn([f"{finding_of(message, language)}{'。' if language == 'zh' else '. '}{told}"])


def show_facts(facts: dict[str, Any], language: str = "en") -> None:
    """What a run would take, a line per figure and a block per pass."""
    lang = language_of(language)
    seconds = facts["estimated_time"]["seconds"]
    time = say("run.time_unknown", lang) if seconds is None else say("run.about", lang, seconds=f"{seconds:,.0f}")
    if seconds == 0:
        time = say("run.overhead_only", lang)
    assumption = finding_of(facts["estimated_time"]["assumption"], lang)
    what = {name: facts[name] for name in ("execution_mode", "concurrency", "load", "gating")}
    how = "run.how" if facts["load"] == f"closed:{facts['concurrency']}" else "run.how_load"
    out.print(f"[bold]{facts['dataset_id']}[/]  {say(how, lang, **what)}", soft_wrap=True)
    out.print(say("run.time", lang, time=time, assumption=assumption), soft_wrap=True)
    names = ("requests", "warmup", "input_tokens", "output_tokens", "expected_hits", "kv_tokens", "chain")
    table = Table(*(say(f"column.{name}", lang) for name in ("pass", *names)))
    for column in table.columns[1:]:
        column.justify = "right"
    for row in facts["passes"]:
        figures = ("requests", "warmup_requests", "input_tokens", "output_tokens", "expected_hit_tokens")
        table.add_row(row["name"], *(f"{row[name]:,}" for name in figures), f"{row['kv_tokens_needed']:,}",
                      f"{row['longest_chain']} → {row['permitted_mean_concurrency']:.1f}")  # fmt: skip
    out.print(without_lines(table, out.width))
    out.print(f"[dim]{say('run.legend', lang)}[/]", soft_wrap=True)
