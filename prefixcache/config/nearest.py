"""The nearest right name for a wrong one, as a remedy."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

MOST_NAMED = 12


def right_name(wrong: str, known: Sequence[str]) -> str:
    """``write `x` `` where a known name is near, else what is known."""
    if near := difflib.get_close_matches(wrong, known, n=1, cutoff=0.5):
        return f"write `{near[0]}`"
    more = f", ... ({len(known)} in all)" if len(known) > MOST_NAMED else ""
    return f"write one of: {', '.join(known[:MOST_NAMED])}{more}"
