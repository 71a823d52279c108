"""Does a value that was read have the form that its schema describes? The part of JSON Schema that our schemas use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from prefixcache.schemas.parts import Schema

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


def misfits(value: Any, schema: Schema, place: str = "") -> Iterator[str]:
    """What does not fit, each with its place: ``passes[0].name is missing``.

    Args:
        schema: one of :mod:`prefixcache.schemas`; ``properties``, ``required``, ``additionalProperties``, ``items``,
            ``type``, ``enum``, ``pattern``, ``minimum``, ``maximum``, ``minItems`` and ``maxItems`` are looked at.
        place: where the value stands.
    """
    here = place or "the file"
    if (kind := schema.get("type")) is not None and not _is(value, kind):
        wanted = " or ".join(kind) if isinstance(kind, list) else kind
        yield f"{here} is {_shown(value)}, not {wanted}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{here} is {_shown(value)}, not one of {', '.join(map(str, schema['enum']))}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{here} is {_shown(value)}, which is malformed"
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        if not low <= value <= high:
            yield f"{here} is {_shown(value)}, out of range"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{here} has {len(value)} entries"
        for number, item in enumerate(value):
            yield from misfits(item, schema.get("items", {}), f"{place}[{number}]")
    if isinstance(value, dict):
        yield from _members(value, schema, place)


def _members(value: dict[str, Any], schema: Schema, place: str) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    before = f"{place}." if place else ""
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{before}{name} is missing"
    for name, item in value.items():
        if name in known:
            yield from misfits(item, known[name], f"{before}{name}")
        elif isinstance(others, dict):
            yield from misfits(item, others, f"{before}{name}")
        elif not others:
            yield f"{before}{name} is unknown"


def _is(value: Any, kind: str | list[str]) -> bool:
    if isinstance(kind, list):
        return any(_is(value, one) for one in kind)
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _shown(value: Any) -> str:
    """Short: a file's content may be anything."""
    text = repr(value) if isinstance(value, str) else "null" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
