"""The parts of a prompt: together they are all of it, and each is cut where its tokens end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from prefixcache.content.framing import Framing
from prefixcache.dataset.contents import read_contents
from prefixcache.dataset.lookup import DatasetFolder, find_request, open_dataset
from prefixcache.dataset.regions import Region, prompt_text, regions_of
from prefixcache.errors import InputError
from tests.support.datasets import made

PLAIN = Framing("completion", [], [])


def row(**changes: int) -> dict[str, int]:
    base = {"input_len": 100, "planned_prefix_len": 48, "expected_hit_len": 32, "divergence_len": 16, "suffix_len": 36}
    return {**base, **changes}


def parts(row: dict[str, int], head: int = 0) -> list[tuple[str, int, int]]:
    return [(region.part, region.start, region.end) for region in regions_of(row, head)]


def test_a_plain_request() -> None:
    assert parts(row()) == [("cached", 0, 32), ("prefix", 32, 48), ("divergence", 48, 64), ("suffix", 64, 100)]
    assert parts(row(expected_hit_len=0))[0] == ("prefix", 0, 48)
    assert parts(row(expected_hit_len=48))[:2] == [("cached", 0, 48), ("divergence", 48, 64)]
    assert Region("suffix", 64, 100).tokens == 36


def test_head_and_tail() -> None:
    framed = row(suffix_len=30)
    assert parts(framed, head=5) == [
        ("head", 0, 5),
        ("cached", 5, 32),
        ("prefix", 32, 48),
        ("divergence", 48, 64),
        ("suffix", 64, 94),
        ("tail", 94, 100),
    ]
    alone = row(planned_prefix_len=0, expected_hit_len=0, divergence_len=16, suffix_len=79)
    assert parts(alone, head=5) == [("head", 0, 5), ("divergence", 5, 21), ("suffix", 21, 100)]


def test_no_room_for_a_suffix() -> None:
    tight = row(input_len=50, planned_prefix_len=48, divergence_len=2, suffix_len=0)
    assert parts(tight)[-1] == ("divergence", 48, 50)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("regions") / "data"
    made(folder, request_count=12)
    return folder


def cut(folder: DatasetFolder, number: int) -> tuple[list[str], dict[str, Any], Any]:
    data, contents = folder.prompt(number), folder.contents
    text = prompt_text(data["prompt"], data["prompt_token_ids"], contents.framing, contents.own_tokenizer())
    return [text.piece(r.start, r.end) for r in regions_of(folder.rows[number], folder.head)], data, text


def check_parts(root: Path) -> set[str]:
    """The oracle: the text before a part, encoded alone, gives the ids before it. Returns the parts that occur."""
    folder = open_dataset(root)
    backend, framing = folder.contents.own_tokenizer(), folder.contents.framing
    assert backend is not None
    assert framing is not None
    seen = set()
    for number, plan in enumerate(folder.rows):
        pieces, data, text = cut(folder, number)
        assert text.split == "exact"
        assert "".join(pieces) == framing.served(data["prompt"])
        regions, ids = regions_of(plan, folder.head), data["prompt_token_ids"]
        assert regions[0].start == 0
        assert regions[-1].end == plan["input_len"] == len(ids)
        before = ""
        for region, piece in zip(regions, pieces, strict=True):
            encoded = backend.encode(before, add_special_tokens=framing.add_special).ids
            assert list(encoded) == ids[: region.start]
            before += piece
            seen.add(region.part)
    return seen


def test_the_embedded_tokenizer_cuts_at_the_seams(dataset: Path) -> None:
    assert check_parts(dataset) == {"cached", "prefix", "divergence", "suffix"}


def test_a_chat_prompt_has_a_head_and_a_tail(qwen: Path, tmp_path: Path) -> None:
    made(
        tmp_path / "chat",
        request_count=6,
        tokenizer={"path": str(qwen)},
        prompt={"format": "chat", "system": "You are a careful accountant who answers briefly and in plain words."},
        target={"hit_ratio": 0.6},
    )
    assert check_parts(tmp_path / "chat") == {"head", "cached", "prefix", "divergence", "suffix", "tail"}
    folder = open_dataset(tmp_path / "chat")
    pieces, _, _ = cut(folder, 5)
    assert "careful accountant" in pieces[0]
    assert "assistant" in pieces[-1]


def test_a_head_that_is_no_text_is_named(qwen: Path) -> None:
    from tokenizers.processors import TemplateProcessing

    backend = Tokenizer.from_file(str(qwen / "tokenizer.json"))
    bos = backend.token_to_id("<|im_start|>")
    backend.post_processor = TemplateProcessing(single="<|im_start|> $A", special_tokens=[("<|im_start|>", bos)])
    ids = backend.encode(" green apples").ids
    text = prompt_text(" green apples", ids, Framing("completion", [bos], []), backend)
    assert [text.piece(0, 1), text.piece(1, len(ids))] == ["<|im_start|>", " green apples"]


def test_every_token_boundary_is_exact_where_tokens_are_whole_characters(qwen: Path) -> None:
    backend = Tokenizer.from_file(str(qwen / "tokenizer.json"))
    sentence = "One  two.\n\nThree,\n four \n\n five  "
    ids = backend.encode(sentence).ids
    text = prompt_text(sentence, ids, PLAIN, backend)
    assert [text.piece(n, n + 1) for n in range(len(ids))] == [backend.decode([i]) for i in ids]
    assert text.inside == frozenset()


def test_blanks_belong_to_their_token_where_the_tokenizers_offsets_leave_them_out() -> None:
    """A byte-level post-processor trims blanks at both ends of a token from its offsets."""
    from tokenizers import decoders, models, pre_tokenizers, processors

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*alphabet, "ĊĠ"])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[("Ċ", "Ġ")]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.ByteLevel(trim_offsets=True)
    encoded = backend.encode("a\n  b")
    assert encoded.tokens[1:3] == ["ĊĠ", "Ġ"]
    assert encoded.offsets[1] == (1, 2), "the blank at its end is left out"
    text = prompt_text("a\n  b", encoded.ids, PLAIN, backend)
    assert [text.piece(n, n + 1) for n in range(4)] == ["a", "\n ", " ", "b"]


def test_a_boundary_inside_a_character_is_told(qwen: Path) -> None:
    backend = Tokenizer.from_file(str(qwen / "tokenizer.json"))
    sentence = "an 𓀀 owl"
    ids = backend.encode(sentence).ids
    text = prompt_text(sentence, ids, PLAIN, backend)
    inside = [n for n in range(1, len(ids)) if text.is_inside_a_character(n)]
    assert inside, "the character is made of several tokens"
    assert "".join(text.piece(n, n + 1) for n in range(len(ids)) if text.marks[n + 1] > text.marks[n]) == sentence


def test_text_that_does_not_encode_to_the_ids_is_decoded(dataset: Path) -> None:
    folder = open_dataset(dataset)
    backend = folder.contents.own_tokenizer()
    ids = folder.prompt(0)["prompt_token_ids"]
    other = prompt_text("something else", ids, PLAIN, backend)
    assert other.split == "decoded"
    assert other.piece(0, len(ids)) == backend.decode(ids)
    without = prompt_text(None, ids, None, backend)
    assert (without.split, without.text) == ("decoded", None)
    nothing = prompt_text("something", ids, PLAIN, None)
    assert (nothing.split, nothing.piece(0, 3)) == ("none", "")


def test_the_row_is_the_requests(dataset: Path) -> None:
    folder, contents = open_dataset(dataset), read_contents(dataset)
    for number in (0, 7, 11):
        found = folder.prompt(number)
        assert found["prompt"] == contents.prompts[number]
        assert np.array_equal(found["prompt_token_ids"], contents.ids[number])
    assert folder.run_dir is None


def test_a_run_directory_holds_a_dataset(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "run" / "runtime").mkdir(parents=True)
    (tmp_path / "run" / "dataset").symlink_to(dataset, target_is_directory=True)
    assert open_dataset(tmp_path / "run").rows == open_dataset(dataset).rows
    with pytest.raises(InputError, match=r"no manifest\.json"):
        open_dataset(tmp_path)


def test_a_shorter_data_file_is_told(dataset: Path, tmp_path: Path) -> None:
    folder = open_dataset(dataset)
    broken = DatasetFolder(tmp_path, folder.manifest, folder.rows, None)
    with pytest.raises(InputError, match=r"data\.jsonl is missing"):
        broken.prompt(0)


IDS = [{"request_id": name} for name in ("set-000", "set-001", "set-010", "set-011", "b1-200", "x")]


@pytest.mark.parametrize(
    ("wanted", "row"),
    [("set-010", 2), ("#3", 3), ("1", 1), ("10", 2), ("011", 3), ("200", 4), ("x", 5), ("t-000", 0), (" #0 ", 0)],
)
def test_finding_a_request(wanted: str, row: int) -> None:
    assert find_request(IDS, wanted) == row


@pytest.mark.parametrize(
    ("wanted", "message", "remedy"),
    [
        ("#6", "beyond the last request, #5", "#0 to #5"),
        ("set-02", "no request 'set-02'", "set-0"),
        ("0", "", ""),
        ("", "no request", "near ones"),
        ("qq", "no request", "set-000"),
        ("²", "no request", ""),
    ],
)
def test_a_request_that_is_not_there(wanted: str, message: str, remedy: str) -> None:
    if wanted == "0":  # the number 0, not every id that ends with a 0
        assert find_request(IDS, wanted) == 0
        return
    with pytest.raises(InputError, match=message) as caught:
        find_request(IDS, wanted)
    assert remedy in str(caught.value.remedy)


def test_an_ending_of_several_is_ambiguous() -> None:
    with pytest.raises(InputError, match="2 requests end with '00'") as caught:
        find_request([{"request_id": "a-100"}, {"request_id": "b-200"}, {"request_id": "c-3"}], "00")
    assert caught.value.remedy == "give more of the id."
