"""What became of one request."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from itertools import pairwise

from prefixcache.load.records.rows import Status
from prefixcache.load.request.usage import Usage


@dataclass(slots=True)
class Outcome:
    """What became of one request. Times are those of ``time.perf_counter``; None is "did not happen".

    Args:
        failure: kind of failure (``prefixcache.load.request.failures``); None for a good answer.
        sent: its first byte was written (of the last attempt).
        first_byte: of the answer, headers included. ``first_token``: of the first event that brought a token;
            ``first_text``: of the first one with visible text; ``last_token``.
        tokens_at: moments of all events that brought tokens.
        finished: the server said that the answer is whole.
        attempts: times it was sent. ``retried``: why each but the last failed.
        retry_after: seconds that the server asked to wait, if it did.
        connection: ``new`` or ``reused``.
        output_by: who counted the output tokens.
        text: the answer's text, kept only while somebody has to count its tokens.
    """

    status: Status = "stream_error"
    error: str | None = None
    failure: str | None = None
    http_status: int | None = None
    sent: float | None = None
    first_byte: float | None = None
    first_token: float | None = None
    first_text: float | None = None
    last_token: float | None = None
    tokens_at: array[float] = field(default_factory=lambda: array("d"))
    usage: Usage = field(default_factory=Usage)
    served_rank: int | None = None
    finished: bool = False
    attempts: int = 0
    retried: tuple[str, ...] = ()
    retry_after: float | None = None
    connection: str | None = None
    output_by: str | None = None
    text: list[str] = field(default_factory=list)

    @property
    def longest_gap(self) -> float | None:
        """Seconds between two token events at most; None below two of them."""
        times = self.tokens_at
        return max((b - a for a, b in pairwise(times)), default=None)
