"""The forms of an event stream: which events there are, and how each is written."""

from __future__ import annotations

import uuid
from typing import Any

import orjson

from prefixcache.reference.faults.body import Piece
from prefixcache.reference.faults.plan import Inserted, StreamForm
from prefixcache.reference.faults.tokens import TokenForm

ERROR = {"message": "the engine failed while it answered", "type": "InternalServerError", "param": None, "code": 500}
DONE = "[DONE]"
LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
Event = dict[str, Any] | str
"""The object of an event, or its text."""


class EventStream:
    """Turns the engine's events into those the plan asks for.

    Args:
        form: of the stream.
        path: of the request.
        model: the model it names.

    Attributes:
        over: an inserted event has ended the stream; nothing may follow.
    """

    def __init__(self, form: StreamForm, path: str, model: str) -> None:
        self.form = form
        self.over = False
        self._tokens = TokenForm(form) if path.startswith("/v1/") else None
        self._chat = path == "/v1/chat/completions"
        self._inserts = sorted(form.insert or (), key=lambda insert: insert.after_events)
        self._events = 0
        self._head: dict[str, Any] = {
            "id": f"{'chatcmpl' if self._chat else 'cmpl'}-{uuid.uuid4().hex}",
            "object": "chat.completion.chunk" if self._chat else "text_completion",
            "created": 0,
            "model": model,
        }
        self._begun = False

    def opening(self) -> list[Piece]:
        """Events that come before the engine has said anything."""
        delta: dict[str, Any] = {"delta": {"role": "assistant", "content": ""}} if self._chat else {"text": ""}
        choice = {"index": 0, **delta, "logprobs": None, "finish_reason": None}
        events = [{**self._head, "choices": [choice]} for _ in range(self.form.opening or 0)]
        return self._written(list(events))

    def events(self, data: bytes, final: bool) -> list[Piece]:
        """The pieces of some whole events of the engine; ``final``: they are its last."""
        found: list[Event] = []
        for block in data.decode().split("\n\n"):
            if block:
                text = block.removeprefix("data: ")
                found += [text] if text == DONE else self._changed(orjson.loads(text))
        if final and self._tokens is not None:
            found[-1:-1] = self._tokens.rest()
        if self.form.done is False:
            found = [event for event in found if event != DONE]
        return self._written(found, final)

    def _changed(self, event: dict[str, Any]) -> list[Event]:
        if event.get("id"):
            if self.form.opening:
                if _is_role(event):  # it has been said
                    return []
                event["id"] = self._head["id"]
            self._head = {key: event[key] for key in self._head if key in event}
        return [event] if self._tokens is None else list(self._tokens.of(event))

    def _written(self, events: list[Event], final: bool = False) -> list[Piece]:
        pieces: list[Piece] = []
        if not events and not final:
            return pieces
        self._insert(pieces)
        for event in events:
            if self.over:
                break
            pieces += self._block(event)
            self._events += 1
            self._insert(pieces)
        if final and not self.over and pieces:
            pieces[-1] = self._last(pieces[-1])
        return pieces

    def _insert(self, pieces: list[Piece]) -> None:
        while self._inserts and self._inserts[0].after_events <= self._events and not self.over:
            insert = self._inserts.pop(0)
            made = self._inserted(insert)
            pieces += made
            self._events += sum(piece.event for piece in made)
            self.over = insert.end

    def _inserted(self, insert: Inserted) -> list[Piece]:
        match insert.what:
            case None:
                return self._block(insert.data if insert.data is not None else "", insert.event)
            case "error":
                return self._block({"error": ERROR}, insert.event)
            case "error_event":
                return self._block({"error": ERROR}, insert.event or "error")
            case "not_json":
                return self._block("this is {not JSON", insert.event)
            case "empty_choices":
                return self._block({**self._head, "choices": []}, insert.event)
            case "no_choices":
                return self._block(dict(self._head), insert.event)
            case "comment":
                return [self._comment(self.form.comment or "ping")]

    def _block(self, event: Event, name: str | None = None) -> list[Piece]:
        """One event, and the comment before it where there is one."""
        form, end = self.form, self._end
        lines = []
        if name or form.event:
            lines.append(f"event:{self._space}{name or form.event}")
        if form.id:
            lines.append(f"id:{self._space}{self._events + 1}")
        if form.retry is not None and not self._begun:
            lines.append(f"retry:{self._space}{form.retry}")
        lines += [f"data:{self._space}{line}" for line in self._text(event).split("\n")]
        mark = "\ufeff" if form.bom and not self._begun else ""
        self._begun = True
        block = Piece((mark + "".join(line + end for line in lines) + end).encode(), event=True)
        if form.comment is None:
            return [block]
        comment = self._comment(form.comment)
        if mark:  # the mark stands at the very beginning
            return [Piece(mark.encode() + comment.data), Piece(block.data.removeprefix(mark.encode()), event=True)]
        return [comment, block]

    def _text(self, event: Event) -> str:
        if isinstance(event, str):
            return event
        return orjson.dumps(event, option=orjson.OPT_INDENT_2 if self.form.multi_line else None).decode()

    def _comment(self, text: str) -> Piece:
        return Piece(f":{self._space}{text}{self._end}{self._end}".encode())

    def _last(self, piece: Piece) -> Piece:
        end = self._end.encode()
        data = piece.data
        for _ in range({"line": 1, "none": 2}.get(self.form.last or "blank", 0)):
            data = data.removesuffix(end)
        return Piece(data, piece.event)

    @property
    def _end(self) -> str:
        return LINE_ENDS[self.form.line_end or "lf"]

    @property
    def _space(self) -> str:
        return "" if self.form.space is False else " "


def _is_role(event: dict[str, Any]) -> bool:
    delta = (event.get("choices") or [{}])[0].get("delta", {})
    return "role" in delta and not delta.get("content")
