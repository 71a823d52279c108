"""The server as a probe asks it: plain requests with a deadline each, and texts without secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.endpoint import Endpoint, redact
from prefixcache.engines.http import failure_kind, failure_text
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.server import ServerFacts
from prefixcache.engines.snapshot import MetricsSource, Snapshot, take_snapshot
from prefixcache.probe.clock import Clock, NoAnswer

MOST_SAID = 200


class Lost(Exception):
    """The server takes no connection any more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. ``status`` None: nothing did. ``body``: the JSON object, or an empty one.
    ``raw``: as it came; never shown."""

    status: int | None
    body: Mapping[str, Any]
    text: str = ""
    raw: bytes = b""

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def why(self) -> str:
        """What went wrong, in short and without secrets."""
        return self.text if self.status is None else f"HTTP {self.status}: {self.text}"


@dataclass(slots=True)
class Service:
    """One server and its metrics pages.

    Args:
        http: the client.
        clock: of the whole probe.
        endpoint: the server.
        sources: its metrics pages.
        request_timeout: seconds for one answer.
        headers: of every request, Authorization and the user's own among them.
        secrets: what no text may show.
        adapter, facts, raw_info: what it says of itself, once it was asked.
        paged: whether it gave a metrics page.
        recognised: whether the page is one of the adapter's framework.
        named: the user named the adapter.
        rank_field: field of the body that names a DP rank, where the user says so.
    """

    http: httpx.AsyncClient
    clock: Clock
    endpoint: Endpoint
    sources: list[MetricsSource]
    request_timeout: float
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    api_key: str | None = field(default=None, repr=False)
    adapter: Adapter = field(init=False)
    facts: ServerFacts = field(init=False)
    page: MetricsPage = field(default_factory=lambda: MetricsPage({}))
    raw_info: dict[str, Any] = field(default_factory=dict)
    paged: bool = False
    recognised: bool = False
    named: bool = False
    rank_field: str | None = None

    async def post(
        self,
        path: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send JSON. A refusal is an answer.

        Raises:
            OutOfTime: the probe's time is up.
            Lost: there is no connection to the server.
        """
        content = orjson.dumps(body)
        sent = httpx.Headers({"Content-Type": "application/json"})
        for more in (self.headers, headers or {}):
            sent.update(more)
        return await self._ask("POST", path, sent, content, params)

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> Answer:
        """Raises: as ``post``."""
        return await self._ask("GET", path, self.headers, None, params)

    async def _ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        content: bytes | None,
        params: Mapping[str, str] | None = None,
    ) -> Answer:
        url = httpx.URL(self.endpoint.url(path)).copy_merge_params(dict(params or {}))
        request = self.http.request(method, url, headers=headers, content=content)
        try:
            response = await self.clock.bounded(request, self.request_timeout)
        except NoAnswer as error:
            return Answer(None, {}, str(error))
        except (httpx.HTTPError, OSError) as error:
            why = self.clean(failure_text(error))
            if failure_kind(error) == "connect":
                raise Lost(why) from None
            return Answer(None, {}, why)
        try:
            body = orjson.loads(response.content)
        except orjson.JSONDecodeError:
            body = None
        told = "" if response.status_code == 200 else self.clean(response.text)
        return Answer(response.status_code, body if isinstance(body, dict) else {}, told, response.content)

    async def snapshot(self) -> Snapshot:
        """All metrics pages now, what the adapter knows of them.

        Raises:
            OutOfTime: the probe's time is up.
        """
        wanted = self.adapter.metric_names() | {"process_start_time_seconds"}
        try:
            return await self.clock.bounded(take_snapshot(self.http, self.sources, wanted), self.request_timeout)
        except NoAnswer as error:
            return Snapshot({}, {source.label: str(error) for source in self.sources})

    def clean(self, text: str) -> str:
        return redact(" ".join(text.split()), self.secrets)[:MOST_SAID]
