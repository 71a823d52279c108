"""The forms in which servers take prompts, and where their answers tell tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from prefixcache.load.request.usage import Usage, read_usage
from prefixcache.load.sending.options import Api
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

    @property
    def chat(self) -> bool:
        """A template of the server's stands around the prompt."""
        return self.name == "messages"


FORMS = (
    Form("/v1/completions", "prompt", True),
    Form("/v1/completions", "prompt", False),
    Form("/generate", "input_ids", True),
    Form("/generate", "text", False),
    Form("/v1/chat/completions", "messages", False),
)
"""In the order in which they are tried: what stands around a prompt is best known where it is ids."""
NATIVE = next(form for form in FORMS if form.native and form.ids)


def forms_of(api: Api) -> tuple[Form, ...]:
    """The forms of an interface; of the OpenAI one all, SGLang's own route in its place where there is none."""
    return FORMS if api == "openai" else tuple(form for form in FORMS if form.native)


def body_of(form: Form, model: str, content: Any, output: int, *, streamed: bool) -> dict[str, Any]:
    """A request's body.

    Args:
        form: how the prompt is sent.
        model: name of the model.
        content: the prompt, ids or a text.
        output: tokens to generate.
        streamed: the answer is to come as events, the last one with usage.
    """
    if form.native:
        sampling = {"max_new_tokens": output, "temperature": 0, "ignore_eos": True}
        return {form.name: content, "sampling_params": sampling} | ({"stream": True} if streamed else {})
    prompt = [{"role": "user", "content": content}] if form.chat else content
    body = {"model": model, form.name: prompt, "max_tokens": output, "temperature": 0}
    body |= {"ignore_eos": True} if output > 1 else {}
    return body | ({"stream": True, "stream_options": {"include_usage": True}} if streamed else {})


def streamed_body(raw: bytes) -> dict[str, Any]:
    """What a stream's events say together, as far as a probe needs it: their usage, SGLang's figures."""
    found: dict[str, Any] = {}
    for line in raw.splitlines():
        if not line.startswith(b"data:"):
            continue
        try:
            event = orjson.loads(line[5:])
        except orjson.JSONDecodeError:  # [DONE]
            continue
        if isinstance(event, dict):
            found |= {name: event[name] for name in ("usage", "timings", "meta_info", "choices") if event.get(name)}
    return found


def holds_completion(body: Mapping[str, Any], form: Form) -> bool:
    """Whether an answer of status 200 is one: proxies answer with pages of their own, too."""
    if form.native:
        return any(name in body for name in ("text", "output_ids", "meta_info"))
    choices = body.get("choices")
    return isinstance(choices, list) and bool(choices)


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
