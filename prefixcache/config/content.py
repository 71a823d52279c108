"""Tokenizer and text (RFC 3.2.1, 3.3.13-3.3.15)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from prefixcache.config.base import ConfigModel, Count, NonNegative


class TokenizerConfig(ConfigModel):
    path: str
    """Folder or hub name, as transformers takes it; `embedded` is the small one shipped with the product."""
    revision: str | None = None
    trust_remote_code: bool = False


class CollisionConfig(ConfigModel):
    enabled: Literal[True] = True
    cache_match_semantics: Literal["chained_prefix"] = "chained_prefix"
    first_non_shared_block_unique: Literal[True] = True
    window_blocks: Count = 2
    """Length of the repeated-window diagnostic, in blocks."""
    max_retries: NonNegative = 3


class SuffixConfig(ConfigModel):
    source: Literal["gsm8k", "synthetic"] = "synthetic"
    """Text of suffixes and master prefixes."""
    mode: Literal["concat"] = "concat"
    divergence_block: Literal[True] = True
    path: str | None = None
    """Local file, or folder with train.jsonl; default for gsm8k: the `datasets` hub name."""
    fields: Annotated[list[str], Field(min_length=1)] | None = None
    """Fields of a sample, joined by newlines; default for gsm8k: question, answer."""
    collision_detection: CollisionConfig = CollisionConfig()
