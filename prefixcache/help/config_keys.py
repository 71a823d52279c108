"""Every key a configuration may have, read off the pydantic models: path, type, default, and which words explain it."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from prefixcache.config.dataset import PrefixCacheDatasetConfig

MANY = "[]"
"""Stands in a path for any entry of a list, as in ``prefix.groups[].id``."""


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One key.

    Args:
        path: dotted, e.g. ``input_length.bins[].weight``.
        word: name of its :class:`~prefixcache.help.words.Words`: model class that defines it, and field.
        kind: type in words that both languages share where it is a list of values; else a key of ``KINDS``.
        values: what may be written, if these are few.
        required: it must stand in the file.
        default: as written in YAML; None where there is none or it is a rule.
        variant: the ``mode`` of a length model to which it belongs.
    """

    path: str
    word: str
    kind: str
    values: tuple[str, ...]
    required: bool
    default: str | None
    variant: str | None = None


KINDS: dict[str, tuple[str, str]] = {
    "choice": ("one of", "可选值"),
    "switch": ("true or false", "true 或 false"),
    "integer": ("whole number", "整数"),
    "decimal": ("decimal number", "小数"),
    "text": ("text", "文本"),
    "list": ("list", "列表"),
    "mapping": ("name: value pairs", "名称: 值 的映射"),
    "block": ("block of keys", "下级配置块"),
}


@cache
def config_keys() -> tuple[ConfigKey, ...]:
    """All keys in the order of the models; a key of several length models comes once per model."""
    return tuple(_walk(PrefixCacheDatasetConfig, "", None))


def _walk(model: type[BaseModel], prefix: str, variant: str | None) -> Iterator[ConfigKey]:
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        members = models_in(field.annotation)
        if variant is None or name != "mode":  # the tag of a union is emitted with the union
            yield _key(path, _word(model, name), field, variant)
        below = f"{path}{MANY if _kind(field.annotation) == 'list' else ''}."
        if len(members) > 1:
            yield _tag(f"{below}mode", members)
        for member in members:
            yield from _walk(member, below, _tag_of(member) if len(members) > 1 else None)


def _key(path: str, word: str, field: FieldInfo, variant: str | None) -> ConfigKey:
    default = None if field.is_required() else _written(field.get_default(call_default_factory=True))
    kind = _kind(field.annotation)
    return ConfigKey(path, word, kind, _values(field.annotation), field.is_required(), default, variant)


def _tag(path: str, members: list[type[BaseModel]]) -> ConfigKey:
    return ConfigKey(path, "Length.mode", "choice", tuple(_tag_of(m) or "" for m in members), True, None)


def _word(model: type[BaseModel], name: str) -> str:
    """The class that defines a field names its words, so that a field used in many places is explained once."""
    owner = next(base for base in reversed(model.__mro__) if name in inspect.get_annotations(base))
    return f"{owner.__name__}.{name}"


def _tag_of(model: type[BaseModel]) -> str | None:
    field = model.model_fields.get("mode")
    values = _values(field.annotation) if field else ()
    return values[0] if len(values) == 1 else None


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The models that a field's annotation holds, in their order."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_in(part)]


def _plain(annotation: Any) -> Any:
    """Without Annotated and Optional."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        return _plain(parts[0])
    return annotation


def _kind(annotation: Any) -> str:
    plain = _plain(annotation)
    origin = get_origin(plain)
    if origin is Literal:
        return "switch" if all(isinstance(v, bool) for v in get_args(plain)) else "choice"
    if origin in (list, tuple):
        return "list"
    if origin is dict:
        return "mapping"
    if models_in(plain):
        return "block"
    return {bool: "switch", int: "integer", Decimal: "decimal"}.get(plain, "text")


def _values(annotation: Any) -> tuple[str, ...]:
    plain = _plain(annotation)
    if get_origin(plain) is not Literal:
        return ()
    return tuple(str(v).lower() if isinstance(v, bool) else str(v) for v in get_args(plain))


def _written(value: Any) -> str | None:
    """A default as YAML would have it; None for blocks, whose keys have defaults of their own, and for null."""
    if value is None or isinstance(value, BaseModel):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) and value.strip() != value else str(value)
