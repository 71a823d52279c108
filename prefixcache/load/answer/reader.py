"""One answer, read as its bytes arrive."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from prefixcache.load.answer.forms import Form
from prefixcache.load.request.failures import http_kind
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.request.sse import DONE, SSEParser
from prefixcache.load.request.usage import read_usage

MAX_ERROR_BYTES = 1 << 16
"""Of an error's body; shortened only after secrets were taken out, since half a secret is not recognised."""
RANK_HEADER = "x-data-parallel-rank"
"""Servers that say which rank served a request say it here."""
MOST_DIGITS = 9
IN_STREAM = "the server reported an error within the stream"


class AnswerReader:
    """Receives an answer into an :class:`Outcome`.

    Args:
        outcome: is filled.
        form: what an event means.
        on_first_token: called once, when the first token arrives.
        keep_text: keep the answer's text for whoever counts its tokens.
    """

    def __init__(
        self,
        outcome: Outcome,
        form: Form,
        on_first_token: Callable[[], None] | None = None,
        keep_text: bool = False,
    ) -> None:
        self._outcome = outcome
        self._form = form
        self._on_first_token = on_first_token
        self._keep_text = keep_text
        self._parser = SSEParser()
        self._body = bytearray()  # the beginning, for an error's message

    def head(self, status: int, headers: dict[str, str], now: float) -> None:
        outcome = self._outcome
        outcome.http_status = status
        outcome.first_byte = now
        outcome.served_rank = _rank(headers.get(RANK_HEADER, ""))
        outcome.retry_after = retry_after(headers.get("retry-after", ""))

    def body(self, data: bytes, now: float) -> None:
        outcome = self._outcome
        if len(self._body) < MAX_ERROR_BYTES and not outcome.tokens_at:
            self._body += data[: MAX_ERROR_BYTES - len(self._body)]
        if outcome.http_status != 200:
            return
        for event in self._parser.feed(data):
            self._take(event, now)

    def close(self, now: float, whole: bool) -> None:
        """The answer is over: say what it was. Of one broken off (not ``whole``) only what it told until then."""
        outcome = self._outcome
        if outcome.http_status != 200:
            if outcome.http_status is not None:
                outcome.failure = http_kind(outcome.http_status)
                outcome.error = message_of(bytes(self._body)) or f"HTTP {outcome.http_status}"
            return
        if whole:
            for event in self._parser.close():
                self._take(event, now)
        if self._parser.error is not None:  # it outweighs what its data was taken for
            outcome.failure = "error_in_stream"
            outcome.error = message_of(self._parser.error) or IN_STREAM
        if outcome.failure is not None or not whole:
            return
        if outcome.finished and outcome.first_token is not None:
            outcome.status = "ok"
        elif outcome.first_token is None and bytes(self._body.lstrip()[:1]) in (b"{", b"<"):
            outcome.failure = "no_stream"
            outcome.error = message_of(bytes(self._body)) or "the server answered without a stream"
        else:
            outcome.failure = "unfinished"
            outcome.error = "the stream ended before the answer was finished"

    def _take(self, event: bytes, now: float) -> None:
        outcome = self._outcome
        if event == DONE:
            outcome.finished = True
            return
        try:
            data: Any = orjson.loads(event)
        except orjson.JSONDecodeError:
            self._wrong("malformed_event", "an event of the stream is not JSON")
            return
        if not isinstance(data, dict):
            return
        if data.get("error") or data.get("object") == "error":
            self._wrong("error_in_stream", message_of(event) or IN_STREAM)
            return
        delta = self._form(data)
        if delta.misfit is not None:
            self._wrong("malformed_event", delta.misfit)
        if delta.gave_up is not None:
            self._wrong("error_in_stream", delta.gave_up)
        if delta.usage is not None:
            outcome.usage = read_usage(delta.usage, outcome.usage)
        if delta.finished:
            outcome.finished = True
        if delta.text:
            if outcome.first_text is None:
                outcome.first_text = now
            if self._keep_text:
                outcome.text.append(delta.text)
        if delta.token:
            outcome.last_token = now
            outcome.tokens_at.append(now)
            if outcome.first_token is None:
                outcome.first_token = now
                if self._on_first_token is not None:
                    self._on_first_token()

    def _wrong(self, failure: str, text: str) -> None:
        """The first thing wrong is what is told."""
        if self._outcome.failure is None:
            self._outcome.failure, self._outcome.error = failure, text


def retry_after(value: str) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110 10.2.3: seconds or a date); None if it says nothing."""
    value = value.strip()
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _rank(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdecimal() and len(value) < MOST_DIGITS else None


def message_of(body: bytes) -> str:
    """The message of an error body, whatever of the usual shapes it has."""
    try:
        data: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body[:MAX_ERROR_BYTES].decode("utf-8", "replace").strip()
    if isinstance(data, Mapping):
        error = data.get("error", data)
        found = error.get("message") or error.get("detail") if isinstance(error, Mapping) else error
        if found:
            return str(found)
    return str(data)
