"""Caches that find a piece wherever it stands: equal blocks, or chunks whose ends their own content decides.

All pieces of a prompt are looked up by their tokens alone; the piece that holds the last prompt token counts nothing,
since that token has to be computed. Pieces that nobody holds go in the order of their last use, a request's last piece
before its first.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

KEY_BYTES = 16
_WEIGHT = 0x5851F42D4C957F2D  # odd, any will do
_WORD = (1 << 64) - 1


class Piece(NamedTuple):
    """Tokens ``begin`` to ``end`` of a request, known by ``key``."""

    key: bytes
    begin: int
    end: int


@dataclass(frozen=True)
class ContentCutter:
    """Ends chunks by a rolling hash over the last ``window`` tokens; all in tokens.

    A chunk ends at the first token from its ``shortest`` on whose window hashes to one of ``one_in`` values, and at
    ``longest`` in any case.
    """

    shortest: int
    one_in: int
    longest: int
    window: int

    @classmethod
    def of(cls, unit: int) -> ContentCutter:
        """Chunks of ``unit`` to 8 times as many tokens, about twice as many in the mean."""
        return cls(unit, unit + 1, 8 * unit, min(8, unit))

    def ends(self, tokens: Sequence[int]) -> list[int]:
        """Where the whole chunks end; what follows the last one is none yet."""
        leaving = pow(_WEIGHT, self.window, 1 << 64)
        found: list[int] = []
        start, rolled = 0, 0
        for index, token in enumerate(tokens):
            rolled = (rolled * _WEIGHT + token + 1) & _WORD
            if index >= self.window:
                rolled = (rolled - (tokens[index - self.window] + 1) * leaving) & _WORD
            length = index + 1 - start
            if length < self.shortest:
                continue
            if length == self.longest or (rolled >> 24) % self.one_in == 0:
                start = index + 1
                found.append(start)
        return found


@dataclass
class Share:
    """What one admitted request holds.

    Attributes:
        pieces: of prompt and output.
        total: tokens that will ever be written.
        hit_tokens: of the prompt, found in the cache.
    """

    pieces: list[Piece]
    total: int
    hit_tokens: int
    _holds: list[Piece] = field(default_factory=list, repr=False)  # known pieces it uses, in the order of its tokens
    _seen: set[int] = field(default_factory=set, repr=False)  # ends of the pieces that were looked at
    _own: int = 0  # tokens in room of its own, because they are in no known piece (yet)


class ScatteredCache:
    """The cache of one rank.

    Args:
        usable_tokens: room.
        unit: tokens of a block; without a cutter.
        cutter: ends chunks by content.
        hit_drop: matched pieces that are computed again, the last ones.
    """

    def __init__(self, usable_tokens: int, unit: int, cutter: ContentCutter | None = None, hit_drop: int = 0) -> None:
        self.usable_tokens = usable_tokens
        self.evicted_tokens = 0
        self._unit, self._cutter, self._hit_drop = unit, cutter, hit_drop
        self._size: dict[bytes, int] = {}  # of all known pieces
        self._holders: dict[bytes, int] = {}
        self._idle: OrderedDict[bytes, None] = OrderedDict()  # known and held by nobody; front is evicted first
        self._own = 0
        self.known_tokens = 0

    @property
    def held_tokens(self) -> int:
        return self._own + sum(self._size[key] for key in self._holders)

    def keys(self, tokens: array[int], salt: str | None = None) -> list[Piece]:
        unit = self._unit
        ends = self._cutter.ends(tokens) if self._cutter else list(range(unit, len(tokens) + 1, unit))
        person = b"" if salt is None else blake2b(salt.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES).digest()
        data, width = memoryview(tokens).cast("B"), tokens.itemsize
        found, begin = [], 0
        for end in ends:
            digest = blake2b(data[begin * width : end * width], digest_size=KEY_BYTES, key=person).digest()
            found.append(Piece(digest, begin, end))
            begin = end
        return found

    def admit(self, keys: list[Piece], prompt_len: int, total_len: int) -> Share | None:
        found = [piece for piece in keys if piece.end < prompt_len and piece.key in self._size]
        found = found[: max(0, len(found) - self._hit_drop)]
        hit = sum(piece.end - piece.begin for piece in found)
        kept = {piece.key for piece in found} | self._holders.keys()
        if total_len - hit > self.usable_tokens - self._own - sum(self._size[key] for key in kept):
            return None
        share = Share(keys, total_len, hit, _own=total_len - hit)
        for piece in found:
            self._hold(share, piece)
            share._seen.add(piece.end)
        self._own += share._own
        self._make_room()
        self.grow(share, prompt_len)
        return share

    def grow(self, lease: Share, written: int) -> None:
        for piece in lease.pieces:
            if piece.end > written:
                break
            if piece.end in lease._seen:
                continue
            lease._seen.add(piece.end)
            if piece.key in self._size:
                continue  # computed although it is known: a copy of its own that nobody will find
            tokens = piece.end - piece.begin
            self._size[piece.key] = tokens
            self.known_tokens += tokens
            lease._own -= tokens
            self._own -= tokens
            self._hold(lease, piece)

    def release(self, lease: Share) -> None:
        self._own -= lease._own
        lease._own = 0
        for piece in sorted(lease._holds, key=lambda piece: piece.begin, reverse=True):
            self._holders[piece.key] -= 1
            if not self._holders[piece.key]:
                del self._holders[piece.key]
                self._idle[piece.key] = None
        lease._holds = []

    def reset(self) -> bool:
        if self._own or self._holders:
            return False
        self._size.clear()
        self._idle.clear()
        self.known_tokens = 0
        return True

    def _hold(self, share: Share, piece: Piece) -> None:
        self._idle.pop(piece.key, None)
        self._holders[piece.key] = self._holders.get(piece.key, 0) + 1
        share._holds.append(piece)

    def _make_room(self) -> None:
        while self._own + self.known_tokens > self.usable_tokens:
            key, _nothing = self._idle.popitem(last=False)
            tokens = self._size.pop(key)
            self.known_tokens -= tokens
            self.evicted_tokens += tokens
