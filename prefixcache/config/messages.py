"""Pydantic's findings as one clear message: field path, value found, remedy."""

from __future__ import annotations

import difflib
import re
import reprlib
from decimal import Decimal
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from prefixcache.config.base import PERCENTAGE, RuleError, as_ratio, of_text
from prefixcache.config.nearest import near_names, offered
from prefixcache.errors import InputError

# What to do, by pydantic's error type; {name} is filled from the error's context.
REMEDIES = {
    "missing": "add this key",
    "greater_than_equal": "write a number that is at least {ge}",
    "less_than_equal": "write a number that is at most {le}",
    "greater_than": "write a number above {gt}",
    "less_than": "write a number below {lt}",
    "finite_number": "write a finite number",
    "decimal_max_digits": "write a number of at most {max_digits} digits",
    "decimal_whole_digits": "write a number of at most {whole_digits} digits before the point",
    "decimal_max_places": "write a number of at most {decimal_places} decimals",
    "int_parsing_size": "write a smaller number",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "decimal_parsing": "write a number",
    "decimal_type": "write a number",
    "literal_error": "write one of: {expected}",
    "float_type": "write a number",
    "float_parsing": "write a number",
    "dict_type": "write a block of `key: value` lines",
    "list_type": "write a list",
    "tuple_type": "write a list",
    "invalid_key": "write a text as key",
    "too_long": "give at most {max_length} entries",
    "string_type": "write a text",
    "bool_type": "write true or false",
    "bool_parsing": "write true or false",
    "string_pattern_mismatch": "use letters, digits, '.', '_' and '-', starting with a letter or digit, at most 100",
    "model_type": "write a block of `key: value` lines",
    "model_attributes_type": "write a block of `key: value` lines",
    "string_too_short": "write at least {min_length} letter",
    "string_too_long": "write at most {max_length} letters",
    "too_short": "give at least {min_length} entry",
}

NUMBERS = ("int_type", "int_parsing", "decimal_type", "decimal_parsing")
BLOCKS = ("model_type", "model_attributes_type")


def to_input_error(error: ValidationError, model: type[BaseModel], raw: Any) -> InputError:
    """The first finding as an :class:`InputError`; how many more there are is said."""
    findings = error.errors(include_url=False)
    first = next((f for f in findings if f["type"] == "extra_forbidden"), findings[0])  # a typo explains the rest
    path, parent = _path(first["loc"], model, raw)
    value = first.get("input")
    kind, meant = first["type"], None
    context = {key: str(item) for key, item in first.get("ctx", {}).items()}
    if kind == "extra_forbidden":
        name = str(first["loc"][-1])
        known = _field_names(parent)
        near = _below(parent, name) or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        message = "unknown key"
        meant = ".".join([*path.split(".")[:-1], near[0]]) if near else None  # missing because of the misspelling
        remedy = f"write `{near[0]}`" if near else f"remove it; known keys here: {', '.join(sorted(known))}"
    elif isinstance(rule := first.get("ctx", {}).get("error"), RuleError):
        message, remedy = str(rule), rule.remedy
        path = ".".join(part for part in (path, rule.field) if part)
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        modes = context.get("expected_tags", "")
        mode = value.get("mode") if isinstance(value, dict) else value
        near = near_names(str(mode), modes.replace("'", "").split(", "), 0.6)
        message = "is missing" if mode is None else f"{_short(mode)} is not allowed"
        remedy = offered(near) if near else f"write one of: {modes or ', '.join(_modes(parent, path))}"
        path += ".mode"
    else:
        remedy = REMEDIES.get(kind, "correct the value").format_map(_Missing(context))
        message = "is missing" if kind == "missing" else f"{_short(value)} is not allowed"
        if kind == "less_than_equal" and context.get("le") == "1" and (ratio := as_ratio(value)):
            remedy = f"write {ratio} for {value} %, or another number that is at most 1"
        if why := _why(kind, value, "uniform" in _modes(parent, path)):
            message, remedy = f"{message}: {why[0]}" if why[0] else message, why[1]
    others = list(dict.fromkeys(_path(f["loc"], model, raw)[0] for f in findings if f is not first))
    if others := [other for other in others if other and other not in (path, meant)]:
        message += f" (also wrong: {', '.join(others[:5])}{', ...' if len(others) > 5 else ''})"
    return InputError(
        message,
        field=path or None,
        remedy=remedy.rstrip(".") + ".",
        stage="config",
        group=_group_of(path, raw),
    )


def _why(kind: str, value: Any, is_length: bool) -> tuple[str, str] | None:
    """A reason and a better remedy for values that look right to the one who wrote them."""
    if kind in NUMBERS and isinstance(value, str):
        why, remedy = of_text(value)
        other = remedy == "write a number" or (kind.startswith("int") and why == PERCENTAGE)
        return why, REMEDIES[kind] if other else remedy
    if kind in NUMBERS and isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return "it is a decimal number", f"write {int(value)}"
    if kind in BLOCKS and is_length:
        block = "a block of `key: value` lines such as {mode: uniform, min: 100, max: 4096}"
        why, remedy = of_text(value) if isinstance(value, str) else ("", "")
        return why, f"{remedy if remedy.startswith('write ') else 'write a number of tokens'}, or {block}"
    if kind == "string_type" and isinstance(value, bool | int | float):
        return "it is a number, a text is wanted" if not isinstance(value, bool) else "", "put it in quotes"
    return None


def _group_of(path: str, raw: Any) -> str | None:
    """The id of the prefix group that a field belongs to."""
    found = re.match(r"prefix\.groups\[(\d+)\]", path)
    try:
        group = raw["prefix"]["groups"][int(found[1])]["id"] if found else None
    except (KeyError, IndexError, TypeError):
        return None
    return group if isinstance(group, str) else None


def one_line(key: str) -> str:
    """A key as it can stand in a message: short, and without line ends or control characters."""
    text = key if key.isprintable() else repr(key)[1:-1]
    return text if len(text) <= 100 else text[:97] + "..."


class _Missing(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "an allowed value"


_REPR = reprlib.Repr()
_REPR.maxlevel, _REPR.maxstring, _REPR.maxother = 3, 80, 80


def _short(value: Any) -> str:
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a whole number of {value.bit_length()} bits"  # the text of a huge one would be refused
    text = str(value) if isinstance(value, Decimal) else _REPR.repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _below(models: list[type[BaseModel]], name: str) -> list[str]:
    """Where a key of this very name belongs, one level down: `hit_ratio` stands below `target`."""
    found = {
        f"{key}.{name}"
        for model in models
        for key, field in model.model_fields.items()
        for each in (get_args(field.annotation) or (field.annotation,))
        if isinstance(each, type) and name in getattr(each, "model_fields", {})
    }
    return list(found) if len(found) == 1 else []


def _field_names(models: list[type[BaseModel]]) -> list[str]:
    return sorted({name for model in models for name in model.model_fields})


def _path(loc: tuple[int | str, ...], model: type[BaseModel], raw: Any) -> tuple[str, list[type[BaseModel]]]:
    """Dotted path without pydantic's union tags, and the model(s) that hold the last part."""
    models: list[type[BaseModel]] = [model]
    parents = models
    text = ""
    value = raw
    for part in loc:
        if isinstance(part, int) and isinstance(value, list):
            text += f"[{part}]"
            value = value[part] if part < len(value) else None
            continue
        part = str(part)
        shown = one_line(part)
        tagged = [m for m in models if part in _literals(m)]
        if tagged and len(models) > 1:
            models = tagged
            continue
        if text and not isinstance(value, dict):  # a shorthand such as `input_length: 0`: the user wrote no key below
            break
        text += f".{shown}" if text else shown
        parents = models
        annotations = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        models = [found for annotation in annotations for found in _models_in(annotation)]
        value = value.get(part) if isinstance(value, dict) else None
    return text, parents


def _modes(parents: list[type[BaseModel]], path: str) -> list[str]:
    """The modes a field such as `input_length` takes."""
    name = path.rpartition(".")[2]
    fields = [model.model_fields[name] for model in parents if name in model.model_fields]
    return [mode for field in fields for model in _models_in(field.annotation) for mode in _literals(model)]


def _literals(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("mode")
    return get_args(field.annotation) if field else ()
