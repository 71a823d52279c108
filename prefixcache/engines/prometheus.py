"""A Prometheus server as the source of metrics pages: for services whose own pages cannot be reached.

Raw samples are asked for (a range vector), because their timestamps tell how old they are: an instant query may answer
with the value of before a pass. Source: Prometheus' HTTP API, ``/api/v1/query``.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from prefixcache.engines.bounded import get_bounded
from prefixcache.engines.endpoint import Endpoint, redact
from prefixcache.engines.http import failure_text, way_failure
from prefixcache.engines.page import TOO_LARGE, TOTAL, MetricsPage, Sample, base_name
from prefixcache.errors import EnvironmentFailure, InputError

ASK_TIMEOUT_S = 30.0
LOOK_BACK = "5m"
FRESH_WITHIN_S = 150.0
"""How long a sample of after a moment is waited for: more than twice the scrape interval of a minute."""
ASK_AGAIN_S = 1.0
INSTANCE = "instance"
STARTED = "process_start_time_seconds"
# Braces may stand in the quoted values, which are regular expressions too.
_SELECTOR = re.compile(r"""^\s*\{(?:[^{}"'`]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)*\}\s*$""")


@dataclass(frozen=True, slots=True)
class PrometheusServer:
    """Where to ask, and for which targets.

    Args:
        endpoint: its base URL, the path before ``/api/v1`` included.
        selector: matchers of the targets' labels, e.g. ``{job="vllm"}``; empty: all targets.
        secrets: what is taken out of texts that are shown.
    """

    endpoint: Endpoint
    selector: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def matchers(self) -> str:
        """The selector's inside.

        Raises:
            InputError: it is none.
        """
        if not self.selector.strip():
            return ""
        if not _SELECTOR.match(self.selector):
            raise InputError(
                f"{self.selector!r} is no selector of labels",
                field="--selector",
                remedy="Write it as Prometheus does, e.g. '{job=\"vllm\"}'.",
            )
        return self.selector.strip()[1:-1].strip().rstrip(",")


def tells_more_than_age(page: MetricsPage) -> bool:
    """Has a target anything of what it was asked for beside when it began? Every exporter says that, Prometheus itself
    too."""
    return bool(page.series.keys() - {STARTED})


async def pages_at(
    client: httpx.AsyncClient, server: PrometheusServer, names: Collection[str], moment: float | None = None
) -> dict[str, tuple[MetricsPage, float]]:
    """Target (its ``instance``) → its page as of a moment, and the time of its newest sample.

    Args:
        client: from ``prefixcache.engines.http.open_client``.
        server: where to ask.
        names: metric names without ``_total``.
        moment: Unix time; None: now.

    Raises:
        EnvironmentFailure: no answer, or an error of Prometheus.
        InputError: Prometheus cannot read the selector.
    """
    pattern = "|".join(sorted(f"{re.escape(name)}({TOTAL})?" for name in names))
    escaped = pattern.replace("\\", "\\\\")
    inside = ",".join(part for part in (f'__name__=~"{escaped}"', server.matchers()) if part)
    found = await _ask(client, server, f"{{{inside}}}[{LOOK_BACK}]", moment)
    by_instance: dict[str, list[tuple[Sample, float]]] = {}
    for entry in found:
        try:
            labels = dict(entry["metric"])
            at, text = entry["values"][-1]
            if not all(isinstance(label, str) for label in labels.values()):
                raise TypeError
            sample = _sample(labels, text)
            stamp = float(at)
        except (TypeError, ValueError, KeyError, IndexError):
            raise _failure(server, "answered something else than its API does") from None
        if sample is not None:
            by_instance.setdefault(labels.get(INSTANCE, ""), []).append((sample, stamp))
    return {instance: _page(rows) for instance, rows in sorted(by_instance.items())}


async def fresh_page(
    client: httpx.AsyncClient, server: PrometheusServer, instance: str, names: Collection[str], patience: float
) -> MetricsPage:
    """One target's page with no sample of before this call, by Prometheus' own clock.

    Args:
        patience: seconds that such a sample is waited for.

    Raises:
        EnvironmentFailure: there is none in time.
    """
    asked = await _clock(client, server)
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        page, newest = (await pages_at(client, server, names)).get(instance, (MetricsPage({}), -math.inf))
        if newest >= asked:
            return page
        if asyncio.get_running_loop().time() >= deadline:
            age = f"the newest is {asked - newest:.0f} s old" if newest > 0 else f"it has none of the last {LOOK_BACK}"
            raise EnvironmentFailure(
                f"Prometheus at {server.endpoint.base} has no new sample of {instance} within {patience:g} s: {age}",
                field="prometheus",
                remedy="Check that Prometheus scrapes this target at least every minute, or give the server's own page "
                "with --metrics-url.",
                stage="scrape_metrics",
            )
        await asyncio.sleep(ASK_AGAIN_S)


async def latest_page(
    client: httpx.AsyncClient, server: PrometheusServer, instance: str, names: Collection[str]
) -> MetricsPage:
    """One target's newest page, however old: for looking on while a pass runs."""
    found = (await pages_at(client, server, names)).get(instance)
    return MetricsPage({}) if found is None else found[0]


def _page(rows: list[tuple[Sample, float]]) -> tuple[MetricsPage, float]:
    """Only what the newest scrape saw: a series that is gone stays in the range for minutes."""
    newest = max(at for _, at in rows)
    series: dict[str, dict[Any, Sample]] = {}
    for sample, at in rows:
        if at == newest:
            series.setdefault(sample.name, {})[sample.key] = sample
    return MetricsPage({name: tuple(found.values()) for name, found in series.items()}), newest


def _sample(labels: Mapping[str, str], text: Any) -> Sample | None:
    value = float(text)
    kept = {name: label for name, label in labels.items() if name not in ("__name__", INSTANCE, "job")}
    return None if math.isinf(value) else Sample(base_name(labels["__name__"]), kept, value)


async def _clock(client: httpx.AsyncClient, server: PrometheusServer) -> float:
    found = await _ask(client, server, "time()", None)
    try:
        return float(found[1])
    except (TypeError, ValueError, IndexError, KeyError):
        raise _failure(server, "does not tell its time") from None


async def _ask(client: httpx.AsyncClient, server: PrometheusServer, query: str, moment: float | None) -> Any:
    """The ``result`` of an instant query."""
    params = {"query": query} | ({} if moment is None else {"time": f"{moment:.3f}"})
    url = httpx.URL(server.endpoint.url("/api/v1/query")).copy_merge_params(params)
    try:
        async with asyncio.timeout(ASK_TIMEOUT_S):
            response, body = await get_bounded(client, url, server.headers)
        if body is None:
            raise _failure(server, f"answered {TOO_LARGE}")
        answer = orjson.loads(body) if body.strip() else {}
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        if (way := way_failure(error)) is not None:
            raise way from None
        raise _failure(server, f"cannot be asked ({redact(failure_text(error), server.secrets)})") from None
    except orjson.JSONDecodeError:
        raise _failure(server, f"answered HTTP {response.status_code} and no JSON") from None
    if not isinstance(answer, dict) or answer.get("status") != "success":
        reason = redact(str(answer.get("error", "")) if isinstance(answer, dict) else "", server.secrets)[:200]
        if response.status_code == 400:
            raise InputError(
                f"Prometheus cannot read {server.selector!r}: {reason}",
                field="--selector",
                remedy="Write it as Prometheus does, e.g. '{job=\"vllm\"}'.",
            )
        raise _failure(server, f"answered HTTP {response.status_code} {reason}".rstrip())
    data = answer.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("result"), list):
        raise _failure(server, "answered something else than its API does")
    return data["result"]


def _failure(server: PrometheusServer, what: str) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"Prometheus at {server.endpoint.base} {what}",
        field="prometheus",
        remedy="Check the address (the part before /api/v1) and that it runs.",
        stage="scrape_metrics",
    )
