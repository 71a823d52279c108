"""What every stage is given: the configuration, and the identity of all it depends on outside of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.output import FORMATS, OutputConfig
from prefixcache.content.tokenizer import EMBEDDED, EMBEDDED_FOLDER
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.files import sha256_file
from prefixcache.version import GENERATOR_VERSION

# Keys that say how a dataset is run or judged; its content does not depend on them.
RUN_ONLY = (
    *(("execution", "concurrency"), ("execution", "gating"), ("execution", "warmup_rounds"), ("validation",)),
    *(("block_size_source",), ("hit_unit_source",)),
)
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    "*.model",
)


class Job(BaseModel):
    """One dataset to make.

    ``identity``: the configuration as plain data with every file replaced by its name and SHA-256, so that it holds no
    path of this machine; it goes into the manifest.
    """

    model_config = ConfigDict(frozen=True)
    config: PrefixCacheDatasetConfig
    identity: dict[str, Any]

    @classmethod
    def of(cls, config: PrefixCacheDatasetConfig) -> Job:
        """Read and hash the files the configuration names.

        Raises:
            InputError, EnvironmentFailure: a file that is not there.
        """
        identity = config.model_dump(mode="json", exclude_none=True)
        if config.output == OutputConfig():
            del identity["output"]  # what it writes is what was written before there was a choice
        elif config.output.formats == FORMATS:
            del identity["output"]["formats"]
        if config.planning.assume == "unbounded":
            del identity["planning"]["assume"]  # likewise
        for field, block in _listings(identity):
            if file := block.get("file"):
                block["file"] = _named(Path(file), f"{field}.file", InputError)
        for field, source in _sources(identity):
            if path := source.get("path"):
                source["path"] = _named(_sample_file(Path(path)), f"{field}.path", EnvironmentFailure)
        identity["tokenizer"] = _tokenizer_identity(config)
        return cls(config=config, identity=identity)

    def fingerprint(self, *, content_only: bool) -> str:
        """Hash of the identity and the generator's version; ``content_only`` leaves out how it is run and judged."""
        identity = orjson.loads(orjson.dumps(self.identity))
        if content_only:
            kept = self.config.output
            identity.pop("output", None)  # the choice of `text` changes no shard
            if kept.prompts == "ids":
                identity["output"] = {"prompts": "ids"}
            if "parquet" not in kept.formats:
                identity["shards"] = "working files"
            for *sections, key in RUN_ONLY:
                block = identity
                for section in sections:
                    block = block.get(section, {})
                block.pop(key, None)
        text = orjson.dumps([GENERATOR_VERSION, identity], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(text).hexdigest()


def _listings(identity: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All blocks that may name a file with an entry per request, with their fields."""
    names = ("input_length", "output_length")
    yield from ((name, identity[name]) for name in names)
    for section, name in (("prefix", "request_groups"), ("routing", "request_domains")):
        yield f"{section}.{name}", identity[section].get(name, {})
    for number, group in enumerate(identity["prefix"].get("groups") or []):
        yield from ((f"prefix.groups[{number}].{name}", group.get(name, {})) for name in names)


def _sources(identity: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All text sources that a configuration names, with their fields."""
    yield "suffix", identity["suffix"]
    if source := identity["prefix"].get("source"):
        yield "prefix.source", source
    for number, group in enumerate(identity["prefix"].get("groups") or []):
        if source := group.get("source"):
            yield f"prefix.groups[{number}].source", source


def _sample_file(path: Path) -> Path:
    for name in ("train.jsonl", "train.parquet"):
        if path.is_dir() and (path / name).is_file():
            return path / name
    return path


def _named(path: Path, field: str, kind: type[InputError] | type[EnvironmentFailure]) -> dict[str, str]:
    try:
        return {"name": path.name, "sha256": sha256_file(path)}
    except OSError as error:
        raise kind(
            f"cannot read {path.name}: {error.strerror}",
            field=field,
            remedy="check the path; for GSM8K name a local copy with --source gsm8k=PATH.",
        ) from None


def _tokenizer_identity(config: PrefixCacheDatasetConfig) -> dict[str, Any]:
    given = config.tokenizer
    path = given.path if given else EMBEDDED
    folder = EMBEDDED_FOLDER if path == EMBEDDED else Path(path).expanduser()
    if not folder.is_dir():  # a hub name: its revision names the content
        return {"name": path, "revision": given.revision if given else None}
    found = sorted(file for pattern in TOKENIZER_FILES for file in folder.glob(pattern))
    name = EMBEDDED if path == EMBEDDED else folder.resolve().name
    return {"name": name, "files": {file.name: sha256_file(file) for file in found}}
