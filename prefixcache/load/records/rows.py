"""One row per request and pass: what ``runtime/request_results.jsonl`` holds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

Phase = Literal["warmup", "measured"]
Status = Literal["ok", "http_error", "connect_error", "timeout", "stream_error", "cancelled"]
NOT_IN_ROW = ("output_len", "odd_usage", "token_times")
STATUSES: tuple[Status, ...] = ("ok", "http_error", "connect_error", "timeout", "stream_error", "cancelled")


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request as it went. Times are seconds since the pass began (warmup prompts: since the warmup began), on
    one monotonic clock; None is "not known".

    Args:
        pass_name: ``cold``, ``hot`` or ``replay`` (``pass`` in JSON).
        phase: ``warmup`` is whatever is sent before the measured interval.
        endpoint: base URL without credentials.
        planned_dp_id, planned_route, actual_route: cache domain; where the request should go and where it went
            (index of the endpoint, or the DP rank if the server tells; None when unknown).
        scheduled_s: the moment the load shape says (open loop); None in a closed loop.
        ready_s: a slot was free and the request was next; then it waits ``gate_wait_s`` for its gate. ``lag_s``: from
            the latest of scheduled moment, readiness and opened gate to ``sent_s``, when its first byte was written.
            In an open loop the wait for a slot (max in flight) is ``ready_s - scheduled_s``.
        gate_broken: sent although nothing covered it, because every earlier request of its lane had ended.
        first_byte_s, first_token_s, last_token_s: arrival of the answer's first bytes, of the first and last token;
            first_text_s: of the first one whose text is not empty.
        chunks: events that brought tokens. itl_max_s: the longest time between two of them.
        attempts: times it was sent (0: never); retried: why each attempt but the last failed. A retried request may
            find its own prefix cached by the attempt before.
        failure: what exactly failed (``prefixcache.load.request.failures``); None if nothing did.
        connection: ``new`` or ``reused``. output_by: who counted ``completion_tokens``: ``usage``, or ``tokenizer``
            where the usage says nothing and the text was encoded again.
        ttft_s: first token - sent. ``tpot_s``: (last - first token) / (completion tokens - 1), None below two tokens.
            ``e2e_s``: last token - sent.
        input_len, expected_hit_len: tokens, as planned. ``prompt_tokens``, ``completion_tokens``, ``cached_tokens``:
            as the server's usage says; a server that says nothing of cached tokens leaves None, which is not 0.
        error: short, without secrets and without the prompt.
        output_len, odd_usage: tokens asked for, and what the usage stated that is no count of tokens; not in the row,
            as ``token_times``: seconds from sending to each event with tokens (``runtime/token_times.parquet``).
    """

    pass_name: str
    request_id: str
    prefix_group_id: str
    order_index: int
    phase: Phase
    endpoint: str
    planned_dp_id: int
    planned_route: int | None
    actual_route: int | None
    ready_s: float
    sent_s: float | None
    first_byte_s: float | None
    first_token_s: float | None
    last_token_s: float | None
    gate_wait_s: float
    lag_s: float | None
    gate_broken: bool
    input_len: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    expected_hit_len: int | None
    http_status: int | None
    status: Status
    error: str | None
    scheduled_s: float | None = None
    first_text_s: float | None = None
    chunks: int = 0
    itl_max_s: float | None = None
    attempts: int = 1
    retried: tuple[str, ...] = ()
    failure: str | None = None
    connection: str | None = None
    output_by: str | None = None
    output_len: int | None = None
    odd_usage: tuple[str, ...] = ()
    token_times: tuple[float, ...] = ()

    @property
    def ttft_s(self) -> float | None:
        return _difference(self.first_token_s, self.sent_s)

    @property
    def e2e_s(self) -> float | None:
        return _difference(self.last_token_s, self.sent_s)

    @property
    def tpot_s(self) -> float | None:
        span = _difference(self.last_token_s, self.first_token_s)
        if span is None or self.completion_tokens is None or self.completion_tokens < 2:
            return None
        return span / (self.completion_tokens - 1)

    def to_row(self) -> dict[str, Any]:
        """The JSON row; times rounded to microseconds."""
        row = {("pass" if name == "pass_name" else name): getattr(self, name) for name in _FIELDS}
        row |= {"ttft_s": self.ttft_s, "tpot_s": self.tpot_s, "e2e_s": self.e2e_s}
        return {k: round(v, 6) if isinstance(v, float) else v for k, v in row.items()}


_FIELDS = tuple(field.name for field in fields(RequestRecord) if field.name not in NOT_IN_ROW)


def _difference(later: float | None, earlier: float | None) -> float | None:
    return None if later is None or earlier is None else later - earlier
