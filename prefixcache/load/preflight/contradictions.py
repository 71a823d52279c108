"""Contradictions between a dataset and a service as data: what was found, what to do, what it will cost in hits."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import Any, Literal

from prefixcache.errors import InputError
from prefixcache.load.preflight.conditions import Conditions
from prefixcache.load.preflight.predicted import Prediction

STAGE = "preflight"
Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One contradiction.

    Args:
        code: short name, that of the run's warning.
        severity: an ``error`` ends the run before the load, a ``warning`` does not.
        text: what was found, without a prediction.
        remedy: what the user can do.
        field: configuration key or flag concerned.
        request_id, group: of the first request concerned, where there is one.
        change: what the hits are simulated under; None: it moves no hit, or nobody can tell.
        unknown: why there is no prediction, where there is none.
        allowable: whether it can be measured all the same (``allow_misfit``).
        strict: a warning becomes an error if a single request is predicted to hit otherwise than designed.
        prediction: filled in by the simulation.
    """

    code: str
    severity: Severity
    text: str
    remedy: str | None = None
    field: str | None = None
    request_id: str | None = None
    group: str | None = None
    change: Conditions | None = None
    unknown: str | None = None
    allowable: bool = False
    strict: bool = False
    prediction: Prediction | None = dataclasses.field(default=None, compare=False)

    @property
    def told(self) -> str:
        """The finding and its effect, for people."""
        return self.text if self.prediction is None else f"{self.text}; {self.prediction.text}"

    def predicted(self, prediction: Prediction | None, unknown: str | None = None) -> Contradiction:
        """With what the simulation says of it, or why it says nothing."""
        worse = self.strict and prediction is not None and prediction.target.affected > 0
        severity: Severity = "error" if worse else self.severity
        return replace(self, prediction=prediction, unknown=self.unknown or unknown, severity=severity)

    def allowed(self) -> Contradiction:
        """As a warning, if it can be measured at all."""
        return replace(self, severity="warning") if self.allowable else self

    def error(self, dataset_id: str, others: int = 0) -> InputError:
        """``others``: how many more errors there are."""
        more = f"; contradictions beside this one: {others:,}, see `prefixcache run --dry-run`" if others else ""
        return InputError(
            self.told + more,
            field=self.field,
            remedy=self.remedy,
            stage=STAGE,
            dataset_id=dataset_id,
            request_id=self.request_id,
            group=self.group,
        )

    def to_json(self) -> dict[str, Any]:
        figures = _NONE if self.prediction is None else self.prediction.to_json()
        return {
            "code": self.code,
            "severity": self.severity,
            "text": self.text,
            "remedy": self.remedy,
            "field": self.field,
            **figures,
            "no_prediction": self.unknown if self.prediction is None else None,
        }


_NONE: dict[str, Any] = dict.fromkeys(
    ("designed_hit_ratio", "predicted_hit_ratio", "effect_pp", "requests_affected", "requests_without_hit")
) | {"first_affected": [], "passes": []}
