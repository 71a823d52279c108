"""`prefixcache generate`: build, prove and publish a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.commands.plan import show_plan
from flows.console import emit_json, err, fail, out, reporting_errors, stage_progress, warn
from flows.options import AsJson, Config, Language, NoPrefect, OutputPlace, Settings, Sources, TokenizerOption
from flows.size_options import AskedEngine, AskedPages, AskedUrls, ProbeReport, finder_of
from prefixcache.errors import InputError, VerdictError
from prefixcache.help.messages import language_of, named, reason_of, say
from prefixcache.help.words import Language as Chosen
from prefixcache.report.formats import signed


def generate(
    config: Config,
    output: OutputPlace,
    tokenizer: TokenizerOption = None,
    source: Sources = None,
    settings: Settings = None,
    url: AskedUrls = None,
    metrics_url: AskedPages = None,
    engine: AskedEngine = None,
    probe_report: ProbeReport = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", min=1, help="Processes that build shards; default one per CPU.")
    ] = None,
    runner: Annotated[
        str,
        typer.Option("--runner", envvar="PREFIXCACHE_RUNNER", help="Who builds shards: threads, processes, dask, ray."),
    ] = "threads",
    runner_address: Annotated[
        str | None,
        typer.Option(
            "--runner-address",
            envvar="PREFIXCACHE_RUNNER_ADDRESS",
            help="Dask scheduler or Ray head that is running, e.g. tcp://host:8786; default a cluster of its own.",
        ),
    ] = None,
    prompts: Annotated[
        str | None,
        typer.Option("--prompts", help="Keep prompts as text, as token ids, or both; replaces output.prompts."),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option("--formats", help="Files that hold the prompts: parquet,jsonl, or one; replaces output.formats."),
    ] = None,
    audit: Annotated[
        str | None,
        typer.Option(help="auto, or full: re-encode every prompt of large datasets too; replaces validation.audit."),
    ] = None,
    no_prefect: NoPrefect = False,
    lang: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Build a dataset whose prefix-cache hit rate is planned and proven to the token."""
    with reporting_errors(as_json=as_json, again="again.shards" if no_prefect else "again.resume"):
        chosen = language_of(lang)
        from prefixcache.config import load_config

        scale = _scale(runner, runner_address, no_prefect)
        listed = None if formats is None else _listed(formats)
        flags = {"output.prompts": prompts, "output.formats": listed, "validation.audit": audit}
        changes = [*(settings or ()), *(f"{key}={value}" for key, value in flags.items() if value is not None)]
        sizes = finder_of(url, metrics_url, engine, probe_report)
        loaded = load_config(config, tokenizer=tokenizer, sources=source or (), settings=changes, sizes=sizes)
        warn(loaded.warnings)
        warn(_replaced(output, loaded.config.dataset_id))
        try:
            report = build(loaded.config, output, workers=workers, no_prefect=no_prefect, quiet=as_json, **scale)
        except VerdictError as error:
            refused = _written_report(output)
            if refused and not as_json:
                show_plan(refused, chosen)
                error.message = error.message.partition(": ")[0]  # the plan just shown says why, and what helps
            fail(error, as_json=as_json, report=refused if as_json else None)
        if as_json:
            emit_json({**report, "output": str(output)})
        else:
            show_verdict(report, output, chosen)
        if report["validation_status"] == "FAIL":
            raise typer.Exit(1)


def _replaced(output: Path | str, dataset_id: str) -> tuple[str, ...]:
    """Said before it happens: the folder of another dataset may be a slip."""
    from prefixcache.stages.owned import other_dataset

    there = other_dataset(output, dataset_id) if isinstance(output, Path) else None
    return () if there is None else (f"{output} holds the dataset {there}: {dataset_id} takes its place",)


def _listed(formats: str) -> str:
    """As `--set` takes it; blanks between commas are none."""
    return f"[{', '.join(name for part in formats.split(',') if (name := part.strip()))}]"


def _scale(runner: str, address: str | None, no_prefect: bool) -> dict[str, Any]:
    """The runner as parameters of the flow; wrong ones are told before Prefect starts."""
    from tasks.engines import Engine

    engine = Engine(runner, address)
    if no_prefect and (engine.away or address):
        raise InputError(
            f"{runner} is a task runner of Prefect's", field="--runner", remedy="leave out --no-prefect or --runner."
        )
    return {"runner": runner, "runner_address": address}


def build(
    config: Any, output: Path | str, *, workers: int | None, no_prefect: bool, quiet: bool = False, **scale: Any
) -> dict[str, Any]:
    """Generate through Prefect or in process; returns the validation report.

    Args:
        scale: ``runner, runner_address`` of the flow.

    Raises:
        PrefixCacheError: what the stages raise.
    """
    from prefixcache.stages.pool import default_workers
    from prefixcache.stages.progress import observing
    from prefixcache.stages.stage import InProcess

    with stage_progress(quiet=quiet) as observe, observing(observe):
        if no_prefect:
            from prefixcache.pipeline import generate_prefix_cache_dataset

            return generate_prefix_cache_dataset(config, output, InProcess(workers or default_workers())).report
        from flows.local_server import ready_prefect

        ready_prefect()
        from flows.generate import generate as flow
        from flows.results import value_of

        report: dict[str, Any] = value_of(
            flow(output=_place(output), config=config, workers=workers, return_state=True, **scale)
        )
        return report


def _place(output: Path | str) -> str:
    """An address without credentials, or the full path."""
    from prefixcache.storage.address import checked_address

    return checked_address(output, "--output") if isinstance(output, str) else str(output.resolve())


def show_verdict(report: dict[str, Any], output: Path | str, lang: Chosen = "en") -> None:
    """Two lines: what was asked and built, and how it is proven."""
    colour = {"PASS": "green", "PASS_WITH_WARNING": "yellow"}.get(report["validation_status"], "red")
    status = named("status", report["validation_status"], lang)
    out.print(f"[{colour}]{status}[/]  {_figures(report, lang)}", soft_wrap=True)
    audit = report["audit"]
    counts = {"prompts": audit["prompts"], "tokens": audit["tokens"], "differ": audit["differing_prompts"]}
    proof = "generate.proof" if report["certificate"]["holds"] else "generate.no_proof"
    out.print(say(proof, lang, **{name: f"{count:,}" for name, count in counts.items()}), soft_wrap=True)
    out.print(say("generate.dataset", lang, path=output), soft_wrap=True)
    for text in report.get("warnings") or ():
        err.print(f"[yellow]{say('note', lang)}[/] {text}", soft_wrap=True)
    if report.get("reason"):
        err.print(f"[yellow]{say('note', lang)}[/] {reason_of(report, lang)}", soft_wrap=True)


def _figures(report: dict[str, Any], lang: Chosen) -> str:
    """What was designed, beside the target if there is one."""
    values = {
        "designed": f"{report['designed_hit_ratio'] * 100:.4f}",
        "hits": f"{report['expected_hit_tokens']:,}",
        "tokens": f"{report['input_tokens']:,}",
        "requests": f"{report['request_count']:,}",
    }
    if report["target_hit_ratio"] is None:
        return say("generate.without_target", lang, **values)
    target, deviation = f"{report['target_hit_ratio'] * 100:.4f}", signed(report["signed_deviation_pp"], 6)
    return say("generate.verdict", lang, target=target, deviation=deviation, **values)


def _written_report(output: Path | str) -> dict[str, Any] | None:
    from prefixcache.files import read_json
    from prefixcache.storage.address import checked_address, scratch_folder

    folder = scratch_folder("made", checked_address(output, "--output")) if isinstance(output, str) else output
    for name in ("refused_validation_report.json", "validation_report.json"):  # the first beside an earlier dataset
        if (folder / name).is_file():
            report: dict[str, Any] = read_json(folder / name)
            return report
    return None
