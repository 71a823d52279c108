"""Which requests of two passes belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from prefixcache.analysis.performance import was_retried
from prefixcache.analysis.rundir import RunDirectory

PairedBy = Literal["request_id", "request_number"]
_OF_EACH = ("status", "ttft_s", "tpot_s", "e2e_s", "input_len", "completion_tokens", "cached_tokens", "retried_once")


@dataclass(frozen=True)
class Side:
    """One pass of a run, under the label that the reader knows it by."""

    label: str
    run: RunDirectory
    pass_name: str

    @property
    def name(self) -> str:
        return f"{self.label}/{self.pass_name}"

    def rows(self) -> pl.DataFrame:
        """The plan in send order with the pass's answers, and ``retried_once``: sent more than once."""
        rows = self.run.measured(self.pass_name)
        again = [was_retried(row) for row in rows.select("attempts", "retried").iter_rows(named=True)]
        return rows.with_columns(pl.Series("retried_once", again, pl.Boolean))


@dataclass(frozen=True)
class Pairs:
    """``both``: pairs of answered requests, columns of the baseline as they are and the candidate's with ``_right``.

    ``counts``: what was paired and what was left out, requests.
    """

    both: pl.DataFrame
    paired_by: PairedBy
    counts: dict[str, Any]


def pair(baseline: Side, candidate: Side) -> Pairs:
    """Pair by request id; the ids of datasets with other names by what stands behind the name (paired sets of one
    configuration number their requests alike).
    """
    first, second = baseline.rows(), candidate.rows()
    how: PairedBy = "request_id"
    if not first["request_id"].is_in(second["request_id"].implode()).any():
        how = "request_number"
        first, second = _numbered(first, baseline.run), _numbered(second, candidate.run)
    columns = ["request_id", *_OF_EACH]
    both = first.select(columns).join(second.select(columns), on="request_id", how="inner", maintain_order="left")
    answered = both.filter((pl.col("status") == "ok") & (pl.col("status_right") == "ok"))
    ok, ok_right = (pl.col(name).eq("ok").fill_null(False) for name in ("status", "status_right"))
    return Pairs(
        answered,
        how,
        {
            "planned_in_both": both.height,
            "pairs": answered.height,
            "only_in_baseline": first.height - both.height,
            "only_in_candidate": second.height - both.height,
            "not_answered_in_baseline": both.filter(~ok).height,
            "not_answered_in_candidate": both.filter(~ok_right).height,
            "retried": _count(answered, pl.col("retried_once") | pl.col("retried_once_right")),
            "other_input_len": _count(answered, pl.col("input_len") != pl.col("input_len_right")),
            "other_output_len": _count(answered, pl.col("completion_tokens") != pl.col("completion_tokens_right")),
        },
    )


def _numbered(rows: pl.DataFrame, run: RunDirectory) -> pl.DataFrame:
    name = f"{run.manifest.get('dataset_id')}-"
    return rows.with_columns(pl.col("request_id").str.strip_prefix(name))


def _count(rows: pl.DataFrame, condition: pl.Expr) -> int:
    return rows.filter(condition).height
