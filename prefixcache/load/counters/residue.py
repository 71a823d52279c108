"""Was the cache what a pass expects when it began? What the first answers and the counters show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prefixcache.load.dataset import Planned
from prefixcache.load.records.rows import RequestRecord


class Residue:
    """Evidence of tokens that were cached before a pass and that its plan does not know of.

    ``detected`` is true with evidence, false if the first requests or the total of a cold pass show none, null if
    nothing tells.

    Args:
        requests: of a cold pass, in send order (the first of each cache domain must hit nothing); else none.
    """

    def __init__(self, requests: Sequence[Planned]) -> None:
        self._first = {r.domain: r.request_id for r in reversed(requests)}
        self._cold = bool(requests)
        self._clean = False
        self.evidence: list[str] = []

    def see(self, record: RequestRecord) -> None:
        """Look at a measured request as its answer states it."""
        if record.request_id != self._first[record.planned_dp_id] or record.cached_tokens is None:
            return
        if record.cached_tokens:
            self.evidence.append(
                f"request {record.request_id}, the first of cache domain {record.planned_dp_id}, hit "
                f"{record.cached_tokens:,} tokens of a cache that should be empty"
            )
        else:
            self._clean = True

    def first_alone(self, hits: float | None) -> None:
        """Counted hit tokens after the first request, when nothing else was sent."""
        if hits:
            self.evidence.append(
                f"the counters show {hits:,.0f} hit tokens after the first request, into an empty cache"
            )
        elif hits == 0:
            self._clean = True

    def total(self, hits: int | None, expected: int) -> None:
        """Counted hit tokens of the whole pass beside the designed ones."""
        if hits is not None and hits > expected:
            self.evidence.append(f"{hits:,} hit tokens were measured where the plan allows {expected:,}")
        elif hits == expected and self._cold:
            self._clean = True

    @property
    def detected(self) -> bool | None:
        return True if self.evidence else False if self._clean else None

    def to_json(self) -> dict[str, Any]:
        return {"detected": self.detected, "evidence": list(self.evidence)}
