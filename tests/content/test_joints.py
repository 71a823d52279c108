"""Joints encoded in a window find what a re-encoding of whole prompts finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from prefixcache.content import suffixes
from prefixcache.content.joints import Joint, JointAudit, master_before
from prefixcache.content.masters import Master
from prefixcache.content.selection import Picker
from prefixcache.errors import VerdictError
from prefixcache.files import read_json
from tests.support.datasets import made
from tests.support.families import family_folder
from tests.support.tokenizers import qwen_folder

FOLDERS = {"qwen": qwen_folder, "metaspace": lambda: family_folder("metaspace"), "t5": lambda: family_folder("t5")}
FOLDERS |= {name: (lambda name=name: family_folder(name)) for name in ("roberta", "llama2", "llama3", "bert")}


def test_a_joint_inside_of_a_word_is_seen() -> None:
    backend = Tokenizer.from_file(str(qwen_folder() / "tokenizer.json"))
    left, right = backend.encode(" the quick brown fo").ids, backend.encode("xes run").ids
    good = tuple(backend.encode(" the quick brown foxes run").ids[-3:])
    audit = JointAudit()
    audit.add(0, [Joint(b" the quick brown foxes run", good)])
    audit.add(1, [Joint(b" the quick brown foxes run", (*left[-2:], *right))])
    audit.add(2, [Joint(b" the quick brown foxes run", good)])
    audit.encode(backend)
    assert audit.differing == [1]
    assert (audit.seen, audit.distinct, audit.prompts) == (3, 2, 3)


def test_a_window_does_not_grow_with_the_master() -> None:
    """Masters of equal requests have one cut, far behind their beginning."""
    text = b"".join(b" word" for _ in range(2000))
    master = Master(np.arange(2003, dtype=np.int32), text, {3: 0, 2003: len(text)})
    found = master_before(master, 2003, 3)
    assert len(found.text) <= 160
    assert found.text.startswith(b" ")
    assert found.ids.tolist() == [2001, 2002]
    chinese = ("字" * 300).encode()
    whole = master_before(Master(np.arange(303, dtype=np.int32), chinese, {3: 0, 303: len(chinese)}), 303, 3).text
    assert 150 < len(whole) <= 160
    assert whole.decode() == "字" * (len(whole) // 3)
    short = Master(np.arange(6, dtype=np.int32), b" a b c", {3: 0, 6: 6})
    assert master_before(short, 6, 3).ids.tolist() == [5]


@pytest.mark.parametrize("name", FOLDERS)
def test_all_joints_of_a_good_dataset_hold(name: str, tmp_path: Path) -> None:
    result = made(
        tmp_path,
        tokenizer=str(FOLDERS[name]()),
        request_count=150,
        input_length={"mode": "uniform", "min": 60, "max": 400},
    )
    joints = result.report["audit"]["joints"]
    assert joints["differing_prompts"] == 0
    assert joints["seen"] >= 2 * 150
    assert 150 <= joints["encoded"] <= joints["seen"]


def test_texts_cut_anywhere_are_found_in_the_same_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule where a piece may end, a Unigram tokenizer cuts half words otherwise; both audits see it."""

    def anywhere(picker: Picker, first: NDArray[np.int64], wanted: NDArray[np.int64]) -> Any:
        return np.where(wanted > 0, wanted, 0)

    monkeypatch.setattr(suffixes, "_legal", anywhere)
    with pytest.raises(VerdictError, match="texts do not encode to their token ids"):
        made(tmp_path, tokenizer=str(family_folder("t5")), request_count=200, input_length=150)
    audit = read_json(tmp_path / "validation_report.json")["audit"]
    assert audit["differing_prompts"] > 10
    assert audit["joints"]["differing_prompts"] == audit["differing_prompts"]
    assert audit["joints"]["first_differing"] == audit["first_differing"]
