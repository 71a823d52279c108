"""Sources: files of every kind, which samples are taken, where a text begins, and what is too small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.config import parse_config
from prefixcache.config.content import SourceConfig, TokenizerConfig
from prefixcache.content.encoding import Built, build_corpus
from prefixcache.content.library import sources_of
from prefixcache.content.mixing import combine
from prefixcache.content.seams import Seams, probe_seams
from prefixcache.content.selection import Picker, ring_of
from prefixcache.content.sources import Source, load_source
from prefixcache.content.suffixes import suffix_runs
from prefixcache.content.tokenizer import Tokenizer, load_tokenizer
from prefixcache.errors import EnvironmentFailure, InputError
from tests.support.families import family_folder

SENTENCES = [f"Number {i} tells of {i * 7} green apples and what became of them. It ends here." for i in range(30)]


@pytest.fixture(scope="module")
def embedded() -> tuple[Tokenizer, Seams]:
    tokenizer = load_tokenizer(None)
    return tokenizer, probe_seams(tokenizer)


def write(path: Path, texts: list[str]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps({"text": text, "number": i}) for i, text in enumerate(texts)))
    elif path.suffix == ".txt":
        path.write_text("\n\n".join(texts))
    elif path.suffix == ".csv":
        pl.DataFrame({"id": [str(i) for i in range(len(texts))], "text": texts}).write_csv(path)
    else:
        pl.DataFrame({"body": texts, "number": list(range(len(texts)))}).write_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "txt", "csv", "parquet"])
def test_files_of_every_kind_give_the_same_samples(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"data.{kind}", SENTENCES)
    source = load_source(SourceConfig(source="text", path=str(path)), count=0, seed=0)
    assert source.samples == SENTENCES
    assert source.ids == list(range(30))


def test_lines_of_a_text_file_without_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("First line.\r\nSecond line.\n   \n")
    assert load_source(SourceConfig(source="text", path=str(path)), count=0, seed=0).samples == [
        "First line.",
        "Second line.",
    ]


def test_empty_samples_keep_the_numbers_of_the_others(tmp_path: Path) -> None:
    path = write(tmp_path / "data.jsonl", ["One here.", "   ", "Two here."])
    source = load_source(SourceConfig(source="text", path=str(path)), count=0, seed=0)
    assert (source.samples, source.ids) == (["One here.", "Two here."], [0, 2])


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.jsonl", '{"text": "private words" ', "not JSON Lines: line 1, column 26: unexpected end of data"),
        ("a.jsonl", '{"text": "private words"}\r\n\r\n{"text": private}', "not JSON Lines: line 3, column"),
        ("a.jsonl", b"\x1f\x8b\x08private", "packed with gzip, not JSON Lines"),
        ("a.jsonl", b"PAR1private", "is a Parquet file, not JSON Lines"),
        ("a.csv", b"PK\x03\x04private", "is a ZIP or Excel file, not CSV"),
        ("a.jsonl", '["private words"]', "not an object"),
        ("a.jsonl", '{"one": "x", "two": "private"}', "which of the columns"),
        ("a.txt", b"\xff\xfe\x00private", "byte 0 is not UTF-8"),
        ("a.parquet", "private words", "not Parquet"),
    ],
)
def test_files_that_are_not_what_they_should_be(name: str, content: str | bytes, match: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=match) as caught:
        load_source(SourceConfig(source="text", path=str(path)), count=0, seed=0, where="prefix.source")
    assert "private" not in str(caught.value)
    assert str(caught.value.field).startswith("prefix.source.")


@pytest.mark.parametrize("kind", ["jsonl", "txt", "csv"])
def test_a_byte_order_mark_is_no_text(kind: str, tmp_path: Path) -> None:
    """Editors on Windows put one before UTF-8."""
    path = write(tmp_path / f"data.{kind}", SENTENCES)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_source(SourceConfig(source="text", path=str(path)), count=0, seed=0).samples == SENTENCES


@pytest.mark.parametrize(
    ("names", "held"),
    [
        ([], "holds nothing, no train.jsonl"),
        (["test.jsonl", "README.md"], "holds README.md, test.jsonl, no train.jsonl"),
        ([f"part-{i}.jsonl" for i in range(8)], "part-4.jsonl and 3 more, no train.jsonl"),
    ],
)
def test_a_folder_without_the_file_tells_what_it_holds(names: list[str], held: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_text("")
    with pytest.raises(EnvironmentFailure, match=held) as caught:
        load_source(SourceConfig(source="gsm8k", path=str(tmp_path)), count=0, seed=0)
    assert "--source gsm8k=PATH" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("samples", "told"),
    [
        ([], "the source is empty"),
        (["<|endoftext|> One.", "Two <|endoftext|>."], "each of the 2 samples holds the text"),
    ],
)
def test_empty_and_unusable_sources_are_told_apart(
    samples: list[str], told: str, embedded: tuple[Tokenizer, Seams]
) -> None:
    special = embedded[0].special_texts[0]
    texts = [text.replace("<|endoftext|>", special) for text in samples]
    with pytest.raises(InputError, match=told) as caught:
        build_corpus(Source("text", texts), *embedded, 5)
    assert caught.value.remedy


def test_a_hub_data_set_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub itself is not reachable here; what it is asked for is what the configuration says."""
    import datasets

    asked: list[Any] = []

    def load_dataset(*names: Any, **options: Any) -> list[dict[str, str]]:
        asked.append((names, options))
        return [{"text": "From the hub."}]

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    config = SourceConfig(source="text", name="who/what", subset="sub", split="test", revision="abc")
    assert load_source(config, count=0, seed=0).samples == ["From the hub."]
    assert asked == [(("who/what", "sub"), {"split": "test", "revision": "abc"})]


def picker_of(parts: tuple[Tokenizer, Seams], config: SourceConfig, needed: int = 60) -> tuple[Picker, Built]:
    source = Source("text", SENTENCES)
    built = build_corpus(source, *parts, 5, config, needed=needed)
    ring = ring_of(built.hashes if config.selection == "content_hash" else [])
    listed = len(config.samples or ())
    return Picker(built.corpus, config.selection, config.start_index or 0, listed, ring, "suffix"), built


def samples_of(picker: Picker, lengths: list[int], seed: int = 1) -> list[list[int]]:
    numbers = np.arange(len(lengths))
    keys = combine(np.uint64(seed), numbers)
    runs = suffix_runs(picker, np.array(lengths), numbers, keys, closing=False)
    found = []
    for i, length in enumerate(lengths):
        pieces = runs.pieces(i)
        size = sum(stop - start for start, stop in pieces)
        gap = len(picker.corpus.separator_ids) if pieces else 0
        assert int(runs.fill[i]) + gap + size == length
        found.append([n for start, stop in pieces for n in picker.corpus.samples_in(start, stop)])
    return found


def test_index_goes_round_in_the_source_order(embedded: tuple[Tokenizer, Seams]) -> None:
    picker, _ = picker_of(embedded, SourceConfig(source="text", path="x", selection="index", start_index=28))
    firsts = [samples[:3] for samples in samples_of(picker, [60, 60, 60, 60])]
    assert [first[0] for first in firsts] == [28, 29, 0, 1]
    assert firsts[1] == [29, 0, 1]


def test_content_hash_does_not_depend_on_the_order_of_the_file(embedded: tuple[Tokenizer, Seams]) -> None:
    config = SourceConfig(source="text", path="x", selection="content_hash")
    picker, built = picker_of(embedded, config)
    assert built.hashes == sorted(built.hashes)
    turned = build_corpus(Source("text", SENTENCES[::-1]), *embedded, 99, config, needed=60)
    assert turned.hashes == built.hashes
    assert np.array_equal(turned.corpus.ids, built.corpus.ids)
    assert len({samples[0] for samples in samples_of(picker, [50] * 40)}) > 5


def test_fixed_samples_come_first_and_then_others(embedded: tuple[Tokenizer, Seams]) -> None:
    picker, _ = picker_of(embedded, SourceConfig(source="text", path="x", selection="fixed", samples=[7, 3]))
    found = samples_of(picker, [10, 30, 90, 90, 90])
    assert found[0] == [7]
    assert found[1] == [7, 3]
    others = [samples[2:] for samples in found[2:]]
    assert all(samples[:2] == [7, 3] for samples in found[2:])
    assert not {7, 3} & {n for rest in others for n in rest}
    assert len({tuple(rest) for rest in others}) > 1


def test_fixed_cycle_repeats_the_listed_samples_only(embedded: tuple[Tokenizer, Seams]) -> None:
    config = SourceConfig(source="text", path="x", selection="fixed_cycle", samples=[4, 9])
    picker, _ = picker_of(embedded, config, needed=200)
    [samples] = samples_of(picker, [200])
    assert samples[:5] == [4, 9, 4, 9, 4]


def test_a_source_that_is_too_small_says_how_small(embedded: tuple[Tokenizer, Seams]) -> None:
    for selection in ("random", "index", "content_hash"):
        config = SourceConfig(source="text", path="x", selection=selection)
        picker, built = picker_of(embedded, config, needed=5000)
        with pytest.raises(EnvironmentFailure, match=f"has {built.corpus.distinct} tokens, too few for a stretch of"):
            samples_of(picker, [5000])
        again, _ = picker_of(embedded, config.model_copy(update={"allow_repeat": True}), needed=5000)
        [samples] = samples_of(again, [5000])
        assert len(samples) > len(set(samples)) > 10


def test_samples_that_are_not_there(embedded: tuple[Tokenizer, Seams]) -> None:
    with pytest.raises(InputError, match="sample 77 is not in the source"):
        picker_of(embedded, SourceConfig(source="text", path="x", selection="fixed", samples=[1, 77]))


def test_separators(embedded: tuple[Tokenizer, Seams]) -> None:
    """Any separator that stays apart; one that would merge, or holds a control token, is refused."""
    tokenizer = embedded[0]
    for separator in ("\n\n", "\n---\n", " ", "\n\nNext: ", ""):
        config = SourceConfig(source="text", path="x", separator=separator)
        if separator == "":
            with pytest.raises(InputError, match="merges") as caught:
                build_corpus(Source("text", SENTENCES), *embedded, 5, config)
            assert caught.value.field == "suffix.separator"
            continue
        built = build_corpus(Source("text", SENTENCES), *embedded, 5, config)
        corpus = built.corpus
        whole = b" word" + corpus.separator + corpus.text_of(0, len(corpus))
        assert tokenizer.encode(whole.decode())[1 + len(corpus.separator_ids) :] == corpus.ids.tolist()
        assert separator.strip().encode() in bytes(corpus.text)
        assert built.separator == separator
    with pytest.raises(InputError, match="special token"):
        build_corpus(Source("text", SENTENCES), *embedded, 5, SourceConfig(separator="<|im_end|>"))


def test_added_tokens_that_are_not_special_are_text() -> None:
    """They stay in samples; words that would make one up when they meet are no SAFE words."""
    tokenizer = load_tokenizer(TokenizerConfig(path=str(family_folder("metaspace"))))
    seams = probe_seams(tokenizer)
    assert b" pencil" not in seams.safe_words
    assert b" case" not in seams.safe_words
    samples = ["Anna has a pencil case here.", "Ben said </s> to all.", "Cara has five pens."]
    built = build_corpus(Source("text", samples), tokenizer, seams, 1)
    assert sorted(built.corpus.samples.tolist()) == [0, 2]
    assert tokenizer.backend.token_to_id("pencil case") in built.corpus.ids


def test_random_tokens_are_safe_words_whose_text_agrees(embedded: tuple[Tokenizer, Seams]) -> None:
    tokenizer, seams = embedded
    corpus = build_corpus(Source("random_tokens", []), tokenizer, seams, 5, SourceConfig(source="random_tokens")).corpus
    assert set(np.unique(corpus.ids)) <= set(seams.safe_ids.tolist())
    assert tokenizer.encode(corpus.text_of(640, 9000).decode()) == corpus.ids[640:9000].tolist()


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["random", "index", "content_hash", "fixed", "fixed_cycle"]),
    st.lists(st.integers(0, 150), min_size=1, max_size=12),
    st.integers(0, 1 << 30),
)
def test_suffixes_have_their_length_and_never_repeat_a_sample(selection: str, lengths: list[int], seed: int) -> None:
    parts = _parts()
    listed = [2, 11, 5] if selection.startswith("fixed") else None
    config = SourceConfig(source="text", path="x", selection=selection, samples=listed)  # type: ignore[arg-type]
    picker, _ = picker_of(parts, config, needed=150)
    for samples in samples_of(picker, lengths, seed):
        assert selection == "fixed_cycle" or len(samples) == len(set(samples))


_CACHE: list[tuple[Tokenizer, Seams]] = []


def _parts() -> tuple[Tokenizer, Seams]:
    if not _CACHE:
        tokenizer = load_tokenizer(None)
        _CACHE.append((tokenizer, probe_seams(tokenizer)))
    return _CACHE[0]


def test_which_group_reads_which_source() -> None:
    raw: dict[str, Any] = {
        "dataset_id": "x",
        "request_count": 10,
        "input_length": 100,
        "target": {"hit_ratio": 0.2},
        "suffix": {"source": "gsm8k"},
        "prefix": {
            "source": {"source": "synthetic"},
            "groups": [
                {"id": "a", "request_weight": 1},
                {"id": "b", "request_weight": 1, "source": {"source": "random_tokens"}},
            ],
        },
    }
    sources, prefix_of, suffix_of = sources_of(parse_config(raw))
    assert [(where, source.source) for where, source in sources] == [
        ("suffix", "gsm8k"),
        ("prefix.groups[1].source", "random_tokens"),
        ("prefix.source", "synthetic"),
    ]
    assert (prefix_of, suffix_of) == ([2, 1], [0, 1])


@pytest.mark.parametrize(
    ("source", "field"),
    [
        ({"source": "text"}, "suffix.path"),
        ({"source": "text", "path": "a", "name": "b"}, "suffix.name"),
        ({"source": "synthetic", "path": "a"}, "suffix.path"),
        ({"selection": "fixed"}, "suffix.samples"),
        ({"selection": "random", "samples": [1]}, "suffix.samples"),
        ({"selection": "fixed", "samples": [1, 1]}, "suffix.samples"),
        ({"start_index": 1}, "suffix.start_index"),
        ({"source": "random_tokens", "selection": "index"}, "suffix.selection"),
    ],
)
def test_settings_that_contradict_each_other(source: dict[str, Any], field: str) -> None:
    raw = {"dataset_id": "x", "request_count": 1, "input_length": 100, "target": {"hit_ratio": 0}, "suffix": source}
    with pytest.raises(InputError) as caught:
        parse_config(raw)
    assert caught.value.field == field
    assert caught.value.remedy
