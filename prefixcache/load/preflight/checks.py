"""Before any load: does the server fit the plan? A wrong tokenizer or block size is found here, not in the figures."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import orjson

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import AUTO, adapter_for, adapter_on
from prefixcache.engines.endpoint import Endpoint, redact
from prefixcache.engines.frameworks.stores import is_only_a_store
from prefixcache.engines.http import failure_text
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Series
from prefixcache.engines.server import ServerFacts, reach, read_facts
from prefixcache.engines.snapshot import MetricsSource, scrape
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.preflight.contradictions import STAGE, Contradiction
from prefixcache.load.preflight.fit import Fit
from prefixcache.load.preflight.forecast import Forecast, predict_all
from prefixcache.load.preflight.frameworks import pages_of_others, server_of_another
from prefixcache.load.preflight.options import PreflightOptions
from prefixcache.load.preflight.predicted import Predictor
from prefixcache.load.preflight.probe_report import read_probe_report
from prefixcache.load.sending.prompts import Prompt

CHECKED_PROMPTS = 5
TOKENIZE_TIMEOUT_S = 60.0
NO_SUCH_ROUTE = (400, 404, 405, 501)  # servers that have none, or one of another form


@dataclass(frozen=True, slots=True)
class Preflight:
    """What was found: the adapter, the model to ask for, each endpoint's facts, warnings ``(code, text)``, and whether
    the server's ``/tokenize`` confirmed the token counts (if not, the first answers must).

    ``contradictions``: between dataset and service, the warnings' own among them. ``forecast``: what is predicted.
    """

    adapter: Adapter
    model: str
    servers: tuple[ServerFacts, ...]
    warnings: tuple[tuple[str, str], ...]
    tokens_confirmed: bool
    contradictions: tuple[Contradiction, ...] = ()
    forecast: Forecast = field(default_factory=Forecast)

    @property
    def errors(self) -> tuple[Contradiction, ...]:
        return tuple(one for one in self.contradictions if one.severity == "error")

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should read before the load begins: what will cost hits, and how many in all."""
        told = [one.told for one in self.contradictions if one.prediction is not None]
        return (*told, *self.forecast.notes)

    @staticmethod
    def nothing_found() -> dict[str, Any]:
        """As :meth:`to_json`, of servers that could not be asked."""
        return {"contradictions": [], **Forecast().to_json()}

    def to_json(self) -> dict[str, Any]:
        """For run.json and ``run --dry-run --json``."""
        return {"contradictions": [one.to_json() for one in self.contradictions], **self.forecast.to_json()}


async def preflight(
    client: httpx.AsyncClient,
    endpoints: Sequence[Endpoint],
    sources: Sequence[MetricsSource],
    dataset: RunDataset,
    **more: Any,
) -> Preflight:
    """Check every endpoint against the dataset; arguments of :func:`examine`.

    Raises:
        InputError: the server does not fit the plan (block size, hit unit, context length, tokenizer, ranks).
        EnvironmentFailure: a server or a metrics page cannot be reached.
    """
    found = await examine(client, endpoints, sources, dataset, **more)
    if found.errors:
        raise found.errors[0].error(dataset.dataset_id, len(found.errors) - 1)
    return found


async def examine(
    client: httpx.AsyncClient,
    endpoints: Sequence[Endpoint],
    sources: Sequence[MetricsSource],
    dataset: RunDataset,
    *,
    model: str | None = None,
    by_rank: bool = False,
    check_tokens: bool = True,
    isolated: bool = True,
    engine: str = AUTO,
    options: PreflightOptions | None = None,
    api_key: str | None = None,
    secrets: tuple[str, ...] = (),
) -> Preflight:
    """Look at every endpoint beside the dataset and predict what the contradictions will cost.

    Args:
        client, endpoints, sources: the servers and their metrics pages.
        dataset: what will be run.
        model: model name for ``/tokenize``; the server's first if None.
        by_rank: cache domains are DP ranks of the single endpoint.
        check_tokens: compare the server's tokens with the plan's; of no use where token ids are sent.
        isolated: whether something will keep the first pass apart from what is cached already.
        engine: framework of the metrics pages; ``auto``: they tell.
        options: what is allowed and predicted.
        api_key: bearer token.
        secrets: what is taken out of everything that a server says of itself.

    Raises:
        InputError: an unknown framework or model.
        EnvironmentFailure: a server or a metrics page cannot be reached.
    """
    choices = options or PreflightOptions()
    measured = None if choices.probe_report is None else read_probe_report(choices.probe_report)
    # The servers first: of one that is down the address is wrong or it does not run, not its metrics page.
    for endpoint in endpoints:
        await reach(client, endpoint, api_key)
    pages = await asyncio.gather(*(scrape(client, source) for source in sources))
    adapter, named = _adapter(engine, sources, pages), engine != AUTO
    own = [None if at is None else sources[at].label for at in own_pages(endpoints, sources)]
    by_label = {source.label: page for source, page in zip(sources, pages, strict=True)}
    servers = [
        await read_facts(
            client, endpoint, by_label.get(label or "", MetricsPage({})), adapter, api_key, secrets, named=named
        )
        for endpoint, label in zip(endpoints, own, strict=True)
    ]
    devices = {server.device for server in servers if server.device is not None}
    on_device = adapter_on(adapter, devices.pop() if len(devices) == 1 else None)
    if not named:
        adapter = on_device
        servers = [s if s.device is not None else replace(s, adapter=adapter.name) for s in servers]
    fit = Fit(dataset, adapter.name, fixed_block=on_device.traits.fixed_block)
    bases = {endpoint.base for endpoint in endpoints}
    others = pages_of_others(adapter, by_label, named=named, urls=bases, secrets=secrets)
    fit.found += others.values()
    for source, page in zip(sources, pages, strict=True):
        if source.label in others:
            continue
        fit.cache(source.label, adapter.cache_facts(page), measured)
        fit.counters(source.label, missing_counters(adapter, page))
    fit.caches(
        [e.base for e in endpoints],
        {s.label: len(adapter.engines(p)) for s, p in zip(sources, pages, strict=True)},
        by_rank=by_rank,
    )
    if not isolated and dataset.passes[0] == "cold":
        for source, page in zip(sources, pages, strict=True):
            if served := served_tokens(adapter, page):
                fit.filled(source.label, served)
    confirmed = True
    for endpoint, server, label in zip(endpoints, servers, own, strict=True):
        fit.server(server)
        if not others and label and (odd := server_of_another(adapter, server, label, named=named)) is not None:
            fit.found.append(odd)
        _check_model(endpoint, dataset, server, model)
        name = model or next(iter(server.served), None)
        if check_tokens:
            try:
                confirmed &= await _compare_tokens(client, endpoint, dataset, name, api_key)
            except InputError as error:
                fit.other_tokens(error)
    chosen = model or next(iter(servers[0].served), None)
    if chosen is None:
        raise EnvironmentFailure(
            f"{endpoints[0].base} names no model", field="model", remedy="Give --model NAME.", stage=STAGE
        )
    contradictions, forecast = fit.found, Forecast()
    if choices.predict:
        predictor = Predictor(dataset, endpoints=len(endpoints), by_rank=by_rank)
        contradictions, forecast = await asyncio.to_thread(predict_all, predictor, fit.found)
    if choices.allow_misfit:
        contradictions = [one.allowed() for one in contradictions]
    warnings = [("metrics", text) for page in pages for text in page.warnings]
    if measured is not None and (other := measured.of_others(e.base for e in endpoints)) is not None:
        warnings.append(("probe_report_of_another", other))
    warnings += [(one.code, one.text) for one in contradictions if one.severity == "warning"]
    return Preflight(adapter, chosen, tuple(servers), tuple(warnings), confirmed, tuple(contradictions), forecast)


def missing_counters(adapter: Adapter, page: MetricsPage) -> dict[str, str]:
    """Which of queries and hits a page gives no figure for, and why.

    A series that the server's version exports but has not begun yet is not missing; neither is anything before the
    first request on a page that has none of them.
    """
    if not served_tokens(adapter, page) and adapter.source(Quantity.QUERIES, page) is None:
        return {}
    wanted = [q for q in (Quantity.QUERIES, Quantity.HITS) if adapter.value(q, page) is None]
    return {q.value: adapter.why_absent(q) for q in wanted if not _will_come(adapter, q, page)}


def _will_come(adapter: Adapter, quantity: Quantity, page: MetricsPage) -> bool:
    return any(isinstance(source, Series) and source.exported_by(page) for source in adapter.sources(quantity))


def served_tokens(adapter: Adapter, page: MetricsPage) -> int:
    """Prompt tokens that the server has counted since it started; 0 if it does not tell."""
    told = (adapter.value(quantity, page) for quantity in (Quantity.PROMPT_TOKENS, Quantity.QUERIES))
    return int(max((value for value in told if value is not None), default=0))


def _check_model(endpoint: Endpoint, dataset: RunDataset, server: ServerFacts, model: str | None) -> None:
    if model is None or not server.served or model in server.served:
        return
    known = ", ".join(name[:100] for name in server.models[:10])
    raise InputError(
        f"{endpoint.base} serves no model {model!r}; it serves: {known}",
        field="--model",
        remedy="name one of them, or leave --model out.",
        stage=STAGE,
        dataset_id=dataset.dataset_id,
    )


def _adapter(engine: str, sources: Sequence[MetricsSource], pages: Sequence[MetricsPage]) -> Adapter:
    """The framework that the first page of an engine is of; pages of stores behind engines may stand before it."""
    number = next((n for n, page in enumerate(pages) if not is_only_a_store(page)), 0)
    source = sources[number]
    return adapter_for(engine, pages[number], source.label, lambda text: redact(text, source.secrets))


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
