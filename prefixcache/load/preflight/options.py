"""What a user may choose of the preflight."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class PreflightOptions:
    """Options of the checks before the load.

    Args:
        allow_misfit: measure although the server contradicts the plan, where that can be measured at all (block size,
            hit unit, requests above its context length): those errors become warnings. Nothing is ever adapted.
        probe_report: what ``prefixcache probe --json`` printed of this server; a measured hit unit and drop go before
            what it states.
        predict: simulate what the contradictions will cost (:mod:`prefixcache.load.preflight.predicted`).
    """

    allow_misfit: bool = False
    probe_report: Path | None = None
    predict: bool = True
