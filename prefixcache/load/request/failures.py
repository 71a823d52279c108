"""Kinds of failure of a request: finer than its status, one word each (``failure`` in request_results.jsonl)."""

from __future__ import annotations

from typing import Literal, get_args

from prefixcache.load.records.rows import Status
from prefixcache.load.wire.failure import WireKind

AnswerKind = Literal["error_in_stream", "malformed_event", "no_stream", "unfinished", "cancelled"]
ANSWER_KINDS: tuple[str, ...] = get_args(AnswerKind)
WIRE_KINDS: tuple[str, ...] = get_args(WireKind)
HTTP_PREFIX = "http_"
_BEFORE_AN_ANSWER = frozenset(
    ("dns", "refused", "connect", "tls", "proxy", "keepalive_closed", "disconnected"),
)


def http_kind(status: int) -> str:
    """``http_429`` and the like: each status is a kind of its own."""
    return f"{HTTP_PREFIX}{status}"


def status_of(kind: str) -> Status:
    """The status that a kind of failure belongs to."""
    if kind == "cancelled":
        return "cancelled"
    if kind.startswith(HTTP_PREFIX):
        return "http_error"
    if kind.endswith("_timeout"):
        return "timeout"
    return "connect_error" if kind in _BEFORE_AN_ANSWER else "stream_error"
