"""How requests are sent, apart from when: processes, interface, extra fields, retries, the engine's warm-up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, get_args

import orjson

from prefixcache.errors import InputError
from prefixcache.files import json_place
from prefixcache.load.request.retries import Retries

Api = Literal["openai", "generate"]
STREAMS_A_PROCESS = 512
"""Streams that one process carries without being late: see docs/benchmarks.md, the load generator's table."""
MOST_PROCESSES = 64
MOST_WARMUP = 100_000
SHORTEST_SECRET = 8
"""Characters of a text in the body that is taken out of error texts; shorter ones are words like any other."""
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# Set by the client itself, or they would break the message.
OWN_HEADERS = frozenset(("host", "content-length", "transfer-encoding", "connection", "accept-encoding"))
OWN_FIELDS = frozenset(("prompt", "messages", "input_ids", "text", "stream", "model"))

EXACT: Mapping[str, Any] = {"temperature": 0, "ignore_eos": True, "min_tokens": "max_tokens"}
"""What makes answers the same in every run and exactly as long as planned."""
# Names in the OpenAI API and in SGLang's own.
_LENGTHS = {
    "temperature": "temperature",
    "ignore_eos": "ignore_eos",
    "min_tokens": "min_new_tokens",
    "max_tokens": "max_new_tokens",
}


@dataclass(frozen=True, slots=True)
class Sending:
    """Options of the sender.

    Args:
        processes: that carry requests; None: as many as the streams need, one up to 512 of them.
        api: ``openai`` (completions, or chat for chat datasets) or ``generate`` (SGLang's own route).
        headers: of every request, ``{name: value}``; values may be secret and are never shown.
        extra_body: fields of every request's body; null takes one out that is sent otherwise.
        retries: attempts after a failure. Retried requests are marked.
        engine_warmup: prompts that have nothing in common with the dataset, sent before everything else, so that the
            engine compiles and allocates before it is measured.
        rank_field: field of the body that pins a DP rank; None: the engine's header.

    Raises:
        InputError: a value that cannot be sent with.
    """

    processes: int | None = None
    api: Api = "openai"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    retries: Retries = field(default_factory=Retries)
    engine_warmup: int = 0
    rank_field: str | None = None

    def __post_init__(self) -> None:
        if self.processes is not None and not 1 <= self.processes <= MOST_PROCESSES:
            raise _wrong("processes", f"{self.processes} is not 1 to {MOST_PROCESSES}", "Leave it out, or give fewer.")
        if self.api not in get_args(Api):
            raise _wrong("api", f"{self.api!r} is unknown", f"Choose one of {', '.join(get_args(Api))}.")
        if not 0 <= self.engine_warmup <= MOST_WARMUP:
            what = f"{self.engine_warmup} is not 0 to {MOST_WARMUP:,}"
            raise _wrong("engine_warmup", what, "Give a number of prompts.")
        if self.rank_field is not None and (not self.rank_field.strip() or self.rank_field in OWN_FIELDS):
            raise _wrong("rank_field", "it is no field of its own", "Name one, e.g. routed_dp_rank.")
        if len({name.lower() for name in self.headers}) < len(self.headers):
            raise _twice(next(n for n in self.headers if sum(n.lower() == other.lower() for other in self.headers) > 1))
        for name, value in self.headers.items():
            if not _NAME.fullmatch(name):
                raise _wrong("header", "a name holds characters that no header can have", "Write NAME: VALUE.")
            if name.lower() in OWN_HEADERS:
                raise _wrong("header", f"{name} is set by the client itself", "Leave it out.")
            if not (value.isascii() and value.isprintable()):
                raise _wrong("header", f"the value of {name} holds characters that no header can carry", "Mend it.")
        if own := sorted(OWN_FIELDS & self.extra_body.keys()):
            raise _wrong("extra_body", f"{own[0]} is what the run itself sends", "Leave it out.")
        for name in ("n", "best_of"):
            if self.extra_body.get(name, 1) not in (1, None):
                raise _wrong("extra_body", f"{name} asks for several answers to a prompt", "Leave it out.")

    def processes_for(self, streams: int | None) -> int:
        """Processes for so many streams at once (None: not known before), and a core left for who plans: on few cores
        more processes than that make each other late."""
        if self.processes is not None:
            return self.processes
        spare = max(1, (os.cpu_count() or 1) - 1)
        return min(ceil((streams or 1) / STREAMS_A_PROCESS), spare, MOST_PROCESSES)

    @property
    def sampling(self) -> dict[str, Any]:
        """What the requests say of how tokens are chosen and how many: ``EXACT``, or what ``extra_body`` puts in its
        place (null: taken out). Of a value that is no number and no truth value only that it is ``changed``."""
        own: Mapping[str, Any] = {name: self.extra_body[name] for name in _LENGTHS if name in self.extra_body}
        if self.api == "generate" and "sampling_params" in self.extra_body:
            inner = self.extra_body["sampling_params"]
            if not isinstance(inner, dict):
                own = dict.fromkeys(_LENGTHS)
            else:
                own = {name: inner[key] for name, key in _LENGTHS.items() if key in inner}
        elif self.api == "generate":
            own = {}
        return {**EXACT, **{name: _plain(value) for name, value in own.items()}}

    @property
    def sampling_changed(self) -> list[str]:
        """What of it is not as answers need it that are the same in every run and exactly as long as planned."""
        return [name for name, value in self.sampling.items() if name not in EXACT or value != EXACT[name]]

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no file and no line may show, also where a server repeats it."""
        return tuple(value for value in (*self.headers.values(), *_texts(self.extra_body)) if value)


def _plain(value: Any) -> Any:
    """Numbers and truth values; anything else may be what nobody is to see."""
    return value if value is None or isinstance(value, bool | int | float) else "changed"


def parse_headers(lines: list[str] | tuple[str, ...]) -> dict[str, str]:
    """``NAME: VALUE`` lines as a mapping.

    Raises:
        InputError: a line without a colon. It is not repeated: it may hold a key.
    """
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise _wrong("header", "a line has no colon", "Write --header 'NAME: VALUE'.")
        name = name.strip()
        if name.lower() in {known.lower() for known in found} and _NAME.fullmatch(name):
            raise _twice(name)
        found[name] = value.strip()
    return found


def parse_extra_body(text: str | None) -> dict[str, Any]:
    """A JSON object, as a text.

    Raises:
        InputError: it is none.
    """
    if text is None or not text.strip():
        return {}
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise _wrong(
            "extra_body", f"it is not JSON in {json_place(error)}", "Write an object, e.g. '{\"top_k\": 1}'."
        ) from None
    if not isinstance(found, dict):
        raise _wrong("extra_body", "it is no JSON object", "Write an object, e.g. '{\"top_k\": 1}'.")
    return found


def _texts(value: Any) -> Iterator[str]:
    """Texts in a JSON value that may be secrets."""
    if isinstance(value, str):
        if len(value) >= SHORTEST_SECRET:
            yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _twice(name: str) -> InputError:
    return _wrong("header", f"{name} stands twice", "Give it once; several values of one header are joined by commas.")


def _wrong(name: str, message: str, remedy: str) -> InputError:
    return InputError(message, field=name, remedy=remedy, stage="run_benchmark")
