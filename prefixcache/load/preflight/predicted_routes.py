"""Which cache each request of a run will come to, where the service has other caches than were planned."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.preflight.conditions import Conditions

Homes = NDArray[np.int32]


class Routes:
    """Which cache each request comes to; the turns of an endpoint's ranks go on from call to call.

    Args:
        dataset, endpoints, by_rank: as the run sends.
        conditions: how many caches there are.
    """

    def __init__(self, dataset: RunDataset, endpoints: int, by_rank: bool, conditions: Conditions) -> None:
        self._domains, self._endpoints, self._by_rank = dataset.domains, endpoints, by_rank
        self._folded = conditions.folded
        self._spread = conditions.ranks
        ranks = conditions.ranks or (1,) * endpoints
        self._ranks = ranks
        self._turns = [0] * len(ranks)
        planned = self._folded or self._domains
        self.count = sum(ranks) if conditions.ranks is not None else planned

    def of(self, requests: Sequence[Planned]) -> Homes:
        """Cache of each request of one phase, in send order, shape (n,)."""
        routes = np.array([r.domain if r.route is None else r.route for r in requests], dtype=np.int64)
        if self._spread is None:
            homes = routes if self._domains > 1 else np.zeros(len(requests), dtype=np.int64)
            folded: Homes = (homes if self._folded is None else homes % self._folded).astype(np.int32)
            return folded
        if len(self._ranks) == 1:
            chosen = np.zeros(len(requests), dtype=np.int64)
        else:
            chosen = np.arange(len(requests)) % len(self._ranks) if self._domains == 1 else routes
        found: Homes = np.zeros(len(requests), dtype=np.int32)
        first = 0
        for number, ranks in enumerate(self._ranks):
            mine = np.flatnonzero(chosen == number)
            found[mine] = first + (self._turns[number] + np.arange(len(mine))) % ranks
            self._turns[number] += len(mine)
            first += ranks
        return found
