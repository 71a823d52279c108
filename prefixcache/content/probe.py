"""Do the seam rules hold for this tokenizer and these samples? Random pieces are encoded as they would stand."""

from __future__ import annotations

from prefixcache.content.corpus import Corpus
from prefixcache.content.seams import CONTEXT, Seams
from prefixcache.content.tokenizer import Tokenizer
from prefixcache.workload.randomness import below, digest, words

PIECES = 128
LONGEST = 400
CHECKED = 1_000_000  # tokens of a user's own text that are encoded again as a whole
CHUNK = 4_000


def pieces_that_drift(tokenizer: Tokenizer, seams: Seams, corpus: Corpus, pieces: int = PIECES) -> int:
    """How many of some random legal pieces, SAFE word + separator + run + SAFE word, encode to other ids."""
    left = tokenizer.encode(CONTEXT)
    raw = words(digest("pieces", len(corpus)), 3 * pieces).reshape(3, pieces)
    chosen = below(len(seams.safe_ids), raw[0]).tolist()
    starts = corpus.starts[below(len(corpus.starts), raw[1])].tolist()
    texts, planned = [], []
    for word, start, size in zip(chosen, starts, below(LONGEST, raw[2]).tolist(), strict=True):
        stop = int(corpus.keep[min(start + size, len(corpus) - 1)]) + 1
        if stop <= start:
            continue
        safe = seams.safe_words[word]
        text = CONTEXT.encode() + safe + corpus.separator + corpus.text_of(start, stop) + safe
        ident = int(seams.safe_ids[word])
        texts.append(text.decode())
        planned.append([*left, ident, *corpus.separator_ids.tolist(), *corpus.ids[start:stop].tolist(), ident])
    return sum(ids != plan for ids, plan in zip(tokenizer.encode_batch(texts), planned, strict=True))


def seams_that_drift(tokenizer: Tokenizer, seams: Seams, corpus: Corpus) -> int:
    """How many long stretches of whole samples encode to other ids: every joint between samples is looked at."""
    left = CONTEXT + seams.safe_words[0].decode()
    before = tokenizer.encode(left)
    bounds = [*corpus.starts.tolist(), len(corpus)]
    texts, planned, first = [], [], 0
    for at, stop in enumerate(bounds[1:], 1):
        if stop - bounds[first] < CHUNK and at < len(bounds) - 1:
            continue
        begin, first = bounds[first], at
        legal = int(corpus.keep[stop - 1]) + 1
        if legal > begin:
            text = left.encode() + corpus.separator + corpus.text_of(begin, legal)
            texts.append(text.decode())
            planned.append([*before, *corpus.separator_ids.tolist(), *corpus.ids[begin:legal].tolist()])
        if stop > CHECKED:
            break
    return sum(ids != plan for ids, plan in zip(tokenizer.encode_batch(texts), planned, strict=True))
