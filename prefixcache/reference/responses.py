"""Writing answers: completion and chat objects, whole or as the events of a stream, in vLLM 0.32's field order."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from enum import Enum
from typing import Any, Protocol

import orjson
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from prefixcache.reference.engine import Engine
from prefixcache.reference.protocol import Sampling
from prefixcache.reference.sequence import Sequence

DONE = b"data: [DONE]\n\n"
OBJECT_END = b"}\n\n"


class CachedTokens(Enum):
    """What the usage of a call says of the prompt tokens that were found in the cache."""

    OF_ONE_PROMPT = "vLLM's: those of a call with several prompts read 0"
    SUM = "SGLang's: of all prompts"
    NULL = "none, as of a server that was not asked to tell"


def usage(
    sequences: list[Sequence], sampling: Sampling, tells: CachedTokens = CachedTokens.OF_ONE_PROMPT
) -> dict[str, Any]:
    """Token counts so far. A prompt counts once however many choices it has."""
    prompt_tokens = sum(len(sequence.prompt) for sequence in sequences[:: sampling.n])
    completion_tokens = sum(sequence.emitted for sequence in sequences)
    counts: dict[str, Any] = {
        "prompt_tokens": prompt_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "completion_tokens": completion_tokens,
    }
    if tells is CachedTokens.SUM:
        cached = sum(sequence.cached or 0 for sequence in sequences[:: sampling.n])
    else:
        cached = (sequences[0].cached or 0) if len(sequences) == sampling.n else 0
    counts["prompt_tokens_details"] = None if tells is CachedTokens.NULL else {"cached_tokens": cached}
    return counts


def stamped(events: Iterable[bytes]) -> list[bytes]:
    """Events with this moment as their field ``stamp``: seconds of ``time.perf_counter()``."""
    made = list(events)  # first all the work, then the moment
    stamp = b',"stamp":%.9f' % time.perf_counter() + OBJECT_END
    return [event.removesuffix(OBJECT_END) + stamp for event in made]


class Answer(Protocol):
    """An answer in the making, whatever the route."""

    sampling: Sampling
    sequences: list[Sequence]

    def whole(self) -> Any:
        """The JSON value of a call that does not stream, once every sequence has finished."""

    def events(self) -> Iterable[bytes]:
        """The events of all tokens that have come since the last call."""

    def ending(self) -> bytes:
        """What follows the last token."""


class Reply:
    """One call's answer in the making.

    Args:
        chat: chat completion or completion.
        model: the served name.
        sampling: what was asked for.
        sequences: choice by choice, the choices of a prompt side by side.
        stamp: whether the events of tokens carry the server's clock.
        tells: what its usage says of cached tokens.
    """

    def __init__(
        self,
        chat: bool,
        model: str,
        sampling: Sampling,
        sequences: list[Sequence],
        stamp: bool = False,
        tells: CachedTokens = CachedTokens.OF_ONE_PROMPT,
    ) -> None:
        self.chat = chat
        self._tells = tells
        self.sampling = sampling
        self.sequences = sequences
        self.head = {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-{uuid.uuid4().hex}",
            "object": "chat.completion" if chat else "text_completion",
            "created": int(time.time()),
            "model": model,
        }
        self._sent = [0] * len(sequences)
        self._stamp = stamp
        if chat and sampling.stream:
            self.head["object"] = "chat.completion.chunk"
        self._opening = b"data: " + orjson.dumps(self.head)[:-1] + b',"choices":[{"index":'

    def whole(self) -> dict[str, Any]:
        """The answer of a call that does not stream, once every sequence has finished."""
        choices = [self._choice(index, sequence) for index, sequence in enumerate(self.sequences)]
        return {**self.head, "choices": choices, "usage": usage(self.sequences, self.sampling, self._tells)}

    def events(self) -> Iterable[bytes]:
        """The events of all tokens that have come since the last call, one event a token."""
        return stamped(self._events()) if self._stamp else self._events()

    def _events(self) -> Iterator[bytes]:
        for index, sequence in enumerate(self.sequences):
            if self.chat and self._sent[index] == 0 and sequence.emitted:
                yield self._event(
                    index, b'"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null', 0
                )
            for position in range(self._sent[index], sequence.emitted):
                yield self._token(index, sequence, position)
            self._sent[index] = sequence.emitted

    def ending(self) -> bytes:
        """What follows the last token: the usage event, where asked for, and the end mark."""
        if not self.sampling.include_usage:
            return DONE
        last: dict[str, Any] = {**self.head, "choices": [], "usage": usage(self.sequences, self.sampling, self._tells)}
        return b"data: " + orjson.dumps(last) + b"\n\n" + DONE

    def _choice(self, index: int, sequence: Sequence) -> dict[str, Any]:
        text = "".join(sequence.texts)
        ids = self.sampling.return_token_ids
        choice: dict[str, Any] = {"index": index}
        choice |= {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}
        choice |= {"logprobs": None, "finish_reason": sequence.finished, "stop_reason": None}
        if not self.chat:
            choice["prompt_token_ids"] = sequence.prompt.tolist() if ids else None
        choice["token_ids"] = sequence.output if ids else None
        return choice

    def _token(self, index: int, sequence: Sequence, position: int) -> bytes:
        text = orjson.dumps(sequence.texts[position])
        last = position + 1 == len(sequence.output) and sequence.finished
        reason = b'"%b"' % sequence.finish.encode() if last else b"null"
        fields = b'"delta":{"content":%b}' % text if self.chat else b'"text":%b' % text
        fields += b',"logprobs":null,"finish_reason":' + reason + b',"stop_reason":null'
        if self.sampling.return_token_ids:
            if not self.chat and position == 0:
                fields += b',"prompt_token_ids":' + orjson.dumps(sequence.prompt.tolist())
            fields += b',"token_ids":[%d]' % sequence.output[position]
        return self._event(index, fields, position + 1)

    def _event(self, index: int, fields: bytes, emitted: int) -> bytes:
        event = self._opening + b"%d," % index + fields + b"}]"
        if self.sampling.continuous_usage:
            # This choice's own counts, as of this token and not of those that have come in the same breath.
            prompt = len(self.sequences[index].prompt)
            counts = {"prompt_tokens": prompt, "total_tokens": prompt + emitted, "completion_tokens": emitted}
            event += b',"usage":' + orjson.dumps(counts)
        elif not self.chat:
            event += b',"usage":null'
        return event + b"}\n\n"


class GenerationResponse(Response):
    """Sends a reply as its tokens come, and aborts its sequences if the client goes away before the end."""

    def __init__(self, engine: Engine, reply: Answer, changed: asyncio.Event) -> None:
        self.engine = engine
        self.reply = reply
        self.changed = changed
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await (self._stream if self.reply.sampling.stream else self._whole)(receive, send)
        finally:
            self.engine.abort(self.reply.sequences)  # does nothing to those that have finished

    async def _whole(self, receive: Receive, send: Send) -> None:
        async with aclosing(_until_finished(self.reply.sequences, self.changed, receive)) as changes:
            async for _ in changes:
                pass
        if any(sequence.finished in (None, "abort") for sequence in self.reply.sequences):
            return
        body = orjson.dumps(self.reply.whole())
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _stream(self, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with aclosing(_until_finished(self.reply.sequences, self.changed, receive)) as changes:
            async for finished in changes:
                data = b"".join(self.reply.events())
                if finished:
                    data += self.reply.ending()
                if data:
                    await send({"type": "http.response.body", "body": data, "more_body": not finished})


async def _until_finished(
    sequences: list[Sequence], changed: asyncio.Event, receive: Receive
) -> AsyncGenerator[bool, None]:
    """Yield False at every change and True once all have finished; stop without True when the client disconnects."""
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        changed.set()

    watcher: asyncio.Task[None] | None = None
    try:
        while True:
            changed.clear()
            finished = all(sequence.finished for sequence in sequences)
            yield finished
            if finished:
                return
            watcher = watcher or asyncio.create_task(watch())
            await changed.wait()
            if gone:
                return
    finally:
        if watcher is not None:
            watcher.cancel()
