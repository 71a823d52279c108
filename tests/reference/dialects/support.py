"""Prompts of a designed sequence, what each of them must hit by the obvious rule, and what a page says."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from prometheus_client.parser import text_string_to_metric_families

from tests.reference.conftest import Running

LENGTHS = (3000, 3000, 783, 784, 785, 1536, 1537, 2353, 4705, 3000)
SHARED = (0, 2999, 783, 784, 785, 1536, 1536, 2000, 2352, 100)
"""Tokens that each prompt takes from the beginning of the first master; what follows is its own."""


def tokens(seed: int, length: int) -> list[int]:
    """Ids that do not repeat themselves."""
    draw = random.Random(seed)
    return [draw.randrange(10, 250) for _ in range(length)]


def designed() -> list[list[int]]:
    master = tokens(0, max(LENGTHS))
    return [
        master[:shared] + tokens(10 + number, length - shared)
        for number, (length, shared) in enumerate(zip(LENGTHS, SHARED, strict=True))
    ]


def shared(one: Sequence[int], other: Sequence[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def chained_hits(prompts: Sequence[Sequence[int]], unit: int, drop: int = 0) -> list[int]:
    """Whole units that a prompt shares with any earlier one, never the last token's, less those thrown away."""
    found = []
    for number, prompt in enumerate(prompts):
        longest = max((shared(prompt, earlier) for earlier in prompts[:number]), default=0)
        units = min(longest // unit, (len(prompt) - 1) // unit)
        found.append(max(0, units - drop) * unit)
    return found


def independent_hits(prompts: Sequence[Sequence[int]], unit: int, drop: int = 0) -> list[int]:
    """Blocks that stood anywhere in an earlier prompt."""
    stored: set[tuple[int, ...]] = set()
    found = []
    for prompt in prompts:
        blocks = [tuple(prompt[at : at + unit]) for at in range(0, len(prompt) - unit + 1, unit)]
        hit = sum(block in stored for index, block in enumerate(blocks) if (index + 1) * unit < len(prompt))
        found.append(max(0, hit - drop) * unit)
        stored |= set(blocks)
    return found


def page_of(engine: Running) -> dict[str, tuple[str, str, dict[tuple[tuple[str, str], ...], float]]]:
    """Name of each family as its TYPE line has it → kind, help, values by labels (of the plain sample)."""
    text = engine.client.get("/metrics").text
    found = {}
    for family in text_string_to_metric_families(text):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        values = {
            tuple(sorted(sample.labels.items())): sample.value for sample in family.samples if sample.name == name
        }
        found[name] = (family.type, family.documentation, values)
    return found


def value(engine: Running, name: str, **labels: str) -> float | None:
    """Sum of a family's series with these labels; None where the page does not have one."""
    _kind, _help, values = page_of(engine).get(name, ("", "", {}))
    wanted = set(labels.items())
    found = [number for has, number in values.items() if wanted <= set(has)]
    return math.fsum(found) if found else None
