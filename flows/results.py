"""A flow's result, or the error it ended with."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from prefect import State


def value_of(state: State[Any] | Awaitable[State[Any]]) -> Any:
    """The returned value. (Prefect types a synchronous flow's state as perhaps awaitable; it is not.)

    Raises:
        The flow's own error; RuntimeError for a run that was cancelled or crashed without one.
    """
    assert isinstance(state, State)
    value = state.result(raise_on_failure=False)
    if isinstance(value, BaseException):
        raise value
    if not state.is_completed():
        raise RuntimeError(f"the flow ended in state {state.name}: {state.message}")
    return value
