"""What was found as keys of a configuration: only values that were measured or stated, each with its source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import yaml

from prefixcache.config.load import TOP_KEY
from prefixcache.probe.findings import ProbeReport


def fragment(report: ProbeReport, tokenizer: str | None) -> str:
    """YAML with the keys of a dataset's configuration that a probe can fill in.

    ``block_size`` is the stated one where the measured unit is a multiple of it, else the unit itself.

    Args:
        report: of the probe.
        tokenizer: path as the user wrote it; written where the server agreed with it.
    """
    lines = [
        f"# From `prefixcache probe` of {report.endpoint}: merge it into a configuration.",
        *(f"# Contradiction: {each.sentence.text('en')}" for each in report.contradictions),
        *_isolation(report),
        f"{TOP_KEY}:",
    ]
    body = [f"  {line}" for line in _entries(list(_keys(report, tokenizer)))]
    if not body:
        return "\n".join([*lines[:-1], f"{TOP_KEY}: {{}}  # nothing was found out"]) + "\n"
    return "\n".join([*lines, *body]) + "\n"


def _keys(report: ProbeReport, tokenizer: str | None) -> Iterator[tuple[str, Any, str]]:
    """Key, value and where it comes from; nested keys have dots."""
    stated, unit = report.value("block_size"), report.value("hit_unit")
    if unit is None:
        if stated is not None:
            yield "block_size", stated, "stated by the server; the hit unit could not be measured"
    elif stated is not None and unit % stated == 0:
        yield "block_size", stated, "stated by the server"
        yield "hit_unit", unit, "measured"
    else:
        why = "measured" if stated is None else f"measured; the server states {stated}, of which it is no multiple"
        yield "block_size", unit, why
    if (drop := report.value("hit_drop")) is not None:
        yield "hit_drop", drop, "measured"
    if (longest := report.value("max_model_len")) is not None:
        yield "max_model_len", longest, "stated by the server"
    compared = report.value("tokenizer")
    if tokenizer is not None and isinstance(compared, dict) and not compared["differ"]:
        yield "tokenizer.path", tokenizer, f"{compared['agree']} strings encode as on the server"
    ranks = report.value("dp_size")
    if ranks is not None and ranks > 1:
        yield "routing.cache_scope", "dp_local", f"{ranks} data-parallel ranks, each with a cache of its own"
        yield "routing.dp_size", ranks, "stated by the server"
    matching = report.value("matching")
    if matching not in (None, "chained_prefix"):
        where = "suffix.collision_detection.cache_match_semantics"
        yield where, matching, "measured"


def _entries(keys: list[tuple[str, Any, str]]) -> Iterator[str]:
    """Lines, each parent once: keys of one parent stand beside each other."""
    above: list[str] = []
    for key, value, source in keys:
        *parents, name = key.split(".")
        for depth, parent in enumerate(parents):
            if parents[: depth + 1] != above[: depth + 1]:
                yield f"{'  ' * depth}{parent}:"
        above = parents
        yield f"{'  ' * len(parents)}{name}: {_scalar(value)}  # {source}"


def _scalar(value: Any) -> str:
    """A value as YAML that reads back as the same value."""
    if not isinstance(value, str):
        return str(value)
    return value if value.isalnum() and yaml.safe_load(value) == value else orjson.dumps(value).decode()


def _isolation(report: ProbeReport) -> Iterator[str]:
    """How passes can be kept apart there: an option of `run`, no key."""
    if report.value("reset") is not None:
        yield "# Isolation: `prefixcache run --isolation reset`; the reset was seen to empty the cache."
    elif report.value("salt") is not None:
        yield "# Isolation: `prefixcache run --isolation salt`; the salt was seen to separate caches."
    else:
        yield "# Isolation: neither a reset nor a salt was seen to work; for compare `--isolation variant`."
