"""Master prefixes with a marker in each block; for content-defined chunks, a chunk also ends at each block's end."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.matching.chunker import Chunker
from prefixcache.config.collisions import chunks_of
from prefixcache.content.collisions.marked import Layout
from prefixcache.content.collisions.passage import Passage, Starts
from prefixcache.content.masters import Master
from prefixcache.content.mixing import combine, pick
from prefixcache.content.seams import Seams
from prefixcache.errors import InputError

Array = NDArray[np.int64]
MOST_CANDIDATES, ROUNDS = 4096, 64


def build_marked_master(
    starts: Starts,
    seams: Seams,
    head: list[int],
    layout: Layout,
    group: int,
    cuts: Array,
    key: np.uint64,
    begin: int,
    safe_only: bool = False,
    retry: int = 0,
) -> Master:
    """A master that may be cut at every multiple of the hit unit.

    Args:
        head: ids before every text.
        cuts: ascending planned prefixes in tokens, multiples of the unit, all above ``len(head)``.
        begin: token of the source near which it begins.
        safe_only: of SAFE words alone.
        retry: another number gives other markers.

    Raises:
        InputError: chunk parameters for which no words make a chunk end where a block does.
        EnvironmentFailure: the source has too few tokens.
    """
    wanted = set(cuts.tolist())
    marks = {0: 0, len(head): 0}
    writer = _BlockWriter(Passage(starts, seams, key, begin, safe_only, layout.reserved(seams)), layout, head)
    stretches = list(_stretches(layout, max(wanted, default=0)))
    codes = layout.markers.of(layout.markers.owners.of_group(group, retry), len(stretches))
    for code, (start, end) in zip(codes, stretches, strict=True):
        writer.write(code, start, end)
        if end in wanted:
            marks[end] = writer.passage.bytes
    ids = np.concatenate([np.array(head, dtype=np.int32), writer.passage.all_ids()])
    return Master(ids, writer.passage.all_text(), marks)


def _stretches(layout: Layout, stop: int) -> Iterator[tuple[int, int]]:
    """Stretches of the master with one marker each: blocks, or equal parts of blocks that become one chunk each."""
    unit = layout.matching.unit
    sizes = chunks_of(unit, layout.matching.chunker) if layout.matching.chunker is not None else [unit]
    for block in range(layout.head // unit * unit, stop, unit):
        end = block
        for size in sizes:
            end += size
            yield end - size, end


class _BlockWriter:
    """Appends stretch after stretch to a passage.

    For content-defined chunks the last words of a stretch are chosen so that the chunk ends with it and not before: one
    word first, more where the text before them holds a cut.
    """

    def __init__(self, passage: Passage, layout: Layout, head: list[int]) -> None:
        self.passage, self.layout, self.head = passage, layout, head
        self.words = layout.markers.words
        self.ids = passage.seams.safe_ids[self.words]

    def write(self, code: Array, start: int, end: int) -> None:
        """Marker, text and, if needed, chosen words for tokens [start, end); what the head has of them is there."""
        chunker = self.layout.matching.chunker
        if chunker is None:
            self.passage.join(self._opened(code, start, end))
            return
        own = end - max(start, self.layout.head) - len(code) - (start <= self.layout.head)
        for free in _frees(own):
            fork = self._opened(code, start, end - free)
            before = np.concatenate([np.array(self.head[start:], dtype=np.int32), fork.all_ids()])
            if (chosen := self._chosen(chunker, before, end - start, end)) is not None:
                fork.words(chosen)
                self.passage.join(fork)
                return
        raise InputError(
            f"no words make a chunk of {end - start} tokens with chunks of {chunker.min} to {chunker.max} tokens",
            field="suffix.collision_detection.chunk",
            remedy="make hit_unit a multiple of chunk.min.",
            stage="build_masters",
        )

    def _opened(self, code: Array, start: int, end: int) -> Passage:
        """A fork with the marker and text up to ``end``."""
        fork = self.passage.fork()
        if start <= self.layout.head:
            fork.opening(self.layout.opening)
        fork.words(code)
        fork.run(end - max(start, self.layout.head) - fork.tokens)
        return fork

    def _chosen(self, chunker: Chunker, before: NDArray[np.int32], size: int, end: int) -> Array | None:
        """Words behind ``before`` that make a chunk of ``size`` tokens; None if there are none."""
        if chunker.is_cut(before)[chunker.min - 1 :].any():
            return None
        key = combine(combine(self.passage.key, -5), end)
        for number in range(ROUNDS):
            found = self._attempt(chunker, before, size, np.uint64(combine(key, number)))
            if found is not None:
                return found
        return None

    def _attempt(self, chunker: Chunker, before: NDArray[np.int32], size: int, key: np.uint64) -> Array | None:
        """Word after word: none that cuts from the shortest chunk on, one that does at the end."""
        ids, chosen = before, []
        count = min(16 * (chunker.mean - chunker.min + 1) + 64, MOST_CANDIDATES)
        for length in range(len(before) + 1, size + 1):
            options = pick(combine(combine(key, length), np.arange(count)), len(self.words))
            last = ids[max(len(ids) - chunker.window + 1, 0) :]
            rows = np.concatenate([np.tile(last, (count, 1)), self.ids[options][:, None]], axis=1)
            fits = np.ones(count, dtype=np.bool_)
            if length >= chunker.min and length < chunker.max:
                fits = chunker.is_cut(rows)[:, -1] == (length == size)
            if not fits.any():
                return None
            word = int(options[np.argmax(fits)])
            chosen.append(int(self.words[word]))
            ids = np.append(ids, self.ids[word])
        return np.array(chosen, dtype=np.int64)


def _frees(most: int) -> Iterator[int]:
    """How many words are chosen: few first."""
    free = 1
    while free < most:
        yield free
        free *= 2
    yield most
