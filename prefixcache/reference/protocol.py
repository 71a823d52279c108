"""Reading requests: which fields are understood, which are refused, and how errors look on the wire."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

DEFAULT_MAX_TOKENS = 16
UNSUPPORTED = (
    "echo",
    "suffix",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
    "stop",
    "use_beam_search",
    "prompt_embeds",
)
"""Fields that would change the answer or bypass the cache; to ignore them would be a silent lie."""


class RequestError(Exception):
    """An answer with an error object in vLLM's form; it moves no counter."""

    def __init__(
        self, message: str, *, status: int = 400, kind: str = "BadRequestError", param: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": status}}


@dataclass(frozen=True)
class Sampling:
    """What a generation request asks for besides its prompt. ``max_tokens`` None: until it ends by itself."""

    max_tokens: int | None = DEFAULT_MAX_TOKENS
    min_tokens: int = 0
    ignore_eos: bool = False
    n: int = 1
    stream: bool = False
    include_usage: bool = False
    continuous_usage: bool = False
    cache_salt: str | None = None
    return_token_ids: bool = False


def read_body(raw: bytes, content_type: str) -> dict[str, Any]:
    """The request's JSON object."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise RequestError("Unsupported Media Type: Only 'application/json' is allowed")
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise RequestError(f"JSON decode error: {error}") from error
    if not isinstance(body, dict):
        raise RequestError(f"Input should be a valid dictionary, found {type(body).__name__}")
    return body


def read_sampling(body: Mapping[str, Any], chat: bool) -> Sampling:
    """Check every field that is understood.

    Without ``max_tokens`` a completion takes 16 and a chat has no limit; an explicit null is no limit in both.
    """
    for name in UNSUPPORTED:
        if body.get(name) not in (None, False, [], ""):
            raise RequestError(f"The reference engine does not support `{name}`", param=name)
    limit_name = "max_completion_tokens" if chat and body.get("max_completion_tokens") is not None else "max_tokens"
    max_tokens = _integer(body, limit_name, None if chat or limit_name in body else DEFAULT_MAX_TOKENS, 1)
    min_tokens = _integer(body, "min_tokens", 0, 0) or 0
    if max_tokens is not None and min_tokens > max_tokens:
        raise RequestError(
            f"min_tokens must be less than or equal to max_tokens={max_tokens}, got {min_tokens}.", param="min_tokens"
        )
    temperature = body.get("temperature")
    if temperature is not None and (isinstance(temperature, bool) or not isinstance(temperature, int | float)):
        raise RequestError("temperature: Input should be a valid number", param="temperature")
    if temperature is not None and temperature < 0:
        raise RequestError(f"temperature must be non-negative, got {temperature}.", param="temperature")
    salt = body.get("cache_salt")
    if salt is not None and not (isinstance(salt, str) and salt):
        raise RequestError("Parameter 'cache_salt' must be a non-empty string if provided.", param="cache_salt")
    stream = flag(body, "stream")
    options = body.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise RequestError("stream_options: Input should be a valid dictionary", param="stream_options")
    if options is not None and not stream:
        raise RequestError("Stream options can only be defined when `stream=True`.", param="stream_options")
    options = options or {}
    include_usage = flag(options, "include_usage")
    return Sampling(
        max_tokens=max_tokens,
        min_tokens=min_tokens,
        ignore_eos=flag(body, "ignore_eos"),
        n=_integer(body, "n", 1, 1) or 1,
        stream=stream,
        include_usage=include_usage,
        continuous_usage=include_usage and flag(options, "continuous_usage_stats"),
        cache_salt=salt,
        return_token_ids=flag(body, "return_token_ids"),
    )


def read_prompts(prompt: Any) -> list[str | array[int]]:
    """The four forms of ``prompt``: a text, token ids, a list of texts, a list of lists of token ids."""
    if isinstance(prompt, str):
        return [prompt]
    if not isinstance(prompt, list):
        raise RequestError("prompt: Input should be a valid string or list", param="prompt")
    if not prompt:
        raise RequestError("Either prompt or prompt_embeds must be provided and non-empty.", param="prompt")
    if isinstance(prompt[0], int):
        return [token_ids(prompt)]
    if isinstance(prompt[0], str) and all(isinstance(text, str) for text in prompt):
        return list(prompt)
    if all(isinstance(ids, list) for ids in prompt):
        return [token_ids(ids) for ids in prompt]
    raise RequestError("prompt: Input should be texts or lists of token ids, not a mixture", param="prompt")


def token_ids(values: Any, param: str = "prompt") -> array[int]:
    """A JSON list as ids; anything but integers of 0 to 2^32 − 1 is refused."""
    if not isinstance(values, list):
        raise RequestError(f"{param}: Input should be a list of integers", param=param)
    try:
        ids = array("I", values)
    except (TypeError, OverflowError) as error:
        raise RequestError(f"{param}: Input should be a list of token ids: {error}", param=param) from error
    if True in values and any(isinstance(value, bool) for value in values):
        raise RequestError(f"{param}: Input should be a list of token ids, found a boolean", param=param)
    return ids


def read_messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Chat messages with contents as plain text; text parts are joined by newlines, as vLLM does."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RequestError("messages: Input should be a non-empty list", param="messages")
    return [_message(message) for message in messages]


def _message(message: Any) -> dict[str, Any]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise RequestError("messages: every message needs a role", param="messages")
    content = message.get("content")
    if isinstance(content, list):
        parts = [
            part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content
        ]
        if not all(isinstance(part, str) for part in parts):
            raise RequestError("messages: the reference engine takes text parts only", param="messages")
        return {**message, "content": "\n".join(part for part in parts if part is not None)}
    if content is not None and not isinstance(content, str):
        raise RequestError("messages: content should be a string or a list of parts", param="messages")
    return dict(message)


def flag(body: Mapping[str, Any], name: str, default: bool = False) -> bool:
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise RequestError(f"{name}: Input should be a valid boolean", param=name)
    return value


def read_rank(header: str | None) -> int | None:
    """``X-data-parallel-rank``; whether there is such a rank is the engine's to say."""
    if header is None:
        return None
    try:
        return int(header)
    except ValueError as error:
        raise RequestError(f"X-data-parallel-rank: {header!r} is not an integer") from error


def _integer(body: Mapping[str, Any], name: str, default: int | None, minimum: int) -> int | None:
    value = body.get(name, default)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise RequestError(f"{name}: Input should be a valid integer", param=name)
    if value < minimum:
        raise RequestError(f"{name} must be at least {minimum}, got {value}.", param=name)
    return value
