"""Before any load: does the server fit the plan? A wrong tokenizer or block size is found here, not in the figures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import detect_adapter
from prefixcache.engines.endpoint import Endpoint, redact
from prefixcache.engines.http import failure_text
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.server import ServerFacts, reach, read_facts
from prefixcache.engines.snapshot import MetricsSource, scrape
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.fit import STAGE, Fit
from prefixcache.load.prompts import Prompt

CHECKED_PROMPTS = 5
TOKENIZE_TIMEOUT_S = 60.0
NO_SUCH_ROUTE = (400, 404, 405, 501)  # servers that have none, or one of another form


@dataclass(frozen=True, slots=True)
class Preflight:
    """What was found: the adapter, the model to ask for, each endpoint's facts, warnings ``(code, text)``, and whether
    the server's ``/tokenize`` confirmed the token counts (if not, the first answers must)."""

    adapter: Adapter
    model: str
    servers: tuple[ServerFacts, ...]
    warnings: tuple[tuple[str, str], ...]
    tokens_confirmed: bool


async def preflight(
    client: httpx.AsyncClient,
    endpoints: Sequence[Endpoint],
    sources: Sequence[MetricsSource],
    dataset: RunDataset,
    *,
    model: str | None = None,
    by_rank: bool = False,
    check_tokens: bool = True,
    api_key: str | None = None,
    secrets: tuple[str, ...] = (),
) -> Preflight:
    """Check every endpoint against the dataset.

    Args:
        client, endpoints, sources: the servers and their metrics pages.
        dataset: what will be run.
        model: model name for ``/tokenize``; the server's first if None.
        by_rank: cache domains are DP ranks of the single endpoint.
        check_tokens: compare the server's tokens with the plan's; of no use where token ids are sent.
        api_key: bearer token.
        secrets: what is taken out of everything that a server says of itself.

    Raises:
        InputError: the server does not fit the plan (block size, context length, tokenizer, ranks).
        EnvironmentFailure: a server or a metrics page cannot be reached.
    """
    # The servers first: of one that is down the address is wrong or it does not run, not its metrics page.
    for endpoint in endpoints:
        await reach(client, endpoint, api_key)
    pages = await asyncio.gather(*(scrape(client, source) for source in sources))
    adapter = detect_adapter(pages[0], sources[0].label, lambda text: redact(text, sources[0].secrets))
    own = own_pages(endpoints, sources)
    servers, warnings = [], [("metrics", text) for page in pages for text in page.warnings]
    confirmed = True
    fit = Fit(dataset, warnings)
    for number, source in enumerate(sources):
        fit.cache(source.label, adapter.cache_facts(pages[number]))
    fit.caches(
        [e.base for e in endpoints],
        {s.label: len(adapter.engines(p)) for s, p in zip(sources, pages, strict=True)},
        by_rank=by_rank,
    )
    for number, endpoint in enumerate(endpoints):
        at = own[number]
        page = MetricsPage({}) if at is None else pages[at]
        server = await read_facts(client, endpoint, page, adapter, api_key, secrets)
        fit.server(server)
        servers.append(server)
        if model is not None and server.served and model not in server.served:
            known = ", ".join(name[:100] for name in server.models[:10])
            raise InputError(
                f"{endpoint.base} serves no model {model!r}; it serves: {known}",
                field="--model",
                remedy="name one of them, or leave --model out.",
                stage=STAGE,
                dataset_id=dataset.dataset_id,
            )
        name = model or next(iter(server.served), None)
        if check_tokens:
            confirmed &= await _compare_tokens(client, endpoint, dataset, name, api_key)
    chosen = model or next(iter(servers[0].served), None)
    if chosen is None:
        raise EnvironmentFailure(
            f"{endpoints[0].base} names no model", field="model", remedy="Give --model NAME.", stage=STAGE
        )
    return Preflight(adapter, chosen, tuple(servers), tuple(warnings), confirmed)


def own_pages(endpoints: Sequence[Endpoint], sources: Sequence[MetricsSource]) -> list[int | None]:
    """Endpoint by endpoint the number of the metrics page that is its own; None if none is known to be."""
    if len(endpoints) == len(sources):
        return list(range(len(endpoints)))
    labels = [source.label for source in sources]
    found = [labels.index(e.base) if e.base in labels else None for e in endpoints]
    return found if len(endpoints) > 1 else [found[0] or 0]


async def _compare_tokens(
    client: httpx.AsyncClient, endpoint: Endpoint, dataset: RunDataset, model: str | None, api_key: str | None
) -> bool:
    """Ask ``/tokenize`` for the first prompts; False if the server has no such route."""
    for planned in dataset.requests[:CHECKED_PROMPTS]:
        prompt = await asyncio.to_thread(dataset.prompt, planned)
        answer = await _tokenize(client, endpoint, model, prompt, api_key)
        if answer is None:
            return False
        count, ids = answer
        if count != planned.input_len:
            raise wrong_token_count(dataset, planned, count, endpoint.base)
        if ids is not None and prompt.ids is not None and ids != list(prompt.ids):
            raise wrong_token_count(dataset, planned, count, endpoint.base, other_ids=True)
    return True


async def _tokenize(
    client: httpx.AsyncClient, endpoint: Endpoint, model: str | None, prompt: Prompt, api_key: str | None
) -> tuple[int, list[int] | None] | None:
    if prompt.messages is not None:
        content: dict[str, Any] = {"messages": prompt.messages, "add_generation_prompt": True}
    else:
        content = {"prompt": prompt.text, "add_special_tokens": True}
    body = orjson.dumps({"model": model, **content})
    secrets = (api_key, *endpoint.secrets)
    headers = {"Content-Type": "application/json", **endpoint.headers(api_key)}
    try:
        async with asyncio.timeout(TOKENIZE_TIMEOUT_S):
            response = await client.post(endpoint.url("/tokenize"), content=body, headers=headers)
        if response.status_code not in (200, *NO_SUCH_ROUTE):
            raise EnvironmentFailure(
                f"{endpoint.base}/tokenize answers {response.status_code}, so the tokenizers cannot be compared",
                field="url",
                remedy="Check the API key (PREFIXCACHE_API_KEY) and the server's log.",
                stage=STAGE,
            )
        data: Any = orjson.loads(response.content) if response.status_code == 200 else None
    except orjson.JSONDecodeError:
        return None
    except (httpx.HTTPError, OSError, TimeoutError) as error:
        raise EnvironmentFailure(
            f"the server {endpoint.base} broke off while it tokenized ({redact(failure_text(error), secrets)})",
            field="url",
            remedy="Check the server's log.",
            stage=STAGE,
        ) from None
    if not isinstance(data, dict):
        return None
    tokens = data.get("tokens")
    count = data.get("count", len(tokens) if isinstance(tokens, list) else None)
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    return count, tokens if isinstance(tokens, list) else None


def wrong_token_count(
    dataset: RunDataset, planned: Planned, count: int, endpoint: str, *, other_ids: bool = False
) -> InputError:
    """The server's tokenizer is not the dataset's."""
    what = (
        f"{endpoint} encodes the prompt to other token ids than the dataset's"
        if other_ids
        else f"{endpoint} counts {count} tokens where the dataset has {planned.input_len}"
    )
    return InputError(
        f"{what}: the served model's tokenizer is not {dataset.tokenizer_name!r}, with which the dataset was built",
        field="tokenizer.path",
        remedy="Generate the dataset with the tokenizer of the served model (--tokenizer PATH).",
        stage=STAGE,
        dataset_id=dataset.dataset_id,
        request_id=planned.request_id,
        group=planned.group,
    )
