"""What ``prefixcache probe --json`` measured of a server's cache, read from its file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.errors import InputError, remedy_for_reading

FLAG = "--probe-report"
MOST_BYTES = 64 * 2**20
MOST_TOKENS = 2**31


@dataclass(frozen=True, slots=True)
class Measured:
    """Sizes in tokens, the drop in units; None where the probe does not know. ``endpoint``: whom it probed."""

    block_size: int | None = None
    hit_unit: int | None = None
    hit_drop: int | None = None
    endpoint: str | None = None

    def of_others(self, endpoints: Iterable[str]) -> str | None:
        """A warning where another address was probed than these."""
        asked = tuple(dict.fromkeys(endpoints))
        if self.endpoint is None or not asked or self.endpoint in asked:
            return None
        return (
            f"the probe's report is of {self.endpoint}, not of {', '.join(asked)}: its unit is taken all the same; "
            "probe this server if it is another one"
        )


def read_probe_report(path: Path) -> Measured:
    """Read a report; ``findings`` may be a list of ``{name, value, source}`` or an object by name.

    A unit or a drop that was not measured (``source`` ``stated`` or ``unknown``) is not taken for one that was.

    Raises:
        InputError: no such file, no report, or one that measured nothing.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        report: Any = orjson.loads(data) if len(data) <= MOST_BYTES else None
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}", field=FLAG, remedy=remedy_for_reading(error)
        ) from None
    except orjson.JSONDecodeError:
        raise _no_report(path) from None
    findings = report.get("findings", report) if isinstance(report, dict) else None
    if isinstance(findings, list):
        findings = {one["name"]: one for one in findings if isinstance(one, dict) and isinstance(one.get("name"), str)}
    if not isinstance(findings, dict):
        raise _no_report(path)
    found = Measured(
        _number(findings.get("block_size"), 1, stated=True),
        _number(findings.get("hit_unit"), 1),
        _number(findings.get("hit_drop"), 0),
        _address(report.get("endpoint")),
    )
    if found.block_size is None and found.hit_unit is None:
        raise InputError(
            f"{path} tells neither a block size nor a hit unit",
            field=FLAG,
            remedy="run `prefixcache probe --url URL --json` again, without another client on the server.",
        )
    return found


def _number(finding: Any, least: int, *, stated: bool = False) -> int | None:
    value = finding
    if isinstance(finding, dict):
        source = finding.get("source", "measured")
        value = finding.get("value") if source in ("measured", "derived") or (stated and source == "stated") else None
    whole = isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST_TOKENS
    return value if whole else None


def _address(text: Any) -> str | None:
    """A server's address as it may be shown."""
    try:
        return parse_endpoint(text, field_name=FLAG).base if isinstance(text, str) else None
    except InputError:
        return None


def _no_report(path: Path) -> InputError:
    return InputError(
        f"{path} is no report of a probe",
        field=FLAG,
        remedy="write one with `prefixcache probe --url URL --json > FILE`.",
    )
