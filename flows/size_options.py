"""Options that say who is asked for `block_size: auto` and `hit_unit: auto`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from prefixcache.config.sizes import SizeFinder

AskedUrls = Annotated[
    list[str] | None,
    typer.Option("--url", "-u", metavar="URL", help="Server to ask for `block_size: auto`. Repeatable."),
]
AskedPages = Annotated[
    list[str] | None,
    typer.Option("--metrics-url", metavar="URL", help="Its metrics page; default /metrics of each URL. Repeatable."),
]
AskedEngine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Framework whose default block size counts where no server tells: vllm, vllm-cpu, vllm-ascend, sglang or "
        "mindie.",
    ),
]
ProbeReport = Annotated[
    Path | None,
    typer.Option(
        "--probe-report",
        metavar="FILE",
        help="What `prefixcache probe --json` printed: measured sizes go before stated.",
    ),
]


def finder_of(
    url: Sequence[str] | None, metrics_url: Sequence[str] | None, engine: str | None, probe_report: Path | str | None
) -> SizeFinder | None:
    """Who is asked; nobody where nothing was given. The key is that of PREFIXCACHE_API_KEY.

    Raises:
        InputError: an unknown framework, metrics pages without a server.
    """
    if not (url or metrics_url or engine or probe_report):
        return None
    from prefixcache.load.api_key import api_key_of
    from prefixcache.load.preflight.sizes import sizes_asked

    return sizes_asked(url or (), metrics_url or (), engine, probe_report, api_key_of())
