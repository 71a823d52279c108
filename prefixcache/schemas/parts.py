"""Pieces of artifact schemas: kinds of values in short, and objects whose every property is described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefixcache.help.words import UNITS
from prefixcache.help.words.dataset import DATASET
from prefixcache.help.words.run import RUN
from prefixcache.schemas.versions import VERSIONS
from prefixcache.schemas.words import OWN

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
KINDS: dict[str, Schema] = {
    "nat": {"type": "integer", "minimum": 0},
    "int": {"type": "integer"},
    "num": {"type": "number"},
    "ratio": {"type": "number", "minimum": 0, "maximum": 1},
    "str": {"type": "string"},
    "bool": {"type": "boolean"},
    "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "open": {"type": "object", "additionalProperties": True},
}
"""``?`` behind a kind also allows null, ``[]`` makes a list of it: ``nat``, ``num?``, ``str[]``."""


def kind_of(kind: str | Schema) -> Schema:
    """The schema of a kind in short.

    Raises:
        KeyError: no such kind.
    """
    if not isinstance(kind, str):
        return kind
    if kind.endswith("?"):
        return nullable(kind_of(kind[:-1]))
    if kind.endswith("[]"):
        return many(kind_of(kind[:-2]))
    return dict(KINDS[kind])


def nullable(schema: Schema) -> Schema:
    """The same, or null: what is not known is null and never 0."""
    if "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None], "type": [schema["type"], "null"]}
    return {**schema, "type": [schema["type"], "null"]}


def many(item: str | Schema) -> Schema:
    return {"type": "array", "items": kind_of(item)}


def one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values)}


def mapping(value: str | Schema) -> Schema:
    """Any names, each with a value of this kind."""
    return {"type": "object", "additionalProperties": kind_of(value)}


def obj(required: Mapping[str, str | Schema], optional: Mapping[str, str | Schema] | None = None) -> Schema:
    """An object with these properties and no others.

    Raises:
        KeyError: a property that no words describe.
    """
    both = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": {name: described(name, kind_of(kind)) for name, kind in both.items()},
        "required": list(required),
        "additionalProperties": False,
    }


def described(name: str, schema: Schema) -> Schema:
    """The schema with meaning, formula and unit of a field of that name, unless it has a description of its own."""
    if "description" in schema:
        return schema
    if name in OWN:
        text, unit, formula = (*OWN[name], "")[:3]
    else:
        words = DATASET[name] if name in DATASET else RUN[name]
        text, unit, formula = words.en, words.unit, words.formula
    if formula:
        text += f" Formula: {formula}."
    return {"description": f"{text} Unit: {UNITS[unit][0]}." if unit else text, **schema}


def fields(kind: str, names: str) -> dict[str, str | Schema]:
    """Several properties of one kind."""
    return dict.fromkeys(names.split(), kind)


def told(text: str, kind: str | Schema) -> Schema:
    """A property with a description of its own."""
    return {"description": text, **kind_of(kind)}


def document(kind: str, title: str, text: str, body: Schema) -> Schema:
    """A whole schema file."""
    return {
        "$schema": DIALECT,
        "$id": f"{kind}.schema.json",
        "title": title,
        "description": text,
        "x-schema-version": VERSIONS[kind],
        **body,
    }
