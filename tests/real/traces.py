"""What a dataset sends, as the cache models take it: block numbers shared by its warmup prompts and its requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prefixcache.cache.blocks import U64, chained_keys_of_many
from prefixcache.cache.models.trace import Trace
from prefixcache.load.dataset import Planned, load_dataset


@dataclass(frozen=True)
class Sent:
    """Prompts in send order: their token ids, one trace for each part, and the key of each block number of both.

    ``warmup`` is empty for datasets that have no warmup prompts.
    """

    warmup_ids: list[list[int]]
    request_ids: list[list[int]]
    requests: tuple[Planned, ...]
    warmup: Trace
    measured: Trace
    keys: U64


def sent_by(dataset: Path, unit: int) -> Sent:
    """Traces of a dataset in blocks of ``unit`` tokens."""
    opened = load_dataset(dataset)
    try:
        warm = [_ids(opened.prompt(planned, warmup=True).ids) for planned in opened.warmup]
        ids = [_ids(opened.prompt(planned).ids) for planned in opened.requests]
        outputs = [opened.prompt(planned).max_tokens for planned in opened.requests]
    finally:
        opened.close()
    every, keys = _trace_of([*warm, *ids], [*[1] * len(warm), *outputs], unit)
    numbers = np.arange(len(every))
    first, rest = every.take(numbers[: len(warm)]), every.take(numbers[len(warm) :])
    return Sent(warm, ids, opened.requests, first, rest, keys)


def _trace_of(prompts: list[list[int]], outputs: list[int], unit: int) -> tuple[Trace, U64]:
    lengths = np.array([len(prompt) for prompt in prompts], dtype=np.int64)
    flat = np.array([token for prompt in prompts for token in prompt], dtype=np.int32)
    keys, blocks = chained_keys_of_many(flat, np.cumsum(lengths), unit, np.zeros(len(prompts), dtype=np.int64))
    trace = Trace.of_keys(keys, np.cumsum(blocks), lengths, np.array(outputs, dtype=np.int64), unit)
    return trace, np.unique(keys)


def _ids(ids: Sequence[int] | None) -> list[int]:
    assert ids is not None, "the dataset holds no token ids"
    return list(ids)
