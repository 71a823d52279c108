"""Options of how requests are sent, for every command that sends."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Processes = Annotated[
    int | None,
    typer.Option("--processes", min=1, help="Processes that carry requests; default one for every 512 streams."),
]
Api = Annotated[
    str, typer.Option("--api", help="openai: completions, or chat for chat datasets; generate: SGLang's own route.")
]
Headers = Annotated[
    list[str] | None,
    typer.Option("--header", help="NAME: VALUE, with every request; the value is never written. Repeatable."),
]
ExtraBody = Annotated[
    str | None,
    typer.Option("--extra-body", help="JSON object of fields for every request's body; null takes one out."),
]
Retries = Annotated[
    int, typer.Option("--retries", min=0, help="Attempts after a temporary failure; retried requests are marked.")
]
RetryWait = Annotated[
    float, typer.Option("--retry-wait", min=0, help="Seconds before the first of them, doubled each time.")
]
EngineWarmup = Annotated[
    int,
    typer.Option("--engine-warmup", min=0, help="Prompts unlike the dataset's, sent first so that the engine is warm."),
]
RankField = Annotated[
    str | None,
    typer.Option("--rank-field", help="Field of the body that pins a DP rank, where a header will not do."),
]
ConnectTimeout = Annotated[
    float | None, typer.Option("--connect-timeout", help="Seconds to wait for a connection; default 10.")
]
FirstByteTimeout = Annotated[
    float | None,
    typer.Option("--first-byte-timeout", help="Seconds to wait for the answer's begin; default --timeout."),
]
TotalTimeout = Annotated[
    float | None, typer.Option("--total-timeout", help="Seconds that a whole request may take; default 3 × --timeout.")
]


def sending_of(values: dict[str, Any]) -> Any:
    """The sender's options from a command's or a flow's: ``processes, api, header, extra_body, retries, retry_wait,
    engine_warmup, rank_field``."""
    from prefixcache.load.retries import Retries as Plan
    from prefixcache.load.sending import Sending, parse_extra_body, parse_headers

    return Sending(
        processes=values["processes"],
        api=values["api"],
        headers=parse_headers(tuple(values["header"] or ())),
        extra_body=parse_extra_body(values["extra_body"]),
        retries=Plan(values["retries"], values["retry_wait"]),
        engine_warmup=values["engine_warmup"],
        rank_field=values["rank_field"],
    )
