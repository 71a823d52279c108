"""The plan: a YAML list of rules, each saying which requests it is for and what happens to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from prefixcache.config.base import ConfigModel, NonNegative, RuleError, Seed
from prefixcache.config.load import parse_yaml
from prefixcache.config.messages import to_input_error
from prefixcache.errors import InputError, remedy_for_reading

FIELD = "--faults"
STAGE = "fault plan"
WHICH = ("requests", "every", "path", "contains", "after", "probability", "seed", "times")
"""Keys that say which requests a rule is for; all others say what happens."""
_RANGE = re.compile(r"([1-9][0-9]{0,9})(?:-([1-9][0-9]{0,9})?)?")


def _ranges(value: Any) -> Any:
    """``3``, ``"4-7"``, ``"10-"`` or a list of them as pairs; the second of a pair is None where there is no end."""
    parts = value if isinstance(value, list) else [value]
    found = []
    for part in parts:
        match = _RANGE.fullmatch(str(part)) if isinstance(part, int | str) and not isinstance(part, bool) else None
        if match is None:
            raise RuleError(f"{part!r} is no number of a request", remedy='write 3, "4-7", "10-" or a list of these')
        first, last = int(match[1]), match[2]
        if last and int(last) < first:
            raise RuleError(f"{part!r} ends before it begins", remedy="write the smaller number first")
        found.append((first, (int(last) if last else None) if "-" in str(part) else first))
    return tuple(found)


def _forever(value: Any) -> Any:
    if isinstance(value, str) and value != "forever":
        raise RuleError(f"{value!r} is no length of time", remedy="write seconds as a number, or forever")
    return float("inf") if value == "forever" else value


def _one_line(value: str) -> str:
    if "\r" in value or "\n" in value:
        raise RuleError("holds a line end", remedy="write one line")
    return value


def _a_path(value: str) -> str:
    if not re.fullmatch(r"/[^?#\s]*", value):
        raise RuleError(f"{value!r} is no path of a request", remedy="write it from its first slash, without a query")
    return value


def _headers(value: Any) -> Any:
    """Names in lower case; numbers are texts on the wire."""
    if not isinstance(value, dict):
        raise RuleError(f"{value!r} is no block of headers", remedy="write `name: value` lines")
    found = {}
    for name, text in value.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", str(name)):
            raise RuleError(f"{name!r} is no name of a header", remedy="use letters, digits and '-'")
        if not isinstance(text, str | int) or isinstance(text, bool):
            raise RuleError(f"the value of {name} is not a text", remedy="write a text or a number")
        found[str(name).lower()] = _one_line(str(text))
    return found


Ranges = Annotated[tuple[tuple[int, int | None], ...], BeforeValidator(_ranges), Field(min_length=1)]
Positive = Annotated[int, Field(strict=True, ge=1, le=1 << 30)]
Seconds = Annotated[float, BeforeValidator(_forever), Field(strict=True, ge=0)]
Finite = Annotated[float, Field(strict=True, ge=0, le=3600)]
Line = Annotated[str, AfterValidator(_one_line)]
RequestPath = Annotated[str, AfterValidator(_a_path)]
Headers = Annotated[dict[str, str], BeforeValidator(_headers)]


class Point(ConfigModel):
    """A moment in the body of an answer."""

    after_events: NonNegative | None = None
    after_bytes: NonNegative | None = None

    @model_validator(mode="after")
    def _one(self) -> Point:
        if (self.after_events is None) == (self.after_bytes is None):
            raise RuleError("needs a moment", remedy="write either after_events or after_bytes")
        return self


class Stall(Point):
    seconds: Seconds = float("inf")


class MalformedChunk(Point):
    text: Line = "zz"


class Inserted(ConfigModel):
    """An event that the engine did not send."""

    after_events: NonNegative
    what: Literal["error", "error_event", "not_json", "empty_choices", "no_choices", "comment"] | None = None
    data: str | dict[str, Any] | None = None
    event: Line | None = None
    end: bool = False

    @model_validator(mode="after")
    def _one(self) -> Inserted:
        if (self.what is None) == (self.data is None):
            raise RuleError("needs a content", remedy="write either what or data")
        return self


class StreamForm(ConfigModel):
    """How the events of a stream are written."""

    line_end: Literal["lf", "crlf", "cr"] | None = None
    space: bool | None = None
    comment: Line | None = None
    event: Line | None = None
    id: bool | None = None
    retry: NonNegative | None = None
    multi_line: bool | None = None
    bom: bool | None = None
    chunk_bytes: Positive | None = None
    events_per_write: NonNegative | None = None
    tokens_per_event: Positive | None = None
    texts: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    done: bool | None = None
    last: Literal["blank", "line", "none"] | None = None
    usage: Literal["own", "last", "every", "absent"] | None = None
    opening: NonNegative | None = None
    reasoning: NonNegative | None = None
    reasoning_field: Line | None = None
    tool_calls: NonNegative | None = None
    insert: tuple[Inserted, ...] | None = None
    whole: bool | None = None


class End(Point):
    """A moment in an answer, or before it begins."""

    before_headers: bool = False

    @model_validator(mode="after")
    def _one(self) -> End:
        if self.before_headers + (self.after_events is not None) + (self.after_bytes is not None) != 1:
            raise RuleError("needs a moment", remedy="write before_headers, {after_events: N} or {after_bytes: N}")
        return self


def _end(value: Any) -> Any:
    if value == "before_headers":
        return {"before_headers": True}
    if not isinstance(value, dict | End):
        raise RuleError(f"{value!r} is no moment", remedy="write before_headers, {after_events: N} or {after_bytes: N}")
    return value


Ending = Annotated[End, BeforeValidator(_end)]


class Happening(ConfigModel):
    """What happens to a request; None: as without a plan."""

    restart: bool | None = None
    reset_counters: bool | None = None
    drop_series: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    status: Annotated[int, Field(strict=True, ge=200, le=599)] | None = None
    body: str | dict[str, Any] | None = None
    content_type: Line | None = None
    headers: Headers | None = None
    retry_after: NonNegative | Line | None = None

    status_line: Line | None = None
    missing_bytes: Positive | None = None
    keep_alive: Literal["close_silently", "close_on_next", "announce"] | None = None
    malformed_chunk: MalformedChunk | None = None
    write_bytes: Positive | None = None
    pause: Finite | None = None

    delay_headers: Seconds | None = None
    delay_first_event: Seconds | None = None
    stall: Stall | None = None

    reset: Ending | None = None
    close: Ending | None = None
    stream: StreamForm = StreamForm()

    def over(self, other: Happening) -> Happening:
        """Both at once; where both say something, what this one says."""
        mine = {name: getattr(self, name) for name in self.model_fields_set if getattr(self, name) is not None}
        theirs = {name: getattr(other, name) for name in Happening.model_fields}
        forms = {**_given(other.stream), **_given(self.stream)}
        wanted = {**theirs, **{name: value for name, value in mine.items() if name in theirs}}
        return Happening.model_construct(**{**wanted, "stream": StreamForm.model_construct(**forms)})


class Rule(Happening):
    """One rule of a plan."""

    requests: Ranges | None = None
    every: Positive | None = None
    path: RequestPath | None = None
    contains: Annotated[str, Field(min_length=1)] | None = None
    after: NonNegative | None = None
    probability: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None
    seed: Seed = 0
    times: Positive | None = None

    @model_validator(mode="after")
    def _something(self) -> Rule:
        if not self.model_fields_set - set(WHICH):
            raise RuleError("nothing happens by this rule", remedy="write what is to happen, e.g. status: 503")
        if self.content_type is not None and self.body is None:
            raise RuleError("there is no body", field="content_type", remedy="write the body it is for")
        return self


class FaultPlan(ConfigModel):
    rules: tuple[Rule, ...] = ()


def load_plan(path: str | Path) -> FaultPlan:
    """Read and check a plan.

    Raises:
        InputError: with the rule and key, what was found and the remedy.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(
            f"cannot read {path}: {reason}", field=FIELD, remedy=remedy_for_reading(error), stage=STAGE
        ) from None
    return parse_plan(parse_yaml(text, str(path), FIELD))


def parse_plan(raw: Any) -> FaultPlan:
    """A checked plan from plain data: a list of rules, or a mapping with ``rules``."""
    if isinstance(raw, list):
        raw = {"rules": raw}
    if not isinstance(raw, dict):
        raise InputError(
            "is no list of rules", field=FIELD, remedy="write `- requests: 3` and what happens.", stage=STAGE
        )
    if "rules" not in raw and set(raw) & set(Rule.model_fields):
        raise InputError(
            "is one rule, not a list of rules",
            field=FIELD,
            remedy="begin each rule with '- ', e.g. `- requests: 3`, and indent its other lines by two blanks.",
            stage=STAGE,
        )
    try:
        return FaultPlan.model_validate(raw)
    except ValidationError as error:
        found = to_input_error(error, FaultPlan, raw)
        raise InputError(found.message, field=found.field, remedy=found.remedy, stage=STAGE) from None


def _given(form: StreamForm) -> dict[str, Any]:
    return {name: value for name in StreamForm.model_fields if (value := getattr(form, name)) is not None}
