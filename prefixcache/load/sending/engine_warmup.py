"""Warming the engine, not its cache: prompts that share nothing with the dataset, before anything is measured."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from typing import Any

from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.sending.carrier import Sends
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Router


def unrelated(prompt: Prompt) -> Prompt:
    """A prompt of the same size that begins as none of the dataset: the same words, or ids, in the opposite order."""
    backwards = None if prompt.text is None else " ".join(reversed(prompt.text.split()))
    messages = prompt.messages
    if messages is not None:
        messages = [
            {**message, "content": " ".join(reversed(str(message.get("content") or "").split()))}
            for message in messages
            if message.get("role") != "system"  # a common system text is a common prefix
        ]
    ids = None if prompt.ids is None else list(prompt.ids)[::-1]
    return Prompt(backwards, ids, prompt.max_tokens, messages)


async def warm_engine(
    count: int, concurrency: int, dataset: RunDataset, client: Sends, router: Router
) -> dict[str, Any]:
    """Send ``count`` prompts, as many at once as the run will.

    Returns:
        For run.json: ``prompts, failed, failures`` by kind, ``seconds``, ``states_usage`` (whether the answers told
        their output tokens; null: none came).
    """
    requests = dataset.requests
    chosen: list[Planned] = [requests[number * len(requests) // count % len(requests)] for number in range(count)]
    slots = asyncio.Semaphore(concurrency)
    failures: Counter[str] = Counter()
    stated: list[bool] = []

    async def one(number: int, planned: Planned) -> None:
        async with slots:
            outcome = await client.complete(unrelated(dataset.prompt(planned)), router.target(planned, number))
        if outcome.failure is not None:
            failures[outcome.failure] += 1
        else:
            stated.append(outcome.output_by == "usage")

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number, planned in enumerate(chosen):
            group.create_task(one(number, planned))
    return {
        "prompts": count,
        "failed": sum(failures.values()),
        "failures": dict(sorted(failures.items())),
        "seconds": round(time.perf_counter() - began, 6),
        "states_usage": all(stated) if stated else None,
    }
