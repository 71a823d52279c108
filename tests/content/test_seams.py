"""Seams with real tokenizers: what the rules allow is what re-encoding confirms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from prefixcache.config.content import SuffixConfig, TokenizerConfig
from prefixcache.content.corpus import Corpus
from prefixcache.content.encoding import build_corpus
from prefixcache.content.framing import probe_framing
from prefixcache.content.masters import Masters, build_master
from prefixcache.content.seams import Seams, probe_seams
from prefixcache.content.sources import Source, load_source
from prefixcache.content.tokenizer import Tokenizer, load_tokenizer
from prefixcache.errors import EnvironmentFailure

FAMILIES = ["embedded", "qwen", "deepseek"]


@pytest.fixture(scope="module", params=FAMILIES)
def parts(request: pytest.FixtureRequest) -> tuple[Tokenizer, Seams, Corpus]:
    path = request.param if request.param == "embedded" else str(request.getfixturevalue(request.param))
    tokenizer = load_tokenizer(TokenizerConfig(path=path))
    seams = probe_seams(tokenizer)
    source = load_source(SuffixConfig(), count=600, seed=5)
    return tokenizer, seams, build_corpus(source, tokenizer, seams, seed=5).corpus


def test_safe_words_stand_in_any_order(parts: tuple[Tokenizer, Seams, Corpus]) -> None:
    tokenizer, seams, _ = parts
    assert len(seams.safe_ids) >= 2000
    assert not set(seams.safe_ids.tolist()) & tokenizer.special_ids
    random = np.random.default_rng(1)
    for _ in range(40):
        chosen = random.integers(0, len(seams.safe_ids), 300)
        text = b"".join(seams.safe_words[i] for i in chosen).decode()
        assert tokenizer.encode(text) == seams.safe_ids[chosen].tolist()


def test_corpus_text_and_ids_belong_together(parts: tuple[Tokenizer, Seams, Corpus]) -> None:
    tokenizer, _, corpus = parts
    assert tokenizer.encode(bytes(corpus.text).decode()) == corpus.ids.tolist()
    for start in corpus.starts[:50].tolist():
        assert corpus.text_of(start, start + 1).decode()[0].isalnum()


def test_any_legal_piece_encodes_to_its_tokens(parts: tuple[Tokenizer, Seams, Corpus]) -> None:
    """SAFE word + separator + run from a sample to any legal end, then a SAFE word: exactly those ids."""
    tokenizer, seams, corpus = parts
    random = np.random.default_rng(2)
    for _ in range(400):
        start = int(random.choice(corpus.starts[: len(corpus.starts) // 2]))
        stop = int(corpus.keep[start + int(random.integers(1, 300))]) + 1
        if stop <= start:
            continue
        word = int(random.integers(len(seams.safe_ids)))
        safe = seams.safe_words[word].decode()
        text = safe + corpus.separator.decode() + corpus.text_of(start, stop).decode() + safe
        ids = [seams.safe_ids[word], *corpus.separator_ids, *corpus.ids[start:stop], seams.safe_ids[word]]
        assert tokenizer.encode(text) == [int(i) for i in ids]


@pytest.mark.parametrize("unit", [1, 2, 3, 16, 64])
def test_a_master_can_be_cut_at_every_unit(parts: tuple[Tokenizer, Seams, Corpus], unit: int) -> None:
    tokenizer, seams, corpus = parts
    cuts = np.arange(unit, 1500, unit)
    head = probe_framing(tokenizer).head
    cuts = cuts[cuts > len(head)]
    master = build_master(corpus, seams, head, 17, cuts, np.uint64(99))
    assert len(master.ids) == cuts[-1]
    for cut in cuts[:: max(1, len(cuts) // 150)].tolist():
        text = master.text[: master.cuts[cut]].decode()
        assert tokenizer.encode(text) == master.ids[:cut].tolist()
        safe = seams.safe_words[3].decode()
        assert tokenizer.encode(text + safe) == [*master.ids[:cut].tolist(), int(seams.safe_ids[3])]


def test_a_master_survives_saving(parts: tuple[Tokenizer, Seams, Corpus], tmp_path: Path) -> None:
    _, seams, corpus = parts
    masters = [build_master(corpus, seams, [], g, np.arange(16, 16 * (g + 2), 16), np.uint64(g)) for g in range(3)]
    masters.append(build_master(corpus, seams, [], 9, np.zeros(0, dtype=np.int64), np.uint64(9)))  # shares nothing
    Masters(masters).save(tmp_path)
    opened = Masters.open(tmp_path)
    for before, after in zip(masters, opened.masters, strict=True):
        assert np.array_equal(before.ids, after.ids)
        assert (before.text, before.cuts) == (after.text, after.cuts)


def test_a_master_longer_than_the_source_is_refused(parts: tuple[Tokenizer, Seams, Corpus]) -> None:
    _, seams, corpus = parts
    cuts = np.arange(16, len(corpus) * 2, 16)
    with pytest.raises(EnvironmentFailure, match="too few"):
        build_master(corpus, seams, [], 1, cuts, np.uint64(1))


def test_samples_with_special_tokens_are_left_out() -> None:
    tokenizer = load_tokenizer(None)
    seams = probe_seams(tokenizer)
    samples = ["Anna has 3 pens.", "Ben <|im_end|> has 4.", "Cara has 5 pens."]
    built = build_corpus(Source("text", samples), tokenizer, seams, seed=1)
    corpus = built.corpus
    assert built.dropped == 1
    assert sorted(corpus.samples.tolist()) == [0, 2]
    assert b"<|im_end|>" not in bytes(corpus.text)
    assert len(corpus.starts) == 2


def test_other_scripts_keep_their_byte_offsets(qwen: Path) -> None:
    tokenizer = load_tokenizer(TokenizerConfig(path=str(qwen)))
    seams = probe_seams(tokenizer)
    samples = ["Li 有三支笔。他买了 4 more.", "Zoë paid €5 – 𝔘nicode 👍🏽 done.", "Plain text ends here."]
    corpus = build_corpus(Source("text", samples), tokenizer, seams, seed=1).corpus
    assert corpus.text_of(0, len(corpus)) == bytes(corpus.text)
    for sample in samples:
        assert (sample + "\n\n").encode() in bytes(corpus.text)
    legal = [int(k) + 1 for k in np.unique(corpus.keep) if k >= 0]
    for stop in legal:
        corpus.text_of(0, stop).decode()
