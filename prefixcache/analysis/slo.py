"""Service-level objectives: thresholds for a request's latencies, and how many requests hold them (docs/measuring.md).

A request is good if it was answered to the end and every threshold holds; goodput is good requests per second. That is
the definition of vLLM's benchmark, after DistServe (Zhong et al., OSDI 2024).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from prefixcache.errors import InputError

METRICS = ("ttft", "tpot", "e2e")
_TERM = re.compile(r"\s*(\w+)\s*=\s*(\d+(?:\.\d*)?|\.\d+)\s*(ms|s)?\s*", re.ASCII)
_NAME = re.compile(r"\s*(\w+)\s*=", re.ASCII)
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Slo:
    """Upper limits of latencies, metric → seconds, in the order of ``METRICS``; what equals its limit holds."""

    limits: Mapping[str, float]

    def __str__(self) -> str:
        """As ``parse_slo`` reads it."""
        return ",".join(f"{name}={_plain(limit)}" for name, limit in self.limits.items())

    def to_json(self) -> dict[str, float]:
        """``{ttft_s, tpot_s, e2e_s}``, those that are given."""
        return {f"{name}_s": limit for name, limit in self.limits.items()}


def parse_slo(text: str) -> Slo:
    """Read ``ttft=0.5,tpot=50ms,e2e=3``: seconds, or milliseconds with ``ms``.

    Raises:
        InputError: it is not of this form, names a metric twice, an unknown one, or a limit that is not above 0.
    """
    limits: dict[str, float] = {}
    for term in text.split(","):
        found = _TERM.fullmatch(term)
        if (name := _NAME.match(term)) is not None and name[1] not in METRICS:
            raise _wrong(text, f"{name[1]!r} is unknown, known are {', '.join(METRICS)}")
        if found is None:
            raise _wrong(text, f"{term.strip()!r} is no threshold")
        value = Decimal(found[2]) / (1000 if found[3] == "ms" else 1)
        if found[1] in limits:
            raise _wrong(text, f"{found[1]} is given twice")
        if not 0 < value < Decimal("1e9"):
            raise _wrong(text, f"the limit of {found[1]} is not above 0")
        limits[found[1]] = float(value)
    return Slo({name: limits[name] for name in METRICS if name in limits})


def _wrong(text: str, what: str) -> InputError:
    return InputError(
        what if what.startswith(repr(text)) else f"{text!r} cannot be read: {what}",
        field="--slo",
        remedy="Write for example ttft=0.5,tpot=50ms,e2e=3: seconds, or milliseconds with ms.",
    )


def goodput(rows: Sequence[Row], slo: Slo, duration_s: float | None) -> dict[str, Any]:
    """How a pass's requests hold the thresholds.

    Args:
        rows: measured requests that have a record, failed ones included: those are never good.
        slo: the thresholds.
        duration_s: length of the pass; None: unknown.

    Returns:
        ``requests``, ``good_requests``, ``attainment`` (good / requests), ``goodput`` (good requests per second),
        ``only_by_retry`` (hold all thresholds, but only counted from a later attempt: not good);
        ``thresholds {ttft_s: {limit_s, met, attainment, unknown}}``: requests that hold this one; ``unknown``:
        answered, but without the figure (they count as not met). An answer of one token has no time per further
        token, so ``tpot`` holds for it.
    """
    ok = [row for row in rows if row["status"] == "ok"]
    met = {name: [_holds(row, name, limit) for row in ok] for name, limit in slo.limits.items()}
    holding = [row for row, *held in zip(ok, *met.values(), strict=True) if all(held)]
    good = sum(not _sent_again(row) for row in holding)
    return {
        "slo": str(slo),
        "requests": len(rows),
        "good_requests": good,
        "attainment": _share(good, len(rows)),
        "goodput": good / duration_s if duration_s else None,
        "only_by_retry": len(holding) - good,
        "thresholds": {
            f"{name}_s": {
                "limit_s": slo.limits[name],
                "met": sum(bool(held) for held in each),
                "attainment": _share(sum(bool(held) for held in each), len(rows)),
                "unknown": sum(held is None for held in each),
            }
            for name, each in met.items()
        },
    }


def _holds(row: Row, name: str, limit: float) -> bool | None:
    value = row.get(f"{name}_s")
    if value is None:
        tokens = row.get("completion_tokens")
        return True if name == "tpot" and tokens is not None and tokens < 2 else None
    return float(value) <= limit


def _sent_again(row: Row) -> bool:
    """After a failure that cost its user time: latencies count from the last attempt. A kept connection that turned out
    to be closed cost none.
    """
    return any(kind != "keepalive_closed" for kind in row.get("retried") or ())


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _plain(value: float) -> str:
    return f"{Decimal(repr(value)):f}".removesuffix(".0")
