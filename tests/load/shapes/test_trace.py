"""Recorded arrival times from JSON Lines, CSV and Parquet."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from prefixcache.errors import InputError
from prefixcache.load.shapes.grammar import parse_load
from prefixcache.load.shapes.model import Replayed
from prefixcache.load.shapes.schedule import arrival_offsets

MOMENTS_MS = [3000, 1000, 1000, 4500]
SECONDS = [0.0, 0.0, 2.0, 3.5]


def offsets(text: str, count: int = 10) -> list[float]:
    shape = parse_load(text)
    assert isinstance(shape, Replayed)
    return list(arrival_offsets(shape, count).tolist())


def test_mooncake_lines(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    rows = [{"timestamp": ms, "input_length": 7, "hash_ids": [1]} for ms in MOMENTS_MS]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    assert offsets(f"trace:{path}") == SECONDS
    assert offsets(f"trace:{path},scale=2") == [0.0, 0.0, 4.0, 7.0]
    assert offsets(f"trace:{path},unit=s")[-1] == 3500
    assert offsets(f"trace:{path}", 3) == SECONDS[:3]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    begin = datetime(2023, 11, 16, 18, 17, 3)
    when = [begin + timedelta(milliseconds=ms) for ms in MOMENTS_MS]
    frame = pl.DataFrame({"timestamp": MOMENTS_MS, "TIMESTAMP": when, "name": ["a", "b", "c", "d"]})
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    assert offsets(f"trace:{path}") == SECONDS
    assert offsets(f"trace:{path},column=TIMESTAMP") == SECONDS
    with pytest.raises(InputError, match=r"no column 'at'.*timestamp"):
        offsets(f"trace:{path},column=at")
    with pytest.raises(InputError, match="has no number as 'name'"):
        offsets(f"trace:{path},column=name")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "it holds no request"),
        ('{"timestamp": 1}\n{"time": 2}\n', "line 2 has no number"),
        ('{"timestamp": "x"}\n', "line 1 has no number"),
        ('{"timestamp": true}\n', "line 1 has no number"),
        ("[1]\n", "line 1 has no number"),
        ("1,2\n", "line 1 is not JSON"),
    ],
)
def test_what_is_no_trace(tmp_path: Path, content: str, what: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=what) as caught:
        offsets(f"trace:{path}")
    assert caught.value.field == "load"


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        with pytest.raises(InputError, match="cannot be replayed"):
            offsets(f"trace:{tmp_path / name}")
    (tmp_path / "b.parquet").write_text("no parquet")
    with pytest.raises(InputError, match="cannot be replayed"):
        offsets(f"trace:{tmp_path / 'b.parquet'}")
    (tmp_path / "n.csv").write_text("timestamp\n1\n\n")
    with pytest.raises(InputError, match="row 2 has no number"):
        offsets(f"trace:{tmp_path / 'n.csv'}")


def test_a_trace_of_a_thousand_years_has_another_unit(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"timestamp": 0}\n{"timestamp": 3600000000000000}\n')
    with pytest.raises(InputError, match=r"lasts 3\.6e") as caught:
        offsets(f"trace:{path}")
    assert "unit=" in str(caught.value.remedy)
    assert offsets(f"trace:{path},unit=ns")[-1] == pytest.approx(3.6e6)
    path.write_text('{"timestamp": 1e308}\n{"timestamp": -1e308}\n')
    with pytest.raises(InputError, match="cannot be replayed"):
        offsets(f"trace:{path},unit=s")
