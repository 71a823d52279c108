"""Which rules a request meets. Numbers are given in the order of arrival, so a plan does the same every time."""

from __future__ import annotations

import hashlib
from collections import Counter

from prefixcache.reference.faults.plan import FaultPlan, Happening, Rule

GENERATION = ("/v1/completions", "/v1/chat/completions", "/generate")


class Selection:
    """Counts the requests of a server and finds what the plan has for each."""

    def __init__(self, plan: FaultPlan) -> None:
        self.rules = plan.rules
        self.generations = 0
        self._of_path: Counter[str] = Counter()
        self._used = [0] * len(plan.rules)

    def of(self, method: str, path: str, body: bytes) -> Happening | None:
        """Count a request and merge the rules that match it; None where none does."""
        generation = method == "POST" and path in GENERATION
        self.generations += generation
        self._of_path[path] += 1
        found: Happening | None = None
        for index, rule in enumerate(self.rules):
            if rule.path is not None:
                number = self._of_path[path] if path == rule.path else 0
            else:
                number = self.generations if generation else 0
            if not number or not self._matches(rule, number, body):
                continue
            if rule.times is not None and self._used[index] >= rule.times:
                continue
            self._used[index] += 1
            found = (found or Happening()).over(rule)
        return found

    def _matches(self, rule: Rule, number: int, body: bytes) -> bool:
        if rule.requests and not any(
            first <= number and (last is None or number <= last) for first, last in rule.requests
        ):
            return False
        if rule.every and number % rule.every:
            return False
        if rule.after and self.generations < rule.after:
            return False
        if rule.contains and rule.contains.encode() not in body:
            return False
        return rule.probability is None or _draw(rule.seed, number) < rule.probability


def _draw(seed: int, number: int) -> float:
    """A number of [0, 1) that depends on these two alone."""
    digest = hashlib.blake2b(f"{seed}:{number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
