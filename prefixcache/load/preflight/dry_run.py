"""What a run would take, without sending a request."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.engines.http import open_client
from prefixcache.errors import PrefixCacheError
from prefixcache.load.api_key import api_key_of
from prefixcache.load.chosen import metrics_sources, pace_of, secrets_of, send_form
from prefixcache.load.dataset import RunDataset, load_dataset
from prefixcache.load.options import RunOptions
from prefixcache.load.preflight.checks import Preflight, examine
from prefixcache.load.preflight.facts import Rates, plan_facts
from prefixcache.load.sending.routes import Router


def dry_run(dataset_dir: Path | str, options: RunOptions) -> dict[str, Any]:
    """What a run would take, without sending a request (``prefixcache run --dry-run``).

    The time is estimated from the options' assumed rates, else from those that the first server states (the
    reference engine does); otherwise it is null and the assumption says why.
    """
    dataset = load_dataset(Path(dataset_dir)).first(options.limit)
    try:
        rates = _assumed(options) or asyncio.run(_stated_rates(options))
        gating = options.gating or dataset.gating
        pace = pace_of(options, dataset)
        facts = plan_facts(dataset, gating, pace.in_flight, rates, pace)
        return {**facts, "server_check": asyncio.run(_server_check(dataset, options))}
    finally:
        dataset.close()


async def _server_check(dataset: RunDataset, options: RunOptions) -> dict[str, Any]:
    """The preflight's verdict as data: a dry run tells it and goes on."""
    endpoints = [parse_endpoint(url) for url in options.urls]
    api_key = api_key_of(options.api_key)
    timeouts = replace(options.timeouts, connect=2.0, idle=20.0)
    secrets = secrets_of(options, api_key)
    try:
        async with open_client(timeouts, options.connection) as http:
            pages = metrics_sources(options, endpoints, api_key, secrets)
            found = await examine(
                http,
                endpoints,
                await options.metering.sources(http, pages, endpoints, secrets),
                dataset,
                model=options.model,
                by_rank=Router(endpoints, dataset).by_rank,
                check_tokens=send_form(dataset, options.send) != "ids",
                isolated=options.isolation != "none",
                engine=options.metering.engine,
                options=options.checks,
                api_key=api_key,
                secrets=secrets,
            )
    except PrefixCacheError as error:
        return {"fits": False, "error": error.as_json(), "warnings": [], "notes": [], **Preflight.nothing_found()}
    warnings = [{"code": code, "message": text} for code, text in found.warnings]
    misfit = found.errors[0].error(dataset.dataset_id) if found.errors else None  # the others stand beside it
    return {
        "fits": misfit is None,
        "error": None if misfit is None else misfit.as_json(),
        "warnings": warnings,
        "notes": list(found.notes),
        **found.to_json(),
    }


def _assumed(options: RunOptions) -> Rates | None:
    if options.assumed_prefill_tps is None and options.assumed_decode_tps is None:
        return None
    return Rates(options.assumed_prefill_tps or 0, options.assumed_decode_tps or 0, "assumed by the options")


async def _stated_rates(options: RunOptions) -> Rates | None:
    endpoint = parse_endpoint(options.urls[0])
    timeouts = replace(options.timeouts, connect=2.0, idle=5.0)
    try:
        async with open_client(timeouts, options.connection) as http:
            headers = endpoint.headers(api_key_of(options.api_key))
            info = (await http.get(endpoint.url("/server_info"), headers=headers)).json()
        return Rates(float(info["prefill_tps"]), float(info["decode_tps"]), f"stated by {endpoint.base}")
    except (httpx.HTTPError, OSError, ValueError, KeyError, TypeError):
        return None
