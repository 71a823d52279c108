"""Options of what a run sends, to which service, and how much: the same for every command and flow that sends.

An option is written once. The command line reads its flag and help off the annotation; the form of a flow takes the
same help as description of the field (:func:`flows.form.described`).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import typer

from flows.options import named_place

SEND: Final = "auto"
ISOLATION: Final = "auto"

Urls = Annotated[
    list[str],
    typer.Option("--url", "-u", metavar="URL", help="Base URL or full path of the API. Repeatable."),
]
MetricsUrls = Annotated[
    list[str] | None,
    typer.Option("--metrics-url", metavar="URL", help="Metrics page; default /metrics of each URL. Repeatable."),
]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Model name; default the server's first.")]
Concurrency = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, metavar="N", help="Requests in flight; default the dataset's."),
]
Load = Annotated[
    str | None,
    typer.Option(
        "--load",
        metavar="SHAPE",
        help="closed:16, constant:200, poisson:200, gamma:200,burstiness=0.5, rates:10x30s,50x30s, "
        "ramp:10..200,seconds=60 or trace:FILE; default a closed loop of --concurrency.",
    ),
]
MaxInFlight = Annotated[
    int | None,
    typer.Option("--max-in-flight", min=1, metavar="N", help="Requests in flight at most; only for open loads."),
]
Duration = Annotated[
    float | None,
    typer.Option("--duration", metavar="SECONDS", help="Seconds of load after which nothing is sent any more."),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, metavar="N", help="Send only the first so many requests of the send order."),
]
Gating = Annotated[
    Literal["watermark", "first_token", "completion", "none"] | None,
    typer.Option(
        "--gating",
        metavar="RULE",
        help="What a request waits for so that the cache holds its prefix: watermark, first_token, completion or "
        "none; default the dataset's.",
    ),
]
Send = Annotated[
    Literal["auto", "text", "ids"],
    typer.Option(
        "--send",
        metavar="FORM",
        help="Send prompts as text or as token ids; auto takes text where the dataset has it.",
    ),
]
Isolation = Annotated[
    Literal["auto", "reset", "salt", "variant", "none"],
    typer.Option(
        "--isolation",
        metavar="WAY",
        help="How a pass is kept apart from what was cached before it: auto, reset, salt, variant or none.",
    ),
]
VARIANT_HELP = "Dataset of the same plan with other content, for the second pass of compare."
VariantPlace = Annotated[Any, typer.Option("--variant-dataset", help=VARIANT_HELP, parser=named_place, metavar="PATH")]
VariantFolder = Annotated[str | None, typer.Option("--variant-dataset", help=VARIANT_HELP)]
AllowResidue = Annotated[bool, typer.Option("--allow-residue", help="Go on where the cache cannot be proven empty.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run in the folder.")]
WithoutPrompts = Annotated[
    bool,
    typer.Option("--without-prompts", help="Keep no prompts in the run's folder; they are read from the dataset."),
]
Insecure = Annotated[bool, typer.Option("--insecure", help="Take any TLS certificate of the server.")]
CaFile = Annotated[
    str | None,
    typer.Option("--ca-file", metavar="FILE", help="PEM file of the authorities that signed its certificate."),
]
Proxy = Annotated[
    str | None,
    typer.Option("--proxy", metavar="URL", help="Forward proxy; those of the environment are not used."),
]
KvEvents = Annotated[
    list[str] | None,
    typer.Option(
        "--kv-events", metavar="ADDRESS", help="Record the KV events published at tcp://HOST:PORT; one for each --url."
    ),
]
KvEventsReplay = Annotated[
    list[str] | None,
    typer.Option(
        "--kv-events-replay",
        metavar="ADDRESS",
        help="Where the server repeats lost events, tcp://HOST:PORT; one for each --url.",
    ),
]
