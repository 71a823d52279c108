"""`prefixcache explain`: what a key, field, code or status means."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from flows.console import emit_json, out, reporting_errors
from flows.options import AsJson, Language
from prefixcache.help.messages import language_of, say


def explain(
    name: Annotated[
        str | None, typer.Argument(help="Configuration key, field, metric, exit code, warning or status.")
    ] = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Explain a name; without one list everything that can be explained."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        at = 0 if chosen == "en" else 1
        from prefixcache.help.entries import TOPICS, all_entries, find

        found = list(all_entries()) if name is None else find(name)
        if as_json:
            emit_json({"entries": [entry.to_json() for entry in found]})
            return
        if name is not None:
            for entry in found:
                out.print(Text.assemble((entry.name, "bold"), "  ", (TOPICS[entry.topic][at], "dim")), soft_wrap=True)
                out.print(f"  {entry.words.text(chosen)}", soft_wrap=True, markup=False)
                for label, value in entry.facts(chosen):
                    out.print(Text.assemble("  ", (label + say("colon", chosen), "dim"), value), soft_wrap=True)
            return
        for topic, words in TOPICS.items():
            table = Table(title=words[at], title_justify="left", box=None, padding=(0, 2, 0, 0), show_header=False)
            for entry in (e for e in found if e.topic == topic):
                table.add_row(Text(entry.name, style="bold"), Text(entry.words.text(chosen)))
            out.print(table)
        out.print(f"[dim]{say('explain.listing', chosen)}[/]")
