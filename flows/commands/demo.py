"""`prefixcache demo`: the whole job on the embedded default, no network, no GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from flows.commands.generate import build, show_verdict
from flows.commands.running import check_language, execute
from flows.console import emit_json, note, reporting_errors
from flows.options import AsJson, Language, NoPrefect
from prefixcache.help.messages import language_of, say

CONFIG = Path(__file__).parents[1] / "demo.yaml"
PREFILL_TPS, DECODE_TPS = 40_000.0, 400.0


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the dataset and the run.")] = Path(
        "outputs"
    ),
    lang: Language = "en",
    no_prefect: NoPrefect = False,
    as_json: AsJson = False,
) -> None:
    """Generate 300 requests, serve the reference engine, run, and report: measured must equal designed."""
    with reporting_errors(as_json=as_json):
        check_language(lang)
        from prefixcache.config import load_config
        from prefixcache.reference.process import EngineProcess
        from prefixcache.reference.server import EngineOptions

        config = load_config(CONFIG).config
        dataset = output / "demo_dataset"
        report = build(config, dataset, workers=None, no_prefect=no_prefect, quiet=as_json)
        if not as_json:
            show_verdict(report, dataset, language_of(lang))
        options = EngineOptions(
            "embedded", block_size=config.block_size, prefill_tps=PREFILL_TPS, decode_tps=DECODE_TPS
        )
        with EngineProcess(options) as engine:
            if not as_json:
                note(say("demo.engine", language_of(lang), url=engine.url))
            given = {"dataset": dataset, "run_dir": output / "demo", "url": [engine.url], "overwrite": True}
            figures = execute(given, no_prefect=no_prefect, quiet=as_json, language=lang)
        if as_json:
            emit_json(figures)
        if figures["run_status"] != "complete" or figures["measured_hit_tokens"] != figures["expected_hit_tokens"]:
            raise typer.Exit(1)
