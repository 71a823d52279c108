"""Two moments of a Prometheus server's past as two snapshots."""

from __future__ import annotations

import asyncio
import math
import time
from datetime import UTC, datetime

from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.engines.http import Connection, Timeouts, open_client
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.prometheus import LOOK_BACK, PrometheusServer, pages_at, tells_more_than_age
from prefixcache.engines.snapshot import ALL_NAMES, Snapshot
from prefixcache.errors import EnvironmentFailure, InputError

API = "/api/v1"


def prometheus_server(url: str, selector: str = "") -> PrometheusServer:
    """A server from the address a user gives; what stands behind ``/api/v1`` is left out.

    Raises:
        InputError: no address, or no selector.
    """
    endpoint = parse_endpoint(url.split(API)[0], field_name="prometheus")
    server = PrometheusServer(endpoint, selector, endpoint.headers(), endpoint.secrets)
    server.matchers()
    return server


def snapshots_between(
    url: str, selector: str, start: str | None, end: str | None, model: str | None = None
) -> tuple[Snapshot, Snapshot]:
    """The targets' pages as of two moments.

    Args:
        url, selector: the server and its targets.
        start, end: ISO 8601 or Unix seconds; ``end`` None: now.
        model: only series of this model, and those that name none.

    Raises:
        InputError: a moment that is none, or not in order.
        EnvironmentFailure: the server cannot be asked, or has no samples there.
    """
    if start is None:
        raise InputError("is missing", field="--from", remedy="Give the moment at which the interval begins.")
    first = moment_of(start, "--from")
    last = time.time() if end is None else moment_of(end, "--to")
    if last <= first:
        raise InputError("lies not after --from", field="--to", remedy="Give the later moment as --to.")
    server = prometheus_server(url, selector)

    async def ask() -> tuple[dict[str, tuple[MetricsPage, float]], dict[str, tuple[MetricsPage, float]]]:
        async with open_client(Timeouts(), Connection()) as client:
            one, other = await asyncio.gather(*(pages_at(client, server, ALL_NAMES, at) for at in (first, last)))
            return one, other

    before, after = (
        {name: found for name, found in pages.items() if tells_more_than_age(found[0])} for pages in asyncio.run(ask())
    )
    if not before and not after:
        raise EnvironmentFailure(
            f"Prometheus at {server.endpoint.base} has no sample of a known framework in the {LOOK_BACK} before "
            "--from and --to",
            field="prometheus",
            remedy="Check --from, --to and --selector.",
            stage="scrape_metrics",
        )
    return _snapshot(before, after, "--from", model), _snapshot(after, before, "--to", model)


def moment_of(text: str, flag: str) -> float:
    """Unix seconds of a moment; one without a zone is of this machine's.

    Raises:
        InputError: it is no moment.
    """
    try:
        seconds = float(text)
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    except ValueError:
        try:
            return datetime.fromisoformat(text.strip()).timestamp()
        except (ValueError, OverflowError):
            pass
    now = datetime.now(UTC).isoformat(timespec="seconds")
    raise InputError(f"{text!r} is no moment", field=flag, remedy=f"Write ISO 8601, {now}, or Unix seconds.")


def _snapshot(
    here: dict[str, tuple[MetricsPage, float]],
    there: dict[str, tuple[MetricsPage, float]],
    flag: str,
    model: str | None,
) -> Snapshot:
    pages = {name: page if model is None else page.of_model(model) for name, (page, _) in here.items()}
    errors = {name: f"{name} has no sample in the {LOOK_BACK} before {flag}" for name in there if name not in here}
    return Snapshot(pages, errors, flag=flag)
