"""When the client sends: the gates of a run (docs/concepts.md), as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefixcache.cache.models.inflight.state import COMPLETION, FIRST_TOKEN, NONE, WATERMARK, Gates, Line
from prefixcache.cache.models.trace import Counts, Numbers

Rule = Literal["watermark", "first_token", "completion", "none"]
RULES: dict[Rule, int] = {
    "none": NONE,
    "watermark": WATERMARK,
    "first_token": FIRST_TOKEN,
    "completion": COMPLETION,
}


@dataclass(frozen=True, slots=True)
class GatePlan:
    """The gates of one pass; requests in send order.

    Args:
        rule: as ``--gating``.
        lane: number of each request's lane (domain and prefix group), dense, shape (n,).
        prefix: planned prefixes in tokens, shape (n,).
        head: tokens that all requests share.
        warm: planned prefix of each lane's warmup prompt, 0 where there was none, shape (lanes,).
        first_alone: the first request is sent alone, as in a cold pass; the others when it has ended.
        warm_domains: domains with the head in their cache, because a warmup prompt was answered there.
    """

    rule: Rule
    lane: Numbers
    prefix: Counts
    head: int = 0
    warm: Counts | None = None
    first_alone: bool = False
    warm_domains: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        rule: Rule,
        domains: Sequence[int] | Numbers,
        groups: Sequence[str],
        prefixes: Sequence[int] | Counts,
        *,
        head: int = 0,
        warm: Mapping[tuple[int, str], int] | None = None,
        first_alone: bool = False,
    ) -> GatePlan:
        """From the columns of a plan. ``warm``: (domain, group) → prefix of the warmup prompt that was answered."""
        numbers: dict[tuple[int, str], int] = {}
        pairs = zip((int(d) for d in domains), groups, strict=True)
        lane = np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs], dtype=np.int32)
        covered = np.zeros(len(numbers), dtype=np.int64)
        for pair, prefix in (warm or {}).items():
            if pair in numbers:
                covered[numbers[pair]] = prefix
        heads = tuple(sorted({domain for domain, _ in warm or {}}))
        return cls(rule, lane, np.asarray(prefixes, dtype=np.int64), head, covered, first_alone, heads)

    def arrays(self, domains: Numbers, count: int) -> Gates:
        """For the loop. ``domains``: of the requests, shape (n,); ``count``: how many there are."""
        lanes = int(self.lane.max()) + 1 if len(self.lane) else 0
        warm = np.zeros(lanes, dtype=np.int64) if self.warm is None else self.warm.copy()
        lane_line, domain_line = _line(self.lane, lanes), _line(domains, count)
        lane_line.covered[:] = warm
        domain_line.covered[[domain for domain in self.warm_domains if domain < count]] = self.head
        return Gates(
            rule=RULES[self.rule],
            head=self.head,
            need=self._needs(lane_line, domain_line),
            prefix=self.prefix,
            before=_before(lane_line),
            lanes=lane_line,
            domains=domain_line,
            started=np.zeros(len(self.lane), dtype=np.uint8),
            ended=np.zeros(len(self.lane), dtype=np.uint8),
        )

    def _needs(self, lanes: Line, domains: Line) -> Counts:
        """What must be cached before each request is sent: the shorter of its prefix and the lane's watermark."""
        step = int(self.prefix.max(initial=0)) + 1
        lane = self.lane[lanes.members]
        reached = np.maximum(self.prefix[lanes.members], lanes.covered[lane])
        reached = np.maximum.accumulate(reached + lane * step) - lane * step  # the longest so far in its lane
        mark = np.empty(len(self.lane), dtype=np.int64)
        first = lanes.place[lanes.members] == 0
        mark[lanes.members] = np.where(first, lanes.covered[lane], np.concatenate([[0], reached])[:-1])
        seen = (domains.place > 0) | (domains.covered[domains.of] > 0)
        needs: Counts = np.minimum(self.prefix, np.maximum(mark, np.where(seen, self.head, 0)))
        return needs


def no_gates(requests: int) -> GatePlan:
    """Every request is sent as soon as a slot is free."""
    return GatePlan("none", np.zeros(requests, dtype=np.int32), np.zeros(requests, dtype=np.int64))


def _line(which: Numbers, count: int) -> Line:
    members = np.argsort(which, kind="stable")
    sizes = np.bincount(which, minlength=count)
    start = np.concatenate([[0], np.cumsum(sizes)])
    place = np.empty(len(which), dtype=np.int64)
    place[members] = np.arange(len(which)) - np.repeat(start[:-1], sizes)
    zeros = np.zeros(count, dtype=np.int64)
    return Line(which.astype(np.int32), place, members, start, zeros, zeros.copy())


def _before(line: Line) -> Counts:
    before = np.full(len(line.of), -1, dtype=np.int64)
    same = line.of[line.members[1:]] == line.of[line.members[:-1]]
    before[line.members[1:][same]] = line.members[:-1][same]
    return before
