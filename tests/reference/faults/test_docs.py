"""docs/faults.md leaves out no key, and its examples are plans."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prefixcache.config.load import parse_yaml
from prefixcache.reference.faults.plan import Inserted, Rule, Stall, StreamForm, parse_plan

PAGE = (Path(__file__).parents[3] / "docs" / "faults.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def test_every_key_is_on_the_page() -> None:
    keys = {name for model in (Rule, StreamForm, Inserted, Stall) for name in model.model_fields}
    assert [key for key in sorted(keys) if not re.search(rf"[`{{ ]{key}[`:, ]", PAGE)] == []


def test_no_key_of_the_page_is_invented() -> None:
    """First column of the tables."""
    known = {*Rule.model_fields, *StreamForm.model_fields}
    named = {key for row in re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE) for key in re.findall(r"`(\w+)", row)}
    assert named - known == set()
    assert len(named) > 40


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_plans(example: str) -> None:
    assert parse_plan(parse_yaml(example, "docs/faults.md", "--faults")).rules


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3
