"""Each contradiction's effect on the hits alone, and that of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from prefixcache.errors import InputError
from prefixcache.load.preflight.conditions import Conditions
from prefixcache.load.preflight.contradictions import Contradiction
from prefixcache.load.preflight.predicted import Prediction, Predictor

NOTED_S = 2.0
"""Seconds from which the time that the simulation took is told."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What all contradictions together will do.

    Args:
        combined: None without a contradiction that moves hits, or where one of them could not be simulated.
        contradictions: how many of them were simulated.
        seconds: what the simulation took; None: nothing was to be simulated.
        source: of the blocks, the prompts' ``token_ids`` or the ``plan``.
        skipped: why something is not predicted although it was to be.
    """

    combined: Prediction | None = None
    contradictions: int = 0
    seconds: float | None = None
    source: str | None = None
    skipped: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        found = []
        if self.skipped is not None:
            what = "not all of it was predicted" if self.contradictions else "nothing was predicted"
            found.append(f"{what}: {self.skipped}")
        if self.combined is not None and self.contradictions > 1:
            found.append(f"all {self.contradictions} contradictions together; {self.combined.text}")
        if self.seconds is not None and self.seconds >= NOTED_S:
            found.append(f"the prediction took {self.seconds:.1f} s")
        return tuple(found)

    def to_json(self) -> dict[str, Any]:
        return {
            "combined": None if self.combined is None else self.combined.to_json(),
            "prediction": {
                "contradictions": self.contradictions,
                "seconds": None if self.seconds is None else round(self.seconds, 3),
                "blocks_from": self.source,
                "skipped": self.skipped,
            },
        }


def predict_all(predictor: Predictor, found: Sequence[Contradiction]) -> tuple[list[Contradiction], Forecast]:
    """Simulate every contradiction alone and all at once.

    Returns:
        The same contradictions with their predictions, and what they do together.
    """
    if all(one.change is None for one in found):
        return list(found), Forecast()
    told, skipped, moving = [], None, []
    for one in found:
        if one.change is None:
            told.append(one)
            continue
        try:
            told.append(one.predicted(predictor.predict(one.change)))
            moving.append(one.change)
        except InputError as error:
            skipped = error.message
            told.append(one.predicted(None, error.message))
    combined = None
    if skipped is not None:  # what the others do together is not what the server will do
        return told, Forecast(None, len(moving), predictor.seconds, predictor.source, skipped)
    if len(moving) == 1:
        combined = next(one.prediction for one in told if one.prediction is not None)
    elif moving:
        try:
            combined = predictor.predict(reduce(Conditions.merged, moving))
        except InputError as error:
            skipped = error.message
    return told, Forecast(combined, len(moving), predictor.seconds, predictor.source, skipped)
