"""Text written piece by piece from words and runs of the source, with every seam at a legal place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.corpus import Corpus
from prefixcache.content.mixing import combine, pick
from prefixcache.content.seams import Seams
from prefixcache.content.selection import Picker, too_small
from prefixcache.content.tokenizer import Ids

Array = NDArray[np.int64]
MOST_KNOWN = 64


class Starts:
    """Tokens of a source at which a run may start behind a SAFE word."""

    def __init__(self, picker: Picker) -> None:
        self.picker = picker
        self.corpus = picker.corpus
        self._places = _legal_starts(self.corpus)

    def at(self, token: int) -> int:
        """The first place from ``token`` on; from the source's beginning if there is none."""
        if not len(self._places):
            raise too_small(self.corpus, 1, self.picker.where)
        place = int(np.searchsorted(self._places, token))
        return int(self._places[place if place < len(self._places) else 0])


def _legal_starts(corpus: Corpus) -> Array:
    """A blank and a letter behind printable ASCII; anywhere where there is no text."""
    if corpus.free:
        return np.arange(len(corpus), dtype=np.int64)
    text = np.frombuffer(corpus.text, dtype=np.uint8)
    at = np.asarray(corpus.ends[:-1])
    inside = (at > 0) & (at + 1 < len(text))
    at = np.where(inside, at, 1)
    before, blank, letter = text[at - 1], text[at], text[np.minimum(at + 1, len(text) - 1)] | 32
    legal = inside & (before >= 33) & (before <= 126) & (blank == 32) & (letter >= 97) & (letter <= 122)
    return np.flatnonzero(legal) + 1


_KNOWN: dict[int, Starts] = {}


def starts_of(picker: Picker) -> Starts:
    """The starts of a picker's source, found once per open dataset."""
    known = _KNOWN.get(id(picker))
    if known is None or known.picker is not picker:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        known = _KNOWN[id(picker)] = Starts(picker)
    return known


class Passage:
    """What is written so far: ids, bytes, and the place in the source where the next run goes on.

    Args:
        key: of the filler words.
        position: token of the source near which the first run starts.
        safe_only: runs are neutral words, for texts of which the source's own words drift.
        reserved: token id that runs leave out, since it opens markers.
    """

    def __init__(
        self,
        starts: Starts,
        seams: Seams,
        key: np.uint64,
        position: int,
        safe_only: bool = False,
        reserved: int | None = None,
    ) -> None:
        self.starts, self.seams, self.key = starts, seams, key
        self.safe_only, self.reserved = safe_only, reserved
        self.position = starts.at(position)
        self.ids: list[Any] = []
        self.text: list[bytes] = []
        self.samples: list[int] = []
        self.tokens = self.bytes = self.fillers = self.read = 0

    def fork(self) -> Passage:
        """An empty passage that goes on where this one stands."""
        other = Passage(self.starts, self.seams, self.key, self.position, self.safe_only, self.reserved)
        other.fillers, other.read = self.fillers, self.read
        return other

    def join(self, other: Passage) -> None:
        """Append a fork."""
        self.ids += other.ids
        self.text += other.text
        self.samples += other.samples
        self.tokens += other.tokens
        self.bytes += other.bytes
        self.position, self.fillers, self.read = other.position, other.fillers, other.read

    def put(self, ids: Any, text: bytes) -> None:
        self.ids.append(ids)
        self.text.append(text)
        self.tokens += len(ids)
        self.bytes += len(text)

    def opening(self, word: int) -> None:
        """The word that a text begins with, by its place among the opening words."""
        words = self.seams.opening
        self.put(words.ids[word : word + 1], words.texts[word])

    def words(self, positions: Array) -> None:
        """SAFE words."""
        if len(positions):
            words = self.seams.safe_words
            self.put(self.seams.safe_ids[positions], b"".join(words[i] for i in positions.tolist()))

    def filler(self, count: int) -> None:
        """Neutral words."""
        if count > 0:
            options = self.seams.fillers
            places = np.arange(self.fillers, self.fillers + count)
            self.words(options[pick(combine(combine(self.key, -2), places), len(options))])
            self.fillers += count

    def run(self, room: int) -> None:
        """``room`` tokens of the source; what is missing to a legal end are neutral words before it.

        Raises:
            EnvironmentFailure: the source would have to be read more than once.
        """
        if room <= 0:
            return
        if self.safe_only:
            self.filler(room)
            return
        corpus = self.starts.corpus
        start = self.position
        if start + room > len(corpus):
            start = self.starts.at(0)
        self.read += room
        if self.read > corpus.most or start + room > len(corpus):
            raise too_small(corpus, self.read, self.starts.picker.where)
        last = start + room
        if self.reserved is not None:
            found = np.flatnonzero(corpus.ids[start:last] == self.reserved)
            last = start + int(found[0]) if len(found) else last
        stop = max(int(corpus.keep[last - 1]) + 1, start) if last > start else start
        # A run that ends early at a reserved word is followed by another one behind it.
        again = start + room - last
        self.filler(last - stop + (1 if again else 0))
        if stop > start:
            self.put(corpus.ids[start:stop], corpus.text_of(start, stop))
            self.samples += [n for n in corpus.samples_in(start, stop) if n not in self.samples[-1:]]
        self.position = self.starts.at(max(stop, last + 1 if again else start + 1))
        self.run(again - 1)

    def all_ids(self) -> Ids:
        return np.concatenate([np.zeros(0, dtype=np.int32), *self.ids]).astype(np.int32)

    def all_text(self) -> bytes:
        return b"".join(self.text)
