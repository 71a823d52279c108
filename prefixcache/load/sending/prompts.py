"""The prompts of a dataset: on disk until they are sent."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from prefixcache.errors import InputError

REGENERATE = "Generate the dataset again, or give the directory that `prefixcache generate` wrote."
Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: text, token ids, tokens to generate, and for chat the messages whose template gives those ids.

    A dataset whose text could not be made exact has no ``text``; one written without ids has no ``ids``.
    """

    text: str | None
    ids: Sequence[int] | None
    max_tokens: int
    messages: Messages | None = None


class PromptFile:
    """Random access to the prompts of a JSONL file: only line offsets are held in memory.

    Args:
        path: the file.
        lines: where there is no such file, what would stand in it; kept in a temporary file without a name.
    """

    def __init__(self, path: Path, lines: Iterator[bytes] | None = None) -> None:
        self.path = path
        self._lines = lines
        self._offsets = [0]
        self._file: int | None = None

    def scan(self) -> Iterator[bytes]:
        """Every line once, remembering where it stands."""
        if self._lines is not None:
            yield from self._kept(self._lines)
            return
        with open(self.path, "rb") as file:
            for line in file:
                if line.strip():
                    yield line
                    self._offsets.append(self._offsets[-1] + len(line))
                else:
                    raise InputError(f"{self.path.name} has an empty line", field="dataset", remedy=REGENERATE)

    def _kept(self, lines: Iterator[bytes]) -> Iterator[bytes]:
        with tempfile.TemporaryFile() as spool:
            self._file = os.dup(spool.fileno())
            for line in lines:
                spool.write(line)
                yield line
                self._offsets.append(self._offsets[-1] + len(line))

    def read(self, row: int) -> Prompt:
        if self._file is None:
            self._file = os.open(self.path, os.O_RDONLY)
        start, end = self._offsets[row], self._offsets[row + 1]
        try:
            data = orjson.loads(os.pread(self._file, end - start, start))
            return Prompt(data.get("prompt"), data.get("prompt_token_ids"), data["max_tokens"], data.get("messages"))
        except (ValueError, AttributeError, KeyError):
            raise InputError(
                f"line {row + 1} of {self.path.name} is no prompt", field="dataset", remedy=REGENERATE
            ) from None

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
