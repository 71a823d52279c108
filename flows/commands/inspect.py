"""`prefixcache inspect`: one request of a dataset in colours, or the first and last rows as a table."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from flows.console import emit_json, out, reporting_errors, warn
from flows.options import AsJson, Language
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of, say
from prefixcache.report.formats import signed_count

if TYPE_CHECKING:
    from prefixcache.dataset.lookup import DatasetFolder
    from prefixcache.dataset.regions import PromptText
    from prefixcache.help.words import Language as Chosen

RESULTS = ("expected_hit_len", "cached_tokens", "hit_difference", "status", "ttft_s", "e2e_s", "endpoint")


def inspect(
    dataset: Annotated[Path, typer.Option("--dataset", "-d", help="Folder that `generate` wrote, or of a run.")],
    request: Annotated[
        str | None, typer.Option("--request", "-q", help="Id, unique end of one, or '#N' for position N.")
    ] = None,
    run_dir: Annotated[
        Path | None, typer.Option("--run-dir", "-r", help="Run to take measured figures from; default its own.")
    ] = None,
    group: Annotated[str | None, typer.Option("--group", help="Only this prefix group, in the table.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Rows of the table.")] = 20,
    full: Annotated[bool, typer.Option("--full", help="Shorten no text.")] = False,
    blocks: Annotated[bool, typer.Option("--blocks", help="Mark where blocks begin.")] = False,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Show what a request is made of: prefix, divergence, suffix, watermark, expected and measured hits."""
    with reporting_errors(as_json=as_json):
        chosen = language_of(lang)
        from prefixcache.dataset.lookup import find_request, open_dataset

        folder = open_dataset(dataset)
        run = _run_of(folder, run_dir)
        if request is None:
            _list(folder, _rows_of(folder, group), run, limit, chosen, as_json)
        else:
            _show(folder, find_request(folder.rows, request), run, chosen, as_json, full, blocks)


def _run_of(folder: DatasetFolder, run_dir: Path | None) -> Path | None:
    if run_dir is None:
        return folder.run_dir
    from prefixcache.analysis.rundir import load_run

    digest = load_run(run_dir).manifest.get("dataset_digest")
    if digest != folder.manifest.get("dataset_digest"):
        raise InputError(
            "the run was made with another dataset (dataset_digest differs)",
            field="--run-dir",
            remedy="name the run of this dataset, or its own dataset folder.",
            stage="inspect",
        )
    return run_dir


def _rows_of(folder: DatasetFolder, group: str | None) -> list[int]:
    names = list(dict.fromkeys(str(row["prefix_group_id"]) for row in folder.rows))
    if group is not None and group not in names:
        near = difflib.get_close_matches(group, names, n=5, cutoff=0.4) or names[:5]
        raise InputError(
            f"there is no group {group!r}", field="--group", remedy=f"known ones: {', '.join(near)}.", stage="inspect"
        )
    return [n for n, row in enumerate(folder.rows) if group in (None, row["prefix_group_id"])]


def _measured(run: Path | None, ids: set[str]) -> dict[str, list[dict[str, Any]]]:
    """Rows of the join, per request and pass."""
    if run is None:
        return {}
    import polars as pl

    from prefixcache.report.join import join_requests

    found: dict[str, list[dict[str, Any]]] = {}
    for row in join_requests(run).filter(pl.col("request_id").is_in(list(ids))).iter_rows(named=True):
        found.setdefault(str(row["request_id"]), []).append(row)
    return found


def _list(folder: DatasetFolder, rows: list[int], run: Path | None, limit: int, lang: Chosen, as_json: bool) -> None:
    first, last = rows[: -(-limit // 2)], rows[len(rows) - limit // 2 :]
    shown, hidden = (rows, 0) if len(rows) <= limit else (first + last, len(rows) - limit)
    results = _measured(run, {str(folder.rows[n]["request_id"]) for n in shown})
    if as_json:
        requests = [
            {**folder.rows[n], "results": results.get(str(folder.rows[n]["request_id"]), []) if run else None}
            for n in shown
        ]
        emit_json({"dataset_id": folder.manifest.get("dataset_id"), "rows": len(rows), "requests": requests})
        return
    routed = len({(row["planned_dp_id"], row.get("planned_route")) for row in folder.rows}) > 1
    heads = ["order", "request", "group", *(["route"] if routed else []), "length", "prefix", "watermark", "expected"]
    more = ["pass", "cached", "difference", "status", "ttft"] if run else []
    table = Table()
    for name in (*heads, "ratio", *more):
        texts = name in ("request", "group", "route", "pass", "status")
        table.add_column(say(f"fact.{name}", lang), justify="left" if texts else "right", no_wrap=name != "request")
    for number, n in enumerate(shown):
        if hidden and number == len(first):
            table.add_section()
        cells = _plan_cells(folder.rows[n], lang, routed)
        for at, result in enumerate(results.get(str(folder.rows[n]["request_id"]), [None]) if run else [None]):
            own = _result_cells(result, lang) if run else []
            table.add_row(*(cells if at == 0 else [""] * len(cells)), *own)
    out.print(table)
    if hidden:
        out.print(f"[dim]{say('inspect.rows_hidden', lang, count=f'{hidden:,}')}[/]")


def _plan_cells(row: dict[str, Any], lang: Chosen, routed: bool) -> list[str]:
    return [
        str(row["order_index"]),
        str(row["request_id"]),
        str(row["prefix_group_id"]),
        *([_route(row, lang)] if routed else []),
        f"{row['input_len']:,}",
        f"{row['planned_prefix_len']:,}",
        f"{row['cached_watermark_before']:,} → {row['cached_watermark_after']:,}",
        f"{row['expected_hit_len']:,}",
        f"{row['expected_hit_len'] / row['input_len']:.2%}",
    ]


def _result_cells(result: dict[str, Any] | None, lang: Chosen) -> list[str]:
    none = say("inspect.unknown", lang)
    if result is None:
        return [none, none, none, say("inspect.not_sent", lang), none]
    cached, difference = result["cached_tokens"], result["hit_difference"]
    return [
        str(result["pass"]),
        none if cached is None else f"{cached:,}",
        none if difference is None else signed_count(difference),
        result["status"] or say("inspect.not_sent", lang),
        none if result["ttft_s"] is None else f"{result['ttft_s'] * 1000:.2f}",
    ]


def _route(row: dict[str, Any], lang: Chosen) -> str:
    route = row.get("planned_route")
    return f"{row['planned_dp_id']} / {say('inspect.anywhere', lang) if route is None else route}"


def _show(
    folder: DatasetFolder, number: int, run: Path | None, lang: Chosen, as_json: bool, full: bool, blocks: bool
) -> None:
    from prefixcache.dataset.regions import PromptText, prompt_text, regions_of

    row, contents, stored = folder.rows[number], folder.contents, folder.holds_prompts
    if stored:
        data = folder.prompt(number)
        text = prompt_text(data.get("prompt"), data["prompt_token_ids"], contents.framing, contents.own_tokenizer())
    else:
        text = PromptText("none", None, (), None)
    regions = regions_of(row, folder.head)
    results = _measured(run, {str(row["request_id"])}).get(str(row["request_id"]), [])
    inside = [region.start for region in regions if text.is_inside_a_character(region.start)]
    if as_json:
        emit_json(
            {
                "request": row,
                "block_size": folder.manifest.get("block_size"),
                "regions": [
                    {
                        "part": region.part,
                        "start": region.start,
                        "end": region.end,
                        "tokens": region.tokens,
                        "text": None if text.split == "none" else text.piece(region.start, region.end),
                    }
                    for region in regions
                ],
                "prompt_stored": stored,
                "split": text.split,
                "boundaries_inside_a_character": inside,
                "results": results if run else None,
            }
        )
        return
    _show_facts(row, lang)
    if run is not None:
        _show_results(results, run, lang)
    from flows.prompt_view import prompt_lines, visible

    block = int(folder.manifest["block_size"]) if blocks else None
    for line in prompt_lines(regions, text, lang, full=full, block=block):
        out.print(line, soft_wrap=True)
    if full and text.split == "none" and text.text:
        out.print(say("inspect.whole_text", lang), style="bold")
        out.print(visible(text.text), soft_wrap=True, markup=False)
    if blocks and text.split != "none":
        out.print(f"[dim]{say('inspect.blocks_legend', lang, block=block)}[/]")
    warn(_remarks(text, inside, lang) if stored else [say("inspect.not_stored", lang)])


def _show_facts(row: dict[str, Any], lang: Chosen) -> None:
    token = say("inspect.tokens_of", lang)
    share = f"{row['expected_hit_len'] / row['input_len']:.2%}"
    facts = (
        ("request", str(row["request_id"])),
        ("group", str(row["prefix_group_id"])),
        ("order.long", f"#{row['order_index']}"),
        ("route", _route(row, lang)),
        ("length", f"{row['input_len']:,} {token}"),
        ("output", f"{row['output_len']:,} {token}"),
        ("prefix.long", f"{row['planned_prefix_len']:,} {token}"),
        ("watermark.long", f"{row['cached_watermark_before']:,} → {row['cached_watermark_after']:,} {token}"),
        ("expected.long", f"{row['expected_hit_len']:,} {token} ({share})"),
        ("collision", str(row.get("collision_status"))),
    )
    grid = Table.grid(padding=(0, 2))
    for name, value in facts:
        grid.add_row(f"[dim]{say(f'fact.{name}', lang)}[/]", value)
    out.print(grid)


def _show_results(results: list[dict[str, Any]], run: Path, lang: Chosen) -> None:
    names = ("pass", "expected", "cached", "difference", "status", "ttft", "e2e", "endpoint")
    table = Table(*(say(f"fact.{name}", lang) for name in names), title_justify="left")
    table.title = say("inspect.measured", lang, run=run.name)
    for result in results:
        name, cached, difference, status, ttft = _result_cells(result, lang)
        e2e = say("inspect.unknown", lang) if result["e2e_s"] is None else f"{result['e2e_s'] * 1000:.2f}"
        where = result["endpoint"] or say("inspect.unknown", lang)
        table.add_row(name, f"{result['expected_hit_len']:,}", cached, difference, status, ttft, e2e, where)
    out.print(table)


def _remarks(text: PromptText, inside: list[int], lang: Chosen) -> list[str]:
    """What is not exact about the text that was shown."""
    found = [say("inspect.inexact", lang, token=token) for token in inside]
    if text.split == "none":
        found.append(say("inspect.no_tokenizer", lang))
    if text.split == "decoded":
        why = say("inspect.why_ids_only" if text.text is None else "inspect.why_differs", lang)
        found.append(say("inspect.decoded", lang, why=why))
    return found
