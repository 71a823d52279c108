"""What shards contribute, as arrays over many prompts and as files, against the same prompt by prompt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.blocks import block_forms_of_many, mix
from prefixcache.cache.matching.semantics import Matching
from prefixcache.content.collisions.detection import CollisionDetector
from prefixcache.content.collisions.part_keys import CollisionRules, PartKeys, Placed, Prompts, part_keys
from prefixcache.content.collisions.windows import window_keys, windows_of_many
from tests.content.test_collisions_detection import MATCHINGS, datasets


@settings(max_examples=200, deadline=None)
@given(datasets(), st.integers(1, 3), st.sampled_from([2, 4]))
def test_windows_of_many_are_the_windows_of_each(rows: list[Placed], width: int, block: int) -> None:
    prompts = Prompts.of(rows)
    forms, blocks = block_forms_of_many(prompts.ids, prompts.ends, block)
    keys, counts = windows_of_many(mix(forms), blocks, prompts.prefixes // block + 1, width)
    each = [window_keys(row.ids, block, width, row.prefix) for row in rows]
    assert counts.tolist() == [len(own) for own in each]
    assert keys.tolist() == [key for own in each for key in own.tolist()]


@settings(max_examples=200, deadline=None)
@given(datasets(), st.sampled_from(MATCHINGS))
def test_pieces_of_many_are_the_pieces_of_each(rows: list[Placed], matching: Matching) -> None:
    prompts = Prompts.of(rows)
    for found, each in (
        (matching.pieces_of_many(prompts.ids, prompts.ends), [matching.pieces(row.ids) for row in rows]),
        (
            matching.stored_of_many(prompts.ids, prompts.ends, prompts.domains),
            [matching.stored(row.ids, row.domain) for row in rows],
        ),
    ):
        assert found[1].tolist() == [len(keys) for keys, _ in each]
        assert found[0].tolist() == [key for keys, _ in each for key in keys.tolist()]
        assert found[2].tolist() == [end for _, ends in each for end in ends.tolist()]


@pytest.mark.parametrize("matching", MATCHINGS, ids=lambda matching: matching.semantics)
def test_contributions_kept_in_files_give_the_same_findings(matching: Matching, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    shared = random.integers(0, 3, 12)
    rows = [
        Placed(row, "ab"[row % 2], row % 2, 8, np.concatenate([shared[:8], random.integers(0, 3, 9)]).astype(np.int32))
        for row in range(40)
    ]
    rules = CollisionRules(matching, 4, 0, 2)
    with CollisionDetector(rules) as direct, CollisionDetector(rules) as mapped:
        for number in range(4):
            part = rows[number * 10 : number * 10 + 10]
            direct.add(str(number), part)
            files = part_keys(rules, Prompts.of(part)).save(tmp_path / f"{number}")
            assert all(path.is_file() for path in files)
            mapped.add_keys(str(number), PartKeys.open(tmp_path / f"{number}"))
        found = direct.result()
        assert found.requests
        assert mapped.result() == found
