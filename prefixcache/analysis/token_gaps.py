"""Inter-token latencies over all gaps of a pass, exactly and in bounded memory.

``runtime/token_times.parquet`` has a row per request: ``pass``, ``phase``, ``request_id``, ``times`` (list of
float32: seconds after ``sent_s`` at which each event with tokens came). A gap is the time between two
successive events of one request.
Percentiles are found by radix selection over the bits of the gaps: floats from 0 upwards sort as their bits do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prefixcache.analysis.performance import PERCENTILES
from prefixcache.errors import InputError

TOKEN_TIMES = Path("runtime/token_times.parquet")
BATCH_ROWS = 1024
_HALF = 1 << 16
Gaps = NDArray[np.float32]


def gap_distribution(run_dir: Path, pass_name: str, request_ids: pl.Series) -> dict[str, Any] | None:
    """``count, mean, min, max, p50, …`` of the gaps, seconds.

    Args:
        run_dir: what ``run`` wrote.
        pass_name: the pass.
        request_ids: requests that count: those that were answered to the end.

    Returns:
        None where there is no file; a count of 0 and nulls where there are no gaps.

    Raises:
        InputError: the file cannot be read.
    """
    path = run_dir / TOKEN_TIMES
    if not path.is_file():
        return None
    try:
        return _distribution(path, pass_name, pl.DataFrame({"request_id": request_ids}))
    except (pa.ArrowException, pl.exceptions.PolarsError, ValueError, OSError) as error:
        raise InputError(
            f"{path} cannot be read: {str(error).splitlines()[0]}",
            field="run_dir",
            remedy="The file was changed after it was written; run the dataset again.",
            stage="report",
        ) from None


def _distribution(path: Path, pass_name: str, wanted: pl.DataFrame) -> dict[str, Any]:
    upper = np.zeros(_HALF, dtype=np.int64)
    total, low, high = 0.0, np.inf, -np.inf
    for gaps in _gaps(path, pass_name, wanted):
        upper += np.bincount(_bits(gaps) >> 16, minlength=_HALF)
        total += float(gaps.sum(dtype=np.float64))
        low, high = min(low, float(gaps.min())), max(high, float(gaps.max()))
    count = int(upper.sum())
    names = ("mean", "min", "max", *(f"p{p}" for p in PERCENTILES))
    if not count:
        return {"count": 0, **dict.fromkeys(names)}
    places = [(count - 1) * p / 100 for p in PERCENTILES]
    ranks = sorted({rank for place in places for rank in (int(place), min(int(place) + 1, count - 1))})
    value = dict(zip(ranks, _at(ranks, upper, path, pass_name, wanted), strict=True))
    figures = []
    for place in places:
        first, second = value[int(place)], value[min(int(place) + 1, count - 1)]
        figures.append(first + (second - first) * (place - int(place)))
    return {"count": count, **dict(zip(names, (total / count, low, high, *figures), strict=True))}


def _at(
    ranks: Sequence[int], upper: NDArray[np.int64], path: Path, pass_name: str, wanted: pl.DataFrame
) -> list[float]:
    """The gaps at these places in ascending order: their upper halves are known, the lower ones are counted now."""
    ends = np.cumsum(upper)
    halves = np.searchsorted(ends, np.array(ranks), side="right")
    lower = {int(half): np.zeros(_HALF, dtype=np.int64) for half in halves}
    for gaps in _gaps(path, pass_name, wanted):
        bits = _bits(gaps)
        for half, counts in lower.items():
            counts += np.bincount(bits[bits >> 16 == half] & (_HALF - 1), minlength=_HALF)
    found = []
    for rank, half in zip(ranks, halves.tolist(), strict=True):
        before = int(ends[half] - upper[half])
        rest = int(np.searchsorted(np.cumsum(lower[half]), rank - before, side="right"))
        found.append(float(np.array([half << 16 | rest], dtype=np.uint32).view(np.float32)[0]))
    return found


def _bits(gaps: Gaps) -> NDArray[np.int64]:
    return gaps.view(np.uint32).astype(np.int64)


def _gaps(path: Path, pass_name: str, wanted: pl.DataFrame) -> Iterator[Gaps]:
    """All gaps, ``BATCH_ROWS`` requests at a time; batches without one are left out."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=["pass", "phase", "request_id", "times"]):
            rows = pl.DataFrame(pa.table(batch)).filter(
                (pl.col("pass") == pass_name) & (pl.col("phase") == "measured") & (pl.col("times").list.len() > 1)
            )
            frame = rows.join(wanted, on="request_id", how="semi")
            if frame.is_empty():
                continue
            times = frame["times"].cast(pl.List(pl.Float32))
            flat = times.explode().to_numpy()
            ends = np.cumsum(times.list.len().to_numpy().astype(np.int64))
            within = np.ones(len(flat) - 1, dtype=bool)
            within[ends[:-1] - 1] = False  # from one request's last event to the next request's first
            gaps: Gaps = np.diff(flat)[within]
            if not (gaps >= 0).all():  # the bits of what is below 0, or no number, do not sort as it does
                raise ValueError("the times of a request run backwards")
            yield gaps
