"""What an editor sees: good files pass, misspelled ones do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from prefixcache.schemas.catalog import schema_of

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
SCHEMA = Draft202012Validator(schema_of("config"))
GOOD: dict[str, Any] = {"request_count": 10, "input_length": 4096, "target": {"hit_ratio": 0.5}}
RATIO = {key: value for key, value in GOOD.items() if key != "target"} | {"target_prefix_ratio": 0.5}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_pass_and_a_misspelled_key_in_them_does_not(path: Path) -> None:
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert [error.message for error in SCHEMA.iter_errors(raw)] == []
    block = raw.get("prefix_cache_dataset", raw)
    block["reqest_count"] = 10
    assert not SCHEMA.is_valid(raw)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"tokenizer": "some/name"},
        {"tokenizer": {"path": "some/name"}},
        {"request_order": "shuffle"},
        {"prefix_mode": "single_prefix"},
        {"input_length": {"mode": "uniform", "min": 10, "max": 20}},
        {"prefix": {"source": "gsm8k", "groups": [{"id": "a", "input_length": 10}]}},
    ],
)
def test_shorthands_pass_at_the_top_and_below_the_top_key(change: dict[str, Any]) -> None:
    for base in (GOOD, RATIO):
        assert SCHEMA.is_valid(base | change)
        assert SCHEMA.is_valid({"prefix_cache_dataset": base | change})


@pytest.mark.parametrize(
    "raw",
    [
        {key: value for key, value in GOOD.items() if key != "input_length"},
        GOOD | {"target": {"hit_ratoi": 0.5}},
        GOOD | {"target": {"hit_ratio": 1.5}},
        GOOD | {"target_prefix_ratio": 0.5},
        GOOD | {"input_length": 0},
        GOOD | {"input_length": {"mode": "uniform", "min": 10}},
        GOOD | {"request_order": "shufle"},
        GOOD | {"prefix_mode": "many"},
        GOOD | {"block_size": "16"},
        {"prefix_cache_dataset": GOOD, "seed": 1},
        {"prefix_cache_dataset": GOOD | {"sede": 1}},
        [],
    ],
)
def test_mistakes_fail(raw: Any) -> None:
    assert not SCHEMA.is_valid(raw)


def test_every_key_is_described() -> None:
    parts = schema_of("config")["$defs"]
    bare = [f"{name}.{key}" for name, part in parts.items() for key, value in part["properties"].items()
            if "description" not in value]  # fmt: skip
    assert bare == []
