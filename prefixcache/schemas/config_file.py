"""Schema of a configuration file, from the pydantic models: for editors, and for whoever writes files by program."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.load import TOP_KEY
from prefixcache.help.config_keys import models_in
from prefixcache.help.entries import CONFIG
from prefixcache.help.words import UNITS
from prefixcache.schemas.parts import Schema, document

LIMITS: dict[str, str] = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
NOT_JSON_SCHEMA = ("decimal_places", "max_digits", "discriminator")
ROOT = "dataset"


def config() -> Schema:
    """The file: the dataset's keys at its top, or below ``prefix_cache_dataset``.

    What needs several keys at once (the rules between fields) is checked by ``prefixcache plan``, not here.
    """
    found = PrefixCacheDatasetConfig.model_json_schema()
    parts: dict[str, Schema] = {name: _plain(part) for name, part in found.pop("$defs").items()}
    parts[ROOT] = _plain(found)
    for model in _models(PrefixCacheDatasetConfig, set()):
        name = ROOT if model is PrefixCacheDatasetConfig else model.__name__
        _describe(model, parts[name]["properties"])
    _shorthands(parts)
    below = {"properties": {TOP_KEY: {"$ref": f"#/$defs/{ROOT}"}}, "additionalProperties": False}
    body = {
        "type": "object",
        "if": {"required": [TOP_KEY]},
        "then": below,
        "else": {"$ref": f"#/$defs/{ROOT}"},
        "$defs": parts,
    }
    return document("config", "prefixcache configuration", "One dataset: what is asked for and how it is run.", body)


def _plain(node: Any) -> Any:
    """Pydantic's titles and words that JSON Schema does not know taken out, limits of decimals under their names."""
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if not isinstance(node, dict):
        return node
    clean: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            clean[key] = {name: _plain(part) for name, part in value.items()}
        elif key in ("default", "enum", "const"):
            clean[key] = value
        elif key not in NOT_JSON_SCHEMA and key != "title":
            name = LIMITS.get(str(key), str(key))
            clean[name] = _plain(value)
    return clean


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for inner in models_in(field.annotation):
            yield from _models(inner, seen)


def _describe(model: type[BaseModel], properties: dict[str, Schema]) -> None:
    """The texts of `explain`, with unit; the model's own where that has none."""
    for name in model.model_fields:
        owner = next(base for base in reversed(model.__mro__) if name in inspect.get_annotations(base))
        words = CONFIG.get(f"{owner.__name__}.{name}") or (CONFIG.get("Length.mode") if name == "mode" else None)
        if words is not None:
            text = f"{words.en} Unit: {UNITS[words.unit][0]}." if words.unit else words.en
            properties[name] = {**properties[name], "description": text}


def _shorthands(parts: dict[str, Schema]) -> None:
    """What the loader also takes (RFC 2.1), beside the blocks it stands for."""
    root = parts[ROOT]
    tokens = parts["FixedLength"]["properties"]["value"]
    whole = {key: tokens[key] for key in ("type", "minimum", "maximum")}
    names = parts["OrderConfig"]["properties"]["mode"]
    flat = next(part for part in names["anyOf"] if "enum" in part)
    for holder, key, short in (
        (root, "input_length", whole),
        (root, "output_length", whole),
        (parts["GroupConfig"], "input_length", whole),
        (parts["GroupConfig"], "output_length", whole),
        (root, "tokenizer", {"type": "string"}),
        (root, "block_size", {"const": "auto"}),
        (root, "hit_unit", {"const": "auto"}),
        (root, "request_order", flat),
        (parts["GroupConfig"], "source", parts["SourceConfig"]["properties"]["source"]),
        (parts["PrefixConfig"], "source", parts["SourceConfig"]["properties"]["source"]),
    ):
        holder["properties"][key] = _also(holder["properties"][key], short)
    ratio = next(
        part for part in parts["TargetConfig"]["properties"]["hit_ratio"]["anyOf"] if part.get("type") != "null"
    )
    root["properties"]["target_prefix_ratio"] = {
        "description": "Short for a global target with semantics: static_prefix_ratio, and a warm run.",
        **ratio,
    }
    mode = parts["PrefixConfig"]["properties"]["mode"]
    root["properties"]["prefix_mode"] = {"description": "Short for prefix.mode.", "anyOf": mode["anyOf"]}
    root["not"] = {"required": ["target", "target_prefix_ratio"]}
    root["required"] = [key for key in root["required"] if key != "dataset_id"]  # the file's name, where it is left out


def _also(schema: Schema, short: Schema) -> Schema:
    kept: Schema = {key: schema[key] for key in ("description", "default") if key in schema}
    rest = {key: value for key, value in schema.items() if key not in kept}
    plain = {key: value for key, value in short.items() if key not in ("description", "default")}
    return {"anyOf": [rest, plain], **kept}
