"""A user's mistake inside a flow: a failed run with one clear message, not a traceback."""

from __future__ import annotations

from typing import Any

from prefect import State
from prefect.states import Failed

from prefixcache.errors import PrefixCacheError


def plain_failure(error: PrefixCacheError) -> State[Any]:
    """A Failed state that carries the message and the error; returned from a flow it logs no traceback."""
    return Failed(message=str(error), data=error)
