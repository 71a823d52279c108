"""Prompts that nobody else sends: random pieces, drawn anew for every probe.

A piece is one token: an id where the server takes ids, else a common word of which usage must show that it counts as
one. Two prompts of a probe share exactly what they were made to share, because what follows differs in its first piece.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

Piece = int | str

# Each is one token behind a space in the vocabularies of today's models.
_COMMON = (
    "the and for that with you this have from are not but they was will one all there what out about who get which go "
    "when make can like time just know take people into year your good some could them see other than then now look "
    "only come over think also back after use two how our work first well way even new want because any these give "
    "day most under world life part house small large old great high different long little own right big next early "
    "young important few public bad same able water money story fact month lot study book eye job word business issue "
    "side kind head far black friend power hour game line end member law car city community name president team "
    "minute idea body information nothing ago lead social whether together face others level office door health "
    "person art war history party result change morning reason research girl guy moment air teacher force education "
    "run move live believe bring happen must write provide sit stand lose pay meet include continue set learn open "
    "walk win offer remember love consider appear buy wait serve die send expect build stay fall cut reach kill "
    "remain suggest raise pass sell require report decide pull "
)
WORDS = tuple(_COMMON.split())
SAFE_IDS = range(1000, 8000)
"""Ids that every large vocabulary has and that are none of its special ones, where nothing better is known."""


@dataclass(slots=True)
class Pieces:
    """Draws prompts.

    Args:
        pool: token ids, or words.
        luck: where randomness comes from.
        firsts: pieces that prompts began with so far.
    """

    pool: Sequence[Piece]
    luck: random.Random = field(default_factory=random.SystemRandom)
    firsts: set[Piece] = field(default_factory=set)
    _left: dict[tuple[int, int], set[Piece]] = field(default_factory=dict)

    @property
    def as_ids(self) -> bool:
        return isinstance(self.pool[0], int)

    def fresh(self, count: int) -> list[Piece]:
        """So many random pieces."""
        found = self.luck.choices(self.pool, k=count)
        self.firsts.update(found[:1])
        return found

    def sharing(self, base: Sequence[Piece], shared: int, more: int) -> list[Piece]:
        """The first ``shared`` pieces of ``base``, then ``more`` others, the first of them unlike the base's next one
        and unlike that of every prompt that left it there before; of none shared, unlike every prompt's."""
        head = list(base[:shared])
        used = self._left.setdefault((id(base), shared), set(base[shared : shared + 1]))
        if not shared:
            used |= self.firsts
        fresh = self.luck.choices(self.pool, k=more)
        for _ in range(1000):
            if fresh[0] not in used:
                break
            fresh[0] = self.luck.choice(self.pool)
        used.add(fresh[0])
        return [*head, *fresh]
