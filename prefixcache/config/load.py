"""One YAML file into a checked configuration, with the RFC's shorthands and the command line's overrides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from prefixcache.config.dataset import DEFAULT_BLOCK_SIZE, PrefixCacheDatasetConfig
from prefixcache.config.messages import one_line, to_input_error
from prefixcache.config.sizes import SizeFinder, resolve_sizes
from prefixcache.errors import InputError, locating, remedy_for_reading

TOP_KEY = "prefix_cache_dataset"
FILE_FIELDS = (("input_length", "file"), ("output_length", "file"), ("suffix", "path"))
NO_TOKENIZER = (
    "no tokenizer is given: the embedded one is used. Its datasets run on the reference engine only; name the server's "
    "with --tokenizer."
)
"""A warning of every command that uses it; `plan` does not."""
WITHOUT_FILES = ("synthetic", "random_tokens")


@dataclass(frozen=True)
class LoadedConfig:
    config: PrefixCacheDatasetConfig
    warnings: tuple[str, ...]


def load_config(
    path: str | Path,
    *,
    tokenizer: str | None = None,
    sources: Sequence[str] = (),
    settings: Sequence[str] = (),
    sizes: SizeFinder | None = None,
) -> LoadedConfig:
    """Read and check a configuration file.

    Args:
        path: YAML file; the top key ``prefix_cache_dataset`` is optional.
        tokenizer: replaces ``tokenizer.path``.
        sources: ``NAME`` or ``NAME=PATH``; replaces ``suffix.source`` and ``suffix.path``.
        settings: ``dotted.key=value`` with a YAML value; applied last.
        sizes: asks for what `block_size: auto` and `hit_unit: auto` stand for (``prefixcache.load.preflight.sizes``).

    Raises:
        InputError: with the field path, what was found and the remedy.
    """
    path = Path(path)
    with locating(stage="config", dataset_id=name_of(path)):
        raw = _below_top_key(_read_yaml(path))
    given = raw.get("dataset_id")
    with locating(stage="config", dataset_id=given if isinstance(given, str) else name_of(path)):
        raw = _expand_shorthand({str(key): value for key, value in raw.items()})
        raw.setdefault("dataset_id", name_of(path))
        _anchor_paths(raw, path.parent)
        _apply_flags(raw, tokenizer, sources)
        for setting in settings:
            _apply_setting(raw, setting)
        asked = resolve_sizes(raw, sizes)
        return LoadedConfig(parse_config(raw), (*asked, *_warnings(raw)))


def _below_top_key(raw: dict[str, Any]) -> dict[str, Any]:
    if TOP_KEY in raw:
        beside = next((key for key in raw if key != TOP_KEY), None)
        if beside is not None:
            raise InputError(
                f"stands beside {TOP_KEY}", field=one_line(beside), remedy=f"indent it below {TOP_KEY}.", stage="config"
            )
        raw = raw[TOP_KEY]
        if not isinstance(raw, dict):
            raise InputError(
                "holds no `key: value` lines",
                field=TOP_KEY,
                remedy="write the dataset's keys below it.",
                stage="config",
            )
    return raw


def parse_config(raw: dict[str, Any]) -> PrefixCacheDatasetConfig:
    """A checked configuration from plain data; file paths in it are taken as they stand."""
    try:
        return PrefixCacheDatasetConfig.model_validate(raw)
    except ValidationError as error:
        raise to_input_error(error, PrefixCacheDatasetConfig, raw) from None


class _Loader(yaml.SafeLoader):
    """SafeLoader without the traps of YAML 1.1, and that refuses a key written twice: the first one would be lost.

    `no`, `on`, `off` and dates are text, as in YAML 1.2; so are `010` and `12:30`, where a number is asked for and
    octal or base 60 was hardly meant.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":  # `<<: *other` is no key of its own
                continue
            key = str(self.construct_object(key_node, deep=True))
            if key in seen:
                line = key_node.start_mark.line + 1
                raise InputError(
                    f"stands twice, again in line {line}", field=one_line(key), remedy="keep one.", stage="config"
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


_UNWANTED = ("bool", "int", "float", "timestamp")
_WANTED = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": (r"[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)", "-+0123456789"),
    "float": (
        r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|\.(?:inf|Inf|INF))"
        r"|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
}
_Loader.yaml_implicit_resolvers = {
    first: [rule for rule in rules if rule[0].rpartition(":")[2] not in _UNWANTED]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _kind, (_pattern, _firsts) in _WANTED.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"^(?:{_pattern})$"), list(_firsts))


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read {path}: {reason}", field="--config", remedy=remedy_for_reading(error)) from None
    raw = parse_yaml(text, str(path), "--config")
    if not isinstance(raw, dict):
        raise InputError(f"{path} holds no `key: value` lines", field="--config", remedy="see examples/.")
    return {str(key): value for key, value in raw.items()}


def parse_yaml(text: str, what: str, field: str) -> Any:
    """Plain data of a YAML text; ``what`` and ``field`` are its names in the :class:`InputError` of a broken one."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "broken"
        raise InputError(f"{what} is not YAML{where}: {problem}", field=field, remedy="mend it.") from None
    except RecursionError:
        raise InputError(f"{what} is nested too deeply", field=field, remedy="mend it.") from None
    except (ValueError, LookupError, AttributeError, TypeError, ArithmeticError) as error:  # `2001-99-99`, `!!int x`
        reason = str(error).partition(";")[0]
        raise InputError(
            f"{what} holds a value that cannot be read: {reason}", field=field, remedy="mend it."
        ) from None


def name_of(path: Path) -> str:
    """The dataset id of a file that gives none: its name, as far as an id may hold it."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", path.stem).strip("._-")
    return name[:100] or "dataset"


def _expand_shorthand(raw: dict[str, Any]) -> dict[str, Any]:
    """RFC 2.1: ``target_prefix_ratio`` = static and warm; ``prefix_mode`` = prefix.mode."""
    if "target_prefix_ratio" in raw:
        if "target" in raw:
            raise InputError("stands beside `target`", field="target_prefix_ratio", remedy="keep one.", stage="config")
        ratio = raw.pop("target_prefix_ratio")
        raw["target"] = {"scope": "global", "hit_ratio": ratio, "semantics": "static_prefix_ratio"}
        execution = raw["execution"] if raw.get("execution") is not None else {}
        if isinstance(execution, dict):
            raw["execution"] = {"mode": "warmup", **execution}
    if "prefix_mode" in raw:
        mode = raw.pop("prefix_mode")
        prefix = raw["prefix"] if raw.get("prefix") is not None else {}
        if isinstance(prefix, dict):
            if "mode" in prefix and prefix["mode"] != mode:
                raise InputError("contradicts `prefix.mode`", field="prefix_mode", remedy="keep one.", stage="config")
            raw["prefix"] = {**prefix, "mode": mode}
    return raw


def _anchor_paths(raw: dict[str, Any], folder: Path) -> None:
    """Files named in a configuration are looked for beside it."""
    for section, key in FILE_FIELDS:
        block = raw.get(section)
        if isinstance(block, dict) and isinstance(block.get(key), str):
            raw[section] = {**block, key: _resolved(block[key], folder, f"{section}.{key}")}
    if isinstance(routing := raw.get("routing"), dict):
        raw["routing"] = _anchored_file(routing, "request_domains", folder, "routing")
    prefix = raw.get("prefix")
    if isinstance(prefix, dict):
        prefix = _anchored_file(_anchored_source(prefix, folder, "prefix"), "request_groups", folder, "prefix")
        if isinstance(groups := prefix.get("groups"), list):
            prefix["groups"] = [
                _anchored_group(group, folder, f"prefix.groups[{number}]") if isinstance(group, dict) else group
                for number, group in enumerate(groups)
            ]
        raw["prefix"] = prefix


def _anchored_group(block: dict[str, Any], folder: Path, where: str) -> dict[str, Any]:
    block = _anchored_source(block, folder, where)
    for key in ("input_length", "output_length"):
        block = _anchored_file(block, key, folder, where)
    return block


def _anchored_file(block: dict[str, Any], key: str, folder: Path, where: str) -> dict[str, Any]:
    inner = block.get(key)
    if not isinstance(inner, dict) or not isinstance(inner.get("file"), str):
        return dict(block)
    return {**block, key: {**inner, "file": _resolved(inner["file"], folder, f"{where}.{key}.file")}}


def _anchored_source(block: dict[str, Any], folder: Path, where: str) -> dict[str, Any]:
    source = block.get("source")
    if not isinstance(source, dict) or not isinstance(source.get("path"), str):
        return dict(block)
    return {**block, "source": {**source, "path": _resolved(source["path"], folder, f"{where}.source.path")}}


def _resolved(name: str, folder: Path, field: str) -> str:
    if "://" in name:
        return name  # no path; the model says so without repeating it
    try:
        return str((folder / Path(name).expanduser()).resolve())
    except (OSError, ValueError, RuntimeError) as error:  # a null byte, half a surrogate pair, an unknown ~user
        raise InputError(f"{name!r} is not a path: {error}", field=field, remedy="correct the path.") from None


def _apply_flags(raw: dict[str, Any], tokenizer: str | None, sources: Sequence[str]) -> None:
    if tokenizer is not None:
        if not tokenizer.strip():
            raise InputError("is empty", field="--tokenizer", remedy="name a folder or a hub name, or `embedded`.")
        block = raw.get("tokenizer")
        kept = block if isinstance(block, dict) else {}
        raw["tokenizer"] = {**kept, "path": tokenizer}
    for source in sources:
        name, equals, location = source.partition("=")
        if equals and not (name.strip() and location.strip()):
            raise InputError(
                f"{source!r} is neither NAME nor NAME=PATH", field="--source", remedy="e.g. --source gsm8k=/data/gsm8k."
            )
        block = raw.get("suffix")
        gone = {"path", "name", "subset", "revision", *(("fields",) if name in WITHOUT_FILES else ())}
        kept = {k: v for k, v in block.items() if k not in gone} if isinstance(block, dict) else {}
        raw["suffix"] = {**kept, "source": name}
        if location:
            raw["suffix"]["path"] = _resolved(location, Path(), f"--source {name}")


def _apply_setting(raw: dict[str, Any], setting: str) -> None:
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise InputError(f"{setting!r} is not key=value", field="--set", remedy="e.g. --set target.hit_ratio=0.6.")
    value = parse_yaml(text, f"the value of {setting!r}", "--set")
    key = key.removeprefix(f"{TOP_KEY}.")
    if not all(part.strip() for part in key.split(".")):
        raise InputError(
            f"{one_line(key)!r} is no key: a part of it is empty",
            field="--set",
            remedy="write dotted names, e.g. --set target.hit_ratio=0.6.",
        )
    if key == "target_prefix_ratio":  # the shorthand replaces the whole target
        raw.pop("target", None)
        raw[key] = value
        _expand_shorthand(raw)
        return
    block = raw
    *parents, last = ("prefix.mode" if key == "prefix_mode" else key).split(".")
    for parent in parents:
        child = block.get(parent)
        if child is None:
            child = {}
        if not isinstance(child, dict):
            raise InputError(
                f"{one_line(parent)} is not a block of keys",
                field=f"--set {one_line(key)}",
                remedy="name a key that holds a block.",
            )
        block[parent] = dict(child)
        block = block[parent]
    block[last] = value


def _warnings(raw: dict[str, Any]) -> list[str]:
    found = []
    if raw.get("block_size") is None:
        found.append(
            f"block_size is not given: {DEFAULT_BLOCK_SIZE} is assumed. If the server's differs, the hit rate will too."
        )
    if raw.get("tokenizer") is None:
        found.append(NO_TOKENIZER)
    routing = raw.get("routing")
    scope = routing.get("cache_scope") if isinstance(routing, dict) else None
    if isinstance(routing, dict) and scope in ("dp_local", "instance_local") and routing.get("dp_size", 1) == 1:
        found.append(
            f"routing.cache_scope is {scope} with dp_size 1: one cache is planned, so local scope and binding change "
            "nothing. Write the server's number of DP ranks or instances as routing.dp_size."
        )
    return found
