"""Proof by re-encoding: does a server's tokenizer turn each text into the ids that were planned?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

BATCH = 64


@dataclass
class Audit:
    """Prompts re-encoded so far and those whose ids differ."""

    prompts: int = 0
    tokens: int = 0
    differing: list[str] = field(default_factory=list)


Encode = Callable[[list[str]], Sequence[Any]]


def audit_prompts(encode: Encode, prompts: Iterable[tuple[str, str, NDArray[np.int32]]], audit: Audit) -> None:
    """Encode (request id, text, ids) as the server does and compare.

    Args:
        encode: prompts as requests carry them into ids, see :meth:`prefixcache.content.framing.Framing.encode`.
        audit: counts are added to it.
    """
    batch: list[tuple[str, str, NDArray[np.int32]]] = []
    for prompt in prompts:
        batch.append(prompt)
        if len(batch) == BATCH:
            _compare(encode, batch, audit)
            batch = []
    if batch:
        _compare(encode, batch, audit)


def _compare(encode: Encode, batch: list[tuple[str, str, NDArray[np.int32]]], audit: Audit) -> None:
    encoded = encode([text for _, text, _ in batch])
    for (request, _, ids), result in zip(batch, encoded, strict=True):
        audit.prompts += 1
        audit.tokens += len(ids)
        if not np.array_equal(np.array(result, dtype=np.int64), ids):
            audit.differing.append(request)
