"""Counting the output tokens of servers that do not: the answer's text, encoded by the dataset's own tokenizer."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from prefixcache.content.tokenizer import EMBEDDED_FOLDER

TOKENIZER = "tokenizer.json"


class OutputCounter:
    """Counts tokens of texts; the tokenizer is loaded when the first text comes.

    Args:
        folder: of the dataset, which keeps its tokenizer.
        embedded: it is the product's own, which no dataset keeps.
    """

    def __init__(self, folder: Path, embedded: bool = False) -> None:
        self._path = (EMBEDDED_FOLDER if embedded else folder) / TOKENIZER
        self._tokenizer: Any = None
        self._lock = asyncio.Lock()

    async def count(self, text: str) -> int | None:
        """Tokens of a text; None where the dataset brings no tokenizer. In a thread, so that the loop keeps time."""
        if not self._path.exists():
            return None
        async with self._lock:
            if self._tokenizer is None:
                self._tokenizer = await asyncio.to_thread(_load, self._path)
        return await asyncio.to_thread(self._length, text)

    def _length(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def _load(path: Path) -> Any:
    from tokenizers import Tokenizer  # slow to import, seldom needed

    return Tokenizer.from_file(str(path))
