"""What --write-config writes is valid with the rest of a configuration, and holds nothing that was not found."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from prefixcache.config import parse_config
from prefixcache.config.load import TOP_KEY
from prefixcache.probe.findings import Finding, ProbeReport
from prefixcache.probe.fragment import fragment

REST = {
    "dataset_id": "x",
    "request_count": 20,
    "input_length": {"mode": "fixed", "value": 9000},
    "target": {"hit_ratio": 0.5},
}
AGREES = {"strings": 24, "agree": 24, "compared": "ids", "differ": []}


def report(**values: Any) -> ProbeReport:
    made = ProbeReport("http://h:1")
    made.add(*(Finding(name, value, "measured") for name, value in values.items()))
    return made


def written(made: ProbeReport, tokenizer: str | None = None) -> dict[str, Any]:
    tree = yaml.safe_load(fragment(made, tokenizer))[TOP_KEY]
    assert isinstance(tree, dict)
    return tree


@pytest.mark.parametrize(
    ("stated", "unit", "keys"),
    [
        (16, 16, {"block_size": 16, "hit_unit": 16, "hit_drop": 1}),
        (16, 784, {"block_size": 16, "hit_unit": 784, "hit_drop": 1}),
        (64, 16, {"block_size": 16, "hit_drop": 1}),  # a unit that is no multiple: the statement is left out
        (None, 128, {"block_size": 128, "hit_drop": 1}),
    ],
)
def test_block_size_and_unit(stated: int | None, unit: int, keys: dict[str, int]) -> None:
    tree = written(report(block_size=stated, hit_unit=unit, hit_drop=1))
    assert tree == keys
    config = parse_config({**REST, **tree})
    assert (config.unit, config.hit_drop) == (unit, 1)


def test_without_a_unit_only_what_is_stated() -> None:
    made = report(block_size=16, hit_unit=None, hit_drop=None)
    assert written(made) == {"block_size": 16}
    assert "could not be measured" in fragment(made, None)


def test_everything_at_once_is_a_valid_configuration() -> None:
    made = report(
        block_size=16, hit_unit=32, hit_drop=0, max_model_len=131072, dp_size=2, tokenizer=AGREES,
        matching="independent_block", reset="POST /reset_prefix_cache", salt="cache_salt",
    )  # fmt: skip
    made.contradict("block_size", stated=16, unit=32)
    tree = written(made, "./models/my model")
    config = parse_config({**REST, **tree})
    assert config.tokenizer is not None
    assert config.tokenizer.path == "./models/my model"
    assert config.routing.domains == 2
    assert config.max_model_len == 131072
    assert config.suffix.collision_detection.cache_match_semantics == "independent_block"
    text = fragment(made, "x")
    assert "# Contradiction: the server says 16, it matches in 32 tokens" in text
    assert "--isolation reset" in text


def test_a_tokenizer_that_differs_is_not_written() -> None:
    differs = {**AGREES, "agree": 23, "differ": [{"name": "cjk"}]}
    assert "tokenizer" not in written(report(block_size=16, tokenizer=differs), "./x")
    assert "tokenizer" not in written(report(block_size=16, tokenizer=None), "./x")


@pytest.mark.parametrize(
    ("found", "hint"),
    [({"reset": "POST /x"}, "--isolation reset"), ({"salt": "cache_salt"}, "--isolation salt"), ({}, "variant")],
)
def test_the_isolation_that_was_seen_to_work(found: dict[str, str], hint: str) -> None:
    assert hint in fragment(report(block_size=16, **found), None)


def test_nothing_found_is_still_yaml() -> None:
    assert written(report()) == {}
