"""Where text may be cut and joined so that encoding the joined text gives the joined ids.

Rules, each probed on the tokenizer at load and proven by re-encoding:

- A SAFE word is a vocabulary entry of one space and at least three ASCII letters that survives in context:
  ``encode("also the" + word) == encode("also the") + [id]``. Each is a pre-token of its own, so SAFE words stand in any
  order without drift.
- A piece may END at any token boundary whose last byte is printable ASCII and not a blank.
- A piece may START at a token that is a blank and an ASCII letter behind printable ASCII, or at the start of a sample
  behind a SAFE word and the separator.
- A prompt OPENS with a word that is one token right behind the head (:mod:`prefixcache.content.openings`).
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
from prefixcache.workload.randomness import below, digest
from prefixcache.workload.randomness import words as random_words

FILLERS = (" also", " simply", " then", " often", " still", " again", " now", " just", " even", " quite")
CONTEXT = "also the"
FEWEST_SAFE = 64
# Blank as byte-level BPE writes it, as Metaspace tokenizers do, and as nothing where words are what blanks part.
_WORD = re.compile(r"[Ġ▁ ][A-Za-z]{3,}")
_BARE_WORD = re.compile(r"[A-Za-z]{3,}")
_ROWS, _ROW_WORDS, _ROUNDS = 48, 96, 4


@dataclass(frozen=True)
class Words:
    """Words that are one token each. ``ids``: int32; ``texts``: their bytes; the ``common`` first are everyday ones."""

    ids: Ids
    texts: tuple[bytes, ...]
    common: int

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Seams:
    """The tokenizer's safe vocabulary.

    ``safe_ids``: ids of SAFE words, the ``common`` first ones being everyday words; ``safe_words``: their bytes.
    ``fillers``: positions in ``safe_ids`` of neutral words. ``openings``: words a prompt may begin with; None: the SAFE
    ones. ``ids_only``: any ids stand beside any others, since no text is sent.
    """

    safe_ids: Ids
    safe_words: tuple[bytes, ...]
    common: int
    fillers: NDArray[np.int64]
    openings: Words | None = None
    ids_only: bool = False

    @property
    def opening(self) -> Words:
        return self.openings or Words(self.safe_ids, self.safe_words, self.common)

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
    safe: dict[str, int] = {}
    for pattern in (_WORD, _BARE_WORD):
        safe = _survivors(tokenizer, _candidates(tokenizer, pattern))
        if len(safe) >= FEWEST_SAFE:
            break
    together = _words_of_added_tokens(tokenizer)
    safe = {word: ident for word, ident in safe.items() if word not in together}
    safe = _that_stand_in_any_order(tokenizer, safe)
    if len(safe) < FEWEST_SAFE:
        raise InputError(
            f"{tokenizer.name} keeps only {len(safe)} words apart, at least {FEWEST_SAFE} are needed to cut text "
            "without changing its tokens",
            field="prompt.form",
            remedy="write form: ids to send token ids, or use another tokenizer.",
            stage="tokenize_sources",
        )
    found = everyday_first(safe)
    words = tuple(f" {word}".encode() for word in found)
    fillers = [words.index(word.encode()) for word in FILLERS if word.encode() in words] or [0]
    return Seams(
        safe_ids=np.array([safe[word] for word in found], dtype=np.int32),
        safe_words=words,
        common=sum(word in safe for word in COMMON_WORDS),
        fillers=np.array(fillers, dtype=np.int64),
    )


def ids_only_seams(tokenizer: Tokenizer) -> Seams:
    """All ordinary ids of a vocabulary, for prompts that are sent as token ids.

    Raises:
        InputError: a vocabulary with hardly any ordinary token.
    """
    reserved = re.compile(r"<.*(unused|reserved|extra_id|pad|unk|mask).*>|\[unused\d+\]", re.IGNORECASE)
    ids = sorted(
        ident
        for token, ident in tokenizer.backend.get_vocab(with_added_tokens=False).items()
        if ident not in tokenizer.special_ids and not reserved.fullmatch(token)
    )
    if len(ids) < FEWEST_SAFE:
        raise InputError(
            f"{tokenizer.name} has only {len(ids)} ordinary tokens, at least {FEWEST_SAFE} are needed",
            field="tokenizer.path",
            remedy="use another tokenizer.",
            stage="tokenize_sources",
        )
    first = np.arange(min(len(ids), 10), dtype=np.int64)
    return Seams(np.array(ids, dtype=np.int32), (b"",) * len(ids), 0, first, ids_only=True)


def everyday_first(words: dict[str, int]) -> list[str]:
    """Everyday words in their own order, then all others sorted."""
    everyday = [word for word in COMMON_WORDS if word in words]
    known = set(everyday)
    return everyday + sorted(word for word in words if word not in known)


def _candidates(tokenizer: Tokenizer, pattern: re.Pattern[str]) -> list[tuple[str, int]]:
    vocabulary = tokenizer.backend.get_vocab()
    return sorted(
        (token if pattern is _BARE_WORD else token[1:], ident)
        for token, ident in vocabulary.items()
        if pattern.fullmatch(token) and ident not in tokenizer.special_ids
    )


def _survivors(tokenizer: Tokenizer, candidates: list[tuple[str, int]]) -> dict[str, int]:
    base = tokenizer.encode(CONTEXT)
    encoded = tokenizer.encode_batch([f"{CONTEXT} {word}" for word, _ in candidates])
    return {word: ident for (word, ident), ids in zip(candidates, encoded, strict=True) if ids == [*base, ident]}


def _words_of_added_tokens(tokenizer: Tokenizer) -> set[str]:
    """Words that would become one added token if the right ones followed each other."""
    texts = [token.content for token in tokenizer.backend.get_added_tokens_decoder().values()]
    return {word for text in texts if " " in text.strip() for word in _BARE_WORD.findall(text)}


def _that_stand_in_any_order(tokenizer: Tokenizer, safe: dict[str, int]) -> dict[str, int]:
    """Leave out words that merge with others: found by encoding random rows of them, until no row changes."""
    base = tokenizer.encode(CONTEXT)
    for turn in range(_ROUNDS):
        words = list(safe)
        if len(words) < FEWEST_SAFE:
            return safe
        drawn = below(len(words), random_words(digest("rows of words", turn), _ROWS * _ROW_WORDS))
        rows = drawn.reshape(_ROWS, _ROW_WORDS)
        texts = [CONTEXT + "".join(f" {words[i]}" for i in row) for row in rows.tolist()]
        bad: set[str] = set()
        for row, ids in zip(rows.tolist(), tokenizer.encode_batch(texts), strict=True):
            planned = [*base, *(safe[words[i]] for i in row)]
            if ids != planned:
                at = next((i for i, (a, b) in enumerate(zip(ids, planned, strict=False)) if a != b), len(planned) - 1)
                bad |= {words[row[i]] for i in (at - len(base), at - len(base) + 1) if 0 <= i < len(row)} or {words[0]}
        if not bad:
            return safe
        safe = {word: ident for word, ident in safe.items() if word not in bad}
    return {}
