"""`prefixcache reorder`: the same prompts in another send order, simulated and proven again."""

from __future__ import annotations

from typing import Annotated

import typer

from flows.console import emit_json, out, reporting_errors
from flows.options import AsJson, DatasetFolder, Output


def reorder(
    dataset: DatasetFolder,
    order: Annotated[
        str, typer.Option("--order", help="A flat name such as shuffle, or WITHIN/ACROSS: input_len_asc/interleave.")
    ],
    output: Output,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of the shuffles; default the dataset's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a dataset in another send order. Exit 1 if the new order misses the target."""
    with reporting_errors(as_json=as_json):
        from prefixcache.dataset.reorder import reorder_dataset

        report = reorder_dataset(dataset, output, order, seed=seed)
        if as_json:
            emit_json(report)
        else:
            status = report["validation_status"]
            colour = {"PASS": "green", "PASS_WITH_WARNING": "yellow"}.get(status, "red")
            moved = report["reordered"]
            target = report.get("target_hit_ratio")
            aim = "" if target is None else f"target {target:.4%}, "
            off = "" if target is None else f" ({report['signed_deviation_pp']:+.4f} pp)"
            out.print(
                f"[{colour}]{status}[/]  {moved['within_group']}/{moved['across_group']}: {aim}designed "
                f"{report['designed_hit_ratio']:.4%}{off}: {report['expected_hit_tokens']:,} of "
                f"{report['input_tokens']:,} input tokens",
                soft_wrap=True,
            )
            out.print("certificate holds over the real token ids in the new order")
            out.print(f"dataset: {output}", soft_wrap=True)
        if report["validation_status"] == "FAIL":
            raise typer.Exit(1)
