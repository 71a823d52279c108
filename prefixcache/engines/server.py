"""What a server says of itself, and emptying its prefix cache."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import orjson

from prefixcache.engines.adapter import MOST_SIZE, Adapter, CacheFacts, ResetAnswer
from prefixcache.engines.detect import adapter_on
from prefixcache.engines.device import device_of
from prefixcache.engines.endpoint import Endpoint, redact
from prefixcache.engines.http import failure_kind, failure_text, unresolved, way_failure
from prefixcache.engines.page import MetricsPage, shown_label
from prefixcache.engines.scheduler import CONFIG, PARAMETERS, scheduler_of
from prefixcache.errors import EnvironmentFailure

REFERENCE_ENGINE = "prefixcache-reference"
POSING = "+reference"
"""How its versions end whatever engine it poses as."""
ASK_TIMEOUT_S = 30.0
CHECK_SERVER = "Check that the server runs at this address; a key goes into the variable PREFIXCACHE_API_KEY."
NO_SUCH_API = (
    "This is no OpenAI-compatible server, or the path of the address is wrong: give the address without /v1, "
    "e.g. http://HOST:PORT."
)
NEEDS_KEY = "Give its API key in the variable PREFIXCACHE_API_KEY."
NO_NAME = "Check the spelling of the host name, and that this machine's DNS knows it."
BUSY_FOR_S = 20.0
"""How long a reset is asked for again while the server says that requests still run."""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """One endpoint's facts as they may be written down (a server can echo what it was asked with); None is "it did not
    say".

    Args:
        endpoint: base URL without credentials.
        adapter: name of the adapter that its metrics page and its device ask for.
        engine_name: ``engine`` of ``/server_info``, e.g. ``prefixcache-reference``.
        version, model, max_model_len: as served.
        engines: engine labels (DP ranks) of its metrics page.
        cache: facts of the metrics page; tokens are those of one engine.
        models: all names it serves.
        info: the scalars of ``/server_info``.
        scheduler: limits of its scheduler, by the server's own names (:mod:`.scheduler`); empty where it tells none.
        served: the names as requests must spell them, the first one first. Never shown: they are not redacted.
        device: kind of device, e.g. ``npu``, where its info route tells (:mod:`.device`).
        owner: ``owned_by`` of its first model. Never shown.
    """

    endpoint: str
    adapter: str
    engine_name: str | None
    version: str | None
    model: str | None
    max_model_len: int | None
    engines: tuple[str, ...]
    cache: CacheFacts
    models: tuple[str, ...] = ()
    info: Mapping[str, Any] = field(default_factory=dict)
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    served: tuple[str, ...] = field(default=(), repr=False)
    device: str | None = None
    owner: str | None = field(default=None, repr=False)

    @property
    def is_reference(self) -> bool:
        return self.engine_name == REFERENCE_ENGINE or (self.version or "").endswith(POSING)

    def to_json(self) -> dict[str, Any]:
        return {
            "endpoint": self.endpoint,
            "adapter": self.adapter,
            "engine_name": self.engine_name,
            "version": self.version,
            "model": self.model,
            "max_model_len": self.max_model_len,
            "engines": list(self.engines),
            "block_size": self.cache.block_size,
            "num_gpu_blocks": self.cache.num_blocks,
            "kv_cache_tokens_per_engine": self.cache.kv_tokens,
            "enable_prefix_caching": self.cache.prefix_caching,
            "hit_alignment": self.cache.hit_alignment,
            "scheduler": dict(self.scheduler) or None,
        }


@dataclass(frozen=True, slots=True)
class ResetOutcome:
    """What an endpoint answered to a reset. ``done`` is verified, ``unconfirmed`` is HTTP 200 without a verdict."""

    endpoint: str
    answer: ResetAnswer
    http_status: int | None
    detail: str

    def to_json(self) -> dict[str, Any]:
        return {
            "endpoint": self.endpoint,
            "answer": self.answer,
            "http_status": self.http_status,
            "detail": self.detail,
        }


_REMEDIES = {401: NEEDS_KEY, 403: NEEDS_KEY, 404: NO_SUCH_API, 405: NO_SUCH_API, 501: NO_SUCH_API}
"""By the status of ``/v1/models``."""


async def reach(client: httpx.AsyncClient, endpoint: Endpoint, api_key: str | None = None) -> None:
    """Does the server answer at all?

    Raises:
        EnvironmentFailure: ``/v1/models`` cannot be reached or refuses the key.
    """
    await _ask(client, endpoint, "/v1/models", api_key, required=True)


async def read_facts(
    client: httpx.AsyncClient,
    endpoint: Endpoint,
    page: MetricsPage,
    adapter: Adapter,
    api_key: str | None = None,
    secrets: tuple[str, ...] = (),
    *,
    named: bool = False,
) -> ServerFacts:
    """Ask ``/v1/models``, the info routes and ``/version``; routes that are absent leave None.

    ``secrets``: what is taken out of all that is shown, beside the key and the endpoint's own. ``named``: the user
    named the adapter, so that the device changes nothing.

    Raises:
        EnvironmentFailure: ``/v1/models`` cannot be reached or refuses the key.
    """
    models = await _ask(client, endpoint, "/v1/models", api_key, required=True)
    info: dict[str, Any] = {}
    for path in adapter.info_paths:
        info = await _ask(client, endpoint, path, api_key)
        if info:
            break
    version = info.get("version") or (await _ask(client, endpoint, "/version", api_key)).get("version")
    limits = await _ask(client, endpoint, path, api_key, params=PARAMETERS) if CONFIG in info else {}
    device = device_of(limits, info)
    cache = adapter.cache_facts(page)
    if info.get("disable_radix_cache") is True:  # SGLang's word for it; its metrics page has none
        cache = replace(cache, prefix_caching=False)
    served = _model_names(models)

    def clean(text: str) -> str:
        return redact(text, (api_key, *endpoint.secrets, *secrets))

    shown = tuple(clean(name) for name in served)
    return ServerFacts(
        endpoint=endpoint.base,
        adapter=(adapter if named else adapter_on(adapter, device)).name,
        engine_name=clean(info["engine"]) if isinstance(info.get("engine"), str) else None,
        version=clean(version) if isinstance(version, str) and version else None,
        model=shown[0] if shown else None,
        max_model_len=_positive(_first_model(models).get("max_model_len")) or cache.max_model_len,
        engines=tuple(shown_label(label, clean) for label in adapter.engines(page)),
        cache=replace(cache, raw={clean(name): shown_label(value, clean) for name, value in cache.raw.items()}),
        models=shown,
        info={
            clean(k): clean(v) if isinstance(v, str) else v
            for k, v in info.items()
            if isinstance(v, str | float | bool) or (isinstance(v, int) and abs(v) <= MOST_SIZE)
        },
        scheduler={k: clean(v) if isinstance(v, str) else v for k, v in scheduler_of(limits).items()},
        served=served,
        device=device,
        owner=owner if isinstance(owner := _first_model(models).get("owned_by"), str) else None,
    )


async def reset_cache(
    client: httpx.AsyncClient,
    endpoint: Endpoint,
    adapter: Adapter,
    *,
    external: bool = False,
    api_key: str | None = None,
) -> ResetOutcome:
    """Empty the prefix cache, asking again while the server says that requests still run.

    Args:
        external: empty an external tier too, where the framework has a parameter for it.

    Returns:
        The last answer; an unreachable server is ``refused``.
    """
    if not adapter.reset.path:
        return ResetOutcome(endpoint.base, "absent", 404, f"{adapter.traits.title} has no route that empties its cache")
    params = dict(adapter.reset.external_params) if external else {}
    deadline = asyncio.get_running_loop().time() + BUSY_FOR_S
    while True:
        outcome = await _reset_once(client, endpoint, adapter, params, api_key)
        if outcome.answer != "busy" or asyncio.get_running_loop().time() >= deadline:
            return outcome
        await asyncio.sleep(0.2)


async def _reset_once(
    client: httpx.AsyncClient, endpoint: Endpoint, adapter: Adapter, params: dict[str, str], api_key: str | None
) -> ResetOutcome:
    url = httpx.URL(endpoint.url(adapter.reset.path)).copy_merge_params(params)
    try:
        async with asyncio.timeout(ASK_TIMEOUT_S):
            response = await client.post(url, headers=endpoint.headers(api_key))
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        return ResetOutcome(
            endpoint.base, "refused", None, redact(failure_text(error), (api_key, *endpoint.secrets))[:200]
        )
    body = response.content
    answer = adapter.reset.judge(response.status_code, body)
    detail = redact(body.decode("utf-8", "replace"), (api_key, *endpoint.secrets))[:200]
    return ResetOutcome(endpoint.base, answer, response.status_code, detail)


async def _ask(
    client: httpx.AsyncClient,
    endpoint: Endpoint,
    path: str,
    api_key: str | None,
    *,
    required: bool = False,
    params: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    url = httpx.URL(endpoint.url(path)).copy_merge_params(dict(params or {}))
    remedy = CHECK_SERVER
    try:
        async with asyncio.timeout(ASK_TIMEOUT_S):
            response = await client.get(url, headers=endpoint.headers(api_key))
        if response.status_code == 200:
            answer = orjson.loads(response.content)
            return answer if isinstance(answer, dict) else {}
        problem = f"answered HTTP {response.status_code} to {path}"
        remedy = _REMEDIES.get(response.status_code, remedy)
    except TimeoutError:
        problem = f"took the connection but did not answer {path} within {ASK_TIMEOUT_S:g} s"
    except (httpx.HTTPError, OSError) as error:
        if required and (way := way_failure(error)) is not None:
            raise way from None
        why = redact(failure_text(error), (api_key, *endpoint.secrets))[:200]
        nameless = unresolved(error)
        nobody = "nothing listens there: " if failure_kind(error) == "connect" and not nameless else ""
        remedy = NO_NAME if nameless else remedy
        problem = f"cannot be reached ({nobody}{why})"
    except orjson.JSONDecodeError:
        problem = f"answered {path} with something that is not JSON"
        remedy = NO_SUCH_API
    if required:
        raise EnvironmentFailure(
            f"the server {endpoint.base} {problem}",
            field="url",
            remedy=remedy,
            stage="preflight",
        )
    return {}


def _model_names(models: dict[str, Any]) -> tuple[str, ...]:
    data = models.get("data")
    rows = data if isinstance(data, list) else []
    return tuple(row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str))


def _first_model(models: dict[str, Any]) -> dict[str, Any]:
    data = models.get("data")
    return data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else {}


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_SIZE else None
