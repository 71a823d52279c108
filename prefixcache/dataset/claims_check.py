"""Every figure that the manifest and the validation report state, against what the rows give."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.dataset.agreement import agreements
from prefixcache.dataset.contents import DatasetContents

Tokens = NDArray[np.int64]
CLOSE = 1e-12  # ratios are written as floats of exact fractions
# Top-level facts of the manifest that its own configuration states too.
FROM_CONFIG = ("seed", "block_size", "dataset_id")


def claim_problems(contents: DatasetContents, hits: dict[str, Tokens], figures: dict[str, Any]) -> list[str]:
    """What the files claim and the rows do not bear out.

    Args:
        hits: recomputed hit tokens per pass and request.
        figures: recomputed target, designed ratio and deviations.
    """
    problems: list[str] = []
    for place, name, claimed, found in chain(_claims(contents, hits, figures), agreements(contents)):
        if not agree(claimed, found):
            problems.append(f"{place}: {name} is {shortened(claimed)}, it should be {shortened(found)}")
    return problems


def shortened(value: Any) -> str:
    """A stated value for a message; a file may hold anything."""
    text = str(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def agree(claimed: Any, found: Any) -> bool:
    """Equal, or ratios that differ by rounding alone."""
    if isinstance(found, float) and isinstance(claimed, int | float) and not isinstance(claimed, bool):
        return abs(claimed - found) <= CLOSE
    return bool(claimed == found) and isinstance(claimed, bool) == isinstance(found, bool)


def _claims(
    contents: DatasetContents, hits: dict[str, Tokens], figures: dict[str, Any]
) -> Iterator[tuple[str, str, Any, Any]]:
    """(file, field, claimed, found)."""
    manifest, report = contents.manifest, contents.report
    theory = manifest.get("theoretical_result", {})
    ratios = ("target_hit_ratio", "designed_hit_ratio", "signed_deviation", "absolute_deviation")
    for place, stated in (("manifest.json theoretical_result", theory), ("validation_report.json", report)):
        for name in (*ratios, "expected_hit_tokens"):
            yield place, name, stated.get(name), figures[name]
    yield "validation_report.json", "validation_status", report.get("validation_status"), figures["validation_status"]
    lengths, outputs = contents.numbers("input_len"), contents.numbers("output_len")
    for place, stated in (("manifest.json", manifest), ("validation_report.json", report)):
        yield place, "request_count", stated.get("request_count"), len(lengths)
        yield place, "input_tokens", stated.get("input_tokens"), int(lengths.sum())
        yield place, "output_tokens", stated.get("output_tokens"), int(outputs.sum())
        yield from _pass_claims(place, stated, hits, int(lengths.sum()))
        yield from _part_claims(place, stated, contents, hits[contents.target_pass])
    maximum = "max_reachable_hit_ratio"
    yield "manifest.json theoretical_result", maximum, theory.get(maximum), report.get(maximum)
    yield "manifest.json certificate", "holds", manifest.get("certificate", {}).get("holds"), True
    yield "manifest.json certificate", "hit_unit", manifest.get("certificate", {}).get("hit_unit"), manifest["hit_unit"]
    stated = manifest.get("config", {})
    for name in FROM_CONFIG:
        yield "manifest.json", name, manifest.get(name), stated.get(name)
    yield "manifest.json", "hit_unit", manifest["hit_unit"], stated.get("hit_unit", stated.get("block_size"))
    yield from _source_claims(manifest, stated)


def _source_claims(manifest: dict[str, Any], config: dict[str, Any]) -> Iterator[tuple[str, str, Any, Any]]:
    """Where the sizes come from; manifests of before version 4 of publishing do not say."""
    if "block_size_source" not in manifest:
        return
    block = config.get("block_size_source") or "explicit"
    unit = config.get("hit_unit_source") or ("block_size" if config.get("hit_unit") is None else "explicit")
    yield "manifest.json", "block_size_source", manifest["block_size_source"], block
    yield "manifest.json", "hit_unit_source", manifest.get("hit_unit_source"), unit


def _pass_claims(
    place: str, stated: dict[str, Any], hits: dict[str, Tokens], tokens: int
) -> Iterator[tuple[str, str, Any, Any]]:
    for row in stated.get("passes", []):
        expected = int(hits[row["name"]].sum()) if row.get("name") in hits else None
        yield f"{place} passes", "expected_hit_tokens", row.get("expected_hit_tokens"), expected
        if expected is not None:
            yield f"{place} passes", "designed_hit_ratio", row.get("designed_hit_ratio"), expected / tokens


def _part_claims(
    place: str, stated: dict[str, Any], contents: DatasetContents, hit: Tokens
) -> Iterator[tuple[str, str, Any, Any]]:
    """Figures per group and per cache domain."""
    lengths = contents.numbers("input_len")
    groups = np.array([row["prefix_group_id"] for row in contents.metadata])
    domains = contents.numbers("planned_dp_id")
    for key, name, of_row in (("groups", "group_id", groups), ("domains", "domain", domains)):
        for row in stated.get(key, []):
            here = of_row == row.get(name)
            where = f"{place} {key} {row.get(name)}"
            tokens, expected = int(lengths[here].sum()), int(hit[here].sum())
            yield where, "request_count", row.get("request_count"), int(here.sum())
            yield where, "input_tokens", row.get("input_tokens"), tokens
            yield where, "expected_hit_tokens", row.get("expected_hit_tokens"), expected
            yield where, "designed_hit_ratio", row.get("designed_hit_ratio"), expected / tokens if tokens else None
