"""A dataset simulated in the server of a recorded run: its sizes, limits, ranks and client come from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefixcache.analysis.rundir import RunDirectory, load_run
from prefixcache.cache.models.inflight import SchedulerSettings
from prefixcache.dataset.contents import read_manifest
from prefixcache.errors import InputError
from prefixcache.simulation.dataset import gating_of, simulate_dataset
from prefixcache.simulation.engines import SGLANG, VLLM
from prefixcache.simulation.sizes import as_given, ratio

FLAG, RUN, DATASET, DEFAULT = "flag", "run", "dataset", "default"
LIMITS = ("max_num_batched_tokens", "max_num_seqs", "long_prefill_token_threshold", "reserve_full_prompt", "watermark")
DEV_MODE = "start vLLM with VLLM_SERVER_DEV_MODE=1 for the run, or give the flags"


@dataclass(frozen=True)
class Parameter:
    """One option of a simulation, and where its value comes from (``flag``, ``run``, ``dataset``, ``default``)."""

    name: str
    value: Any
    source: str

    def to_json(self) -> dict[str, Any]:
        value = as_given(self.value) if self.name == "num_blocks" else self.value
        return {"name": self.name, "value": value, "source": self.source}


@dataclass(frozen=True)
class Resolved:
    """All options of a simulation, and what to know of them."""

    parameters: tuple[Parameter, ...]
    warnings: tuple[str, ...]

    @property
    def options(self) -> dict[str, Any]:
        """As :func:`simulate_dataset` takes them."""
        return {each.name: each.value for each in self.parameters}


def simulate_like(
    root: Path,
    run_dir: Path,
    given: Mapping[str, Any],
    *,
    calibrate: bool = False,
    only_pass: str | None = None,
    with_sweep: bool = False,
) -> dict[str, Any]:
    """As :func:`simulate_dataset`, with what a run recorded of its server and client.

    Args:
        root: of the dataset; it need not be the one that was run.
        run_dir: of the run.
        given: options that were asked for and win; ``num_blocks`` None: unbounded.
        calibrate: fit the pace of requests in flight to the run's times.

    Raises:
        InputError: no run, or neither it nor the options tell the blocks of the cache.
    """
    run = run_of(run_dir, "--like")
    manifest = read_manifest(root)
    resolved = resolve(run, manifest, given)
    fit = None
    options = resolved.options
    if calibrate:
        from prefixcache.simulation.calibration import fit_run

        fit = fit_run(run, given)
        options["pace"] = fit.pace
    report = simulate_dataset(root, only_pass=only_pass, with_sweep=with_sweep, **options)
    same = run.manifest.get("dataset_digest") == manifest.get("dataset_digest")
    report["like"] = {
        "dataset_id": str(run.manifest.get("dataset_id")),
        "same_dataset": same,
        "parameters": [each.to_json() for each in resolved.parameters if each.name not in ("routing", *_TIERS)],
        "pace": None if fit is None else fit.to_json(),
        "measured": _measured(run, report) if same else [],
    }
    report["warnings"] = [*resolved.warnings, *report["warnings"]]
    return report


def run_of(run_dir: Path, flag: str) -> RunDirectory:
    """A run that a flag named.

    Raises:
        InputError: it is none.
    """
    try:
        return load_run(run_dir)
    except InputError as error:
        error.field = flag
        error.remedy = "give the directory that `prefixcache run` wrote."
        raise


_TIERS = ("host_blocks", "external_blocks", "tier_write")


def resolve(
    run: RunDirectory, manifest: Mapping[str, Any], given: Mapping[str, Any], *, run_first: bool = False
) -> Resolved:
    """Options that were given, else what the run tells, else what the dataset says, else defaults.

    Args:
        manifest: of the dataset that is simulated.
        run_first: what was given stands in only for what the run does not tell.

    Raises:
        InputError: nobody tells the blocks of the cache.
    """
    servers = [row for row in run.run.get("servers") or () if isinstance(row, dict)]
    facts: dict[str, Any] = servers[0] if servers else {}
    warnings: list[str] = []
    found: dict[str, Parameter] = {}

    def take(name: str, told: Any, dataset: Any = None, default: Any = None) -> Any:
        if name in given and not (run_first and told is not None):
            value, source = given[name], FLAG
        else:
            choices = ((told, RUN), (dataset, DATASET))
            value, source = next(((v, s) for v, s in choices if v is not None), (default, DEFAULT))
        found[name] = Parameter(name, value, source)
        return value

    engine = take("engine", _engine(facts, warnings, asked="engine" in given), default=VLLM)
    unit = take("block_size", facts.get("hit_alignment") or facts.get("block_size"), int(manifest["hit_unit"]))
    take("num_blocks", _blocks(facts, engine, unit))
    if found["num_blocks"].source == DEFAULT:
        raise InputError(
            "the run does not tell the blocks of its server's cache",
            field="--num-blocks",
            remedy="write the blocks of each domain's cache, or unbounded.",
        )
    take("domains", _domains(servers, manifest, warnings, asked="domains" in given))
    if "routing" in given:
        take("routing", None)
    _client(run, manifest, take, found, warnings)
    limits = SchedulerSettings.limits_told(facts)
    vllm = SchedulerSettings(2, 1)
    for name in LIMITS:
        take(name, limits.get(name), default=getattr(vllm, name))
    untold = [name for name in LIMITS[:3] if found[name].source == DEFAULT]
    if untold and found["concurrency"].value > 1:
        listed = ", ".join(f"{name} {found[name].value}" for name in untold)
        warnings.append(
            f"the run does not tell its server's {untold[0] if len(untold) == 1 else 'limits'}: vLLM's defaults are "
            f"taken ({listed}); {DEV_MODE}"
        )
    if (facts.get("scheduler") or {}).get("async_scheduling") and found["concurrency"].value > 1:
        warnings.append("the server schedules asynchronously, which is not modelled: it releases blocks a step later")
    if len({_sizes(row) for row in servers}) > 1:
        warnings.append("the run's servers have different sizes: those of the first are taken for all")
    for name in _TIERS:
        if given.get(name) is not None:
            take(name, None)
    return Resolved(tuple(found.values()), tuple(warnings))


def _engine(facts: Mapping[str, Any], warnings: list[str], *, asked: bool) -> str | None:
    adapter = facts.get("adapter")
    if adapter in (VLLM, SGLANG):
        return str(adapter)
    if not asked:
        warnings.append(f"the run's server is {adapter or 'unknown'}, which is not modelled: {VLLM} is taken")
    return None


def _blocks(facts: Mapping[str, Any], engine: str, unit: int) -> int | None:
    """Of one rank; vLLM's with the null block."""
    tokens, size = facts.get("kv_cache_tokens_per_engine"), facts.get("block_size")
    if tokens:
        return int(tokens) // unit + (engine == VLLM)
    blocks = facts.get("num_gpu_blocks")
    return int(blocks) if blocks and (size is None or size == unit) and len(facts.get("engines") or ()) <= 1 else None


def _domains(
    servers: list[dict[str, Any]], manifest: Mapping[str, Any], warnings: list[str], *, asked: bool
) -> int | None:
    """Caches of the run's servers, unless the dataset is made for one that all share."""
    ranks = sum(len(row.get("engines") or ()) or 1 for row in servers)
    planned = manifest["routing"]
    if not ranks or ranks == planned["cache_domains"]:
        return ranks or None
    if str(planned.get("cache_scope", "")).startswith("global"):
        if not asked:
            warnings.append(
                f"the run had {ranks} caches, the dataset is made for one that all requests share: simulated as made; "
                f"with --dp {ranks} its requests are spread"
            )
        return int(planned["cache_domains"])
    return ranks


def _client(
    run: RunDirectory, manifest: Mapping[str, Any], take: Any, found: dict[str, Parameter], warnings: list[str]
) -> None:
    options = run.run.get("options") or {}
    in_flight = take("concurrency", options.get("concurrency"), default=1)
    if found["concurrency"].source == DEFAULT:
        why = "sent at given times (open loop)" if "concurrency" in options else "does not tell its concurrency"
        warnings.append(f"the run {why}: simulated one at a time; give --concurrency for requests in flight")
    possible = found["engine"].value == VLLM and found["num_blocks"].value is not None
    if in_flight > 1 and not possible and found["concurrency"].source != FLAG:
        warnings.append(
            f"{in_flight} requests in flight are modelled for vllm with a number of blocks only: simulated one at a "
            "time"
        )
        found["concurrency"] = Parameter("concurrency", 1, DEFAULT)
    take("gating", options.get("gating"), gating_of(dict(manifest)))


def _sizes(facts: Mapping[str, Any]) -> tuple[Any, ...]:
    return facts.get("adapter"), facts.get("block_size"), facts.get("kv_cache_tokens_per_engine")


def _measured(run: RunDirectory, report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the run measured of the simulated passes; null where it sent only a part or did not count."""
    rows = []
    told = {row.get("name"): row for row in run.run.get("passes") or ()}
    for figures in report["passes"]:
        if (row := told.get(figures["name"])) is None:
            continue
        whole = row.get("requests") == figures["request_count"]
        hits, queries = ((row.get(f"measured_{name}_tokens") if whole else None) for name in ("hit", "query"))
        measured = ratio(hits, queries) if hits is not None and queries else None
        simulated = figures["token_hit_ratio"]
        both = measured is not None and simulated is not None
        rows.append(
            {
                "name": figures["name"],
                "hit_tokens": hits,
                "query_tokens": queries,
                "hit_ratio": measured,
                "deviation_pp": 100 * (simulated - measured) if both else None,
            }
        )
    return rows
