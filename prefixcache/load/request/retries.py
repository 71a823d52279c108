"""When a failed request may be sent again, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from prefixcache.errors import InputError
from prefixcache.load.request.outcome import Outcome

MOST_WAIT_S = 60.0
MOST_RETRIES = 1000


@dataclass(frozen=True, slots=True)
class Retries:
    """Sending again after a failure that another attempt may mend.

    A retried request is marked: the attempt before may have left its prompt in the cache, so that the next one hits
    where the plan says it must not. That is why nothing is retried unless asked for, with one exception: a request that
    met its kept connection being closed by the server and got not one byte is sent once more on a new one, and marked.

    Args:
        most: attempts after the first one.
        first_wait: seconds before the first of them, doubled each time; a Retry-After of the server goes before it.

    Raises:
        InputError: a value below zero, or more attempts than anybody waits for.
    """

    most: int = 0
    first_wait: float = 0.5

    TEMPORARY: ClassVar[frozenset[str]] = frozenset(
        (
            "http_408",
            "http_425",
            "http_429",
            "http_500",
            "http_502",
            "http_503",
            "http_504",
            "refused",
            "connect",
            "connect_timeout",
            "keepalive_closed",
            "disconnected",
            "reset",
            "incomplete",
            "first_byte_timeout",
        )
    )

    def __post_init__(self) -> None:
        if not 0 <= self.most <= MOST_RETRIES:
            what = f"{self.most} is not 0 to {MOST_RETRIES:,}"
            raise InputError(what, field="retries", remedy="Give 0 or a number of attempts.")
        if not 0 <= self.first_wait < float("inf"):
            raise InputError(
                f"{self.first_wait:g} is no time to wait", field="retry_wait", remedy="Give seconds from 0."
            )

    def wait(self, outcome: Outcome) -> float | None:
        """Seconds to wait before the next attempt; None if there is none."""
        kind, done = outcome.failure, len(outcome.retried)
        if kind == "keepalive_closed" and "keepalive_closed" not in outcome.retried:
            return 0.0
        counted = done - outcome.retried.count("keepalive_closed")
        if kind not in self.TEMPORARY or counted >= self.most or outcome.first_token is not None:
            return None
        return min(self.first_wait * 2.0**counted if outcome.retry_after is None else outcome.retry_after, MOST_WAIT_S)
