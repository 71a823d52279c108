"""Exact percentiles of values that keep coming, asked for again and again."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class RunningPercentiles:
    """All values so far, kept sorted: new ones are merged in when somebody asks (one copy of 8 bytes a value), so that
    asking about 100,000 values costs a fraction of a millisecond and not a sort."""

    def __init__(self) -> None:
        self._new = array("d")
        self._sorted: NDArray[np.float64] = np.empty(0)

    def add(self, value: float) -> None:
        self._new.append(value)

    def __len__(self) -> int:
        return self._sorted.size + len(self._new)

    def at(self, percents: Sequence[float]) -> list[float | None]:
        """Percentiles, interpolated linearly between the two nearest values as ``numpy.percentile`` does by default;
        None for each while there is no value."""
        if self._new:
            fresh = np.sort(np.array(self._new))
            self._new = array("d")
            self._sorted = np.insert(self._sorted, np.searchsorted(self._sorted, fresh), fresh)
        if not self._sorted.size:
            return [None] * len(percents)
        return [percentile(self._sorted, percent) for percent in percents]


def percentile(ascending: NDArray[np.float64], percent: float) -> float:
    """Of sorted values, at least one, interpolated linearly."""
    place = (ascending.size - 1) * percent / 100
    low = int(place)
    first, second = ascending[low], ascending[min(low + 1, ascending.size - 1)]
    return float(first + (second - first) * (place - low))
