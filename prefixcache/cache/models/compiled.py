"""Loops over millions of blocks, compiled by numba. Importing this module takes most of a second: import it late."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """The function as machine code, kept from process to process where a folder for it can be written.

    numba looks for one beside the module, in ``NUMBA_CACHE_DIR`` and in the user's cache folder; where it finds none,
    the code is compiled in each process anew (seconds). What is kept is known by the module's own file only: whoever
    changes a function here that another module's compiled code calls must touch that module too.
    """
    numba = import_module("numba")
    try:
        return cast(Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True)(function))
