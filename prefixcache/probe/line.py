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
from prefixcache.probe.forms import FORMS, Form, usage_of
from prefixcache.probe.prompts import WORDS, Piece, Pieces
from prefixcache.probe.reading import Reading
from prefixcache.probe.service import Answer, Service

SETTLE_S = 2.0
"""How long counters may lag behind an answer."""
LOOK_S = 0.02
STILL_S = 0.2
STANDING = 2
"""After so many answers that moved no counter, counters are not waited for any longer."""
TRIES = 3
BLOCKS, TOKENS = ("block", "blocks"), ("token", "tokens")
OUTPUT = 1
FIRST_LENGTHS = (8, 21)
BASE, POWERS = 8, (1, 8, 64)
"""A prompt of one word once, another 8 and a third 64 times tells the tokens of each: its length's digits to base 8."""
ENOUGH_WORDS, FEWEST_WORDS = 64, 32


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
        form: how prompts are sent, once it is known.
        head: tokens that the server puts before every prompt (BOS): shared by all of them.
        route: where prompts go unless told otherwise.
        block: stated tokens of a block, for counters that count blocks.
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
    form: Form | None = None
    head: int = 0
    route: Route = ANYWHERE
    block: int | None = None
    prefer_usage: bool = False
    repeat: int = 1
    readings: list[Reading] = field(default_factory=list)
    requests: int = 0
    tokens: int = 0
    left: int = 0
    foreign: int = 0
    unseen: int = 0
    _standing: int = 0

    async def open(self) -> None:
        """Find a form that the server takes, and what it adds to every prompt.

        Raises:
            Refused: it takes none.
        """
        whys = []
        for form in FORMS:
            pieces = self.pieces if form.ids else Pieces(WORDS, self.pieces.luck)
            answers = [await self._post(pieces.fresh(count), form, ANYWHERE, OUTPUT) for count in FIRST_LENGTHS]
            if not all(answer.ok for answer in answers):
                whys.append(next(answer.why for answer in answers if not answer.ok))
                continue
            added = {
                tokens - count
                for count, answer in zip(FIRST_LENGTHS, answers, strict=True)
                if (tokens := usage_of(answer, form).prompt_tokens) is not None
            }
            self.form, self.pieces = form, pieces
            if len(added) > 1 or any(each < 0 for each in added):
                if form.ids or not await self._choose_words():
                    self.form = None
                    whys.append(f"{form.path}: it counts the words of a probe in another way than one token each")
                    continue
            else:
                self.head = added.pop() if added else 0
            return
        raise Refused(whys[0] if whys else "no form of a prompt is known")

    async def _choose_words(self) -> bool:
        """Keep the words that are one token each, by the usage of prompts made of them; are there enough?"""

        async def tokens(words: Sequence[str]) -> int:
            assert self.form is not None
            answer = await self._post(words, self.form, ANYWHERE, OUTPUT)
            return usage_of(answer, self.form).prompt_tokens or -1

        few, more = await tokens(WORDS[:1] * BASE), await tokens(WORDS[:1] * 2 * BASE)
        head = few - (more - few)
        good: list[str] = []
        for at in range(0, len(WORDS), len(POWERS)):
            words = WORDS[at : at + len(POWERS)]
            number = (
                await tokens([word for word, times in zip(words, POWERS, strict=False) for _ in range(times)]) - head
            )
            good += [word for word, times in zip(words, POWERS, strict=False) if number // times % BASE == 1]
            if len(good) >= ENOUGH_WORDS:
                break
        self.pieces, self.head = Pieces(good, self.pieces.luck), head
        return head >= 0 and len(good) >= FEWEST_WORDS and await tokens(good) == head + len(good)

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
        answer = await self._post(prompt, form, chosen, output, extra)
        seconds = time.perf_counter() - began
        if not answer.ok:
            raise Refused(answer.why)
        usage = usage_of(answer, form)
        length = usage.prompt_tokens or len(prompt) + self.head
        figures = await self._settled(before, length)
        reading = Reading(
            shared + self.head,
            length,
            usage.cached_tokens,
            None,
            seconds=seconds,
            rank=chosen.rank,
            prefer_usage=self.prefer_usage,
        )
        reading = self._counted(reading, figures)
        self.foreign += reading.foreign
        self.readings.append(reading)
        return reading, answer

    async def send_new(self, count: int, route: Route | None = None) -> Reading:
        """A prompt that nobody has sent."""
        return await self.send(self.pieces.fresh(count), route=route)

    async def fill(self, count: int) -> None:
        """Cache a new prompt of so many pieces; what it hits is not read.

        Raises:
            Refused: the server did not answer it.
        """
        assert self.form is not None
        answer = await self._post(self.pieces.fresh(count), self.form, self.route, OUTPUT)
        if not answer.ok:
            raise Refused(answer.why)

    async def post_text(self, text: str, form: Form, route: Route) -> Answer:
        """Send a text as it is."""
        return await self._post([], form, route, OUTPUT, text=text)

    async def _post(
        self,
        prompt: Sequence[Piece],
        form: Form,
        route: Route,
        output: int,
        extra: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> Answer:
        # A space before the first word too: so it counts as the others do, whatever the tokenizer.
        content: Any = list(prompt) if form.ids else text if text is not None else " " + " ".join(map(str, prompt))
        if form.native:
            body: dict[str, Any] = {
                form.name: content,
                "sampling_params": {"max_new_tokens": output, "temperature": 0, "ignore_eos": True},
            }
        else:
            body = {"model": self.model, form.name: content, "max_tokens": output, "temperature": 0}
            body |= {"ignore_eos": True} if output > OUTPUT else {}
        body |= {**route.body, **(extra or {})}
        answer = await self.service.post(form.path, body, route.headers)
        if answer.ok:
            sent = usage_of(answer, form).prompt_tokens or len(prompt)
            self.requests += 1
            self.tokens += sent
            self.left += sent
        return answer

    async def _settled(self, before: Snapshot, length: int) -> Figures | None:
        """The counters' figures once they have seen a prompt of so many tokens; None without metrics pages."""
        if not before.pages:
            return None
        last, since = None, time.perf_counter()
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
            await asyncio.sleep(LOOK_S)

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
        elif ESTIMATE in figure.flags:  # told by a rate, and as exact as its digits
            slack = max(1.0, reading.length / 100)
            hits = round(hits)
        external = figures.delta(Quantity.EXTERNAL_HITS) or 0.0
        return replace(reading, counted=float(hits), external=external, slack=slack, foreign=foreign)


def _prompt_tokens(figures: Figures) -> float | None:
    """Prompt tokens that the counters saw; None where nothing counts them in tokens."""
    for quantity in (Quantity.PROMPT_TOKENS, Quantity.QUERIES):
        figure = figures.counters.get(quantity)
        if figure is not None and figure.delta is not None and figure.unit in TOKENS:
            return figure.delta
    return None
