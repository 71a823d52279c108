"""`prefixcache validate`: recompute everything a dataset claims, from its files."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.console import emit_json, out, reporting_errors
from flows.options import AsJson, DatasetPlace, Language
from prefixcache.help.messages import finding_of, language_of, named, note_of, say


def validate(
    dataset: DatasetPlace,
    tokenizer: Annotated[
        str | None, typer.Option("--tokenizer", help="Re-encode with this one instead of the dataset's own.")
    ] = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Check a dataset: counts, lengths, digests, order, seams, certificate. Exit 1 if it is damaged or FAIL."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.dataset.check import check_dataset
        from prefixcache.stages.fetch import here

        backend = None
        if tokenizer is not None:
            from prefixcache.config.content import TokenizerConfig
            from prefixcache.content.tokenizer import load_tokenizer

            backend = load_tokenizer(TokenizerConfig(path=tokenizer)).backend
        result = check_dataset(here(dataset, "--dataset"), backend)
        if as_json:
            emit_json(result)
        else:
            for check in result["checks"]:
                mark = "[green]✓[/]" if check["ok"] else "[red]✗[/]"
                out.print(f"{mark} {named('check', check['name'], chosen)}  [dim]{note_of(check, chosen)}[/]")
                for problem in check.get("problems", []):
                    out.print(f"    {finding_of(problem, chosen)}", soft_wrap=True, markup=False)
                hidden = check.get("problem_count", 0) - len(check.get("problems", []))
                if hidden > 0:
                    out.print(f"    {say('validate.more', chosen, count=hidden)}")
            colour = {"PASS": "green", "PASS_WITH_WARNING": "yellow"}.get(result["validation_status"], "red")
            state = say("validate.intact", chosen) if result["intact"] else f"[red]{say('validate.damaged', chosen)}[/]"
            colon, comma = say("colon", chosen), say("comma", chosen)
            status = named("status", result["validation_status"], chosen)
            out.print(f"[bold]{result['dataset_id']}[/]{colon}{state}{comma}[{colour}]{status}[/]")
        if not result["intact"] or result["validation_status"] == "FAIL":
            raise typer.Exit(1)
