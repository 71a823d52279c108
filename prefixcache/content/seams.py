"""Where text may be cut and joined so that encoding the joined text gives the joined ids.

Rules, each probed on the tokenizer at load and proven by re-encoding:

- A SAFE word is a vocabulary entry of one space and at least three ASCII letters that survives in context:
  ``encode("also the" + word) == encode("also the") + [id]``. Each is a pre-token of its own, so SAFE words stand in any
  order without drift.
- A piece may END at any token boundary whose last byte is printable ASCII and not a blank.
- A piece may START at a token that is a blank and an ASCII letter behind printable ASCII, or at the start of a sample
  behind a SAFE word and the separator.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.synthetic.words import COMMON_WORDS
from prefixcache.content.tokenizer import Ids, Tokenizer
from prefixcache.errors import InputError

SEPARATOR = "\n\n"
FILLERS = (" also", " simply", " then", " often", " still", " again", " now", " just", " even", " quite")
CONTEXT = "also the"
FEWEST_SAFE = 64
# Blank as byte-level BPE writes it, and as Metaspace tokenizers do.
_WORD = re.compile(r"[Ġ▁ ][A-Za-z]{3,}")


@dataclass(frozen=True)
class Seams:
    """The tokenizer's safe vocabulary.

    ``safe_ids``: ids of SAFE words, the ``common`` first ones being everyday words; ``safe_words``: their bytes.
    ``fillers``: positions in ``safe_ids`` of neutral words. ``separator_ids``: the separator behind a SAFE word, None
    where the tokenizer does not keep it apart.
    """

    safe_ids: Ids
    safe_words: tuple[bytes, ...]
    common: int
    fillers: NDArray[np.int64]
    separator_ids: Ids | None

    def positions(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Positions of those of ``words`` (without blank) that are SAFE."""
        index = {word: i for i, word in enumerate(self.safe_words)}
        found = [index[key] for word in words if (key := b" " + word.encode()) in index]
        return np.array(found, dtype=np.int64)


def probe_seams(tokenizer: Tokenizer) -> Seams:
    """Find the SAFE words of a tokenizer.

    Raises:
        InputError: too few of them, so that the construction cannot hold.
    """
    candidates = _candidates(tokenizer)
    base = tokenizer.encode(CONTEXT)
    encoded = tokenizer.encode_batch([f"{CONTEXT} {word}" for word, _ in candidates])
    safe = {word: ident for (word, ident), ids in zip(candidates, encoded, strict=True) if ids == [*base, ident]}
    if len(safe) < FEWEST_SAFE:
        raise InputError(
            f"{tokenizer.name} keeps only {len(safe)} words apart, at least {FEWEST_SAFE} are needed to cut text "
            "without changing its tokens",
            field="tokenizer.path",
            remedy="use a tokenizer of the byte-level BPE family.",
            stage="tokenize_sources",
        )
    everyday = [word for word in COMMON_WORDS if word in safe]
    known = set(everyday)
    ordered = everyday + sorted(word for word in safe if word not in known)
    words = tuple(f" {word}".encode() for word in ordered)
    fillers = [words.index(word.encode()) for word in FILLERS if word.encode() in words] or [0]
    return Seams(
        safe_ids=np.array([safe[word] for word in ordered], dtype=np.int32),
        safe_words=words,
        common=len(everyday),
        fillers=np.array(fillers, dtype=np.int64),
        separator_ids=_separator(tokenizer, ordered),
    )


def _candidates(tokenizer: Tokenizer) -> list[tuple[str, int]]:
    vocabulary = tokenizer.backend.get_vocab()
    return sorted(
        (token[1:], ident)
        for token, ident in vocabulary.items()
        if _WORD.fullmatch(token) and ident not in tokenizer.special_ids
    )


def _separator(tokenizer: Tokenizer, words: list[str]) -> Ids | None:
    """Ids of the separator, if it stays apart behind SAFE words and before text."""
    found: list[int] | None = None
    for word in words[:: max(1, len(words) // 16)]:
        left = f"{CONTEXT} {word}"
        before, behind = tokenizer.encode(left), tokenizer.encode("Anna has 3 pens.")
        whole = tokenizer.encode(f"{left}{SEPARATOR}Anna has 3 pens.")
        middle = whole[len(before) : len(whole) - len(behind)]
        if whole != before + middle + behind or not middle or (found is not None and middle != found):
            return None
        found = middle
    return None if found is None else np.array(found, dtype=np.int32)
