"""The faster tokenizer is used where it equals the reference, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer

from prefixcache.content import accelerated
from prefixcache.content.accelerated import HARD, fast_encoder
from prefixcache.content.synthetic import samples
from tests.support.families import family_folder
from tests.support.tokenizers import qwen_folder

pytest.importorskip("gigatoken", reason="the accelerator is not installed")
TEXTS = samples(200, seed=3)


def loaded(folder: Any) -> tuple[Tokenizer, accelerated.Encode]:
    backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return backend, lambda texts: [item.ids for item in backend.encode_batch(texts, add_special_tokens=False)]


def test_equal_to_qwens_own_tokenizer() -> None:
    backend, reference = loaded(qwen_folder())
    encode = fast_encoder(backend.to_str(), reference, TEXTS[:20])
    assert encode is not None
    found = encode([*TEXTS, *HARD])
    assert [ids.tolist() for ids in found] == reference([*TEXTS, *HARD])


def test_not_used_where_it_differs() -> None:
    backend, reference = loaded(qwen_folder())
    assert fast_encoder(backend.to_str(), lambda texts: [[*ids, 1] for ids in reference(texts)], TEXTS[:5]) is None


def test_not_used_where_it_cannot_load_the_tokenizer() -> None:
    """A WordPiece tokenizer is none of those it knows."""
    backend, reference = loaded(family_folder("bert"))
    assert fast_encoder(backend.to_str(), reference, TEXTS[:5]) is None


def test_not_used_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, reference = loaded(qwen_folder())
    monkeypatch.setattr(accelerated, "find_spec", lambda name: None)
    assert fast_encoder(backend.to_str(), reference, TEXTS[:5]) is None
