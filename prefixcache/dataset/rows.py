"""Rows of data.jsonl, warmup.jsonl and request_metadata.jsonl, rendered from a shard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.content.tokenizer import chat_messages
from prefixcache.dataset.shards import COMPARE_FIELDS, DATA_FIELDS, METADATA_FIELDS, WARMUP_FIELDS, read_rows

OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True)
class RowLayout:
    """What the rows of a dataset hold: whether token ids are kept, whether a prompt is a chat, its system text."""

    ids: bool
    chat: bool
    system: str | None
    metadata: tuple[str, ...]

    @classmethod
    def of(cls, config: PrefixCacheDatasetConfig) -> RowLayout:
        return cls(
            config.output.prompts != "text",
            config.prompt.format == "chat",
            config.prompt.system,
            METADATA_FIELDS + (COMPARE_FIELDS if len(config.passes) > 1 else ()),
        )

    @classmethod
    def of_manifest(cls, manifest: dict[str, Any]) -> RowLayout:
        """Of rows with everything that a dataset's shards hold."""
        prompt = manifest["prompt"]
        return cls(True, prompt["format"] == "chat", prompt["system"], ())

    def requests(self, shard: Path) -> Iterator[tuple[bytes, bytes]]:
        """Lines of data.jsonl and of request_metadata.jsonl."""
        for row in read_rows(shard, tuple(dict.fromkeys([*self.metadata, *DATA_FIELDS]))):
            told = {name: row[name] for name in self.metadata}
            yield self._sent({name: row[name] for name in DATA_FIELDS}), orjson.dumps(told, option=OPTIONS)

    def plans(self, shard: Path) -> Iterator[bytes]:
        """Lines of request_metadata.jsonl alone."""
        return (orjson.dumps(row, option=OPTIONS) for row in read_rows(shard, self.metadata))

    def sent(self, shard: Path) -> Iterator[bytes]:
        """Lines of data.jsonl alone."""
        return map(self._sent, read_rows(shard, DATA_FIELDS))

    def warmup(self, shard: Path) -> Iterator[bytes]:
        """Lines of warmup.jsonl."""
        return map(self._sent, read_rows(shard, WARMUP_FIELDS))

    def _sent(self, row: dict[str, Any]) -> bytes:
        kept = row if self.ids else {**row, "prompt_token_ids": None}
        if self.chat:
            kept = {**kept, "messages": chat_messages(row["prompt"], self.system)}
        return orjson.dumps(kept, option=OPTIONS)
