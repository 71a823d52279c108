"""`prefixcache reorder`: the same prompts in another send order, simulated and proven again."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.console import emit_json, out, reporting_errors
from flows.options import AsJson, DatasetFolder, Language, Output
from prefixcache.help.messages import language_of, named, say
from prefixcache.report.formats import signed


def reorder(
    dataset: DatasetFolder,
    order: Annotated[
        str, typer.Option("--order", help="A flat name such as shuffle, or WITHIN/ACROSS: input_len_asc/interleave.")
    ],
    output: Output,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of the shuffles; default the dataset's.")] = None,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Write a dataset in another send order. Exit 1 if the new order misses the target."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.dataset.reorder import reorder_dataset

        report = reorder_dataset(dataset, output, order, seed=seed)
        if as_json:
            emit_json(report)
        else:
            status = report["validation_status"]
            colour = {"PASS": "green", "PASS_WITH_WARNING": "yellow"}.get(status, "red")
            moved, target = report["reordered"], report.get("target_hit_ratio")
            values = {
                "orders": f"{moved['within_group']}/{moved['across_group']}",
                "designed": f"{report['designed_hit_ratio'] * 100:.4f}",
                "hits": f"{report['expected_hit_tokens']:,}",
                "tokens": f"{report['input_tokens']:,}",
            }
            if target is not None:
                values |= {"target": f"{target * 100:.4f}", "deviation": signed(report["signed_deviation_pp"], 4)}
            figures = say("reorder.without_target" if target is None else "reorder.verdict", chosen, **values)
            out.print(f"[{colour}]{named('status', status, chosen)}[/]  {figures}", soft_wrap=True)
            out.print(say("reorder.proof", chosen))
            out.print(say("generate.dataset", chosen, path=output), soft_wrap=True)
        if report["validation_status"] == "FAIL":
            raise typer.Exit(1)
