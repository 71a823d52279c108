"""The words a prompt may open with: one token each, right behind the head and before a SAFE word."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from prefixcache.content.framing import Framing
from prefixcache.content.seams import CONTEXT, FEWEST_SAFE, Seams, Words, everyday_first
from prefixcache.content.tokenizer import Tokenizer
from prefixcache.errors import InputError

SAMPLE = 200
NEAR = 200  # characters of the head's text that a first word can depend on
_PLAIN = re.compile(r"[A-Za-z]{3,}")


def probe_openings(tokenizer: Tokenizer, seams: Seams, framing: Framing) -> Words | None:
    """Words that may open a prompt; None if they are the SAFE words as they stand.

    Where a tokenizer puts a blank before every text, the words are the same tokens written without blank; where a chat
    template's head ends a line, they are the tokens of words without blank.

    Raises:
        InputError: hardly any word can.
    """
    safe = [word.decode().strip() for word in seams.safe_words]
    words = list(safe)
    if not framing.blank:
        known = set(safe)
        words += sorted(w for w in tokenizer.backend.get_vocab() if _PLAIN.fullmatch(w) and w not in known)
    blank = " " if framing.blank else ""
    left = _near(tokenizer, framing.head_text)
    rows = _encoded(tokenizer, framing, left, [f"{blank}{word} {CONTEXT}" for word in words])
    behind = tokenizer.encode(f"{CONTEXT} {CONTEXT}")[len(tokenizer.encode(CONTEXT)) :]
    before = _head_of(rows, len(behind))
    skip = len(before)
    found: dict[str, int] = {}
    used: set[int] = set()
    for word, row in zip(words, rows, strict=True):
        if len(row) == skip + 1 + len(behind) and row[skip + 1 :] == behind and row[:skip] == before:
            ident = row[skip]
            if ident not in used and ident not in tokenizer.special_ids:
                used.add(ident)
                found[word] = ident
    if len(found) < FEWEST_SAFE:
        raise InputError(
            f"{tokenizer.name} keeps only {len(found)} words apart from what stands before a prompt, at least "
            f"{FEWEST_SAFE} are needed",
            field="prompt.system" if framing.format == "completion" and framing.head_text else "prompt.format",
            remedy="end the system text with a full stop, or use another chat template or tokenizer.",
            stage="tokenize_sources",
        )
    ordered = everyday_first(found)
    ids = np.array([found[word] for word in ordered], dtype=np.int32)
    texts = tuple(f"{blank}{word}".encode() for word in ordered)
    if texts == seams.safe_words and np.array_equal(ids, seams.safe_ids):
        return None
    everyday = set(safe[: seams.common])
    return Words(ids, texts, sum(word in everyday for word in ordered))


def _near(tokenizer: Tokenizer, head: str) -> str:
    """The end of the head's text that matters: from its last special token on, or its last words."""
    at = max((head.rfind(text) for text in tokenizer.special_texts if text), default=-1)
    if at >= 0:
        return head[at:]
    if len(head) <= 2 * NEAR:
        return head
    cut = head.rfind(" ", 0, len(head) - NEAR)
    return head[cut:] if cut >= 0 else head


def _encoded(tokenizer: Tokenizer, framing: Framing, left: str, contents: list[str]) -> list[list[int]]:
    if left == framing.head_text and framing.format == "completion":
        rows = framing.encode(tokenizer.backend, [left + content for content in contents])
        return [row[: len(row) - len(framing.tail)] for row in rows]
    return tokenizer.encode_batch([left + content for content in contents])


def _head_of(rows: list[list[int]], behind: int) -> list[int]:
    """What stands before the first word: what most rows of everyday words begin with."""
    [(head, _)] = Counter(tuple(row[: len(row) - behind - 1]) for row in rows[:SAMPLE]).most_common(1)
    return list(head)
