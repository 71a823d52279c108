"""Options of how a run reads what its servers count, and of the checks before its load."""

from __future__ import annotations

from typing import Annotated, Final

import typer

ENGINE: Final = "auto"
PANEL: Final = "Metrics and checks"

Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="auto|NAME|FILE",
        help="Framework that the metrics pages are read as, or a YAML file that describes one.",
        rich_help_panel=PANEL,
    ),
]
Roles = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="What the server of each metrics page does: prefill, decode or mixed, in their order. Repeatable.",
        rich_help_panel=PANEL,
    ),
]
MetricsModel = Annotated[
    str | None,
    typer.Option(
        "--metrics-model",
        metavar="NAME",
        help="Only series of this model, and those that name none.",
        rich_help_panel=PANEL,
    ),
]
PrometheusUrl = Annotated[
    str | None,
    typer.Option(
        "--prometheus",
        metavar="URL",
        help="Read the counters from this Prometheus server instead of the servers' own pages.",
        rich_help_panel=PANEL,
    ),
]
Selector = Annotated[
    str,
    typer.Option(
        "--selector", metavar="LABELS", help="Which of its targets, e.g. '{job=\"vllm\"}'.", rich_help_panel=PANEL
    ),
]
ProbeReport = Annotated[
    str | None,
    typer.Option(
        "--probe-report",
        metavar="FILE",
        help="What `prefixcache probe --json` printed: measured sizes go before stated.",
        rich_help_panel=PANEL,
    ),
]
AllowMisfit = Annotated[
    bool,
    typer.Option(
        "--allow-misfit",
        help="Measure although the server contradicts the plan, where that can be measured.",
        rich_help_panel=PANEL,
    ),
]
NoPredict = Annotated[
    bool,
    typer.Option(
        "--no-predict", help="Do not simulate what contradictions will cost before the load.", rich_help_panel=PANEL
    ),
]
