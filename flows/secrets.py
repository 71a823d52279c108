"""Secret values in flow parameters: Prefect stores parameters, so they stand there by name only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from prefixcache.errors import InputError

_VALUES: dict[str, str] = {}
_TEXTS: dict[str, str] = {}
BLOCK = "secret:"
"""A header's value, or a text in the extra body, that begins so is the name of a Prefect Secret block."""
SHORTEST_SECRET = 8
"""Characters of a text in the extra body that may be a secret: as ``prefixcache.load.sending.options`` has it, whose
import would take the command line a second."""


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


def veiled_body(text: str) -> str:
    """An extra body without its longer texts; this process remembers them. Short texts, numbers and truth values stay,
    and so do texts that name a Secret block."""

    def veil(value: str) -> str:
        if len(value) < SHORTEST_SECRET or value.startswith(BLOCK):
            return value
        number = 1
        while _TEXTS.get(mark := f"[hidden {number}]", value) != value:
            number += 1
        _TEXTS[mark] = value
        return mark

    try:
        return _rewritten(text, veil)
    except orjson.JSONDecodeError:
        return ""


def unveiled_body(text: str) -> str:
    """What :func:`veiled_body` was given; values of Secret blocks are fetched from Prefect.

    Raises:
        InputError: there is no such block.
    """

    def unveil(value: str) -> str:
        value = _TEXTS.get(value, value)
        return secret(value.removeprefix(BLOCK), "extra_body") if value.startswith(BLOCK) else value

    try:
        return _rewritten(text, unveil)
    except orjson.JSONDecodeError:
        return text  # told as any other body that is no JSON


def _rewritten(text: str, each: Callable[[str], str]) -> str:
    """A JSON text with every text in it, names of fields left out, put through ``each``; as it is if none changes."""
    before = orjson.loads(text)
    after = _texts(before, each)
    return text if after == before else orjson.dumps(after).decode()


def _texts(value: Any, each: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return each(value)
    if isinstance(value, dict):
        return {name: _texts(inner, each) for name, inner in value.items()}
    return [_texts(inner, each) for inner in value] if isinstance(value, list) else value


def refuse_blocks(given: Mapping[str, Any]) -> None:
    """For runs without Prefect: the name of a block would be sent as if it were the secret.

    Args:
        given: parameters of the command, checked.

    Raises:
        InputError: a header or the extra body names a Secret block.
    """
    if any(line.partition(":")[2].strip().startswith(BLOCK) for line in given.get("header") or ()):
        raise _needs_prefect("header")

    def refuse(value: str) -> str:
        if value.startswith(BLOCK):
            raise _needs_prefect("extra_body")
        return value

    if given.get("extra_body"):
        _rewritten(given["extra_body"], refuse)


def _needs_prefect(field: str) -> InputError:
    return InputError(
        "a Secret block is kept by Prefect, and this runs without it",
        field=field,
        remedy="Leave out --no-prefect, or write the value itself.",
        stage="run_benchmark",
    )


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
