"""An unknown key is refused with the nearest right one."""

from __future__ import annotations

from typing import Any

import pytest

from prefixcache.config import parse_config
from prefixcache.errors import InputError
from tests.config.sample import full, merged

TYPOS: list[tuple[str, str, str]] = [
    # path of the block, unknown key, nearest key
    ("", "block_siz", "block_size"),
    ("", "inputlength", "input_length"),
    ("", "targets", "target"),
    ("tokenizer", "pth", "path"),
    ("tokenizer", "revison", "revision"),
    ("input_length", "vals", "values"),
    ("output_length", "valeu", "value"),
    ("target", "hit_rate", "hit_ratio"),
    ("target", "semantic", "semantics"),
    ("prefix", "minimal_non_shared_length", "minimum_non_shared_length"),
    ("prefix", "group", "groups"),
    ("prefix.groups.0", "request_weights", "request_weight"),
    ("suffix", "sourse", "source"),
    ("suffix", "collision_detector", "collision_detection"),
    ("suffix.collision_detection", "window_block", "window_blocks"),
    ("request_order", "within_groups", "within_group"),
    ("request_order", "accross_group", "across_group"),
    ("execution", "warmup_round", "warmup_rounds"),
    ("execution", "concurency", "concurrency"),
    ("routing", "dpsize", "dp_size"),
    ("routing", "stick_routing", "sticky_routing"),
    ("planning", "max_iteration", "max_iterations"),
    ("validation", "pass_tolerence", "pass_tolerance"),
]


@pytest.mark.parametrize(("block", "typo", "right"), TYPOS, ids=lambda item: str(item) or "top")
def test_an_unknown_key_names_the_nearest_right_one(block: str, typo: str, right: str) -> None:
    raw = full()
    place: Any = raw
    for part in filter(None, block.split(".")):
        place = place[int(part) if part.isdigit() else part]
    place[typo] = 1
    with pytest.raises(InputError) as found:
        parse_config(raw)
    path = block.replace(".0", "[0]")
    assert found.value.field == (f"{path}.{typo}" if path else typo)
    assert found.value.remedy == f"write `{right}`."
    assert "unknown key" in found.value.message


@pytest.mark.parametrize(
    ("length", "typo", "right"),
    [
        ({"mode": "truncated_normal", "min": 1, "max": 9, "mean": 5, "std": 1}, "sd", "std"),
        ({"mode": "lognormal", "min": 1, "max": 9, "median": 5, "sigma": 1}, "medain", "median"),
        ({"mode": "uniform", "min": 1, "max": 9}, "maks", "max"),
        ({"mode": "empirical", "file": "a.csv"}, "replace", "replacement"),
        ({"mode": "histogram", "bins": [{"range": [1, 2], "weight": 1}]}, "bin", "bins"),
    ],
)
def test_the_nearest_key_is_one_of_the_length_mode(length: dict[str, Any], typo: str, right: str) -> None:
    with pytest.raises(InputError, match=rf"input_length\.{typo}: unknown key\. Remedy: write `{right}`"):
        parse_config(merged({"input_length": {**length, typo: 1}}))


def test_the_nearest_key_inside_a_bin() -> None:
    bins = [{"range": [1, 2], "weight": 1}, {"range": [2, 3], "weight": 1, "wieght": 2}]
    with pytest.raises(InputError, match=r"input_length\.bins\[1\]\.wieght: unknown key\. Remedy: write `weight`"):
        parse_config(merged({"input_length": {"mode": "histogram", "bins": bins}}))


def test_a_key_like_no_other_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"remove it; known keys here: .*across_group, mode, .*within_group"):
        parse_config(merged({"request_order": {"qqqqqq": 1}}))


def test_a_typo_explains_what_seems_missing() -> None:
    with pytest.raises(InputError, match=r"target\.hit_ration: unknown key .*write `hit_ratio`"):
        parse_config(merged({"target": {"hit_ration": 0.5}, "block_size": -1}))
