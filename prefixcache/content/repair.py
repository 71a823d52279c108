"""The slower way for tokenizers and texts that the seam rules do not hold for: build, encode, and mend what differs.

A prompt whose text encodes to other ids is built again with other samples and, after that, with a suffix of SAFE words,
which stand in any order. Masters are mended in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.content.assembly import Assembler, Prompt, Rows
from prefixcache.content.corpus import Corpus
from prefixcache.content.encoding import random_words
from prefixcache.content.framing import Framing
from prefixcache.content.masters import Master, build_master
from prefixcache.content.mixing import combine
from prefixcache.content.seams import Seams
from prefixcache.errors import VerdictError

TRIES = 3
SAFE_ONLY = TRIES + 1
"""``Prompt.retries`` of a prompt whose suffix became SAFE words."""


def drifts(backend: Any, framing: Framing, prompts: list[Prompt]) -> list[int]:
    """Places of the prompts whose text does not encode to their ids."""
    texts = [(prompt.text or b"").decode() for prompt in prompts]
    return [
        place
        for place, (prompt, ids) in enumerate(zip(prompts, framing.encode(backend, texts), strict=True))
        if not np.array_equal(np.array(ids, dtype=np.int64), prompt.ids)
    ]


def verified_prompts(assembler: Assembler, rows: Rows, backend: Any) -> Iterator[Prompt]:
    """The assembler's prompts, each encoded and mended where it drifts.

    Raises:
        VerdictError: a prompt that cannot be mended: its prefix or branch words drift.
    """
    prompts = list(assembler.prompts(rows))
    bad = drifts(backend, assembler.framing, prompts)
    for turn in range(1, SAFE_ONLY + 1):
        if not bad:
            break
        again = list(assembler.prompts(rows.take(bad), turn, safe_only=turn == SAFE_ONLY))
        for place, prompt in zip(bad, again, strict=True):
            prompts[place] = prompt
        still = drifts(backend, assembler.framing, again)
        bad = [bad[place] for place in still]
    if bad:
        raise VerdictError(
            f"{len(bad)} prompts do not encode to their tokens whatever their suffix; the first is request "
            f"{int(rows.index[bad[0]])}",
            field="prompt.form",
            remedy="write form: ids to send token ids, or use another tokenizer.",
            stage="build_shards",
        )
    yield from prompts


def verified_master(
    corpus: Corpus,
    seams: Seams,
    framing: Framing,
    word: int,
    cuts: NDArray[np.int64],
    key: np.uint64,
    begin: int,
    backend: Any,
    where: str,
) -> Master:
    """A master whose text encodes to its ids at every cut; of SAFE words if no stretch of the source gives one.

    Raises:
        VerdictError: not even SAFE words do.
    """
    head = framing.head
    safe = random_words(seams, int(key), int(cuts[-1]) if len(cuts) else 0).corpus
    for turn in range(SAFE_ONLY + 1):
        own = np.uint64(combine(key, turn)) if turn else key
        source, start = (corpus, begin if turn == 0 else None) if turn < SAFE_ONLY else (safe, None)
        master = build_master(source, seams, head, word, cuts, own, start, where)
        if master_holds(master, cuts, seams, framing, backend):
            return master
    raise VerdictError(
        "a master prefix does not encode to its tokens whatever its text",
        field="prompt.form",
        remedy="write form: ids to send token ids, or use another tokenizer.",
        stage="build_masters",
    )


def master_holds(master: Master, cuts: NDArray[np.int64], seams: Seams, framing: Framing, backend: Any) -> bool:
    """Every cut, with a SAFE word behind it."""
    word, ident = seams.safe_words[0].decode(), int(seams.safe_ids[0])
    for cut in cuts.tolist():
        prompt = framing.prompt_of(master.text[: master.cuts[cut]].decode() + word)
        [ids] = framing.encode(backend, [prompt])
        if ids != [*master.ids[:cut].tolist(), ident, *framing.tail]:
            return False
    return True
