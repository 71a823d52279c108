"""What one event of a stream says, by interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

Interface = Literal["completions", "chat", "generate"]
MISFIT = "the answer is not as the API says"
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
    """

    token: bool = False
    text: str = ""
    finished: bool = False
    usage: Mapping[str, Any] | None = None
    misfit: str | None = None


NOTHING = Delta()
Form = Callable[[Mapping[str, Any]], Delta]


def completions_delta(event: Mapping[str, Any]) -> Delta:
    """An event of ``/v1/completions``. A choice counts as a token even without text: half a character has none."""
    choice, delta = _choice(event)
    if choice is None:
        return delta
    text = choice.get("text")
    return delta._replace(
        token=not (delta.finished and text is None), text=text if isinstance(text, str) else "", finished=delta.finished
    )


def chat_delta(event: Mapping[str, Any]) -> Delta:
    """An event of ``/v1/chat/completions``. The opening chunk that only says who speaks may come long before a token,
    and the closing one may hold nothing but the reason."""
    choice, delta = _choice(event)
    if choice is None:
        return delta
    said = choice.get("delta")
    if not isinstance(said, Mapping):
        return delta if delta.finished else delta._replace(misfit=f"{MISFIT}: `delta` is no object")
    content = said.get("content")
    unseen = any(said.get(name) for name in UNSEEN)
    if content or unseen:
        token = True
    elif "role" in said:
        token = False
    else:  # an empty content is half a character; no content at all is no token
        token = content is not None
    return delta._replace(token=token, text=content if isinstance(content, str) else "")


def _choice(event: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Delta]:
    usage = event.get("usage")
    delta = Delta(usage=usage if isinstance(usage, Mapping) else None)
    choices = event.get("choices")
    if not choices:
        return None, delta
    if not isinstance(choices, list) or not isinstance(choices[0], Mapping):
        return None, delta._replace(misfit=f"{MISFIT}: `choices` is no list of objects")
    return choices[0], delta._replace(finished=bool(choices[0].get("finish_reason")))


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
        return Delta(token, new_text, bool(meta.get("finish_reason")), _as_usage(meta))


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
