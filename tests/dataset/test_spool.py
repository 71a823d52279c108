"""Prompts put aside: in memory or in a file they read back as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.dataset import spool
from prefixcache.dataset.spool import IdSpool, TextSpool


@settings(max_examples=60, deadline=None)
@given(st.lists(st.none() | st.text(max_size=30), max_size=30), st.sampled_from([0, 20, 1 << 20]))
def test_texts_read_back(values: list[str | None], memory: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "IN_MEMORY_BYTES", memory or 1)
        kept = TextSpool()
        for value in values:
            kept.append(value)
        assert list(kept) == values
        assert kept[3:9] == values[3:9]
        assert len(kept) == len(values)
        assert kept.texts == sum(value is not None for value in values)


def test_ids_read_back_in_any_order() -> None:
    rows = [np.arange(size, dtype=np.int32) * 3 for size in (5, 0, 7)]
    kept = IdSpool()
    for row in rows:
        kept.append(row)
    assert [kept[i].tolist() for i in (2, 0, 1)] == [rows[i].tolist() for i in (2, 0, 1)]
    assert kept.lengths.tolist() == [5, 0, 7]
    with pytest.raises(ValueError, match="being read"):
        kept.append(rows[0])
