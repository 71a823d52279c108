"""One streaming generation: sent, timed, read. Whatever goes wrong becomes an outcome, never an exception."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import orjson

from prefixcache.engines.endpoint import CHAT_COMPLETIONS, COMPLETIONS, redact
from prefixcache.load.answer.forms import MISFIT, Interface, form_of
from prefixcache.load.answer.reader import AnswerReader
from prefixcache.load.request.failures import status_of
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.request.quotes import without_quotes
from prefixcache.load.request.retries import Retries
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target
from prefixcache.load.wire.client import Sent, WireClient
from prefixcache.load.wire.failure import WireError

SendForm = Literal["text", "ids", "chat"]
MAX_ERROR_CHARS = 300
GENERATE = "/generate"
PATHS: Mapping[Interface, str] = {"completions": COMPLETIONS, "chat": CHAT_COMPLETIONS, "generate": GENERATE}
STOPPED = "the run was stopped"


class CountsTokens(Protocol):
    """Counts the tokens of an answer whose usage does not."""

    async def count(self, text: str) -> int | None: ...


@dataclass(frozen=True, slots=True)
class CompletionClient:
    """Sends generation requests to LLM servers.

    Args:
        wire: carries them.
        model: model name of the requests.
        send: ``text`` sends the prompt, ``ids`` the token ids, ``chat`` the messages to the chat route.
        api_key: sent as a bearer token, never shown.
        secrets: strings that are taken out of error texts.
        salt: ``{field of the body: value}`` that keeps this pass's cache apart; empty without one.
        interface: ``openai`` (completions or chat, by ``send``) or ``generate`` (SGLang's own).
        extra_body: fields that replace or join those of the body; None takes a field out. For ``generate`` those of
            its ``sampling_params`` too.
        extra_headers: headers of every request; values are secret.
        retries: when a failed one is sent again.
        counter: counts the tokens of answers without usage, for which ``keeps_text`` must be set.
    """

    wire: WireClient
    model: str
    send: SendForm
    api_key: str | None = None
    secrets: tuple[str, ...] = ()
    salt: Mapping[str, str] = field(default_factory=dict)
    interface: Literal["openai", "generate"] = "openai"
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    retries: Retries = field(default_factory=Retries)
    counter: CountsTokens | None = None
    keeps_text: bool = False

    def body(self, prompt: Prompt, route: Mapping[str, Any] | None = None) -> bytes:
        """The request's JSON: exactly ``max_tokens`` tokens, greedy, streamed, with usage in the last chunk."""
        fields = self._generate(prompt) if self.interface == "generate" else self._openai(prompt)
        extra = dict(self.extra_body)
        if self.interface == "generate" and isinstance(own := extra.get("sampling_params"), dict):
            both = {**fields["sampling_params"], **own}
            extra["sampling_params"] = {name: value for name, value in both.items() if value is not None}
        fields |= {**self.salt, **(route or {}), **extra}
        return orjson.dumps({name: value for name, value in fields.items() if value is not None})

    def _openai(self, prompt: Prompt) -> dict[str, Any]:
        content: dict[str, dict[str, Any]] = {
            "text": {"prompt": prompt.text},
            "ids": {"prompt": prompt.ids},
            "chat": {"messages": prompt.messages},
        }
        return {
            "model": self.model,
            **content[self.send],
            "max_tokens": prompt.max_tokens,
            "min_tokens": prompt.max_tokens,
            "ignore_eos": True,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def _generate(self, prompt: Prompt) -> dict[str, Any]:
        return {
            **({"input_ids": prompt.ids} if self.send == "ids" else {"text": prompt.text}),
            "sampling_params": {
                "max_new_tokens": prompt.max_tokens,
                "min_new_tokens": prompt.max_tokens,
                "ignore_eos": True,
                "temperature": 0,
            },
            "stream": True,
        }

    @property
    def route(self) -> Interface:
        if self.interface == "generate":
            return "generate"
        return "chat" if self.send == "chat" else "completions"

    @property
    def path(self) -> str:
        return PATHS[self.route]

    async def complete(
        self,
        prompt: Prompt,
        target: Target,
        on_first_token: Callable[[], None] | None = None,
        at: float | None = None,
    ) -> Outcome:
        """Send one request, again if ``retries`` says so, and read its stream to the end.

        Args:
            prompt: what to send.
            target: where, with the headers of its route.
            on_first_token: called once, when the first token arrives.
            at: moment of ``time.perf_counter`` to send at.
        """
        outcome = await self.attempts(prompt, target, on_first_token, at)
        await self.count(outcome)
        return outcome

    async def attempts(
        self, prompt: Prompt, target: Target, on_first_token: Callable[[], None] | None, at: float | None
    ) -> Outcome:
        """``complete`` without counting the tokens of an answer that has no usage."""
        body = self.body(prompt, target.body)
        retried: tuple[str, ...] = ()
        while True:
            outcome = Outcome(attempts=len(retried) + 1, retried=retried)
            await self._attempt(outcome, body, target, on_first_token, at)
            if outcome.error is not None:
                outcome.error = self._short(outcome.error, prompt)
            pause = self.retries.wait(outcome)
            if pause is None or outcome.failure is None:
                break
            retried = (*retried, outcome.failure)
            at = None
            if pause:
                await asyncio.sleep(pause)
        return outcome

    async def _attempt(
        self,
        outcome: Outcome,
        body: bytes,
        target: Target,
        on_first_token: Callable[[], None] | None,
        at: float | None,
    ) -> None:
        reader = AnswerReader(outcome, form_of(self.route), on_first_token, self.keeps_text)
        own = {"Content-Type": "application/json", **target.endpoint.headers(self.api_key)}
        headers = _joined(own, self.extra_headers, target.headers)
        sent = Sent()
        try:
            url = target.endpoint.url(self.path)
            await self.wire.post(url, headers, body, reader, sent, at, fresh="keepalive_closed" in outcome.retried)
            reader.close(time.perf_counter(), whole=True)
        except WireError as error:
            reader.close(time.perf_counter(), whole=False)
            if outcome.failure is None or not outcome.failure.startswith("http_"):
                outcome.failure, outcome.error = error.kind, str(error)
        except asyncio.CancelledError:
            outcome.failure, outcome.error = "cancelled", STOPPED
            raise _Stopped(outcome) from None
        except Exception as error:  # a request never takes the run down with it
            outcome.failure = "malformed_event" if outcome.http_status is not None else "connect"
            outcome.error = f"{MISFIT}: it cannot be read ({type(error).__name__})"
        finally:
            outcome.sent = sent.written
            outcome.connection = None if sent.reused is None else "reused" if sent.reused else "new"
            if outcome.failure is not None:
                outcome.status = status_of(outcome.failure)

    async def count(self, outcome: Outcome) -> None:
        """Output tokens as the usage states them, else counted from the text, which is then let go."""
        if outcome.usage.completion_tokens is not None:
            outcome.output_by = "usage"
        elif self.counter is not None and outcome.status == "ok":
            tokens = await self.counter.count("".join(outcome.text))
            if tokens is not None:
                outcome.usage = outcome.usage.with_output(tokens)
                outcome.output_by = "tokenizer"
        outcome.text = []

    def _short(self, text: str, prompt: Prompt) -> str:
        """An error text without secrets and, where the server echoes it, without the prompt."""
        shown = without_quotes(redact(text, self.secrets), prompt, MAX_ERROR_CHARS)
        # On a terminal control characters act instead of being shown.
        return "".join(char if char.isprintable() else " " for char in shown)


def _joined(*parts: Mapping[str, str]) -> dict[str, str]:
    """Headers of which a later one replaces an earlier one of its name, however that is written."""
    found: dict[str, tuple[str, str]] = {}
    for part in parts:
        found |= {name.lower(): (name, value) for name, value in part.items()}
    return dict(found.values())


class _Stopped(asyncio.CancelledError):
    """A cancelled request: carries what was known of it, so that it is recorded before the run ends."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def stopped_outcome(error: BaseException) -> Outcome | None:
    """What is known of a request that ended with an error instead of an outcome."""
    found = getattr(error, "outcome", None)
    return found if isinstance(found, Outcome) else None


def stopped(outcome: Outcome) -> asyncio.CancelledError:
    """The cancellation of a request that was on its way, with what is known of it."""
    outcome.status, outcome.failure = "cancelled", "cancelled"
    outcome.error = outcome.error or STOPPED
    return _Stopped(outcome)
