"""How a run went, moment by moment: one row for the terminal while it lasts and for whoever looks again later.

``runtime/series.parquet`` holds the very samples that a live view was shown, so a replay draws the same frames.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from prefixcache.load.records.rows import Phase

Mark = Literal["begin", "load", "all_sent", "end", "counted"]
MARKS: tuple[Mark, ...] = ("begin", "load", "all_sent", "end", "counted")


@dataclass(frozen=True, slots=True)
class Sample:
    """Where a pass stood at one moment. Everything counts from the beginning of its phase; None is "not known".

    Args:
        pass_name, phase: as in ``request_results.jsonl`` (``pass`` in rows).
        mark: what has just happened. ``begin`` and ``end`` of the phase; ``load``: the request that a cold pass sends
            alone is answered, and the clock of the load begins; ``all_sent``; ``counted``: the counters were read when
            the server was idle. None: time has passed.
        run_s: seconds since the first sample of the run.
        t_s: seconds on the clock of the phase's requests.
        planned, sent, in_flight, ended: requests (in a warmup prompts, of all rounds); ``sent`` are those handed to a
            connection, ``ended`` those that were answered or failed.
        failed, retried: of those that ended.
        requests_per_s: requests that ended per second, over the last seconds
            (``prefixcache.load.records.sampler.WINDOW_S``).
        ttft_p50_s, ttft_p90_s, ttft_p99_s: of the requests answered so far; a request counts when it has ended, since
            only then it is known to be good. ``ttft_recent_p50_s``: of those that ended within the last seconds.
        counters_s: when the counters and gauges were read, on the clock of ``t_s``.
        query_tokens, hit_tokens: what the server's counters have risen by since the pass began; None for counters in
            blocks, after a reset and where an endpoint is missing. ``hit_ratio``: their quotient (of blocks too).
        designed_input_tokens, designed_hit_tokens: as planned, of the measured requests whose first token had come when
            the counters were read (has come, if they never were); ``designed_ratio``: their quotient. None in a warmup.
        kv_usage: 0-1, of several engines the fullest. running, waiting: requests, of all engines.
    """

    pass_name: str
    phase: Phase
    mark: Mark | None
    run_s: float
    t_s: float
    planned: int
    sent: int
    in_flight: int
    ended: int
    failed: int
    retried: int
    requests_per_s: float | None
    ttft_p50_s: float | None
    ttft_p90_s: float | None
    ttft_p99_s: float | None
    ttft_recent_p50_s: float | None
    counters_s: float | None
    query_tokens: int | None
    hit_tokens: int | None
    hit_ratio: float | None
    designed_input_tokens: int | None
    designed_hit_tokens: int | None
    designed_ratio: float | None
    kv_usage: float | None
    running: float | None
    waiting: float | None

    def to_row(self) -> dict[str, Any]:
        """The row, ``pass`` for ``pass_name``."""
        row = asdict(self)
        return {"pass": row.pop("pass_name"), **row}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Sample:
        """The inverse of ``to_row``.

        Raises:
            KeyError: a column is missing.
        """
        return cls(row["pass"], *(row[name] for name in COLUMNS[1:]))


COLUMNS = ("pass", *(field.name for field in fields(Sample)[1:]))
TEXTS = ("pass", "phase", "mark")
COUNTS = (
    "planned",
    "sent",
    "in_flight",
    "ended",
    "failed",
    "retried",
    "query_tokens",
    "hit_tokens",
    "designed_input_tokens",
    "designed_hit_tokens",
)
"""Columns that hold text and whole numbers; the others are float64."""
