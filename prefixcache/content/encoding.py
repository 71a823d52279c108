"""A source's samples turned into a corpus: each encoded where it will stand, behind a SAFE word and the separator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prefixcache.config.content import SourceConfig
from prefixcache.content.corpus import Corpus, legal_ends
from prefixcache.content.seams import CONTEXT, Seams
from prefixcache.content.selection import sample_order
from prefixcache.content.sources import Source, sample_hash
from prefixcache.content.tokenizer import Encoded, Ids, Tokenizer
from prefixcache.errors import InputError
from prefixcache.workload.randomness import below, digest, words

BATCH = 2048
ROW_WORDS = 64  # random tokens: words between two places where a text may begin
DEFAULT_SEPARATOR = "\n\n"
PROBE = "Anna has 3 pens."
NO_IDS = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True)
class Joint:
    """How samples are joined: ``core`` stands between them and is ``ids`` behind a SAFE word; ``blank`` is put before
    each sample. With no ids the core is something the tokenizer drops."""

    core: str
    blank: str
    ids: Ids


@dataclass(frozen=True)
class Built:
    """A corpus, the hashes of its samples in order (each once), how many samples were left out, and its joint."""

    corpus: Corpus
    hashes: list[str]
    dropped: int
    separator: str


def probe_joint(tokenizer: Tokenizer, seams: Seams, separator: str) -> Joint | None:
    """The separator's ids, if they are the same behind all SAFE words and stay apart from the text; else None."""
    core = separator.rstrip(" ")
    blank = separator[len(core) :]
    found: Ids | None = None
    for word in seams.safe_words[:: max(1, len(seams.safe_words) // 16)]:
        left = CONTEXT + word.decode()
        [whole, plain] = tokenizer.encode_with_ends([core + blank + PROBE, " " + PROBE], left)
        if whole is None or plain is None:
            return None
        ids = _leading(whole, len(core.encode()))
        if ids is None or (not len(ids) and not np.array_equal(whole.ids, plain.ids)):
            return None
        if found is not None and not np.array_equal(ids, found):
            return None
        found = ids
    return None if found is None else Joint(core, blank, found)


def _leading(encoded: Encoded, size: int) -> Ids | None:
    """Ids of the tokens within the first ``size`` bytes; None if they end elsewhere."""
    count = int(np.searchsorted(encoded.ends, size, side="right"))
    if count and encoded.ends[count - 1] != size:
        return None
    return encoded.ids[:count]


def joint_of(tokenizer: Tokenizer, seams: Seams, separator: str, where: str) -> Joint:
    """The configured separator; a blank where the tokenizer does not keep the default one apart.

    Raises:
        InputError: a separator of the user's that is not kept apart or holds a special token.
    """
    if seams.ids_only:
        return Joint(separator, "", np.array(_ordinary(tokenizer.encode(separator), tokenizer), dtype=np.int32))
    special = next((text for text in tokenizer.special_texts if text in separator), None)
    joint = probe_joint(tokenizer, seams, separator) if special is None else None
    if joint is None and separator == DEFAULT_SEPARATOR:
        joint = probe_joint(tokenizer, seams, " ")
    if joint is not None:
        return joint
    reason = "merges with the text around it" if special is None else f"holds the special token {special}"
    raise InputError(
        f"the separator {separator[:40]!r} {reason}",
        field=f"{where}.separator",
        remedy="use another, such as a blank line.",
        stage="tokenize_sources",
    )


def build_corpus(
    source: Source,
    tokenizer: Tokenizer,
    seams: Seams,
    seed: int,
    config: SourceConfig | None = None,
    *,
    needed: int = 0,
    where: str = "suffix",
) -> Built:
    """Bring the samples into their order and encode them.

    Samples that hold the text of a special token, that encode to one, or that do not stay apart from the separator are
    left out.

    Args:
        needed: tokens the longest text takes; sources whose samples may repeat are repeated until they have enough.
        where: configuration path of the source, for messages.

    Raises:
        InputError: no sample is left, a separator that cannot be used.
    """
    config = config or SourceConfig()
    if config.source == "random_tokens":
        return random_words(seams, seed, needed)
    joint = joint_of(tokenizer, seams, config.separator, where)
    pieces = _Pieces(tokenizer, seams, joint)
    order = sample_order(config, source, seed, where)
    for at in range(0, len(order), BATCH):
        pieces.add([(source.ids[i], source.samples[i]) for i in order[at : at + BATCH]])
    if not source.samples:
        raise InputError(
            "the source is empty: it has no sample with text",
            field=f"{where}.source",
            remedy="use a source with text, or check suffix.fields.",
            stage="tokenize_sources",
        )
    if not pieces.ids:
        raise InputError(
            f"no usable sample: each of the {len(source.samples)} samples holds the text of a special token, or "
            "characters that the tokenizer does not know or does not keep apart",
            field=f"{where}.source",
            remedy="use another source, or another tokenizer.",
            stage="tokenize_sources",
        )
    used = set(pieces.numbers)
    if gone := [number for number in config.samples or () if number not in used]:
        raise InputError(
            f"sample {gone[0]} cannot be used: it holds a special token or characters the tokenizer does not know",
            field=f"{where}.samples",
            remedy="list other samples.",
            stage="tokenize_sources",
        )
    hashes = list(pieces.hashes)
    return Built(
        _joined(pieces, config, needed, source.name), hashes, len(order) - len(hashes), joint.core + joint.blank
    )


class _Pieces:
    """Encoded samples in order."""

    def __init__(self, tokenizer: Tokenizer, seams: Seams, joint: Joint) -> None:
        self.tokenizer, self.seams, self.joint = tokenizer, seams, joint
        self.ids: list[Ids] = []
        self.ends: list[NDArray[np.int64]] = []
        self.texts: list[bytes] = []
        self.numbers: list[int] = []
        self.hashes: list[str] = []
        self.special = np.array(sorted(tokenizer.special_ids), dtype=np.int32)

    def add(self, samples: list[tuple[int, str]]) -> None:
        forbidden = self.tokenizer.special_texts
        clean = [(n, text) for n, text in samples if text and not any(special in text for special in forbidden)]
        for (number, text), piece in zip(clean, self._encoded([text for _, text in clean]), strict=True):
            if piece is not None:
                ids, ends, data = piece
                self.ids.append(ids)
                self.ends.append(ends)
                self.texts.append(data)
                self.numbers.append(number)
                self.hashes.append(sample_hash(text))

    def _encoded(self, texts: list[str]) -> list[tuple[Ids, NDArray[np.int64], bytes] | None]:
        joint = self.joint
        if self.seams.ids_only:
            rows = (_ordinary(self.tokenizer.encode(text), self.tokenizer) for text in texts)
            return [
                (ids, np.zeros(len(ids), dtype=np.int64), b"") if len(ids) else None
                for ids in (np.concatenate([row, joint.ids]).astype(np.int32) if row else NO_IDS for row in rows)
            ]
        behind = joint.core if len(joint.ids) else ""
        whole = [joint.core + joint.blank + text + behind for text in texts]
        left = CONTEXT + self.seams.safe_words[0].decode()
        encoded = self.tokenizer.encode_with_ends(whole, left)
        return [self._piece(text, item) for text, item in zip(whole, encoded, strict=True)]

    def _piece(self, text: str, encoded: Encoded | None) -> tuple[Ids, NDArray[np.int64], bytes] | None:
        """The sample's own tokens; with a separator that has tokens its text ends with it, else it begins with it."""
        if encoded is None:
            return None
        joint, data = self.joint, text.encode()
        lead = len(joint.core.encode())
        before = _leading(encoded, lead)
        if before is None or not np.array_equal(before, joint.ids):
            return None
        ids, ends = encoded.ids[len(before) :], encoded.ends[len(before) :]
        if not len(ids) or np.isin(ids, self.special).any():
            return None
        if len(joint.ids):
            return (ids, ends - lead, data[lead:]) if ends[-1] == len(data) else None
        return ids, ends, data[: ends[-1]]


def _joined(pieces: _Pieces, config: SourceConfig, needed: int, name: str) -> Corpus:
    """One corpus; samples that go round (or repeat) stand in it as often as the longest text needs."""
    sizes = np.array([len(ids) for ids in pieces.ids], dtype=np.int64)
    distinct = int(sizes.sum())
    rounds = 1
    if config.selection in ("index", "content_hash"):
        rounds = 2
    if config.selection == "fixed_cycle" or (config.allow_repeat and distinct < 4 * needed):
        rounds = max(rounds + 1, -(-4 * needed // distinct))
    ids = np.concatenate(pieces.ids * rounds)
    offsets = np.cumsum([0, *(len(text) for text in pieces.texts * rounds)], dtype=np.int64)
    ends = np.concatenate([part + at for part, at in zip(pieces.ends * rounds, offsets[:-1].tolist(), strict=True)])
    text = b"".join(pieces.texts * rounds)
    free = pieces.seams.ids_only
    joint = pieces.joint
    starts = np.concatenate(([0], np.cumsum(np.tile(sizes, rounds))[:-1]))
    return Corpus(
        ids=ids,
        ends=ends,
        starts=starts,
        keep=np.arange(len(ids)) if free else legal_ends(text, ends),
        samples=np.tile(np.array(pieces.numbers, dtype=np.int64), rounds),
        text=text,
        separator=joint.core.encode() if len(joint.ids) and not free else b"",
        separator_ids=joint.ids,
        distinct=distinct,
        repeats=config.allow_repeat or config.selection == "fixed_cycle",
        free=free,
        name=name,
    )


def _ordinary(ids: list[int], tokenizer: Tokenizer) -> list[int]:
    return [ident for ident in ids if ident not in tokenizer.special_ids]


def random_words(seams: Seams, seed: int, needed: int) -> Built:
    """SAFE words (any ordinary ids where no text is sent) in random order; a text may begin at every 64th."""
    count = max(500_000, 4 * needed) // ROW_WORDS * ROW_WORDS
    drawn = below(len(seams.safe_ids), words(digest(seed, "random tokens"), count))
    sizes = np.array([len(word) for word in seams.safe_words], dtype=np.int64)
    corpus = Corpus(
        ids=seams.safe_ids[drawn],
        ends=np.cumsum(sizes[drawn]),
        starts=np.arange(0, count, ROW_WORDS, dtype=np.int64),
        keep=np.arange(count, dtype=np.int64),
        samples=np.full(count // ROW_WORDS, -1, dtype=np.int64),
        text=b"".join([seams.safe_words[i] for i in drawn.tolist()]),
        separator=b"",
        separator_ids=NO_IDS,
        distinct=count,
        free=seams.ids_only,
        name="random_tokens",
    )
    return Built(corpus, [], 0, "")
