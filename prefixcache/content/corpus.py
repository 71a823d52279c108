"""The source's samples encoded once: ids and byte offsets in flat files that workers map into memory.

Prompts are slices of it: ids by token range, text by byte range; nothing is ever decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.tokenizer import Ids
from prefixcache.files import replacing, write_bytes

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """Samples joined by the separator, in the order in which they are taken.

    ``ids``: int32 (tokens,). ``ends``: int64, byte offset of each token's end in ``text``. ``starts``: int64, token
    index of each sample's start, where a piece may start behind the separator. ``keep``: int64 (tokens,), for each
    token the last token at or before it after which a piece may end (-1: none). ``samples``: int64, number in the
    source of the sample at each start (-1: no sample of a source). ``separator``, ``separator_ids``: what is put
    between a SAFE word and a sample's start; both are empty where samples bring it along. ``distinct``: tokens until
    samples begin to repeat. ``repeats``: one text may hold a sample twice. ``free``: a piece may start and end
    anywhere, since there is no text.
    """

    ids: Ids
    ends: Array
    starts: Array
    keep: Array
    samples: Array
    text: bytes | memoryview
    separator: bytes
    separator_ids: Ids
    distinct: int
    repeats: bool = False
    free: bool = False
    name: str = "source"

    FILES = ("ids.npy", "ends.npy", "starts.npy", "keep.npy", "samples.npy", "separator_ids.npy", "text.bin")

    def __len__(self) -> int:
        return len(self.ids)

    def text_of(self, start: int, stop: int) -> bytes:
        """UTF-8 bytes of tokens [start, stop)."""
        if stop <= start:
            return b""
        return bytes(self.text[int(self.ends[start - 1]) if start else 0 : int(self.ends[stop - 1])])

    @property
    def most(self) -> int:
        """Tokens the longest text can have."""
        return len(self) if self.repeats else self.distinct

    def can_start(self, token: int) -> bool:
        """The token is a blank and a letter behind printable ASCII: it may follow a SAFE word."""
        if self.free:
            return True
        at = int(self.ends[token - 1]) if token else 0
        if at == 0 or at + 1 >= len(self.text):
            return False
        before, blank, letter = self.text[at - 1], self.text[at], self.text[at + 1]
        return 33 <= before <= 126 and blank == 32 and (65 <= letter <= 90 or 97 <= letter <= 122)

    def samples_in(self, start: int, stop: int) -> list[int]:
        """Numbers in the source of the samples that tokens [start, stop) are of."""
        if stop <= start:
            return []
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, stop, side="left"))
        return [number for number in self.samples[max(first, 0) : last].tolist() if number >= 0]

    def save(self, folder: Path) -> None:
        for name in ("ids", "ends", "starts", "keep", "samples", "separator_ids"):
            with replacing(folder / f"{name}.npy") as file:
                np.save(file, getattr(self, name))
        write_bytes(folder / "text.bin", bytes(self.text))

    def facts(self) -> dict[str, object]:
        """What :meth:`open` needs beside the files."""
        return {
            "name": self.name,
            "separator": self.separator.decode(),
            "distinct": self.distinct,
            "repeats": self.repeats,
            "free": self.free,
        }

    @classmethod
    def open(cls, folder: Path, facts: dict[str, object]) -> Corpus:
        """Map a saved corpus into memory, shared by all workers."""
        names = ("ids", "ends", "starts", "keep", "samples", "separator_ids")
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in names}
        path = folder / "text.bin"
        text = np.memmap(path, dtype=np.uint8, mode="r").data if path.stat().st_size else b""
        return cls(
            **arrays,
            text=text,
            separator=str(facts["separator"]).encode(),
            distinct=int(facts["distinct"]),  # type: ignore[call-overload]
            repeats=bool(facts["repeats"]),
            free=bool(facts["free"]),
            name=str(facts["name"]),
        )


def legal_ends(text: bytes, ends: Array) -> Array:
    """``keep``: a piece may end after a token whose last byte is printable ASCII and not a blank."""
    last = np.frombuffer(text, dtype=np.uint8)[ends - 1]
    legal = (last >= 33) & (last <= 126)
    # Where two tokens end at one place, the text of the first would bring the second along.
    legal[:-1] &= ends[1:] > ends[:-1]
    return np.maximum.accumulate(np.where(legal, np.arange(len(legal)), -1))
