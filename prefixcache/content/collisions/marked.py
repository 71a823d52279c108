"""Prompts whose blocks or chunks are unique by construction: a marker in each (domain.md 6).

For ``independent_block`` a marker opens every block; for ``content_defined_chunk`` markers follow each other so closely
that every chunk outside of the shared region holds a whole one. Natural text fills the room between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.matching.semantics import Matching
from prefixcache.content.assembly import Assembler, Prompt, Rows
from prefixcache.content.collisions.markers import Markers
from prefixcache.content.collisions.passage import Passage, starts_of
from prefixcache.content.collisions.repair import REQUEST_MARK, request_mark
from prefixcache.content.mixing import combine
from prefixcache.content.seams import Seams

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Where markers stand.

    ``head``: tokens before every text. ``opening``: the word that opens every text, a position among the opening words.
    """

    matching: Matching
    markers: Markers
    head: int
    opening: int

    def reserved(self, seams: Seams) -> int | None:
        """The token id that stands in markers only."""
        word = self.markers.opening
        return None if word is None else int(seams.safe_ids[word])

    def places(self, begin: int, stop: int) -> list[int]:
        """Tokens where a marker starts in a prompt whose own text is [begin, stop).

        In front of the first one stands the opening word if the text begins there.
        """
        first = begin + (begin == self.head)
        if self.matching.chunker is not None:
            return [first, *range(first + self.markers.spacing, stop, self.markers.spacing)]
        unit = self.matching.unit
        return [first, *range((begin // unit + 1) * unit, stop, unit)]


@dataclass(frozen=True)
class MarkedAssembler(Assembler):
    """As :class:`Assembler`, with markers."""

    layout: Layout | None = None

    def prompts(self, rows: Rows, retry: int = 0, *, safe_only: bool = False) -> Iterator[Prompt]:
        """One prompt per row; see :meth:`Assembler.prompts`.

        Raises:
            EnvironmentFailure: the source is smaller than a suffix.
        """
        words, samples, steps = self.repairs.numbers(rows.index)
        retries = self.repairs.retries(rows.index)
        own = self.keys.requests(rows.group, rows.index, retry + words)
        source = combine(self.keys.requests(rows.group, rows.index, retry + samples), -1)
        for i in range(len(rows)):
            one = rows.take(slice(i, i + 1))
            yield self._prompt(one, own[i], source[i : i + 1], int(retries[i]), int(steps[i]), retry, safe_only)

    def _prompt(
        self,
        row: Rows,
        key: np.uint64,
        source: NDArray[np.uint64],
        collided: int,
        step: int,
        retry: int,
        safe_only: bool,
    ) -> Prompt:
        layout, framing, seams = self.layout, self.framing, self.alphabet.seams
        assert layout is not None
        group, prefix, index = int(row.group[0]), int(row.prefix[0]), int(row.index[0])
        head = len(framing.head)
        begin, stop = max(prefix, head), int(row.length[0]) - len(framing.tail)
        places = layout.places(begin, stop)
        codes = layout.markers.of(layout.markers.owners.of_prompt(index, collided), len(places))
        passage = self._passage(group, row.index, stop - begin, source, key, safe_only)
        if begin == head and stop > begin:
            passage.opening(layout.opening)
        for number, (place, upto) in enumerate(zip(places, [*places[1:], stop], strict=True)):
            passage.words(codes[number][: max(upto - place, 0)])
            room = upto - begin - passage.tokens
            if number == 0 and step == REQUEST_MARK:
                mark = request_mark(seams, index, room)
                passage.words(mark)
                room -= len(mark)
            last = framing.closing and upto == stop and room > 0
            passage.run(room - last)
            passage.filler(int(last))
        master = self.masters[group]
        shared = prefix > head
        ids = [master.ids[:prefix] if shared else np.array(framing.head, dtype=np.int32), passage.all_ids()]
        lead = framing.prompt_of("").encode() + (master.text[: master.cuts[prefix]] if shared else b"")
        divergence = min(self.block, stop - begin)
        return Prompt(
            np.concatenate([*ids, np.array(framing.tail, dtype=np.int32)]),
            None if seams.ids_only else lead + passage.all_text(),
            divergence,
            stop - begin - divergence,
            passage.samples,
            retry,
        )

    def _passage(
        self, group: int, index: Array, size: int, source: NDArray[np.uint64], key: np.uint64, safe_only: bool
    ) -> Passage:
        picker = self.library.picker(group, "suffix")
        begin = 0 if safe_only else int(picker.begin(np.array([size]), index, source)[0])
        assert self.layout is not None
        seams = self.alphabet.seams
        return Passage(starts_of(picker), seams, key, begin, safe_only, self.layout.reserved(seams))
