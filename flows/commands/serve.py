"""`prefixcache serve`: the reference engine."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from flows.console import reporting_errors
from flows.options import Language
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of

MOST_TPS = 1e12
POSE = "Posing as another engine (docs/dialects.md)"

Dialect = Literal["vllm", "vllm-v0", "vllm-early-v1", "vllm-ascend", "sglang", "mindie", "mindie-gauge"]
Matching = Literal["chained", "independent", "content-defined"]
Reset = Literal["real", "refused", "pretends", "absent"]
Salt = Literal["honoured", "ignored"]


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one and prints it.")] = 8000,
    tokenizer: Annotated[str, typer.Option(help="Folder, hub name, or `embedded`.")] = "embedded",
    block_size: Annotated[int, typer.Option(min=1, help="Tokens per KV-cache block.")] = 16,
    num_blocks: Annotated[int, typer.Option(min=2, help="KV-cache blocks per DP rank.")] = 200_000,
    dp: Annotated[int, typer.Option(min=1, help="DP ranks, each with a cache of its own.")] = 1,
    prefill_tps: Annotated[
        float, typer.Option(min=0, max=MOST_TPS, help="Prompt tokens computed per second; 0 = at once.")
    ] = 0,
    decode_tps: Annotated[
        float, typer.Option(min=0, max=MOST_TPS, help="Output tokens per second and request; 0 = at once.")
    ] = 0,
    max_model_len: Annotated[int, typer.Option(min=2, help="Longest prompt plus output, tokens.")] = 131_072,
    model: Annotated[str, typer.Option(help="Name the server gives its model.")] = "reference",
    kv_events: Annotated[
        str, typer.Option("--kv-events", help="Publish KV events at tcp://*:PORT, DP rank r at PORT + r.")
    ] = "",
    kv_events_replay: Annotated[
        str, typer.Option("--kv-events-replay", help="Repeat them at tcp://*:PORT for those who missed some.")
    ] = "",
    faults: Annotated[
        str, typer.Option("--faults", help="Fault plan (YAML, docs/faults.md): what happens to which requests.")
    ] = "",
    stamp: Annotated[
        bool, typer.Option("--stamp", help="Every token event carries the server's clock, `stamp`, in seconds.")
    ] = False,
    tls_cert: Annotated[str, typer.Option("--tls-cert", help="Certificate (PEM file): serve HTTPS.")] = "",
    tls_key: Annotated[str, typer.Option("--tls-key", help="Key of the certificate (PEM file).")] = "",
    dialect: Annotated[
        Dialect,
        typer.Option(
            metavar="NAME",
            help="Whose metrics page, routes and answers: vllm, vllm-v0, vllm-early-v1, vllm-ascend, sglang, mindie or "
            "mindie-gauge.",
            rich_help_panel=POSE,
        ),
    ] = "vllm",
    hit_unit: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Tokens in which it really matches; 0 = a block.", rich_help_panel=POSE),
    ] = 0,
    hit_drop: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Matched units it computes again (EAGLE, MTP).", rich_help_panel=POSE),
    ] = 0,
    claims_block_size: Annotated[
        int, typer.Option(min=0, metavar="N", help="The block size it claims; 0 = the true one.", rich_help_panel=POSE)
    ] = 0,
    matching: Annotated[
        Matching,
        typer.Option(
            metavar="RULE",
            help="What hits: chained, independent or content-defined (docs/dialects.md).",
            rich_help_panel=POSE,
        ),
    ] = "chained",
    reset: Annotated[
        Reset | None,
        typer.Option(
            metavar="WHAT",
            help="What its reset route does: real, refused, pretends or absent; default the dialect's.",
            show_default=False,
            rich_help_panel=POSE,
        ),
    ] = None,
    salt: Annotated[
        Salt | None,
        typer.Option(
            metavar="WHAT",
            help="What becomes of cache_salt: honoured or ignored; default likewise.",
            show_default=False,
            rich_help_panel=POSE,
        ),
    ] = None,
    prefix_caching: Annotated[
        bool,
        typer.Option("--prefix-caching/--no-prefix-caching", help="Without it nothing hits.", rich_help_panel=POSE),
    ] = True,
    outputs_cached: Annotated[
        bool,
        typer.Option("--outputs-cached/--no-outputs-cached", help="Generated tokens can hit.", rich_help_panel=POSE),
    ] = True,
    usage_cached: Annotated[
        bool,
        typer.Option("--usage-cached/--no-usage-cached", help="Usage tells cached tokens.", rich_help_panel=POSE),
    ] = True,
    lang: Language = "en",
) -> None:
    """Serve the reference engine: an OpenAI-compatible server with a real block cache and simulated compute."""
    given = dict(locals())  # before any other name is bound here
    del given["lang"]
    with reporting_errors(flags=given):
        language_of(lang)
        if not model.strip():
            raise InputError("is empty", field="--model", remedy="write a name.")
        from prefixcache.reference.server import EngineOptions
        from prefixcache.reference.server import serve as run_server

        run_server(
            EngineOptions(
                tokenizer,
                block_size=block_size,
                num_blocks=num_blocks,
                dp=dp,
                prefill_tps=prefill_tps,
                decode_tps=decode_tps,
                max_model_len=max_model_len,
                model=model,
                kv_events=kv_events,
                kv_events_replay=kv_events_replay,
                faults=faults,
                stamp=stamp,
                tls_cert=tls_cert,
                tls_key=tls_key,
                dialect=dialect,
                hit_unit=hit_unit,
                hit_drop=hit_drop,
                claims_block_size=claims_block_size,
                prefix_caching=prefix_caching,
                outputs_cached=outputs_cached,
                usage_cached=usage_cached,
                matching=matching,
                reset=reset or "",
                salt=salt or "",
            ),
            host=host,
            port=port,
        )
