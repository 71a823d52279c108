"""Options of an SLO search, of the command and of the flow."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

OVER: Final = "concurrency"
LOW, HIGH, RESOLUTION, ATTAINMENT, CONFIRM = 1, 256, 1, 0.99, 1

Objective = Annotated[
    str,
    typer.Option(
        "--slo", metavar="LIMITS", help="Thresholds, seconds or ms: ttft=0.5,tpot=50ms,e2e=3; any of the three."
    ),
]
Over = Annotated[
    Literal["concurrency", "rate"],
    typer.Option("--over", metavar="WHAT", help="concurrency (closed loop), or rate (Poisson arrivals per second)."),
]
Low = Annotated[float, typer.Option("--low", metavar="X", help="Lowest load.")]
High = Annotated[float, typer.Option("--high", metavar="X", help="Highest load.")]
Resolution = Annotated[float, typer.Option("--resolution", metavar="X", help="Loads are multiples of this.")]
Points = Annotated[
    str | None,
    typer.Option(
        "--points", metavar="LOADS", help="Measure exactly these loads, e.g. 1,2,4,8, instead of searching a range."
    ),
]
Attainment = Annotated[
    float,
    typer.Option("--attainment", metavar="SHARE", help="Share of the requests that must hold all thresholds."),
]
Confirm = Annotated[
    int,
    typer.Option("--confirm", metavar="N", help="Points above the first miss that are measured all the same."),
]
PassName = Annotated[
    str | None,
    typer.Option("--pass", metavar="NAME", help="The pass that is judged: cold, hot or replay; default the target's."),
]
MaxInFlight = Annotated[
    int | None,
    typer.Option("--max-in-flight", min=1, metavar="N", help="Requests in flight at most; with --over rate."),
]
