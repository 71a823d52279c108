"""Secret values in flow parameters: Prefect stores parameters, so they stand there by name only."""

from __future__ import annotations

from collections.abc import Sequence

from prefixcache.errors import InputError

_VALUES: dict[str, str] = {}
BLOCK = "secret:"
"""A header's value that begins so is the name of a Prefect Secret block."""


def veiled(headers: Sequence[str]) -> list[str]:
    """Headers without their values; this process remembers them. Those that name a Secret block stay as they are."""
    result = []
    for line in headers:
        name, colon, value = line.partition(":")
        if not colon or value.strip().startswith(BLOCK):
            result.append(line if colon else "")
            continue
        number = 1
        while _VALUES.get(mark := f"{name.strip()}: [hidden {number}]", line) != line:
            number += 1
        _VALUES[mark] = line
        result.append(mark)
    return result


def unveiled(headers: Sequence[str]) -> tuple[str, ...]:
    """What :func:`veiled` was given; values of Secret blocks are fetched from Prefect.

    Raises:
        InputError: there is no such block.
    """
    found = []
    for line in headers:
        line = _VALUES.get(line, line)
        name, colon, value = line.partition(":")
        if colon and value.strip().startswith(BLOCK):
            line = f"{name}: {secret(value.strip().removeprefix(BLOCK), 'header')}"
        found.append(line)
    return tuple(found)


def secret(block: str, field: str) -> str:
    """The value of a Prefect Secret block.

    Raises:
        InputError: there is no such block, or its value is no text.
    """
    from prefect.blocks.system import Secret

    try:
        value = Secret.load(block.strip()).get()  # type: ignore[union-attr]
    except ValueError:
        raise InputError(
            f"Prefect has no Secret block called {block.strip()!r}",
            field=field,
            remedy="Make it in the Prefect UI under Blocks, or name another one.",
            stage="run_benchmark",
        ) from None
    if not isinstance(value, str):
        raise InputError(
            f"the Secret block {block.strip()!r} holds no text",
            field=field,
            remedy="Store the key alone in it.",
            stage="run_benchmark",
        )
    return value
