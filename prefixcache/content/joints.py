"""Every joint of a prompt, re-encoded in its own surroundings: exhaustive where re-encoding all prompts takes too long.

Text is put together at few places: where the master prefix ends and the divergence block begins, where SAFE words end
and source text begins, where two pieces of it meet, and at the end of the prompt. At each of them a window of text is
encoded and its last ids are compared with those that the prompt holds there. The window begins well before the joint,
so that whatever is cut at its beginning has come to rest; it ends where a piece may end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.corpus import Corpus
from prefixcache.content.masters import Master
from prefixcache.content.seams import Seams

Ids = NDArray[np.int32]
BEFORE = 24  # tokens of text before a joint
BEFORE_BYTES = 160  # the same for a master
BEHIND = 8  # tokens of source text behind one, up to the next place where a piece may end
WORDS = 3  # SAFE words on one side: each is a pre-token of its own
COMPARED = 2  # tokens before the joint that are compared too


@dataclass(frozen=True)
class Joint:
    """``text``: the window. ``ids``: the ids with which its encoding must end."""

    text: bytes
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Side:
    """Text at one side of a joint. ``ids``: of the text behind it, or the last ones before it."""

    text: bytes
    ids: Ids


def words_before(seams: Seams, positions: NDArray[np.int64]) -> Side:
    """The last SAFE words before a joint."""
    chosen = positions[-WORDS:]
    return Side(b"".join(seams.safe_words[i] for i in chosen.tolist()), seams.safe_ids[chosen])


def words_behind(seams: Seams, positions: NDArray[np.int64]) -> Side:
    """The first SAFE words behind a joint."""
    return words_before(seams, positions[:WORDS])


def master_before(master: Master, prefix: int, head: int) -> Side:
    """The end of a master cut at ``prefix`` tokens, ``head`` of which stand before its text.

    A master knows the bytes of its cuts only, so the window is counted in bytes and begins at a blank. One that begins
    with the text misses the head, beside which its first tokens may be others: they are left out.
    """
    end = master.cuts[prefix]
    begin = _window_begin(master.text, end)
    first = head + COMPARED if begin == 0 else head
    return Side(master.text[begin:end], master.ids[max(first, prefix - COMPARED) : prefix])


def _window_begin(text: bytes, end: int) -> int:
    """The first blank of the last bytes, or in a script without blanks the first whole character."""
    if end <= BEFORE_BYTES:
        return 0
    begin = end - BEFORE_BYTES
    if (blank := text.find(b" ", begin, end)) >= 0:
        return blank
    while text[begin] & 0xC0 == 0x80:
        begin += 1
    return begin


def source_before(corpus: Corpus, start: int, stop: int) -> Side:
    """The end of a piece of source text, tokens [start, stop)."""
    begin = max(start, stop - BEFORE)
    return Side(corpus.text_of(begin, stop), corpus.ids[begin:stop])


def source_behind(corpus: Corpus, start: int, stop: int) -> Side:
    """The beginning of a piece of source text, up to where it may end."""
    end = stop
    if stop - start > BEHIND:
        legal = int(corpus.keep[start + BEHIND - 1]) + 1
        end = legal if legal > start + 1 else stop
    return Side(corpus.text_of(start, end), corpus.ids[start:end])


def joint(before: Side, behind: Side, between: Side | None = None) -> Joint:
    """The window over a joint; ``between``: what stands in it, a separator."""
    middle = between or Side(b"", np.zeros(0, dtype=np.int32))
    ids = np.concatenate([before.ids[-COMPARED:], middle.ids, behind.ids])
    return Joint(before.text + middle.text + behind.text, tuple(ids.tolist()))


@dataclass
class JointAudit:
    """Joints seen so far, each different one encoded once.

    ``seen``: joints of all prompts. ``differing``: of the prompts in which one encodes to other ids, the first ones.
    """

    seen: int = 0
    prompts: int = 0
    differing: list[int] = field(default_factory=list)
    _owners: dict[Joint, int] = field(default_factory=dict)

    def add(self, prompt: int, joints: Iterable[Joint]) -> None:
        """Note the joints of a prompt; ``prompt``: its number."""
        self.prompts += 1
        for found in joints:
            self.seen += 1
            self._owners.setdefault(found, prompt)

    def encode(self, backend: Any) -> None:
        """Encode what was noted. ``backend``: ``tokenizers.Tokenizer``."""
        joints = list(self._owners)
        rows = backend.encode_batch_fast([found.text.decode() for found in joints], add_special_tokens=False)
        for found, row in zip(joints, rows, strict=True):
            if tuple(row.ids[-len(found.ids) :]) != found.ids:
                self.differing.append(self._owners[found])

    @property
    def distinct(self) -> int:
        return len(self._owners)
