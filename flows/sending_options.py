"""Options of how requests are sent and how long is waited for them: the same for every command and flow that sends."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

# As the library's own; importing it for them would take the command line a second.
TIMEOUT_S: Final = 300.0
RETRY_WAIT_S: Final = 0.5
API: Final = "openai"

Processes = Annotated[
    int | None,
    typer.Option(
        "--processes", min=1, metavar="N", help="Processes that carry requests; default one for every 512 streams."
    ),
]
Api = Annotated[
    Literal["openai", "generate"],
    typer.Option(
        "--api",
        metavar="NAME",
        help="openai: completions, or chat for chat datasets; generate: SGLang's own route.",
    ),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--header",
        metavar="LINE",
        help="NAME: VALUE, with every request; the value is never written. NAME: secret:BLOCK takes it from a Secret "
        "block of Prefect. Repeatable.",
    ),
]
ExtraBody = Annotated[
    str | None,
    typer.Option(
        "--extra-body",
        metavar="JSON",
        help="JSON object of fields for every request's body; null takes one out, a text secret:BLOCK stands for the "
        "value of a Secret block of Prefect.",
    ),
]
Retries = Annotated[
    int,
    typer.Option(
        "--retries", min=0, metavar="N", help="Attempts after a temporary failure; retried requests are marked."
    ),
]
RetryWait = Annotated[
    float,
    typer.Option("--retry-wait", metavar="SECONDS", help="Seconds before the first retry, doubled each time."),
]
EngineWarmup = Annotated[
    int,
    typer.Option(
        "--engine-warmup",
        min=0,
        metavar="N",
        help="Prompts unlike the dataset's, sent before all passes so that the engine is warm.",
    ),
]
RankField = Annotated[
    str | None,
    typer.Option(
        "--rank-field", metavar="NAME", help="Field of the body that pins a DP rank; default a header of the engine's."
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout", metavar="SECONDS", help="Seconds to wait for the next byte of an answer before its request fails."
    ),
]
ConnectTimeout = Annotated[
    float | None,
    typer.Option(
        "--connect-timeout", metavar="SECONDS", help="Seconds to wait for a connection; default 10, --timeout at most."
    ),
]
FirstByteTimeout = Annotated[
    float | None,
    typer.Option(
        "--first-byte-timeout",
        metavar="SECONDS",
        help="Seconds to wait for an answer's first byte; default as --timeout.",
    ),
]
TotalTimeout = Annotated[
    float | None,
    typer.Option(
        "--total-timeout",
        metavar="SECONDS",
        help="Seconds that a whole request may take; default three times the longest wait for a byte.",
    ),
]
