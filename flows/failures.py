"""A user's mistake inside a flow: a failed run with one clear message, not a traceback."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from prefect import State
from prefect.states import Failed

from flows.field_names import name_parameters
from prefixcache.errors import PrefixCacheError


def plain_failure(error: PrefixCacheError, parameters: Collection[str] = ()) -> State[Any]:
    """A Failed state that carries the message and the error; returned from a flow it logs no traceback.

    ``parameters``: names in the flow's form; a field that is the flag of one is named as the form names it.
    """
    name_parameters(error, parameters)
    return Failed(message=str(error), data=error)
