"""The forms of tokens and counts in the events of OpenAI's routes."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from typing import Any

from prefixcache.reference.faults.plan import StreamForm

Event = dict[str, Any]


class TokenForm:
    """Rewrites token events: their texts, how many go into one, what kind they are, and where usage stands.

    The events of one choice are meant; with several choices the numbers run over all of them.
    """

    def __init__(self, form: StreamForm) -> None:
        self._form = form
        self._texts = itertools.cycle(form.texts) if form.texts else None
        self._tokens = 0
        self._merged: Event | None = None
        self._merged_tokens = 0
        self._ended: list[Event] = []
        self._usage: Any = None

    def of(self, event: Event) -> Iterator[Event]:
        """What an event of the engine becomes."""
        if "choices" not in event:
            yield event
        elif not event["choices"]:
            yield from self._counts(event)
        elif not _is_token(event["choices"][0]):
            yield event
        else:
            yield from self._token(event)

    def rest(self) -> list[Event]:
        """What was held back until the stream's end."""
        found, self._ended = self._ended, []
        return [self._with_usage(event) for event in found]

    def _token(self, event: Event) -> Iterator[Event]:
        choice = event["choices"][0]
        if self._texts is not None:
            _set_text(choice, next(self._texts))
        merged = self._joined(event)
        if merged is None:
            return
        self._of_kind(merged["choices"][0])
        if self._form.usage == "absent":
            merged.pop("usage", None)
        if merged["choices"][0].get("finish_reason") and self._form.usage in ("last", "every"):
            self._ended.append(merged)  # the counts that belong into it come next
        else:
            yield merged

    def _joined(self, event: Event) -> Event | None:
        """Several tokens as one event, once there are enough or the answer ends."""
        wanted = self._form.tokens_per_event or 1
        if self._merged is not None:
            choice, before = event["choices"][0], self._merged["choices"][0]
            _set_text(choice, _text(before) + _text(choice))
            if "token_ids" in choice:
                choice["token_ids"] = before["token_ids"] + choice["token_ids"]
        self._merged, self._merged_tokens = event, self._merged_tokens + 1
        if self._merged_tokens < wanted and not event["choices"][0].get("finish_reason"):
            return None
        self._merged, self._merged_tokens = None, 0
        return event

    def _of_kind(self, choice: dict[str, Any]) -> None:
        """The first events of a chat as reasoning, those behind them as calls of a tool."""
        number = self._tokens
        self._tokens += 1
        delta = choice.get("delta")
        if delta is None:
            return
        reasoning = self._form.reasoning or 0
        if number < reasoning:
            delta[self._form.reasoning_field or "reasoning_content"] = delta.pop("content")
        elif number < reasoning + (self._form.tool_calls or 0):
            text = delta.pop("content")
            call: dict[str, Any] = {"index": 0, "function": {"arguments": text}}
            if number == reasoning:
                call = {
                    "index": 0,
                    "id": f"call_{uuid.uuid4().hex}",
                    "type": "function",
                    "function": {"name": "look_up", "arguments": text},
                }
            delta["tool_calls"] = [call]

    def _counts(self, event: Event) -> Iterator[Event]:
        match self._form.usage:
            case None | "own":
                yield event
            case "last" | "every":
                self._usage = event["usage"]
                yield from self.rest()

    def _with_usage(self, event: Event) -> Event:
        return event if self._usage is None else {**event, "usage": self._usage}


def _is_token(choice: dict[str, Any]) -> bool:
    """Role-only chunks carry none."""
    return "role" not in choice.get("delta", {})


def _text(choice: dict[str, Any]) -> str:
    return str(choice["delta"]["content"] if "delta" in choice else choice["text"])


def _set_text(choice: dict[str, Any], text: str) -> None:
    if "delta" in choice:
        choice["delta"]["content"] = text
    else:
        choice["text"] = text
