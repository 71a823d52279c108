"""Fields inside of blocks are explained too, under their own names and in both languages."""

from __future__ import annotations

import re

import pytest

from prefixcache.help.entries import find
from prefixcache.help.words.nested import NESTED
from prefixcache.schemas.words import OWN


@pytest.mark.parametrize("name", NESTED)
def test_found_by_name_and_by_the_end_of_a_path(name: str) -> None:
    for query in (name, f"some.block.{name}"):
        assert [entry.words for entry in find(query)] == [NESTED[name]]
    assert re.search("[一-鿿]", NESTED[name].zh) and not re.search("[一-鿿]", NESTED[name].en)


@pytest.mark.parametrize("name", OWN)
def test_every_field_of_the_schemas_is_known(name: str) -> None:
    assert find(name)


def test_a_field_of_its_own_is_not_taken_for_a_similar_one() -> None:
    [entry] = find("capacity")
    assert entry.name == "capacity" and entry.topic == "field"
