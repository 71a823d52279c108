"""Latency and throughput of a pass from its request records (RFC 3.3.20)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

PERCENTILES = (50, 90, 95, 99)
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
        rows: rows of ``request_results.jsonl``.
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
        "ttft_s": distribution(r["ttft_s"] for r in ok),
        "tpot_s": distribution(r["tpot_s"] for r in ok),
        "e2e_s": distribution(r["e2e_s"] for r in ok),
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "request_throughput": _per(len(ok), duration_s),
        "input_token_throughput": _per(input_tokens, duration_s),
        "output_token_throughput": _per(output_tokens, duration_s),
        "qps_sent": _per(len(sent), duration_s),
        "gate_wait_s": distribution(r["gate_wait_s"] for r in sent),
        "lag_s": distribution(r["lag_s"] for r in sent),
        "gate_broken": sum(bool(r["gate_broken"]) for r in rows),
    }


def summarise_by(rows: Sequence[Row], key: str, duration_s: float) -> dict[str, dict[str, Any]]:
    """``summarise`` for each value of a column, e.g. ``endpoint`` or ``prefix_group_id``."""
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        parts[str(row[key])].append(row)
    return {name: summarise(part, duration_s) for name, part in parts.items()}


def _known(row: Row, key: str, otherwise: int) -> int:
    value = row[key]
    return otherwise if value is None else int(value)


def _per(part: float | None, whole: float) -> float | None:
    return part / whole if whole and part is not None else None
