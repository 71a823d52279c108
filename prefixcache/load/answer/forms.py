"""What one event of a stream says, by interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

Interface = Literal["completions", "chat", "generate"]
MISFIT = "the answer is not as the API says"
BROKEN_OFF = frozenset(("abort", "error"))
"""Reasons of an end that is none: the server gave the request up (vLLM, SGLang), in a stream whose status is 200."""
# Whatever of these is not empty is output of the model: an answer may think or call a tool before it speaks.
UNSEEN = ("reasoning_content", "reasoning", "tool_calls", "function_call", "refusal", "audio")


class Delta(NamedTuple):
    """What an event brings.

    Args:
        token: at least one token of output.
        text: the visible text of it; empty for thoughts, tool calls and halves of characters.
        finished: the server says why the answer ended.
        usage: token counts in the OpenAI form, or None.
        misfit: what is wrong with the event, or None.
        gave_up: what the server says of why it broke the answer off, or None.
    """

    token: bool = False
    text: str = ""
    finished: bool = False
    usage: Mapping[str, Any] | None = None
    misfit: str | None = None
    gave_up: str | None = None


NOTHING = Delta()
Form = Callable[[Mapping[str, Any]], Delta]


def completions_delta(event: Mapping[str, Any]) -> Delta:
    """An event of ``/v1/completions``. A choice counts as a token even without text: half a character has none."""
    usage, choice, misfit = _parts(event)
    if choice is None:
        return Delta(usage=usage, misfit=misfit)
    text = choice.get("text")
    finished, gave_up = _end(choice.get("finish_reason"))
    token = (text is not None or not finished) and gave_up is None
    return Delta(token, text if isinstance(text, str) else "", finished, usage, gave_up=gave_up)


def chat_delta(event: Mapping[str, Any]) -> Delta:
    """An event of ``/v1/chat/completions``. The opening chunk that only says who speaks may come long before a token,
    and the closing one may hold nothing but the reason."""
    usage, choice, misfit = _parts(event)
    if choice is None:
        return Delta(usage=usage, misfit=misfit)
    finished, gave_up = _end(choice.get("finish_reason"))
    said = choice.get("delta")
    if not isinstance(said, dict):
        misfit = None if finished or gave_up else f"{MISFIT}: `delta` is no object"
        return Delta(finished=finished, usage=usage, misfit=misfit, gave_up=gave_up)
    content = said.get("content")
    # An empty content is half a character, unless the chunk opens the answer; none at all is no token.
    unspoken = content is not None and "role" not in said
    token = bool(content) or unspoken or any(said.get(name) for name in UNSEEN)
    token = token and (gave_up is None or bool(content))
    return Delta(token, content if isinstance(content, str) else "", finished, usage, gave_up=gave_up)


def _end(reason: Any) -> tuple[bool, str | None]:
    """Whether the answer ended, and what the server says where it gave it up. SGLang's own route has an object."""
    kind, said = reason, None
    if isinstance(reason, Mapping):
        kind, said = reason.get("type"), reason.get("message")
    if isinstance(kind, str) and kind in BROKEN_OFF:
        why = f": {said}" if isinstance(said, str) and said else ""
        return False, f"the server gave the answer up ({kind}{why})"
    return bool(reason), None


def _parts(event: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None, str | None]:
    """Usage, first choice, and what is wrong with the choices."""
    usage = event.get("usage")
    if not isinstance(usage, dict):
        usage = None
    choices = event.get("choices")
    if not choices:
        return usage, None, None
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        return usage, None, f"{MISFIT}: `choices` is no list of objects"
    return usage, choices[0], None


class Generated:
    """Events of SGLang's ``/generate``: text and counts are those of the whole answer so far."""

    def __init__(self) -> None:
        self._chars = 0
        self._tokens = 0

    def __call__(self, event: Mapping[str, Any]) -> Delta:
        meta = event.get("meta_info")
        meta = meta if isinstance(meta, Mapping) else {}
        text = event.get("text")
        said = text if isinstance(text, str) else ""
        tokens = meta.get("completion_tokens")
        ids = event.get("output_ids")
        count = tokens if type(tokens) is int else len(ids) if isinstance(ids, list) else None
        new_text = said[self._chars :]
        token = bool(new_text) if count is None else count > self._tokens
        self._chars = max(self._chars, len(said))
        self._tokens = max(self._tokens, count or 0)
        finished, gave_up = _end(meta.get("finish_reason"))
        return Delta(token, new_text, finished, _as_usage(meta), gave_up=gave_up)


def _as_usage(meta: Mapping[str, Any]) -> Mapping[str, Any] | None:
    usage = {name: meta[name] for name in ("prompt_tokens", "completion_tokens") if meta.get(name) is not None}
    if meta.get("cached_tokens") is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": meta["cached_tokens"]}
    return usage or None


def form_of(interface: Interface) -> Form:
    """Reader of one answer of an interface."""
    match interface:
        case "completions":
            return completions_delta
        case "chat":
            return chat_delta
        case "generate":
            return Generated()
