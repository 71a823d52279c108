"""What a dataset keeps of its prompts (RFC 3.4.1), and in which files."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator

from prefixcache.config.base import ConfigModel, RuleError
from prefixcache.config.content import PromptConfig

Kept = Literal["both", "text", "ids"]
Format = Literal["parquet", "jsonl"]
FORMATS: tuple[Format, ...] = ("parquet", "jsonl")


class OutputConfig(ConfigModel):
    """What is written. The requests do not depend on it: their token ids are the same with every choice."""

    prompts: Kept = "both"
    """`both`: texts and token ids; `ids`: no text anywhere; `text`: no ids in the JSONL files, only in the shards."""

    formats: tuple[Format, ...] = FORMATS
    """Files that hold the prompts: `parquet` shards, `jsonl` files, or both. The plan's JSON Lines are always there."""

    @field_validator("formats")
    @classmethod
    def _in_one_order(cls, given: tuple[Format, ...]) -> tuple[Format, ...]:
        if not given or len(set(given)) < len(given):
            raise RuleError(
                "names a format twice" if given else "names no format",
                remedy="write parquet, jsonl, or both",
            )
        return tuple(name for name in FORMATS if name in given)


def check_output_rules(output: OutputConfig, prompt: PromptConfig) -> None:
    """Refuse to leave out what has to be sent.

    Raises:
        RuleError: with the field's path from the top.
    """
    if output.prompts == "ids" and prompt.format == "chat":
        raise RuleError(
            "ids keeps no text, but prompt.format chat sends texts",
            field="output.prompts",
            remedy="write prompts: both or text, or prompt.format: completion",
        )
    if output.prompts == "ids" and prompt.form == "text":
        raise RuleError(
            "ids keeps no text, but prompt.form is text",
            field="output.prompts",
            remedy="write prompts: both or text, or leave out prompt.form",
        )
    if output.prompts == "text" and "parquet" not in output.formats:
        raise RuleError(
            "text leaves the token ids to the Parquet shards, which are not among output.formats",
            field="output.prompts",
            remedy="write prompts: both, or formats: [parquet, jsonl]",
        )
    if output.prompts == "text" and prompt.form == "ids":
        raise RuleError(
            "text keeps no token ids to send, but prompt.form ids makes prompts without a text",
            field="output.prompts",
            remedy="write prompts: both or ids, or leave out prompt.form",
        )
