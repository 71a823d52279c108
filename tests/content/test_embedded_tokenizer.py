"""The shipped tokenizer: loads offline, adds nothing, keeps words whole and joins stable, and can be made again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import prefixcache.content.synthetic as synthetic

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(synthetic.__file__).parent.parent / "embedded_tokenizer"
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(FOLDER / "tokenizer.json"))


@pytest.fixture(scope="module")
def auto() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(str(FOLDER), local_files_only=True)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return synthetic.samples(600, seed=31)


@pytest.fixture(scope="module")
def safe(tokenizer: Tokenizer) -> dict[str, int]:
    """Word to id for every token that is one space and at least three letters and survives in context."""
    base = tokenizer.encode("also the").ids
    found = {}
    for token_id in range(tokenizer.get_vocab_size()):
        text = tokenizer.decode([token_id])
        if re.fullmatch(r" [A-Za-z]{3,}", text) and tokenizer.encode("also the" + text).ids == [*base, token_id]:
            found[text[1:]] = token_id
    return found


class TestFiles:
    def test_size_and_contents(self) -> None:
        assert {"README.md", "tokenizer.json", "tokenizer_config.json"} <= {file.name for file in FOLDER.iterdir()}
        assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 700_000

    def test_vocabulary(self, tokenizer: Tokenizer) -> None:
        model = json.loads((FOLDER / "tokenizer.json").read_text())["model"]
        assert 6000 <= tokenizer.get_vocab_size() <= 8192
        assert sorted(tokenizer.get_vocab().values()) == list(range(tokenizer.get_vocab_size()))
        assert sum(len(token) == 1 for token in model["vocab"]) == 256

    @pytest.mark.parametrize(("threads", "hash_seed"), [("1", "1"), ("4", "77")])
    def test_training_again_gives_the_same_bytes(self, threads: str, hash_seed: str) -> None:
        environment = {
            **os.environ,
            "PYTHONHASHSEED": hash_seed,
            "RAYON_NUM_THREADS": threads,
            "TOKENIZERS_PARALLELISM": "true",
        }
        script = [sys.executable, str(ROOT / "scripts" / "train_embedded_tokenizer.py"), "--check"]
        run = subprocess.run(script, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr


class TestAutoTokenizer:
    def test_settings(self, auto: Any) -> None:
        assert auto.is_fast and len(auto) == 8192
        assert (auto.eos_token, auto.pad_token, auto.bos_token) == ("<|im_end|>", "<|endoftext|>", None)
        assert auto.model_max_length == 131072
        assert auto.clean_up_tokenization_spaces is False

    def test_adds_nothing(self, auto: Any, texts: list[str]) -> None:
        for text in texts[:20]:
            assert auto.encode(text) == auto.encode(text, add_special_tokens=False)
        assert auto.encode("") == []

    def test_same_ids_as_the_file(self, auto: Any, tokenizer: Tokenizer, texts: list[str]) -> None:
        assert auto(texts[:50])["input_ids"] == [encoding.ids for encoding in tokenizer.encode_batch(texts[:50])]

    def test_chat_template(self, auto: Any) -> None:
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]
        rendered = auto.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        assert rendered == (
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n"
        )
        ids = auto.apply_chat_template(messages, tokenize=True, add_generation_prompt=True, return_dict=False)
        assert list(ids) == auto.encode(rendered)


class TestEncoding:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            " ",
            "\n",
            "Linda's 12 apples",
            "caf\u00e9 \u4f60\u597d \U0001f600",
            "\ttabs  and   spaces \r\n",
            "don't STOP!",
        ],
    )
    def test_round_trip(self, tokenizer: Tokenizer, text: str) -> None:
        assert tokenizer.decode(tokenizer.encode(text).ids) == text

    def test_round_trip_of_samples(self, tokenizer: Tokenizer, texts: list[str]) -> None:
        assert tokenizer.decode_batch([e.ids for e in tokenizer.encode_batch(texts)]) == texts

    def test_normalises_to_nfc(self, tokenizer: Tokenizer) -> None:
        assert tokenizer.encode("cafe\u0301").ids == tokenizer.encode("caf\u00e9").ids

    def test_digits_stand_alone(self, tokenizer: Tokenizer) -> None:
        assert tokenizer.encode("1234").tokens == ["1", "2", "3", "4"]

    def test_sample_lengths(self, tokenizer: Tokenizer, texts: list[str]) -> None:
        lengths = [len(encoding.ids) for encoding in tokenizer.encode_batch(texts)]
        assert min(lengths) >= 60 and max(lengths) <= 200

    def test_samples_hold_no_special_tokens(self, tokenizer: Tokenizer, texts: list[str]) -> None:
        special = {tokenizer.token_to_id(text) for text in SPECIALS}
        assert None not in special
        assert not special & {token for encoding in tokenizer.encode_batch(texts) for token in encoding.ids}
        assert not any(text in sample for text in SPECIALS for sample in texts)

    def test_blank_line_joins_are_stable(self, tokenizer: Tokenizer, texts: list[str]) -> None:
        newlines = tokenizer.token_to_id("\u010a\u010a")
        for first, second in pairwise(texts):
            joined = tokenizer.encode(f"{first}\n\n{second}").ids
            assert joined == tokenizer.encode(f"{first}\n\n").ids + tokenizer.encode(second).ids
            assert joined == [*tokenizer.encode(first).ids, newlines, *tokenizer.encode(second).ids]


class TestSafeWords:
    def test_enough(self, safe: dict[str, int]) -> None:
        assert len(safe) >= 4500
        assert len(set(synthetic.COMMON_WORDS) & safe.keys()) >= 3500

    def test_sentence_and_filler_words(self, safe: dict[str, int]) -> None:
        needed = {word for slot in (*synthetic.SENTENCE_SLOTS, synthetic.FILLERS) for word in slot}
        assert sorted(needed - safe.keys()) == []

    def test_any_order_is_stable(self, tokenizer: Tokenizer, safe: dict[str, int]) -> None:
        words = list(safe)
        for stride in (1, 7, 101, 1009):
            order = [words[position * stride % len(words)] for position in range(len(words))]
            text = "".join(" " + word for word in order)
            assert tokenizer.encode(text).ids == [safe[word] for word in order]
