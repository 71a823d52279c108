"""What a dataset keeps of its prompts (RFC 3.4.1)."""

from __future__ import annotations

from typing import Literal

from prefixcache.config.base import ConfigModel, RuleError
from prefixcache.config.content import PromptConfig

Kept = Literal["both", "text", "ids"]


class OutputConfig(ConfigModel):
    """What is written. The requests do not depend on it: their token ids are the same with every choice."""

    prompts: Kept = "both"
    """`both`: texts and token ids; `ids`: no text anywhere; `text`: no ids in the JSONL files, only in the shards."""


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
    if output.prompts == "text" and prompt.form == "ids":
        raise RuleError(
            "text keeps no token ids to send, but prompt.form ids makes prompts without a text",
            field="output.prompts",
            remedy="write prompts: both or ids, or leave out prompt.form",
        )
