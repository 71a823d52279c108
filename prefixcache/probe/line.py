"""Sending one prompt at a time and reading what it hit, from its answer and from the counters around it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prefixcache.engines.aggregate import Figures, aggregate
from prefixcache.engines.differences import ESTIMATE
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot
from prefixcache.probe.clock import OutOfTime
from prefixcache.probe.forms import FORMS, Form, body_of, holds_completion, streamed_body, usage_of
from prefixcache.probe.prompts import Piece, Pieces
from prefixcache.probe.reading import Reading
from prefixcache.probe.service import Answer, Service

SETTLE_S = 2.0
"""How long counters may lag behind an answer."""
LOOK_S, MOST_LOOK_S = 0.02, 0.1
STILL_S = 0.2
STANDING = 2
"""After so many answers that moved no counter, counters are not waited for any longer."""
BLOCKS, TOKENS = ("block", "blocks"), ("token", "tokens")
OUTPUT = 1
LEAD = "So"


class Refused(Exception):
    """The server does not take a probe's prompts; the text says why."""


@dataclass(frozen=True, slots=True)
class Route:
    """Headers and body fields that lead to one rank."""

    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    rank: int | None = None


ANYWHERE = Route()


@dataclass(slots=True)
class Line:
    """Sends prompts to a server, one after the other.

    Args:
        service: the server.
        pieces: draws prompts.
        model: name of the requests.
        forms: how prompts may be sent, in the order of trying.
        form: how they are, once that is known.
        head: tokens that the server puts before every prompt (BOS, a chat template's beginning): shared by all of them.
        tail: tokens that it puts behind every prompt (a chat template's end).
        placed: how many stand before and how many behind is known; until then all count as head.
        streamed: answers are taken as streams, since only there usage tells cached tokens.
        route: where prompts go unless told otherwise.
        block: tokens of a block, for counters that count blocks; as stated, until they were seen to count others.
        in_blocks: the counters do.
        prefer_usage: the counters are known to tell nothing.
        repeat: how often a prompt is sent so that every rank has it, where no rank can be reached by name.
        readings: of all prompts.
        requests, tokens, left: prompts sent, their tokens, and those since the cache was last seen to be empty.
        foreign: how often other clients' requests were counted.
        unseen: how often an answered prompt moved no counter.
    """

    service: Service
    pieces: Pieces
    model: str
    forms: tuple[Form, ...] = FORMS
    form: Form | None = None
    head: int = 0
    tail: int = 0
    placed: bool = True
    streamed: bool = False
    route: Route = ANYWHERE
    block: int | None = None
    in_blocks: bool = False
    prefer_usage: bool = False
    repeat: int = 1
    readings: list[Reading] = field(default_factory=list)
    requests: int = 0
    tokens: int = 0
    left: int = 0
    foreign: int = 0
    unseen: int = 0
    _standing: int = 0

    async def cache(self, prompt: Sequence[Piece], extra: Mapping[str, Any] | None = None, shared: int = 0) -> Reading:
        """Send a prompt so that it is cached wherever the next one may be served; the first reading."""
        first = await self.send(prompt, shared, extra=extra)
        for _ in range(self.repeat - 1):
            await self.send(prompt, len(prompt), extra=extra)
        return first

    async def send(
        self,
        prompt: Sequence[Piece],
        shared: int = 0,
        route: Route | None = None,
        extra: Mapping[str, Any] | None = None,
        output: int = OUTPUT,
    ) -> Reading:
        """Send one prompt and read what it hit.

        Args:
            prompt: the pieces.
            shared: how many leading ones another prompt had; the head is added.
            route: where to; the line's own if None.
            extra: more fields of the body.
            output: tokens to generate.

        Raises:
            Refused: the server did not answer it.
            OutOfTime, Lost: see :class:`.service.Service`.
        """
        reading, _ = await self.exchange(prompt, shared, route, extra, output)
        return reading

    async def exchange(
        self,
        prompt: Sequence[Piece],
        shared: int = 0,
        route: Route | None = None,
        extra: Mapping[str, Any] | None = None,
        output: int = OUTPUT,
        form: Form | None = None,
    ) -> tuple[Reading, Answer]:
        """``send``, with the answer itself; in another form than the line's, if it is given."""
        form = form or self.form
        assert form is not None
        chosen = route or self.route
        before = await self.service.snapshot()
        began = time.perf_counter()
        answer = await self.post(prompt, form, chosen, output, extra)
        seconds = time.perf_counter() - began
        if not answer.ok:
            raise Refused(answer.why)
        usage = usage_of(answer, form)
        length = usage.prompt_tokens or len(prompt) + self.head + self.tail
        figures = await self._settled(before, length)
        reading = Reading(
            shared + self.head,
            length,
            usage.cached_tokens,
            None,
            seconds=seconds,
            rank=chosen.rank,
            streamed=self.streamed,
            prefer_usage=self.prefer_usage,
        )
        reading = self._counted(reading, figures)
        self.foreign += reading.foreign
        self.readings.append(reading)
        return reading, answer

    def count_blocks_of(self, tokens: int) -> None:
        """The counters count blocks of so many tokens: what was read so far is put right."""
        assert self.block is not None
        factor, self.block = tokens / self.block, tokens
        self.readings = [
            reading if reading.counted is None else replace(reading, counted=reading.counted * factor)
            for reading in self.readings
        ]

    async def send_new(self, count: int, route: Route | None = None) -> Reading:
        """A prompt that nobody has sent."""
        return await self.send(self.pieces.fresh(count), route=route)

    async def fill(self, count: int) -> None:
        """Cache a new prompt of so many pieces; what it hits is not read.

        Raises:
            Refused: the server did not answer it.
        """
        assert self.form is not None
        answer = await self.post(self.pieces.fresh(count), self.form, self.route)
        if not answer.ok:
            raise Refused(answer.why)

    async def post(
        self,
        prompt: Sequence[Piece],
        form: Form,
        route: Route = ANYWHERE,
        output: int = OUTPUT,
        extra: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> Answer:
        """Send a prompt, or a text as it is; nothing is read but the answer."""
        content: Any = text if text is not None else list(prompt) if form.ids else text_of(prompt, form)
        body = body_of(form, self.model, content, output, streamed=self.streamed)
        body |= {**route.body, **(extra or {})}
        answer = await self.service.post(form.path, body, route.headers)
        if answer.ok:
            if self.streamed:
                answer = replace(answer, body=streamed_body(answer.raw))
            if not holds_completion(answer.body, form):
                return replace(answer, status=None, text=f"{form.path} answers HTTP 200 without a completion")
            sent = usage_of(answer, form).prompt_tokens or len(prompt)
            self.requests += 1
            self.tokens += sent
            self.left += sent
        return answer

    async def _settled(self, before: Snapshot, length: int) -> Figures | None:
        """The counters' figures once they have seen a prompt of so many tokens; None without metrics pages."""
        if not before.pages:
            return None
        last, since, pause = None, time.perf_counter(), LOOK_S
        deadline = since + (STILL_S if self._standing >= STANDING else SETTLE_S)
        while True:
            figures = aggregate(self.service.adapter, before, await self.service.snapshot()).total
            now, seen = time.perf_counter(), _prompt_tokens(figures)
            if seen is None:
                seen = figures.delta(Quantity.QUERIES)
                length = min(length, 1)  # in blocks: anything
            if seen != last:
                last, since = seen, now
            # Some count what was computed only: then nothing more comes, and the figure stands still.
            if seen is None or seen >= length or now > deadline or (seen and now - since > STILL_S):
                self._standing = 0 if seen is None or seen else self._standing + 1
                return figures
            if self.service.clock.left <= 0:
                raise OutOfTime
            await asyncio.sleep(pause)
            pause = min(1.5 * pause, MOST_LOOK_S)

    def _counted(self, reading: Reading, figures: Figures | None) -> Reading:
        if figures is None:
            return reading
        hits = figures.delta(Quantity.HITS)
        seen = _prompt_tokens(figures)
        foreign = seen is not None and seen > reading.length
        if seen == 0:  # another server answered, or the page is not its own
            self.unseen += 1
            return reading
        if hits is None:
            return replace(reading, foreign=foreign)
        figure = figures.counters[Quantity.HITS]
        slack = 0.0
        if figure.unit not in (*BLOCKS, *TOKENS):
            return replace(reading, foreign=foreign)
        if figure.unit in BLOCKS:
            if self.block is None:
                return replace(reading, foreign=foreign)
            hits *= self.block
            self.in_blocks = True
        elif ESTIMATE in figure.flags:  # told by a rate, and as exact as its digits
            slack = max(1.0, reading.length / 100)
            hits = round(hits)
        external = figures.delta(Quantity.EXTERNAL_HITS) or 0.0
        return replace(reading, counted=float(hits), external=external, slack=slack, foreign=foreign)


def text_of(prompt: Sequence[Piece], form: Form) -> str:
    """Words as a text in which each has a space before it, so that all count alike, whatever the tokenizer.

    Chat templates cut off a space at the beginning: there a word stands before them that all prompts share.
    """
    return (LEAD if form.chat else "") + "".join(f" {piece}" for piece in prompt)


def _prompt_tokens(figures: Figures) -> float | None:
    """Prompt tokens that the counters saw; None where nothing counts them in tokens."""
    for quantity in (Quantity.PROMPT_TOKENS, Quantity.QUERIES):
        figure = figures.counters.get(quantity)
        if figure is not None and figure.delta is not None and figure.unit in TOKENS:
            return figure.delta
    return None
