"""Radix selection over all gaps against sorting them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from prefixcache.analysis import token_gaps
from prefixcache.analysis.performance import distribution
from prefixcache.analysis.token_gaps import TOKEN_TIMES, gap_distribution
from prefixcache.errors import InputError
from prefixcache.load.records.token_times import TokenTimes


def stored(root: Path, times: dict[str, Sequence[float]], pass_name: str = "cold") -> Path:
    path = root / TOKEN_TIMES
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = TokenTimes(path)
    writer.append(pass_name, "warmup", next(iter(times)), [0.0, 1000.0])
    for name, moments in times.items():
        writer.append(pass_name, "measured", name, moments)
    writer.close(complete=True)
    return root


def slow(times: dict[str, Sequence[float]]) -> dict[str, float | int | None]:
    """All gaps in one list."""
    gaps: list[float | None] = []
    for moments in times.values():
        exact = np.array(moments, dtype=np.float32)
        gaps += [float(later - earlier) for earlier, later in pairwise(exact)]
    return distribution(gaps)


@pytest.mark.parametrize("seed", range(6))
def test_percentiles_equal_those_of_all_gaps_sorted(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_gaps, "BATCH_ROWS", 7)
    random = np.random.default_rng(seed)
    times = {}
    for number in range(60):
        gaps = random.lognormal(-4, 1.5, random.integers(0, 40)) * random.integers(0, 2, 1)
        times[f"r{number}"] = np.cumsum(gaps.round(2) if seed % 2 else gaps).tolist()  # ties, too
    found = gap_distribution(stored(tmp_path, times), "cold", pl.Series(list(times)))
    assert found is not None
    wanted = slow(times)
    assert found["count"] == wanted["count"] != 0
    assert found == pytest.approx(wanted, rel=1e-6)


def test_only_answered_requests_of_the_pass_count(tmp_path: Path) -> None:
    root = stored(tmp_path, {"good": [0.1, 0.2, 0.4], "failed": [0.0, 9.0], "one": [0.3], "none": []})
    found = gap_distribution(root, "cold", pl.Series(["good", "one", "none"]))
    assert found is not None
    assert (found["count"], found["max"]) == (2, pytest.approx(0.2))
    other = gap_distribution(root, "hot", pl.Series(["good"]))
    assert other is not None
    assert (other["count"], other["p50"]) == (0, None)


def test_a_run_without_token_times_has_no_distribution(tmp_path: Path) -> None:
    assert gap_distribution(tmp_path, "cold", pl.Series(["a"])) is None


@pytest.mark.parametrize("content", [b"no parquet", None])
def test_a_damaged_file_is_an_input_error(content: bytes | None, tmp_path: Path) -> None:
    root = stored(tmp_path, {"a": [0.5, 0.1]})  # backwards
    if content is not None:
        (root / TOKEN_TIMES).write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        gap_distribution(root, "cold", pl.Series(["a"]))
