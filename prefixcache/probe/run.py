"""A whole probe: the server's own word first, then one question after the other, each bounded in time."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.engines.http import Timeouts, open_client
from prefixcache.engines.server import reach, read_facts
from prefixcache.engines.snapshot import take_snapshot
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.counters.monitor import Monitor
from prefixcache.probe.access import adapter_named, choose_adapter, read_info, service_of
from prefixcache.probe.base import Base
from prefixcache.probe.capacity import find_capacity
from prefixcache.probe.clock import Clock, NoAnswer, OutOfTime
from prefixcache.probe.findings import NAMES, ProbeReport, unknown
from prefixcache.probe.forms import forms_of
from prefixcache.probe.isolation import find_reset, find_salt, reset
from prefixcache.probe.line import Line, Refused
from prefixcache.probe.matching import find_matching
from prefixcache.probe.measure import find_unit, take_back
from prefixcache.probe.opening import open_line
from prefixcache.probe.options import STAGE, ProbeOptions
from prefixcache.probe.prompts import SAFE_IDS, Pieces
from prefixcache.probe.ranks import find_ranks
from prefixcache.probe.rules import find_last_token, find_outputs
from prefixcache.probe.service import Lost, Service
from prefixcache.probe.tokens import Encodes, find_tokens, load_local, server_ids
from prefixcache.probe.told import find_identity, find_order_evidence, find_usage

IDLE_S = 5.0
RESERVE_S = 2.0
"""Kept for the last reset."""
FEWEST_IDS = 100
_SYLLABLES = ("ba", "con", "der", "el", "for", "gen", "ho", "in", "ko", "lar", "men", "no", "per", "ra", "sta", "ter")

T = TypeVar("T")
Tell = Callable[[str], None]
UNIT_NAMES = ("hit_unit", "hit_drop")


def probe_server(options: ProbeOptions, tell: Tell | None = None) -> ProbeReport:
    """Find out how a server's prefix cache works.

    Args:
        options: the server and what may be done to it.
        tell: called with the name of each step as it begins.

    Returns:
        The report, whatever could not be found out.

    Raises:
        InputError: the options, the model name or the tokenizer are wrong.
        EnvironmentFailure: the server cannot be reached.
    """
    return asyncio.run(probe_server_async(options, tell))


async def probe_server_async(options: ProbeOptions, tell: Tell | None = None) -> ProbeReport:
    """``probe_server`` for callers that have an event loop of their own."""
    local = None if options.tokenizer is None else await asyncio.to_thread(load_local, options.tokenizer)
    endpoint, named = parse_endpoint(options.url), adapter_named(options)
    clock = Clock(options.time_limit, reserve=min(RESERVE_S, options.time_limit / 10))
    timeouts = Timeouts.of(options.request_timeout, min(10.0, options.request_timeout))
    async with open_client(timeouts, options.connection) as http:
        service = service_of(http, clock, endpoint, options)
        report = ProbeReport(endpoint.base, tuple(source.label for source in service.sources))
        probe = _Probe(service, options, report, local, tell or (lambda step: None))
        try:
            await probe.introduce(named)
        except OutOfTime:
            raise EnvironmentFailure(
                f"{endpoint.base} did not say who it is within {options.time_limit:g} s",
                field="url",
                remedy="Check that the server is healthy, or give a longer --time-limit.",
                stage=STAGE,
            ) from None
        await probe.measure()
    report.seconds = clock.seconds
    return report


@dataclass(slots=True)
class _Probe:
    """The steps of one probe and what they share."""

    service: Service
    options: ProbeOptions
    report: ProbeReport
    local: Encodes | None
    tell: Tell
    line: Line | None = None
    base: Base | None = None

    async def introduce(self, named: Adapter | None) -> None:
        """Who is it?

        Args:
            named: the framework as the user names it.

        Raises:
            EnvironmentFailure: nobody answers.
            OutOfTime: it takes too long.
        """
        service = self.service
        self.tell("facts")
        await self._bounded(reach(service.http, service.endpoint, service.api_key))
        found = await self._bounded(take_snapshot(service.http, service.sources))
        choose_adapter(service, [*found.pages.values()], named, self.report)
        service.paged = bool(found.pages)
        for text in found.errors.values():
            self.report.warn("warn.metrics", text=service.clean(text))
        facts = read_facts(
            service.http, service.endpoint, service.page, service.adapter, service.api_key, service.secrets
        )
        service.facts = await self._bounded(facts)
        await read_info(service)
        find_identity(service, self.report)
        served, model = service.facts.served, self.options.model
        if model is not None and served and model not in served:
            raise InputError(
                f"{service.endpoint.base} serves no model {model!r}; it serves: {', '.join(service.facts.models[:10])}",
                field="--model",
                remedy="name one of them, or leave --model out.",
                stage=STAGE,
            )
        if model is None and not served:
            raise EnvironmentFailure(
                f"{service.endpoint.base} names no model", field="model", remedy="Give --model NAME.", stage=STAGE
            )

    async def measure(self) -> None:
        """Everything that needs prompts; what is not reached in time is unknown."""
        self._line()
        assert self.line is not None
        line = self.line
        report, luck = self.report, random.Random(self.options.seed)
        try:
            await self._step("open", self._open, (*UNIT_NAMES, "dp_size", "rank_route"))
            opened = line.form is not None
            if opened:
                await self._step("ranks", lambda: find_ranks(line, report), ("dp_size", "rank_route"))
                await self._step("unit", lambda: self._unit(luck), ("block_size", *UNIT_NAMES))
            unit, drop = report.value("hit_unit"), report.value("hit_drop")
            base, certain = self.base, None
            if base is not None and unit is not None:
                await self._step("matching", lambda: find_matching(line, report, base, unit, drop), ("matching",))
                take_back(report, len(line.pieces.pool))
                unit, drop = report.value("hit_unit"), report.value("hit_drop")
            if base is not None:
                certain = base.cached - line.head if unit is None else max(unit * ((drop or 0) + 2) + 1, 33)
                await self._isolation(certain, 0 if unit is not None and unit > line.head else line.head)
            if base is not None and unit is not None and drop is not None:
                await self._step("last_token", lambda: find_last_token(line, report, unit, drop), ("last_token_rule",))
                await self._step("outputs", lambda: find_outputs(line, report, unit, drop), ("outputs_cached",))
            await self._step("usage", lambda: find_usage(line, report, certain), ("usage_cached_tokens",))
            await self._step("tokenizer", lambda: find_tokens(line, report, self.local), ("tokenizer",))
            await self._step("order", self._order, ("order_evidence",))
            await self._step("capacity", lambda: self._capacity(unit, drop), ("capacity_tokens",))
            await self._look_again()
            self._fill_gaps("needs_unit")
            await self._clean_up()
        except Lost as error:
            report.status = "lost"
            report.warn("warn.lost", why=str(error))
            self._fill_gaps("lost")
        if line.foreign:
            report.warn("warn.foreign", count=line.foreign)
        if line.unseen:
            report.warn("warn.unseen", count=line.unseen)
        report.requests, report.tokens_sent, report.tokens_left = line.requests, line.tokens, line.left

    async def _step(self, name: str, work: Callable[[], Awaitable[object]], findings: tuple[str, ...]) -> None:
        """One question; that it could not be asked is its answer."""
        self.tell(name)
        try:
            await work()
        except OutOfTime:
            self.report.status = "partial"
            self.report.add(*(unknown(f, "time") for f in findings if f not in self.report.findings))
        except Refused as error:
            self.report.status = "partial"
            self.report.add(*(unknown(f, "refused", why=str(error)) for f in findings if f not in self.report.findings))

    def _line(self) -> None:
        service = self.service
        luck = random.Random(self.options.seed) if self.options.seed is not None else random.SystemRandom()
        model = self.options.model or next(iter(service.facts.served), "")
        forms, block = forms_of(self.options.sending.api), service.facts.cache.block_size
        self.line = Line(service, Pieces(SAFE_IDS, luck), model, forms, block=block)

    async def _open(self) -> None:
        """Ids of the served vocabulary where it tells them, then a form in which it takes prompts."""
        line, service = self.line, self.service
        assert line is not None
        text = "".join(f" {a}{b}" for a in _SYLLABLES for b in _SYLLABLES)
        ids = await server_ids(service, line.model, text)
        if isinstance(ids, list) and len(pool := sorted(set(ids[1:-1]))) >= FEWEST_IDS:
            line.pieces.pool = pool
        await open_line(line)
        if service.paged:
            monitor = Monitor(service.http, service.sources, service.adapter, 1.0, lambda row: None)
            try:
                why = await service.clock.bounded(monitor.idle(IDLE_S), 2 * IDLE_S)
            except NoAnswer as error:
                why = str(error)
            if why is not None:
                self.report.warn("warn.busy", why=service.clean(why))

    async def _unit(self, luck: random.Random) -> None:
        assert self.line is not None
        self.base = await find_unit(self.line, self.report, luck)

    async def _isolation(self, certain: int, floor: int) -> None:
        line, report, allowed = self.line, self.report, self.options.reset
        assert line is not None
        await self._step("salt", lambda: find_salt(line, report, certain, floor), ("salt",))
        await self._step("reset", lambda: find_reset(line, report, certain, floor, allowed=allowed), ("reset",))

    async def _order(self) -> None:
        find_order_evidence(self.service, self.report)

    async def _capacity(self, unit: int | None, drop: int | None) -> None:
        assert self.line is not None
        measure = self.options.capacity and unit is not None
        await find_capacity(self.line, self.report, unit or 1, drop or 0, measure=measure)

    async def _look_again(self) -> None:
        """Where a question was not answered: is the server still there?

        Raises:
            Lost: it takes no connection any more.
        """
        if self.report.status == "partial":
            self.service.clock.open_reserve(RESERVE_S)
            with contextlib.suppress(OutOfTime):
                await self.service.get("/v1/models")

    async def _clean_up(self) -> None:
        """Leave nothing that could mislead, if that is possible and allowed."""
        line, report = self.line, self.report
        assert line is not None
        if not self.options.reset or report.value("reset") is None or not line.left:
            return
        self.service.clock.open_reserve(RESERVE_S)
        try:
            outcome = await reset(line)
        except OutOfTime:
            return
        if outcome.answer in ("done", "unconfirmed"):
            line.left = 0

    def _fill_gaps(self, why: str) -> None:
        for name in NAMES:
            if name not in self.report.findings:
                self.report.add(unknown(name, why))

    async def _bounded(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await self.service.clock.bounded(work, self.options.request_timeout)
        except NoAnswer as error:
            raise EnvironmentFailure(
                f"{self.service.endpoint.base}: {error}",
                field="url",
                remedy="Check that the server is healthy.",
                stage=STAGE,
            ) from None
