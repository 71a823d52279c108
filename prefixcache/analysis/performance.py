"""Latency and throughput of a pass from its request records (RFC 3.3.20; docs/measuring.md has the definitions)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

PERCENTILES = (50, 90, 95, 99)
LATENCIES = ("ttfb_s", "ttft_s", "time_to_text_s", "tpot_s", "itl_max_s", "e2e_s")
"""Per-request latencies that have a distribution, over requests with status ``ok``."""
ADDED = ("ttfb_s", "time_to_text_s", "itl_max_s", "slot_wait_s", "retries", "failures_by_kind", "without_retried")
"""Figures that runs of older versions do not have."""
Row = Mapping[str, Any]


def distribution(values: Iterable[float | None]) -> dict[str, float | int | None]:
    """``count, mean, min, max, p50, p90, p95, p99`` of the values that are known; null for an empty set.

    Percentiles interpolate linearly between the two nearest values.
    """
    known = np.array([v for v in values if v is not None], dtype=np.float64)
    names = ("mean", "min", "max", *(f"p{p}" for p in PERCENTILES))
    if not known.size:
        return {"count": 0, **dict.fromkeys(names)}
    figures = (known.mean(), known.min(), known.max(), *np.percentile(known, PERCENTILES))
    return {"count": int(known.size), **{n: float(f) for n, f in zip(names, figures, strict=True)}}


def summarise(rows: Sequence[Row], duration_s: float) -> dict[str, Any]:
    """Figures of one pass's measured requests.

    Args:
        rows: rows of ``request_results.jsonl``; columns that an older version did not write may be absent.
        duration_s: seconds from the beginning of the pass to the end of its last request.

    Returns:
        Latencies in seconds over requests with status ``ok`` only; throughputs per second of ``duration_s``, output
        tokens over ``ok`` requests, null as soon as one of their answers does not tell; rates over all requests sent,
        failed ones included.
    """
    ok = [r for r in rows if r["status"] == "ok"]
    sent = [r for r in rows if r["sent_s"] is not None]
    counts = Counter(r["status"] for r in rows)
    input_tokens = sum(_known(r, "prompt_tokens", r["input_len"]) for r in ok)
    outputs = [int(r["completion_tokens"]) for r in ok if r["completion_tokens"] is not None]
    output_tokens = sum(outputs) if len(outputs) == len(ok) else None
    return {
        "requests": len(rows),
        "ok": len(ok),
        "failed": len(rows) - len(ok),
        "counts_by_status": dict(sorted(counts.items())),
        "success_rate": _per(len(ok), len(rows)),
        "timeout_rate": _per(counts["timeout"], len(rows)),
        "duration_s": duration_s,
        **_latencies(ok),
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "request_throughput": _per(len(ok), duration_s),
        "input_token_throughput": _per(input_tokens, duration_s),
        "output_token_throughput": _per(output_tokens, duration_s),
        "qps_sent": _per(len(sent), duration_s),
        "gate_wait_s": distribution(r["gate_wait_s"] for r in sent),
        "lag_s": distribution(r["lag_s"] for r in sent),
        "slot_wait_s": distribution(_slot_wait(r) for r in sent),
        "gate_broken": sum(bool(r["gate_broken"]) for r in rows),
        "failures_by_kind": _failures(rows),
        "retries": _retries(rows),
        "without_retried": _without_retried(ok),
    }


def summarise_by(rows: Sequence[Row], key: str, duration_s: float) -> dict[str, dict[str, Any]]:
    """``summarise`` for each value of a column, e.g. ``endpoint`` or ``prefix_group_id``."""
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        parts[str(row[key])].append(row)
    return {name: summarise(part, duration_s) for name, part in parts.items()}


def latency(row: Row, name: str) -> float | None:
    """A latency of one request, seconds after it was sent: first byte and first text come from their moments."""
    moment = {"ttfb_s": "first_byte_s", "time_to_text_s": "first_text_s"}.get(name)
    if moment is None:
        return _number(row.get(name))
    at, sent = _number(row.get(moment)), _number(row.get("sent_s"))
    return None if at is None or sent is None else at - sent


def _latencies(ok: Sequence[Row], names: Sequence[str] = LATENCIES) -> dict[str, Any]:
    return {name: distribution(latency(row, name) for row in ok) for name in names}


def _slot_wait(row: Row) -> float | None:
    """Of an open loop: how long after its scheduled moment the request got a slot; 0 if one was free by then."""
    scheduled, ready = _number(row.get("scheduled_s")), _number(row.get("ready_s"))
    return None if scheduled is None or ready is None else max(0.0, ready - scheduled)


def _failures(rows: Sequence[Row]) -> dict[str, int]:
    """Failed requests by what exactly failed; where only the status is known, by that."""
    kinds = Counter(str(r.get("failure") or r["status"]) for r in rows if r["status"] != "ok")
    return dict(sorted(kinds.items()))


def _retries(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Requests that were sent more than once; None where the records do not tell."""
    told = [r for r in rows if r.get("attempts") is not None]
    if not told:
        return None
    again = [r for r in told if was_retried(r)]
    kinds = Counter(str(kind) for r in again for kind in r.get("retried") or ())
    return {
        "requests": len(again),
        "attempts": sum(int(r["attempts"]) for r in told),
        "by_kind": dict(sorted(kinds.items())),
        "possibly_warm": sum(r["status"] == "ok" for r in again),
    }


def was_retried(row: Row) -> bool:
    """Sent more than once: the attempt before may have left its own prefix in the cache."""
    return int(row.get("attempts") or 0) > 1 or bool(row.get("retried"))


def _without_retried(ok: Sequence[Row]) -> dict[str, Any] | None:
    """The latencies again over requests answered at the first attempt; None if all were."""
    first = [r for r in ok if not was_retried(r)]
    if len(first) == len(ok):
        return None
    return {"requests": len(first), **_latencies(first, ("ttft_s", "tpot_s", "e2e_s"))}


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _known(row: Row, key: str, otherwise: int) -> int:
    value = row[key]
    return otherwise if value is None else int(value)


def _per(part: float | None, whole: float) -> float | None:
    return part / whole if whole and part is not None else None
