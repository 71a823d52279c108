"""Master prefixes: one text per group, cuttable at every planned prefix (RFC 3.3.2, 3.3.14; domain.md 5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.corpus import Corpus
from prefixcache.content.mixing import combine, pick
from prefixcache.content.seams import Seams
from prefixcache.content.selection import too_small
from prefixcache.content.tokenizer import Ids
from prefixcache.files import replacing, write_bytes


@dataclass(frozen=True)
class Master:
    """One group's master prefix: ids with the head, text without it, and per cut the text's length in bytes."""

    ids: Ids
    text: bytes
    cuts: dict[int, int]


class Masters:
    """All masters of a dataset, saved as flat files."""

    FILES = ("master_ids.npy", "master_cuts.npy", "master_text.bin")

    def __init__(self, masters: list[Master]) -> None:
        self.masters = masters

    def __getitem__(self, group: int) -> Master:
        return self.masters[group]

    def save(self, folder: Path) -> None:
        cuts = [(g, cut, at) for g, master in enumerate(self.masters) for cut, at in master.cuts.items()]
        ends = np.cumsum([len(master.ids) for master in self.masters], dtype=np.int64)
        texts = np.cumsum([len(master.text) for master in self.masters], dtype=np.int64)
        arrays = {
            "master_ids": np.concatenate([master.ids for master in self.masters]),
            "master_cuts": np.array(
                [*cuts, *((-1, int(a), int(b)) for a, b in zip(ends, texts, strict=True))], dtype=np.int64
            ),
        }
        for name, array in arrays.items():
            with replacing(folder / f"{name}.npy") as file:
                np.save(file, array)
        write_bytes(folder / "master_text.bin", b"".join(master.text for master in self.masters))

    @classmethod
    def open(cls, folder: Path) -> Masters:
        ids, table = np.load(folder / "master_ids.npy"), np.load(folder / "master_cuts.npy")
        text = (folder / "master_text.bin").read_bytes()
        bounds = table[table[:, 0] < 0][:, 1:]
        masters, begin, at = [], 0, 0
        cuts_of = table[table[:, 0] >= 0]  # sorted by group
        edges = np.searchsorted(cuts_of[:, 0], np.arange(len(bounds) + 1))
        for group, (end, stop) in enumerate(bounds.tolist()):
            own = cuts_of[edges[group] : edges[group + 1]]
            cuts = dict(zip(own[:, 1].tolist(), own[:, 2].tolist(), strict=True))
            masters.append(Master(ids[begin:end], text[at:stop], cuts))
            begin, at = end, stop
        return cls(masters)


def build_master(
    corpus: Corpus,
    seams: Seams,
    head: list[int],
    word: int,
    cuts: NDArray[np.int64],
    key: np.uint64,
    begin: int | None = None,
    where: str = "suffix",
) -> Master:
    """A master whose tokens up to each cut are exactly what its text up to there encodes to.

    It opens with its group's own word and runs through the source from ``begin`` on. Where a cut would fall on a
    token after which text may not end, a neutral word is put before a word of the same stretch, which moves the cut.

    Args:
        word: position of the group's first word among the opening words.
        cuts: ascending token counts, all above ``len(head)``.
        begin: corpus token of the sample to begin with; default: a random one.
        where: configuration path of the source, for messages.

    Raises:
        EnvironmentFailure: the source has too few tokens.
    """
    if begin is None:
        begin = int(corpus.starts[pick(combine(key, 0), len(corpus.starts))])
    writer = _Writer(corpus, seams, key, begin, where)
    if len(cuts):
        opening = seams.opening
        writer.put(opening.ids[word : word + 1], opening.texts[word])
    marks: dict[int, int] = {0: 0, len(head): 0}
    for cut in cuts.tolist():
        writer.advance(cut - len(head))
        marks[cut] = writer.bytes
    ids = np.concatenate([np.array(head, dtype=np.int32), *writer.ids]).astype(np.int32)
    return Master(ids, b"".join(writer.text), marks)


class _Writer:
    def __init__(self, corpus: Corpus, seams: Seams, key: np.uint64, position: int, where: str) -> None:
        self.corpus, self.seams, self.key, self.position, self.where = corpus, seams, key, position, where
        self.ids: list[Any] = []
        self.text: list[bytes] = []
        self.tokens = self.bytes = self.read = self.fillers = 0
        self.fresh = True  # the separator is still to be written before the run

    def put(self, ids: Any, text: bytes) -> None:
        self.ids.append(ids)
        self.text.append(text)
        self.tokens += len(ids)
        self.bytes += len(text)

    def word(self, position: int) -> None:
        self.put(self.seams.safe_ids[position : position + 1], self.seams.safe_words[position])

    def filler(self) -> None:
        options = self.seams.fillers
        self.word(int(options[pick(combine(self.key, 1 + self.fillers), len(options))]))
        self.fillers += 1

    def advance(self, target: int) -> None:
        """Write until ``target`` tokens stand there and text may end."""
        separator = self.corpus.separator_ids
        if self.fresh:
            if target - self.tokens > len(separator):
                self.put(separator, self.corpus.separator)
            else:  # no room for the separator and a token before this cut: go on inside the sample
                self._skip(self.position)
            self.fresh = False
        room = target - self.tokens
        self._wrap(room)
        here = self.position
        stop = int(self.corpus.keep[here + room - 1]) + 1 if room else here
        if stop == here + room:
            self._run(here, stop)
            return
        stop = max(stop, here)
        missing = here + room - stop
        place = next((t for t in range(here, stop) if self.corpus.can_start(t)), None)
        if place is not None and stop > here:
            self._run(here, place)
            for _ in range(missing):
                self.filler()
            self._run(place, stop)
            return
        # No word to put a filler before: end the run here and go on behind the next place where a piece may start.
        self._run(here, stop)
        for _ in range(missing):
            self.filler()
        self._skip(stop)

    def _skip(self, token: int) -> None:
        """Go on at the first place from ``token`` on where a piece may start."""
        while not self.corpus.can_start(token):
            token = token + 1 if token + 1 < len(self.corpus) else 1
            self._count(1)
        self.position = token

    def _run(self, start: int, stop: int) -> None:
        if stop > start:
            self.put(self.corpus.ids[start:stop], self.corpus.text_of(start, stop))
            self._count(stop - start)
        self.position = stop

    def _count(self, tokens: int) -> None:
        self.read += tokens
        if self.read > self.corpus.most:
            raise too_small(self.corpus, self.tokens, self.where)

    def _wrap(self, room: int) -> None:
        """Go on at the source's start where its end is too near for a stretch and the words around it."""
        if self.position + room + 1 < len(self.corpus):
            return
        # The stretch before ended at a legal end: go on at a word of the first sample.
        token = next((t for t in range(1, len(self.corpus)) if self.corpus.can_start(t)), None)
        if token is None or token + room + 1 >= len(self.corpus):
            raise too_small(self.corpus, room, self.where)
        self.position = token
        self._count(room)
