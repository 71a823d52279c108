"""More branches at one node, or more groups, than the tokenizer has words: said before any shard is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import InputError
from tests.support.datasets import made

CROWDED: dict[str, Any] = {"request_count": 12_000, "input_length": 8, "block_size": 1, "target": {"hit_ratio": 0.3}}


@pytest.mark.parametrize("changes", [{}, {"hit_drop": 1}, {"hit_drop": 1, "execution": {"mode": "compare"}}])
def test_more_branches_than_words(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"safe words for that place, \d+") as caught:
        made(tmp_path, **{**CROWDED, **changes})
    assert (caught.value.field, caught.value.stage, caught.value.exit_code) == ("block_size", "build_masters", 2)
    assert "prefix.groups" in str(caught.value.remedy)
    assert not list(tmp_path.glob("shards/*"))


def test_more_groups_than_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"only \d+ safe words") as caught:
        made(tmp_path, request_count=10_500, input_length=40, prefix={"group_count": 5_250}, target={"hit_ratio": 0.1})
    assert caught.value.field == "prefix.groups"
    assert not list(tmp_path.glob("shards/*"))


def test_more_groups_or_a_larger_block_help(tmp_path: Path) -> None:
    groups = made(tmp_path / "groups", **CROWDED, prefix={"group_count": 40})
    block = made(tmp_path / "block", **{**CROWDED, "input_length": 16, "block_size": 2})
    assert (groups.status, block.status) == ("PASS", "PASS")
