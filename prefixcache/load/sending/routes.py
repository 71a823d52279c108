"""Where each request goes: the plan's routes on the endpoints that the user gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.endpoint import Endpoint
from prefixcache.errors import InputError
from prefixcache.load.dataset import Planned, RunDataset


@dataclass(frozen=True, slots=True)
class Target:
    """An endpoint, the headers and body fields that pin a rank on it, and the route if the client itself decides it."""

    endpoint: Endpoint
    headers: Mapping[str, str] = field(default_factory=dict)
    actual_route: int | None = None
    body: Mapping[str, Any] = field(default_factory=dict)


class Router:
    """Maps planned routes to endpoints.

    As many endpoints as cache domains: route k is endpoint k. One endpoint: route k is DP rank k, pinned by header.
    One domain and several endpoints (a shared cache): round robin.

    Args:
        endpoints, dataset: what was given and what was planned.
        rank_field: field of the body that names the rank, for servers that take no header.

    Raises:
        InputError: the numbers of endpoints and of domains do not fit together.
    """

    def __init__(self, endpoints: Sequence[Endpoint], dataset: RunDataset, rank_field: str | None = None) -> None:
        self._endpoints = endpoints
        self.rank_header = "X-data-parallel-rank"  # the adapter's, once it is known
        self.rank_field = rank_field
        self.domains = dataset.domains
        self.by_rank = self.domains > 1 and len(endpoints) == 1
        if self.domains > 1 and len(endpoints) not in (1, self.domains):
            raise InputError(
                f"the dataset plans {self.domains} cache domains, but {len(endpoints)} endpoints were given",
                field="url",
                remedy=f"Give {self.domains} endpoints (--url repeated), or one whose DP ranks can be pinned.",
                stage="preflight",
                dataset_id=dataset.dataset_id,
            )
        self.warnings: list[str] = []
        if self.domains == 1 and len(endpoints) > 1:
            self.warnings.append(
                f"the dataset plans one shared cache, but {len(endpoints)} endpoints were given: the plan is true "
                "only if they share it"
            )
        if self.by_rank and dataset.cache_scope == "instance_local":
            self.warnings.append(
                "the dataset plans one cache per instance, but one endpoint was given: its DP ranks take their place"
            )

    def pin_by(self, adapter: Adapter) -> None:
        """Name ranks in the framework's own way, unless the user named a field.

        Raises:
            InputError: there is none, and the plan needs one.
        """
        if adapter.rank_header is not None:
            self.rank_header = adapter.rank_header
        elif self.by_rank and self.rank_field is None:
            raise InputError(
                f"the dataset plans {self.domains} cache domains behind one endpoint, and {adapter.traits.title} has "
                "no known way to name a DP rank",
                field="url",
                remedy=f"Give {self.domains} endpoints (--url repeated), or name a field of the body with "
                "--rank-field.",
                stage="preflight",
            )

    def pinned(self, endpoint: Endpoint, rank: int) -> Target:
        """A rank of an endpoint, named in the way its server understands."""
        if self.rank_field is not None:
            return Target(endpoint, body={self.rank_field: rank})
        return Target(endpoint, {self.rank_header: str(rank)})

    def target(self, planned: Planned, number: int) -> Target:
        """Target of a request; ``number`` counts the requests of the pass from 0."""
        route = planned.domain if planned.route is None else planned.route
        if self.by_rank:
            return self.pinned(self._endpoints[0], route)
        if len(self._endpoints) == 1:
            return Target(self._endpoints[0])
        index = number % len(self._endpoints) if self.domains == 1 else route
        return Target(self._endpoints[index], actual_route=index)
