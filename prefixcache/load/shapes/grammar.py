"""The text in which a load is written on the command line, in Prefect and in Python.

``closed:16`` · ``closed:4x30s,16`` · ``constant:200`` · ``poisson:200`` · ``gamma:200,burstiness=0.5`` ·
``rates:10x30s,50x30s`` · ``ramp:10..200,seconds=60,curve=exponential`` · ``trace:FILE,scale=2``
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

from prefixcache.load.shapes.model import Closed, Curve, Rated, RateKind, Replayed, Segment, Shape, Stage
from prefixcache.load.shapes.numbers import positive, rate, seconds_of, slots, whole, wrong

KINDS = ("closed", "constant", "poisson", "gamma", "rates", "ramp", "trace")
EXAMPLES = (
    "write closed:16, constant:200, poisson:200, gamma:200,burstiness=0.5, rates:10x30s,50x30s, "
    "ramp:10..200,seconds=60 or trace:FILE."
)
UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
CURVES = ("linear", "exponential")


def parse_load(text: str) -> Shape:
    """Read a load shape.

    Raises:
        InputError: field ``load``; what is wrong with the text and what may stand there.
    """
    text = text.strip()
    kind, colon, rest = text.partition(":")
    if kind not in KINDS:
        raise wrong(f"{kind!r} is no load shape" if kind else "no load shape is named", EXAMPLES)
    if not colon or not rest.strip():
        raise wrong(f"after {kind} nothing is said", EXAMPLES)
    return _READERS[kind](text, rest.strip())


def _closed(text: str, rest: str) -> Closed:
    stages = tuple(Stage(slots(value), seconds) for value, seconds in _staged(rest, "closed:4x30s,16x30s"))
    return Closed(text, stages)


def _steady(kind: RateKind) -> Callable[[str, str], Rated]:
    known = {"constant": (), "poisson": ("seed",), "gamma": ("burstiness", "seed")}[kind]

    def read(text: str, rest: str) -> Rated:
        value, options = _options(rest, known, kind)
        if kind == "gamma" and "burstiness" not in options:
            raise wrong("gamma has no burstiness", "write e.g. gamma:200,burstiness=0.5.")
        per_second = positive(value, "the rate")
        burstiness = 1.0 if kind == "poisson" else _burstiness(options)
        return Rated(kind, text, (Segment(per_second, per_second),), burstiness, _seed(options))

    return read


def _rates(text: str, rest: str) -> Rated:
    value, options = _options(rest, ("burstiness", "seed"), "rates")
    segments = []
    for written, seconds in _staged(value, "rates:10x30s,50x30s"):
        per_second = rate(written)
        if seconds is None and not per_second:
            raise wrong("a rate of 0 without an end would wait for ever", "write e.g. 0x10s before another rate.")
        segments.append(Segment(per_second, per_second, seconds))
    if not any(segment.start for segment in segments):
        raise wrong("all rates are 0", "write at least one above 0, e.g. rates:10x30s,50x30s.")
    return Rated("rates", text, tuple(segments), _burstiness(options), _seed(options))


def _ramp(text: str, rest: str) -> Rated:
    value, options = _options(rest, ("seconds", "curve", "burstiness", "seed"), "ramp")
    first, dots, last = value.partition("..")
    if not dots:
        raise wrong(f"{value!r} names no two rates", "write e.g. ramp:10..200,seconds=60.")
    start, end = rate(first), rate(last)
    if "seconds" not in options:
        raise wrong("ramp has no seconds", "write how long it lasts, e.g. ramp:10..200,seconds=60.")
    seconds = seconds_of(options["seconds"], bare=True)
    curve = options.get("curve", "linear")
    if curve not in CURVES:
        raise wrong(f"the curve {curve!r} is unknown", f"choose one of {', '.join(CURVES)}.")
    if not start and not end:
        raise wrong("both rates are 0", "write at least one above 0.")
    if curve == "exponential" and not (start and end):
        raise wrong("an exponential ramp cannot touch the rate 0", "write rates above 0 or curve=linear.")
    segments: tuple[Segment, ...] = (Segment(start, end, seconds, cast(Curve, curve)),)
    if end:  # held until the requests end
        segments += (Segment(end, end),)
    return Rated("ramp", text, segments, _burstiness(options), _seed(options))


def _trace(text: str, rest: str) -> Replayed:
    value, options = _options(rest, ("scale", "column", "unit"), "trace")
    unit = options.get("unit", "ms")
    if unit not in UNITS_S:
        raise wrong(f"the unit {unit!r} is unknown", f"choose one of {', '.join(UNITS_S)}.")
    scale = positive(options.get("scale", "1"), "the scale")
    if not value or "\0" in value:
        raise wrong("trace names no file", "write trace:FILE.")
    path = Path(value)
    with contextlib.suppress(RuntimeError):  # a home that nobody has
        path = path.expanduser()
    return Replayed(text, path, options.get("column", "timestamp"), UNITS_S[unit], scale)


_READERS: Mapping[str, Callable[[str, str], Shape]] = {
    "closed": _closed,
    "constant": _steady("constant"),
    "poisson": _steady("poisson"),
    "gamma": _steady("gamma"),
    "rates": _rates,
    "ramp": _ramp,
    "trace": _trace,
}


def _staged(text: str, example: str) -> list[tuple[str, float | None]]:
    """``4x30s,16``: values with their seconds; only the last may be without."""
    stages: list[tuple[str, float | None]] = []
    parts = text.split(",")
    for number, part in enumerate(parts, 1):
        value, times, lasting = part.strip().partition("x")
        if not value:
            raise wrong(f"stage {number} is empty", f"write e.g. {example}.")
        if not times and number < len(parts):
            raise wrong(f"stage {number} of {len(parts)} has no duration", f"write e.g. {example}.")
        stages.append((value, seconds_of(lasting) if times else None))
    return stages


def _options(text: str, known: tuple[str, ...], kind: str) -> tuple[str, dict[str, str]]:
    """What stands before the options, and the options: ``name=value`` parts at the end."""
    parts, options = text.split(","), {}
    while len(parts) > 1 and (found := re.fullmatch(r"\s*([a-z_]+)\s*=\s*(.*?)\s*", parts[-1])):
        name, value = found.groups()
        if name not in known:
            may = f"known are {', '.join(known)}" if known else "there are none"
            raise wrong(f"{kind} has no option {name!r}", f"leave it out; {may}.")
        if name in options:
            raise wrong(f"the option {name} stands there twice", "write it once.")
        if not value:
            raise wrong(f"the option {name} has no value", f"write {name}=VALUE.")
        options[name] = value
        parts.pop()
    return ",".join(parts).strip(), options


def _burstiness(options: Mapping[str, str]) -> float | None:
    return positive(options["burstiness"], "the burstiness") if "burstiness" in options else None


def _seed(options: Mapping[str, str]) -> int:
    return whole(options.get("seed", "0"), "the seed")
