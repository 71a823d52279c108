"""Before any load: does the server fit the plan? A wrong tokenizer or block size is found here, not in the figures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import detect_adapter
from prefixcache.engines.endpoint import Endpoint, redact
from prefixcache.engines.server import ServerFacts, read_facts
from prefixcache.engines.snapshot import MetricsSource, scrape
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.facts import kv_tokens_needed
from prefixcache.load.prompts import Prompt

STAGE = "preflight"
CHECKED_PROMPTS = 5
TOKENIZE_TIMEOUT_S = 60.0
NO_SUCH_ROUTE = (400, 404, 405, 501)  # servers that have none, or one of another form


@dataclass(frozen=True, slots=True)
class Preflight:
    """What was found: the adapter, each endpoint's facts, warnings ``(code, text)``, and whether the server's
    ``/tokenize`` confirmed the token counts (if not, the first answers must)."""

    adapter: Adapter
    servers: tuple[ServerFacts, ...]
    warnings: tuple[tuple[str, str], ...]
    tokens_confirmed: bool


@dataclass(slots=True)
class _Check:
    """One endpoint against the dataset; each method is one question."""

    dataset: RunDataset
    server: ServerFacts
    by_rank: bool
    warnings: list[tuple[str, str]] = field(default_factory=list)

    def all(self) -> list[tuple[str, str]]:
        self.tokenizer_allowed()
        self.block_size()
        self.context_length()
        self.capacity()
        self.ranks()
        if self.server.cache.prefix_caching is False:
            self.warnings.append(
                ("prefix_caching_off", f"{self.server.endpoint} says that prefix caching is switched off")
            )
        return self.warnings

    def tokenizer_allowed(self) -> None:
        if self.dataset.embedded_tokenizer and not self.server.is_reference:
            raise self._error(
                "the dataset was built with the embedded tokenizer, which no real model uses, and "
                f"{self.server.endpoint} is not the reference engine",
                "tokenizer.path",
                "Generate the dataset with the served model's tokenizer (--tokenizer PATH), or run it against "
                "`prefixcache serve`.",
            )

    def block_size(self) -> None:
        cache = self.server.cache
        for unit, what in ((cache.block_size, "block size"), (cache.hit_alignment, "hit alignment")):
            odd = self._not_divided(unit) if unit else None
            if odd is None:
                continue
            text = (
                f"a planned prefix of {odd.prefix} tokens is no multiple of the {what} {unit} of {self.server.endpoint}"
            )
            if unit == cache.block_size:
                raise self._error(
                    text,
                    "block_size",
                    f"Generate the dataset with block_size {unit}, or serve with block size {self.dataset.block_size}.",
                    odd,
                )
            self.warnings.append(("hit_alignment", text))
        if cache.block_size is None:
            self.warnings.append(
                ("block_size_unknown", f"{self.server.endpoint} does not state its block size, so it was not compared")
            )

    def _not_divided(self, unit: int) -> Planned | None:
        everything = (*self.dataset.requests, *self.dataset.warmup)
        return next((r for r in everything if r.prefix % unit), None)

    def context_length(self) -> None:
        limit = self.server.max_model_len
        if limit is None:
            return
        for request in (*self.dataset.requests, *self.dataset.warmup):
            if request.input_len + request.output_len > limit:
                raise self._error(
                    f"a request of {request.input_len} + {request.output_len} tokens is longer than the server's "
                    f"max_model_len {limit}",
                    "max_model_len",
                    f"Set max_model_len: {limit} in the dataset's configuration, or serve with a longer context.",
                    request,
                )

    def capacity(self) -> None:
        capacity = self.server.cache.kv_tokens
        if capacity is None:
            return
        for name in self.dataset.passes:
            domain, needed = max(kv_tokens_needed(self.dataset, name).items(), key=lambda entry: entry[1])
            if needed > capacity:
                self.warnings.append(
                    (
                        "kv_capacity",
                        f"pass {name} needs {needed} KV tokens in cache domain {domain}, {self.server.endpoint} holds "
                        f"{capacity}: blocks may be evicted before they are hit",
                    )
                )

    def ranks(self) -> None:
        ranks = len(self.server.engines)
        if self.by_rank and 0 < ranks < self.dataset.domains:
            raise self._error(
                f"the dataset plans {self.dataset.domains} cache domains, {self.server.endpoint} has {ranks} DP ranks",
                "routing.dp_size",
                f"Serve with --data-parallel-size {self.dataset.domains}, or give one --url for each domain.",
            )
        if self.dataset.domains == 1 and ranks > 1:
            self.warnings.append(
                (
                    "more_ranks",
                    f"the dataset plans one cache, {self.server.endpoint} has {ranks} DP ranks with one each: "
                    "hits are missed where a group meets several of them",
                )
            )

    def _error(self, message: str, name: str, remedy: str, request: Planned | None = None) -> InputError:
        return InputError(
            message,
            field=name,
            remedy=remedy,
            stage=STAGE,
            dataset_id=self.dataset.dataset_id,
            request_id=request.request_id if request else None,
            group=request.group if request else None,
        )


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
) -> Preflight:
    """Check every endpoint against the dataset.

    Args:
        client, endpoints, sources: the servers and their metrics pages.
        dataset: what will be run.
        model: model name for ``/tokenize``; the server's first if None.
        by_rank: cache domains are DP ranks of the single endpoint.
        check_tokens: compare the server's tokens with the plan's; of no use where token ids are sent.
        api_key: bearer token.

    Raises:
        InputError: the server does not fit the plan (block size, context length, tokenizer, ranks).
        EnvironmentFailure: a server or a metrics page cannot be reached.
    """
    pages = await asyncio.gather(*(scrape(client, source) for source in sources))
    adapter = detect_adapter(pages[0], sources[0].label)
    servers, warnings = [], [("metrics", text) for page in pages for text in page.warnings]
    confirmed = True
    for number, endpoint in enumerate(endpoints):
        page = pages[number] if len(pages) == len(endpoints) else pages[0]
        server = await read_facts(client, endpoint, page, adapter, api_key)
        warnings += _Check(dataset, server, by_rank).all()
        servers.append(server)
        if model is not None and server.models and model not in server.models:
            raise InputError(
                f"{endpoint.base} serves no model {model!r}; it serves: {', '.join(server.models[:10])}",
                field="--model",
                remedy="name one of them, or leave --model out.",
                stage=STAGE,
                dataset_id=dataset.dataset_id,
            )
        name = model or server.model
        if check_tokens:
            confirmed &= await _compare_tokens(client, endpoint, dataset, name, api_key)
    return Preflight(adapter, tuple(servers), tuple(warnings), confirmed)


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
            f"the server {endpoint.base} broke off while it tokenized ({redact(type(error).__name__, [api_key])})",
            field="url",
            remedy="Check the server's log.",
            stage=STAGE,
        ) from None
    if not isinstance(data, dict):
        return None
    tokens = data.get("tokens")
    count = data.get("count", len(tokens) if isinstance(tokens, list) else None)
    return (count, tokens if isinstance(tokens, list) else None) if isinstance(count, int) else None


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
