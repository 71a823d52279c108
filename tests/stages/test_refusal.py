"""A plan that misses its target as one error: which bound it names, which field, a remedy that goes the right way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import VerdictError
from prefixcache.help.chinese.text import chinese_of
from tests.support.datasets import made

SYSTEM = {"system": "You are a helpful assistant. " * 30}
TWO = {"groups": [{"id": "a"}, {"id": "b"}]}
OWN = {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 0.99}, {"id": "b", "hit_ratio": 0.3}]}


@pytest.mark.parametrize(
    ("changes", "field", "found", "remedy", "chinese"),
    [
        (
            {"target": {"hit_ratio": 0.99}},
            *("target.hit_ratio", "99.00 % cannot be reached, 85.26 % at most: ", "lower the target"),
            "目标命中率 99.00 % 不可达，最大可达 85.26 %",
        ),
        (
            {"target": {"hit_ratio": 0.001}, "prompt": SYSTEM, "input_length": 600},
            *("target.hit_ratio", "0.10 % cannot be reached, 33.80 % at least: ", "Raise target.hit_ratio to 0.338000"),
            "目标命中率 0.10 % 不可达，最少为 33.80 %",
        ),
        (
            {"target": OWN, "prefix": TWO, "request_count": 60},
            *("target.groups", "the targets of 1 of 2 prefix groups cannot be reached: group a: ", "lower the target"),
            "2 个 Prefix Group 中有 1 个的目标不可达：Group a：",
        ),
        (
            {"input_length": 20, "prefix": {"minimum_non_shared_length": 16}},
            *("target.hit_ratio", "50.00 % cannot be reached, 0.00 % at most: ", "use longer requests, or: Lower "),
            "目标命中率 50.00 % 不可达，最大可达 0.00 %",
        ),
        (
            {
                "input_length": 160,
                "target": {"hit_ratio": 0.9},
                "planning": {"assume": "capacity", "num_blocks": 12},
                "prefix": {"group_count": 8},
            },
            *("target.hit_ratio", "90.00 % cannot be reached, 0.00 % at most: ", "plan for larger caches"),
            "目标命中率 90.00 % 不可达，最大可达",
        ),
    ],
    ids=["above", "below", "groups", "short", "capacity"],
)
def test_it_says_which_way_it_misses(
    changes: dict[str, Any], field: str, found: str, remedy: str, chinese: str, tmp_path: Path
) -> None:
    with pytest.raises(VerdictError) as caught:
        made(tmp_path, **changes)
    assert caught.value.field == field
    assert found in caught.value.message
    assert (caught.value.remedy or "").startswith(remedy)
    assert chinese_of(caught.value.message).startswith(chinese)
