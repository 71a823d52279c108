"""The nearest right name for a wrong one, as a remedy."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

MOST_NAMED = 12
MOST_OFFERED = 3


def near_names(wrong: str, known: Sequence[str], cutoff: float) -> list[str]:
    """The nearest known name, and before it those that hold the wrong one as a word: `normal` may be short for
    `truncated_normal`, though `lognormal` looks more like it."""
    holding = [name for name in known if wrong and wrong in re.split("[_.-]", name)]
    return list(dict.fromkeys([*holding, *difflib.get_close_matches(wrong, known, n=1, cutoff=cutoff)]))[:MOST_OFFERED]


def offered(names: Sequence[str]) -> str:
    """``write `x` or `y` ``."""
    return "write " + " or ".join(f"`{name}`" for name in names)


def right_name(wrong: str, known: Sequence[str]) -> str:
    """``write `x` `` where a known name is near, else what is known."""
    if near := near_names(wrong, known, 0.5):
        return offered(near)
    more = f", ... ({len(known)} in all)" if len(known) > MOST_NAMED else ""
    return f"write one of: {', '.join(known[:MOST_NAMED])}{more}"
