"""Where text comes from: GSM8K, any file or hub data set, the shipped synthetic problems (RFC 2.6, 3.3.13)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefixcache.config.content import SourceConfig
from prefixcache.content.source_files import hub_rows, read_rows
from prefixcache.content.synthetic import samples
from prefixcache.errors import InputError

GSM8K_HUB_NAME = "openai/gsm8k"
GSM8K_SUBSET = "main"
GSM8K_FIELDS = ["question", "answer"]
TEXT_FIELD = "text"
# GSM8K's answers carry the calculator's steps as <<48/2=24>>.
_CALCULATOR_MARK = re.compile(r"<<[^<>]*>>")


@dataclass(frozen=True)
class Source:
    """Text samples in the source's order, NFC, without surrounding blanks; ``ids``: their numbers in the source."""

    name: str
    samples: list[str]
    ids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.ids:
            self.ids.extend(range(len(self.samples)))


def sample_hash(text: str) -> str:
    """SHA-256 of a sample's text as it is used."""
    return hashlib.sha256(text.encode()).hexdigest()


def load_source(config: SourceConfig, *, count: int, seed: int, where: str = "suffix") -> Source:
    """The samples of the configured source; ``random_tokens`` has none.

    Args:
        config: source, path or hub name, and fields.
        count: how many samples the synthetic source makes; files give all they have.
        seed: of the synthetic source.
        where: configuration path of ``config``, for messages.

    Raises:
        InputError: a file that is not what it should be.
        EnvironmentFailure: a source that is not reachable; nothing else is ever put in its place.
    """
    if config.source == "random_tokens":
        return Source("random_tokens", [])
    if config.source == "synthetic":
        return Source("synthetic", samples(count, seed))
    gsm8k = config.source == "gsm8k"
    if config.path:
        rows = read_rows(Path(config.path), where=where, gsm8k=gsm8k)
    elif gsm8k:
        name, subset = config.name or GSM8K_HUB_NAME, config.subset or GSM8K_SUBSET
        rows = hub_rows(name, subset, config.split, config.revision, where=where, gsm8k=True)
    else:
        rows = hub_rows(str(config.name), config.subset, config.split, config.revision, where=where, gsm8k=False)
    texts = _texts(rows, config.fields or (GSM8K_FIELDS if gsm8k else None), where, clean=gsm8k)
    kept = [(number, text) for number, text in enumerate(texts) if text]
    return Source(config.source, [text for _, text in kept], [number for number, _ in kept])


def _texts(rows: Iterable[Any], fields: list[str] | None, where: str, *, clean: bool) -> Iterable[str]:
    for number, row in enumerate(rows):
        if isinstance(row, str):
            row = {TEXT_FIELD: row}
        if not isinstance(row, dict):
            raise InputError(
                f"sample {number} is not an object",
                field=f"{where}.path",
                remedy="give one JSON object a line.",
                stage="tokenize_sources",
            )
        if fields is None:
            fields = _only_text_field(row, where)
        missing = [name for name in fields if not isinstance(row.get(name), str)]
        if missing:
            raise InputError(
                f"sample {number} has no text in field {missing[0]!r}; its fields: {', '.join(map(str, row))[:300]}",
                field=f"{where}.fields",
                remedy="choose among the sample's fields.",
                stage="tokenize_sources",
            )
        parts = (row[name] for name in fields)
        joined = "\n".join(_CALCULATOR_MARK.sub("", part) if clean else part for part in parts)
        # Half a surrogate pair, which JSON can spell, is no text.
        whole = joined.encode("utf-8", "ignore").decode().replace("\r\n", "\n")
        yield unicodedata.normalize("NFC", whole).strip()


def _only_text_field(row: dict[str, Any], where: str) -> list[str]:
    if isinstance(row.get(TEXT_FIELD), str):
        return [TEXT_FIELD]
    texts = [str(name) for name, value in row.items() if isinstance(value, str)]
    if len(texts) == 1:
        return texts
    raise InputError(
        f"which of the columns holds the text? There are: {', '.join(map(str, row))[:300]}",
        field=f"{where}.fields",
        remedy="list the columns to use.",
        stage="tokenize_sources",
    )
