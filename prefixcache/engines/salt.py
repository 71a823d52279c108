"""Does the server keep caches apart by a salt in the request? Asked with a probe prompt, not believed from a version.

The probe begins with random tokens, so it shares no block with a dataset, and travels under two random salts that
are never used again: whatever it leaves in the cache, no measured request can hit it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

Finding = Literal["separates", "ignored", "unproven", "refused"]


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """One probe request: ``hit`` are its cached tokens (None: neither its usage nor the counters tell)."""

    ok: bool
    hit: float | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SaltFinding:
    """What an endpoint does with a salt. ``hits``: cached tokens of the three probe requests, as far as they went."""

    endpoint: str
    finding: Finding
    hits: tuple[float | None, ...]
    detail: str

    def to_json(self) -> dict[str, Any]:
        return {
            "endpoint": self.endpoint,
            "finding": self.finding,
            "hits": list(self.hits),
            "detail": self.detail,
        }


async def probe_salt(
    endpoint: str, send: Callable[[str], Awaitable[ProbeAnswer]], salts: tuple[str, str]
) -> SaltFinding:
    """Send the same prompt under salt A, again under A (it must hit), then under B (it must not).

    Args:
        endpoint: its name.
        send: sends the probe prompt under a salt.
        salts: A and B.
    """
    first, second = salts
    hits: list[float | None] = []
    for salt in (first, first, second):
        answer = await send(salt)
        if not answer.ok:
            return SaltFinding(endpoint, "refused", tuple(hits), f"a salted request failed: {answer.error}")
        hits.append(answer.hit)
    _, again, other = hits
    if again is None or other is None:
        return SaltFinding(endpoint, "unproven", tuple(hits), "neither the answers nor the counters tell cached tokens")
    if not again:
        return SaltFinding(
            endpoint,
            "unproven",
            tuple(hits),
            "a prompt sent twice under one salt hit nothing, so a miss proves nothing",
        )
    if other:
        return SaltFinding(
            endpoint, "ignored", tuple(hits), f"a prompt under another salt hit {other:g} tokens of the first one's"
        )
    return SaltFinding(
        endpoint, "separates", tuple(hits), f"again {again:g} tokens under the same salt, 0 under another"
    )
