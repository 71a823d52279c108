"""How a run reads what its servers count: framework, roles, model, and where the pages come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import httpx

from prefixcache.engines.detect import AUTO, named_adapter
from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.history import prometheus_server
from prefixcache.engines.prometheus import PrometheusServer, pages_at, tells_more_than_age
from prefixcache.engines.quantities import Role
from prefixcache.engines.roles import known_roles, roles_of
from prefixcache.engines.snapshot import ALL_NAMES, MetricsSource
from prefixcache.errors import EnvironmentFailure, InputError

STAGE = "preflight"


@dataclass(frozen=True, slots=True)
class Metering:
    """What a user says about the metrics of a run.

    Args:
        engine: ``auto``, a framework's name, or a YAML file that describes one.
        roles: what each metrics page's endpoint does, in their order; none: all ``mixed``.
        model: only series of this model, and those that name none.
        prometheus: base URL of a Prometheus server that is asked instead of the servers' own pages.
        selector: which of its targets, e.g. ``{job="vllm"}``.

    Raises:
        InputError: no known framework, no role, no address or no selector.
    """

    engine: str = AUTO
    roles: tuple[str, ...] = ()
    model: str | None = None
    prometheus: str | None = None
    selector: str = ""

    def __post_init__(self) -> None:
        named_adapter(self.engine)
        known_roles(self.roles)
        if self.prometheus is not None:
            prometheus_server(self.prometheus, self.selector)
        elif self.selector:
            raise InputError(
                "is given without a Prometheus server",
                field="selector",
                remedy="Name it with --prometheus, or leave the selector out.",
                stage=STAGE,
            )

    def roles_of(self, sources: Sequence[MetricsSource]) -> dict[str, Role]:
        """Label of a page → what its endpoint does.

        Raises:
            InputError: another number of roles than of pages.
        """
        return roles_of(self.roles, [source.label for source in sources])

    async def sources(
        self,
        client: httpx.AsyncClient,
        pages: Sequence[MetricsSource],
        endpoints: Sequence[Endpoint],
        secrets: tuple[str, ...],
    ) -> list[MetricsSource]:
        """Where the counters are read: these pages, or the targets of the Prometheus server, those that are endpoints
        first and in their order.

        Raises:
            EnvironmentFailure: Prometheus cannot be asked, or has no target of a known framework.
        """
        if self.prometheus is None:
            return [replace(page, model=self.model) for page in pages]
        server = prometheus_server(self.prometheus, self.selector)
        server = replace(server, secrets=(*server.secrets, *secrets))
        own = self._own_names()
        order = {urlsplit(endpoint.base).netloc: place for place, endpoint in enumerate(endpoints)}
        targets = await self._targets(client, server, ALL_NAMES | own)
        return [
            MetricsSource(target, target, secrets=server.secrets, model=self.model, prometheus=server, names=own)
            for target in sorted(targets, key=lambda name: (order.get(name, len(order)), name))
        ]

    def _own_names(self) -> frozenset[str]:
        named = named_adapter(self.engine)
        return frozenset() if named is None else named.metric_names()

    async def _targets(self, client: httpx.AsyncClient, server: PrometheusServer, names: Collection[str]) -> list[str]:
        pages = await pages_at(client, server, names)
        found = [name for name, (page, _) in pages.items() if tells_more_than_age(page)]
        if not found:
            raise EnvironmentFailure(
                f"Prometheus at {server.endpoint.base} has no sample of a known framework"
                + (f" with {server.selector}" if server.selector else ""),
                field="prometheus",
                remedy="Check --selector, and that Prometheus scrapes the servers.",
                stage=STAGE,
            )
        return found
