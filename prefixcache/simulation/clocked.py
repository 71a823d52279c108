"""A recorded run by its own KV events: what they tell that each request hit, beside the model that they lead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from prefixcache.analysis.clocked_run import EVENTS, ClockedPass, clocked_pass
from prefixcache.analysis.rundir import RunDirectory
from prefixcache.cache.models.inflight import SchedulerSettings
from prefixcache.cache.models.trace import Counts
from prefixcache.errors import InputError
from prefixcache.schemas.versions import VERSIONS
from prefixcache.simulation.engines import VLLM
from prefixcache.simulation.like import LIMITS, resolve, run_of
from prefixcache.simulation.sizes import as_given, named_as_flags, ratio

FIELD = "--clocked-by"
SHOWN = ("block_size", "num_blocks", *LIMITS)


def simulate_clocked(run_dir: Path, given: Mapping[str, Any], *, only_pass: str | None = None) -> dict[str, Any]:
    """Three figures per request and in total: told by the events, of the model led by their steps, measured.

    Args:
        run_dir: of a run with ``--kv-events`` and its dataset's prompts.
        given: sizes and limits of the server that win over what the run tells.
        only_pass: default all that the run recorded.

    Raises:
        InputError: no such run or pass, no events, an engine that is not modelled, or sizes that nobody tells.
    """
    run = run_of(run_dir, FIELD)
    if not (run_dir / EVENTS).is_file():
        raise InputError(
            "the run recorded no KV events", field=FIELD, remedy="run again with --kv-events, or use --like RUN_DIR."
        )
    if only_pass is not None and only_pass not in run.passes:
        raise InputError(
            f"the run has no pass {only_pass!r}", field="--pass", remedy=f"write one of {', '.join(run.passes)}."
        )
    resolved = resolve(run, run.manifest, given)
    options = resolved.options
    if options["engine"] != VLLM:
        raise InputError(
            f"the run's server is {options['engine']}: a record leads the model of vllm only",
            field=FIELD,
            remedy="choose a run on vLLM.",
        )
    if options["num_blocks"] is None:
        raise InputError("a pool of a size is needed", field="--num-blocks", remedy="write the server's blocks.")
    with named_as_flags():
        settings = SchedulerSettings(
            options["num_blocks"],
            options["block_size"],
            hit_drop=int(run.manifest.get("hit_drop") or 0),
            **{name: options[name] for name in LIMITS},
        )
        names = [only_pass] if only_pass else list(run.passes)
        passes = [_figures(name, run, clocked_pass(run_dir, name, settings)) for name in names]
    return {
        "schema_version": VERSIONS["clocked_simulation"],
        "dataset_id": str(run.manifest["dataset_id"]),
        "engine": VLLM,
        "block_size": options["block_size"],
        "num_blocks": as_given(options["num_blocks"]),
        "parameters": [each.to_json() for each in resolved.parameters if each.name in SHOWN],
        "passes": passes,
        "warnings": [*resolved.warnings, *_lost(run)],
    }


def _figures(name: str, run: RunDirectory, found: ClockedPass) -> dict[str, Any]:
    tokens = int(found.input_tokens.sum())
    counted = run.counters.get(name) or {}
    hits, queries = counted.get("measured_hit_tokens"), counted.get("measured_query_tokens")
    measured = ratio(hits, queries) if hits is not None and queries else None
    designed = int(found.answers["expected"].sum())
    return {
        "name": name,
        "request_count": len(found.told),
        "input_tokens": tokens,
        "expected_hit_tokens": designed,
        "designed_hit_ratio": ratio(designed, tokens),
        "event_hit_tokens": int(found.hits.sum()),
        "event_hit_ratio": ratio(int(found.hits.sum()), tokens),
        "led_hit_tokens": int(found.served.hits.sum()),
        "led_hit_ratio": ratio(int(found.served.hits.sum()), tokens),
        "measured_hit_tokens": hits,
        "measured_query_tokens": queries,
        "measured_hit_ratio": measured,
        "event_deviation_pp": _deviation(found.hits, tokens, measured),
        "led_deviation_pp": _deviation(found.served.hits, tokens, measured),
        "told_requests": int((found.told >= 0).sum()),
        "event_requests_off": _off(found.hits, found.measured),
        "led_requests_off": _off(found.served.hits, found.measured),
        "evicted_blocks": found.clock.evicted,
        "led_evicted_blocks": int(found.served.evicted.sum()),
        "unknown_events": found.clock.unknown,
        "requests": _rows(found),
    }


def _deviation(hits: Counts, tokens: int, measured: float | None) -> float | None:
    return None if measured is None or not tokens else 100 * (int(hits.sum()) / tokens - measured)


def _off(hits: Counts, answered: Counts) -> int | None:
    """Requests that hit otherwise than their answers say; None where no answer tells."""
    known = answered >= 0
    return int((hits[known] != answered[known]).sum()) if known.any() else None


def _rows(found: ClockedPass) -> list[dict[str, Any]]:
    answers = found.answers
    rows = pl.DataFrame(
        {
            "request_id": answers["request_id"],
            "prefix_group_id": answers["prefix_group_id"],
            "domain": answers["planned_dp_id"],
            "input_len": found.input_tokens,
            "expected_hit_len": answers["expected"],
            "told": found.told >= 0,
            "event_hit_tokens": found.hits,
            "led_hit_tokens": found.served.hits,
            "answered_hit_tokens": np.where(found.measured >= 0, found.measured, -1),
        }
    )
    answered = pl.col("answered_hit_tokens")
    return rows.with_columns(pl.when(answered >= 0).then(answered).alias("answered_hit_tokens")).to_dicts()


def _lost(run: RunDirectory) -> list[str]:
    """What is missing in the record."""
    recorded = run.run.get("kv_events") or {}
    if recorded.get("status") in (None, "complete"):
        return []
    return [f"the record of KV events is {recorded['status']}: hits may be told wrongly"]
