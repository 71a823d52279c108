"""The source's samples encoded once: ids and byte offsets in flat files that workers map into memory.

Prompts are slices of it: ids by token range, text by byte range; nothing is ever decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.seams import SEPARATOR, Seams
from prefixcache.content.tokenizer import Ids, Tokenizer
from prefixcache.errors import InputError
from prefixcache.files import replacing, write_bytes
from prefixcache.workload.randomness import digest, permutation

BATCH = 2048


@dataclass(frozen=True)
class Corpus:
    """Samples joined by the separator, in the dataset's own shuffled order.

    ``ids``: int32 (tokens,). ``ends``: int64, byte offset of each token's end in ``text``. ``starts``: int64, token
    index of each place where a piece may start behind the separator (or a SAFE word where there is no separator).
    ``keep``: int64 (tokens,), for each token the last token at or before it after which a piece may end (-1: none).
    """

    ids: Ids
    ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    keep: NDArray[np.int64]
    text: bytes | memoryview

    FILES = ("ids.npy", "ends.npy", "starts.npy", "keep.npy", "text.bin")

    def __len__(self) -> int:
        return len(self.ids)

    def text_of(self, start: int, stop: int) -> bytes:
        """UTF-8 bytes of tokens [start, stop)."""
        if stop <= start:
            return b""
        return bytes(self.text[int(self.ends[start - 1]) if start else 0 : int(self.ends[stop - 1])])

    def can_start(self, token: int) -> bool:
        """The token is a blank and a letter behind printable ASCII: it may follow a SAFE word."""
        at = int(self.ends[token - 1]) if token else 0
        if at == 0 or at + 1 >= len(self.text):
            return False
        before, blank, letter = self.text[at - 1], self.text[at], self.text[at + 1]
        return 33 <= before <= 126 and blank == 32 and (65 <= letter <= 90 or 97 <= letter <= 122)

    def save(self, folder: Path) -> None:
        for name, array in (("ids", self.ids), ("ends", self.ends), ("starts", self.starts), ("keep", self.keep)):
            with replacing(folder / f"{name}.npy") as file:
                np.save(file, array)
        write_bytes(folder / "text.bin", bytes(self.text))

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Map a saved corpus into memory, shared by all workers."""
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("ids", "ends", "starts", "keep")}
        text = np.memmap(folder / "text.bin", dtype=np.uint8, mode="r")
        return cls(**arrays, text=text.data)


def build_corpus(samples: list[str], tokenizer: Tokenizer, seams: Seams, seed: int) -> Corpus:
    """Shuffle the samples by the global seed and encode them.

    Samples that contain the text of a special token are left out: a server would read control tokens there.

    Raises:
        InputError: no sample is left, or the tokenizer loses text.
    """
    forbidden = tokenizer.special_texts
    clean = [sample for sample in samples if sample and not any(text in sample for text in forbidden)]
    if not clean:
        raise InputError(
            "no usable sample: the source is empty or every sample contains a special token's text",
            field="suffix.source",
            remedy="use another source.",
            stage="tokenize_sources",
        )
    clean = [clean[i] for i in permutation(digest(seed, "corpus"), len(clean))]
    ids, ends, first = [], [], [0]
    offset = 0
    pieces: list[bytes] = []
    for at in range(0, len(clean), BATCH):
        texts = [sample + SEPARATOR for sample in clean[at : at + BATCH]]
        for text, encoded in zip(texts, tokenizer.encode_with_ends(texts), strict=True):
            data = text.encode()
            if not len(encoded.ends) or encoded.ends[-1] != len(data):
                raise InputError(
                    f"{tokenizer.name} does not keep every character, so text cannot be built from its tokens",
                    field="tokenizer.path",
                    remedy="use a tokenizer of the byte-level BPE family.",
                    stage="tokenize_sources",
                )
            ids.append(encoded.ids)
            ends.append(encoded.ends + offset)
            pieces.append(data)
            offset += len(data)
            first.append(first[-1] + len(encoded.ids))
    corpus = Corpus(np.concatenate(ids), np.concatenate(ends), np.array(first[:-1]), np.zeros(0, int), b"".join(pieces))
    starts = corpus.starts if seams.separator_ids is not None else _inner_starts(corpus)
    return Corpus(corpus.ids, corpus.ends, starts, _keep(corpus), corpus.text)


def _keep(corpus: Corpus) -> NDArray[np.int64]:
    last = np.frombuffer(corpus.text, dtype=np.uint8)[corpus.ends - 1]
    legal = (last >= 33) & (last <= 126)
    return np.maximum.accumulate(np.where(legal, np.arange(len(legal)), -1))


def _inner_starts(corpus: Corpus) -> NDArray[np.int64]:
    """Per sample the first token that may follow a SAFE word."""
    found = []
    bounds = [*corpus.starts.tolist(), len(corpus)]
    for begin, stop in pairwise(bounds):
        token = next((t for t in range(begin + 1, stop) if corpus.can_start(t)), None)
        if token is not None:
            found.append(token)
    return np.array(found, dtype=np.int64)
