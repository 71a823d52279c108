"""What a run's options mean for its dataset and servers: key, secrets, metrics pages, form of the prompts, pace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prefixcache.engines.endpoint import Endpoint, url_secrets
from prefixcache.engines.snapshot import MetricsSource, metrics_source, source_of
from prefixcache.errors import InputError
from prefixcache.load.dataset import RunDataset
from prefixcache.load.options import RunOptions, SendChoice
from prefixcache.load.request.client import SendForm
from prefixcache.load.sending.pace import Pace, make_pace

STAGE = "run_benchmark"


def secrets_of(options: RunOptions, api_key: str | None) -> tuple[str, ...]:
    """Everything that no file and no line may show, whoever says it."""
    beside = (options.connection.proxy, options.metering.prometheus)
    urls = (*options.urls, *options.metrics_urls, *(address for address in beside if address))
    return (*((api_key,) if api_key else ()), *url_secrets(urls), *options.sending.secrets)


def metrics_sources(
    options: RunOptions, endpoints: Sequence[Endpoint], api_key: str | None, secrets: tuple[str, ...]
) -> list[MetricsSource]:
    """Metrics pages, each once: a page read twice would be counted twice."""
    if options.metrics_urls:
        found = [metrics_source(url, api_key) for url in options.metrics_urls]
    else:
        found = [source_of(e, api_key=api_key) for e in endpoints]
    return list({source.label: replace(source, secrets=secrets) for source in found}.values())


def send_form(dataset: RunDataset, choice: SendChoice) -> SendForm:
    """How the prompts are sent: as the user chose, else as chat or text where the dataset has it, else as ids.

    Raises:
        InputError: the dataset does not hold what was chosen.
    """
    first = dataset.prompt(dataset.requests[0])
    readable = dataset.has_text and (first.text is not None or first.messages is not None)
    if choice == "ids" and first.ids is None:
        raise _no_form(
            dataset,
            "the dataset's data.jsonl holds no token ids (output.prompts: text)",
            "Leave out --send, or generate the dataset with output.prompts: both.",
        )
    if choice == "text" and not readable:
        why = "no text (output.prompts: ids)" if dataset.without_texts else "no text that gives exactly those"
        raise _no_form(dataset, f"the dataset holds token ids and {why}", "Leave out --send or choose ids.")
    if choice == "ids" or not readable:
        return "ids"
    return "chat" if dataset.chat else "text"


def _no_form(dataset: RunDataset, message: str, remedy: str) -> InputError:
    return InputError(message, field="send", remedy=remedy, stage=STAGE, dataset_id=dataset.dataset_id)


def pace_of(options: RunOptions, dataset: RunDataset) -> Pace:
    """The load of the measured requests."""
    return make_pace(
        options.shape(dataset.concurrency),
        len(dataset.requests),
        max_in_flight=options.max_in_flight,
        duration=options.duration,
    )
