"""The forms in which servers take prompts, and where their answers tell tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from prefixcache.load.usage import Usage, read_usage
from prefixcache.probe.service import Answer


@dataclass(frozen=True, slots=True)
class Form:
    """How prompts are sent: route, name of the prompt's field, and whether as token ids."""

    path: str
    name: str
    ids: bool

    @property
    def native(self) -> bool:
        return self.path == "/generate"


FORMS = (
    Form("/v1/completions", "prompt", True),
    Form("/v1/completions", "prompt", False),
    Form("/generate", "input_ids", True),
    Form("/generate", "text", False),
)
NATIVE = next(form for form in FORMS if form.native and form.ids)


def usage_of(answer: Answer, form: Form) -> Usage:
    """Token counts of an answer, in whatever form they stand there."""
    body = answer.body
    if form.native:
        meta = body.get("meta_info")
        meta = meta if isinstance(meta, Mapping) else {}
        told = {"prompt_tokens": meta.get("prompt_tokens"), "completion_tokens": meta.get("completion_tokens")}
        return read_usage({**told, "prompt_tokens_details": {"cached_tokens": meta.get("cached_tokens")}}, Usage())
    found = body.get("usage")
    usage = read_usage(found, Usage()) if isinstance(found, Mapping) else Usage()
    timings = body.get("timings")
    if usage.cached_tokens is None and isinstance(timings, Mapping) and type(timings.get("cache_n")) is int:
        return replace(usage, cached_tokens=timings["cache_n"])  # llama.cpp
    return usage


def output_ids(body: Any) -> list[int] | None:
    """The ids of an answer's tokens, where it tells them."""
    found = body.get("output_ids")
    choices = body.get("choices")
    if found is None and isinstance(choices, list) and choices and isinstance(choices[0], dict):
        found = choices[0].get("token_ids") or choices[0].get("output_token_ids")
    return found if isinstance(found, list) and all(type(each) is int for each in found) else None
