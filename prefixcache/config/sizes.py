"""`block_size: auto` and `hit_unit: auto` (RFC 3.2.3): who is asked is handed in, this says what their answer means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from prefixcache.config.base import RuleError
from prefixcache.errors import InputError

AUTO = "auto"
SizeSource = Literal[
    "server_config", "server_start", "measured", "model_rule", "framework_default", "explicit", "default", "block_size"
]
"""Who said it: the server's metrics page, the parameters it was started with, a probe, a rule of the model's family,
the framework's default, the configuration, the product's default; of a hit unit, that it is the block size."""
ASKED: tuple[str, ...] = get_args(SizeSource)[:5]
REMEDY = (
    "give the server with --url URL (and --metrics-url), a probe's report with --probe-report FILE, or the framework "
    "with --engine NAME; or write a number"
)


@dataclass(frozen=True, slots=True)
class FoundSizes:
    """Sizes in tokens as somebody tells them.

    Args:
        block_size, block_size_source: tokens per block; None: nobody knows.
        hit_unit, hit_unit_source: tokens in which it matches, where that is known to be more than a block.
        hit_drop: matched units it throws away, where that was measured.
        warnings: what to know of them.
        server: what was asked, as it may be shown; empty if nobody was.
    """

    block_size: int | None = None
    block_size_source: SizeSource | None = None
    hit_unit: int | None = None
    hit_unit_source: SizeSource | None = None
    hit_drop: int | None = None
    warnings: tuple[str, ...] = ()
    server: str = ""


SizeFinder = Callable[[], FoundSizes]


def check_resolved(raw: Any) -> None:
    """Refuse ``auto`` where nobody has put a number in its place.

    Raises:
        RuleError: it stands there.
    """
    for key in ("block_size", "hit_unit"):
        if isinstance(raw, dict) and raw.get(key) == AUTO:
            raise RuleError("is auto, and nobody was asked", field=key, remedy=REMEDY)


def resolve_sizes(raw: dict[str, Any], finder: SizeFinder | None) -> list[str]:
    """Put numbers in the place of ``auto``, and where they come from beside them.

    Args:
        raw: the configuration, changed in place.
        finder: asks; None: nobody can be asked.

    Returns:
        Warnings.

    Raises:
        InputError: nobody can be asked, or nobody knows.
    """
    wanted = [key for key in ("block_size", "hit_unit") if raw.get(key) == AUTO]
    if finder is None:
        if wanted:
            raise InputError("is auto, and nobody was asked", field=wanted[0], remedy=f"{REMEDY}.", stage="config")
        return []
    found = finder()
    warnings = list(found.warnings)
    if raw.get("block_size") == AUTO:
        if found.block_size is None:
            raise InputError(
                f"is auto, but {found.server or 'what was given'} does not tell its block size",
                field="block_size",
                remedy="measure it with `prefixcache probe --url URL --json` and give the report with --probe-report, "
                "name the framework with --engine NAME, or write a number.",
                stage="config",
            )
        raw |= {"block_size": found.block_size, "block_size_source": found.block_size_source}
        raw.setdefault("hit_unit", AUTO)
        if raw["hit_unit"] is None:
            raw["hit_unit"] = AUTO
    elif "block_size" not in wanted:
        warnings += _disagreement(raw, found)
    if raw.get("hit_unit") == AUTO:
        _resolve_unit(raw, found)
        if raw.get("hit_drop") is None and found.hit_drop:
            raw["hit_drop"] = found.hit_drop
            warnings.append(f"hit_drop {found.hit_drop} is taken from the probe's report")
    return warnings


def _resolve_unit(raw: dict[str, Any], found: FoundSizes) -> None:
    block = raw.get("block_size")
    if found.hit_unit is None or found.hit_unit == block:
        del raw["hit_unit"]
        return
    raw |= {"hit_unit": found.hit_unit, "hit_unit_source": found.hit_unit_source}


def _disagreement(raw: dict[str, Any], found: FoundSizes) -> list[str]:
    """What stands in the file is used; that the server says otherwise is told now, and refused before a run."""
    written, told = raw.get("block_size"), found.block_size
    if not isinstance(written, int) or told is None or written == told or found.block_size_source not in ASKED[:3]:
        return []
    return [
        f"block_size is {written}, {found.server or 'the probe'} tells {told}: the dataset is planned for {written}, "
        "and a run there will be refused"
    ]
