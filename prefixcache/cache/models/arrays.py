"""Arrays that the models keep from one trace to the next."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = TypeVar("Array", bound=NDArray[Any])


def grown(array: Array, size: int, fill: int) -> Array:
    """At least ``size`` entries along the first axis, the new ones ``fill``.

    An array that grows again grows by half, so that many short traces cost no more than a long one.
    """
    if size <= len(array):
        return array
    more = np.full((max(size, len(array) * 3 // 2) - len(array), *array.shape[1:]), fill, dtype=array.dtype)
    return np.concatenate([array, more])  # type: ignore[return-value]
