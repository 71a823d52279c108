"""Proof by re-encoding: does a server's tokenizer turn each text into the ids that were planned?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

BATCH = 256


@dataclass
class Audit:
    """Prompts re-encoded so far and those whose ids differ."""

    prompts: int = 0
    tokens: int = 0
    differing: list[str] = field(default_factory=list)


def audit_prompts(backend: Any, prompts: Iterable[tuple[str, str, NDArray[np.int32]]], audit: Audit) -> None:
    """Encode (request id, text, ids) as a completions endpoint does and compare.

    Args:
        backend: ``tokenizers.Tokenizer``.
        audit: counts are added to it.
    """
    batch: list[tuple[str, str, NDArray[np.int32]]] = []
    for prompt in prompts:
        batch.append(prompt)
        if len(batch) == BATCH:
            _compare(backend, batch, audit)
            batch = []
    if batch:
        _compare(backend, batch, audit)


def _compare(backend: Any, batch: list[tuple[str, str, NDArray[np.int32]]], audit: Audit) -> None:
    encoded = backend.encode_batch_fast([text for _, text, _ in batch], add_special_tokens=True)
    for (request, _, ids), result in zip(batch, encoded, strict=True):
        audit.prompts += 1
        audit.tokens += len(ids)
        if not np.array_equal(np.array(result.ids, dtype=np.int64), ids):
            audit.differing.append(request)
