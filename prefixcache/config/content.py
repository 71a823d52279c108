"""Tokenizer and text (RFC 3.2.1, 3.3.13-3.3.15)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from prefixcache.config.base import ConfigModel, NonNegative, RuleError
from prefixcache.config.collisions import CollisionConfig


def refuse_address(value: str | None, field: str) -> None:
    """Names are of folders or on a hub; an address may carry credentials, so it is not repeated in the message.

    Raises:
        RuleError: it is an address.
    """
    if value is not None and "://" in value:
        raise RuleError(
            "is an address",
            field=field,
            remedy="name a folder or a hub name; credentials belong into the environment (HF_TOKEN, HF_ENDPOINT)",
        )


MOST_SYNTHETIC = 100_000
"""Samples of the synthetic source that can be asked for by number: about ten million tokens."""


class TokenizerConfig(ConfigModel):
    path: str
    """Folder or hub name, as transformers takes it; `embedded` is the small one shipped with the product."""
    revision: str | None = None
    trust_remote_code: bool = False

    @model_validator(mode="after")
    def _named(self) -> TokenizerConfig:
        refuse_address(self.path, "path")
        if not self.path.strip():
            raise RuleError(
                f"{self.path!r} is blank", field="path", remedy="name a folder or a hub name, or write embedded"
            )
        return self


class PromptConfig(ConfigModel):
    """What stands around every prompt's own text, and in which form prompts are sent."""

    format: Literal["completion", "chat"] = "completion"
    """`completion`: text for /v1/completions; `chat`: messages for /v1/chat/completions, through the chat template."""
    system: Annotated[str, Field(min_length=1)] | None = None
    """Text with which every prompt begins; with chat the content of a system message."""
    form: Literal["auto", "text", "ids"] = "auto"
    """`ids`: prompts are token ids only; `auto`: only where the tokenizer allows no text that encodes to its ids."""

    @model_validator(mode="after")
    def _chat_needs_text(self) -> PromptConfig:
        if self.format == "chat" and self.form == "ids":
            raise RuleError(
                "ids cannot be sent to a chat route", field="form", remedy="write form: text, or format: completion"
            )
        if self.system is not None and not self.system.strip():
            raise RuleError("is blank", field="system", remedy="write a text or leave it out")
        return self


Selection = Literal["random", "index", "content_hash", "fixed", "fixed_cycle"]


class SourceConfig(ConfigModel):
    """Where text comes from and which of its samples are taken (RFC 2.6, 3.3.13)."""

    source: Literal["gsm8k", "text", "random_tokens", "synthetic"] = "synthetic"
    """Text of suffixes and, unless `prefix.source` says otherwise, of master prefixes."""
    mode: Literal["concat"] = "concat"
    path: str | None = None
    """Local file (.jsonl, .csv, .parquet, .txt), or folder with train.jsonl."""
    name: Annotated[str, Field(min_length=1)] | None = None
    """Hub name of a data set that `datasets` loads; default for gsm8k: openai/gsm8k."""
    subset: str | None = None
    split: str = "train"
    revision: str | None = None
    fields: Annotated[list[str], Field(min_length=1)] | None = None
    """Columns of a sample, joined by newlines; default: question, answer for gsm8k, `text` or the only one for text."""
    selection: Selection = "random"
    """Which samples a text begins with, see docs/configuration.md."""
    start_index: NonNegative | None = None
    """selection index: sample of request 0, counted in the source's order."""
    samples: Annotated[list[NonNegative], Field(min_length=1)] | None = None
    """selection fixed, fixed_cycle: samples by their number in the source."""
    separator: Annotated[str, Field(max_length=1000)] = "\n\n"
    """Stands between samples."""
    allow_repeat: bool = False
    """Let samples repeat where the source is too small."""

    @model_validator(mode="after")
    def _fitting(self) -> SourceConfig:
        refuse_address(self.path, "path")
        refuse_address(self.name, "name")
        local = self.path is not None or self.name is not None
        if self.path is not None and self.name is not None:
            raise RuleError(f"{self.name!r} stands beside `path`", field="name", remedy="keep one")
        if self.source == "text" and not local:
            raise RuleError(
                "is missing", field="path", remedy="name a file, or a hub data set by `name`, for source: text"
            )
        if self.source in ("synthetic", "random_tokens"):
            given = [key for key in ("path", "name", "subset", "revision", "fields") if getattr(self, key) is not None]
            if given:
                raise RuleError(
                    f"means nothing with source: {self.source}",
                    field=given[0],
                    remedy="remove it, or write source: text or gsm8k",
                )
        if self.path is not None and not self.path.strip():
            raise RuleError(f"{self.path!r} is blank", field="path", remedy="name a file or folder, or leave it out")
        self._check_fields()
        self._check_selection()
        return self

    def _check_fields(self) -> None:
        for number, name in enumerate(self.fields or ()):
            if not name.strip():
                raise RuleError(f"{name!r} is blank", field=f"fields[{number}]", remedy="write the name of a column")
            if name in (self.fields or ())[:number]:
                raise RuleError(f"{name!r} stands twice", field=f"fields[{number}]", remedy="name each column once")

    def _check_synthetic(self) -> None:
        """It has no end, and all samples up to the last that is asked for are made."""
        asked = (("start_index", self.start_index or 0), ("samples", max(self.samples or [0])))
        for field, number in asked:
            if number >= MOST_SYNTHETIC:
                raise RuleError(
                    f"{number} is beyond the {MOST_SYNTHETIC:,} samples of the synthetic source",
                    field=field,
                    remedy=f"write at most {MOST_SYNTHETIC - 1}, or use a source of your own",
                )

    def _check_selection(self) -> None:
        listed = self.selection in ("fixed", "fixed_cycle")
        if listed and self.samples is None:
            raise RuleError("is missing", field="samples", remedy=f"list sample numbers for selection {self.selection}")
        if not listed and self.samples is not None:
            raise RuleError(
                f"means nothing with selection {self.selection}",
                field="samples",
                remedy="write selection: fixed or fixed_cycle, or remove it",
            )
        if self.samples is not None and len(set(self.samples)) < len(self.samples):
            raise RuleError("names a sample twice", field="samples", remedy="list each sample once")
        if self.start_index is not None and self.selection != "index":
            raise RuleError(
                f"means nothing with selection {self.selection}",
                field="start_index",
                remedy="write selection: index, or remove it",
            )
        if self.source == "synthetic":
            self._check_synthetic()
        if self.source == "random_tokens" and self.selection != "random":
            raise RuleError(
                f"{self.selection} needs samples, and random_tokens has none",
                field="selection",
                remedy="write selection: random",
            )


class SuffixConfig(SourceConfig):
    divergence_block: Literal[True] = True
    collision_detection: CollisionConfig = CollisionConfig()
