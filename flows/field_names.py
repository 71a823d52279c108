"""The field of an error as the user wrote it: a flag on the command line, a parameter in the form of a flow."""

from __future__ import annotations

from collections.abc import Collection

from prefixcache.errors import PrefixCacheError

OTHERWISE = {"pass_name": "--pass"}
"""Parameters whose flag has another name."""


def name_flags(error: PrefixCacheError, names: Collection[str]) -> None:
    """Where the error's field is one of these parameters: its flag."""
    error.field = _each(error.field, {name: flag_of(name) for name in names})


def name_parameters(error: PrefixCacheError, names: Collection[str]) -> None:
    """Where the error's field is the flag of one of these parameters: the parameter."""
    error.field = _each(error.field, {flag_of(name): name for name in names})


def flag_of(name: str) -> str:
    return OTHERWISE.get(name, "--" + name.replace("_", "-"))


def _each(field: str | None, names: dict[str, str]) -> str | None:
    """Several fields stand with commas between them."""
    return None if field is None else ", ".join(names.get(part, part) for part in field.split(", "))
