"""One streaming completion: sent, timed, read. Whatever goes wrong becomes an outcome, never an exception."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
import orjson

from prefixcache.engines.endpoint import CHAT_COMPLETIONS, COMPLETIONS, redact
from prefixcache.engines.http import Timeouts, failure_kind, failure_text, proxy_failure
from prefixcache.load.prompts import Prompt
from prefixcache.load.quotes import without_quotes
from prefixcache.load.records import Status
from prefixcache.load.routes import Target
from prefixcache.load.sse import DONE, SSEParser
from prefixcache.load.usage import Usage, read_usage

SendForm = Literal["text", "ids", "chat"]
MAX_ERROR_CHARS = 300
# Of an error's body; shortened only after secrets were taken out, since half a secret is not recognised.
MAX_ERROR_BYTES = 1 << 16
# Servers that say which rank served a request say it here.
RANK_HEADER = "x-data-parallel-rank"
MOST_DIGITS = 9
MISFIT = "the answer is not as the API says"


@dataclass(slots=True)
class Outcome:
    """What became of one request. Times are those of ``time.perf_counter``; None is "did not happen"."""

    status: Status = "stream_error"
    error: str | None = None
    http_status: int | None = None
    sent: float | None = None
    first_byte: float | None = None
    first_token: float | None = None
    last_token: float | None = None
    usage: Usage = field(default_factory=Usage)
    served_rank: int | None = None
    finished: bool = False


@dataclass(frozen=True, slots=True)
class CompletionClient:
    """Sends completions to OpenAI-compatible servers.

    Args:
        http: from ``prefixcache.engines.http.open_client``.
        model: model name of the requests.
        send: ``text`` sends the prompt, ``ids`` the token ids, ``chat`` the messages to the chat route.
        timeouts: the deadlines of a request.
        api_key: sent as a bearer token, never shown.
        secrets: strings that are taken out of error texts.
        salt: ``{field of the body: value}`` that keeps this pass's cache apart; empty without one.
    """

    http: httpx.AsyncClient
    model: str
    send: SendForm
    timeouts: Timeouts
    api_key: str | None = None
    secrets: tuple[str, ...] = ()
    salt: Mapping[str, str] = field(default_factory=dict)

    def body(self, prompt: Prompt) -> bytes:
        """The request's JSON: exactly ``max_tokens`` tokens, greedy, streamed, with usage in the last chunk."""
        content: dict[str, dict[str, Any]] = {
            "text": {"prompt": prompt.text},
            "ids": {"prompt": prompt.ids},
            "chat": {"messages": prompt.messages},
        }
        return orjson.dumps(
            {
                "model": self.model,
                **content[self.send],
                "max_tokens": prompt.max_tokens,
                "min_tokens": prompt.max_tokens,
                "ignore_eos": True,
                "temperature": 0,
                "stream": True,
                "stream_options": {"include_usage": True},
                **self.salt,
            }
        )

    @property
    def path(self) -> str:
        return CHAT_COMPLETIONS if self.send == "chat" else COMPLETIONS

    async def complete(
        self, prompt: Prompt, target: Target, on_first_token: Callable[[], None] | None = None
    ) -> Outcome:
        """Send one request and read its stream to the end.

        Args:
            prompt: what to send.
            target: where, with the headers of its route.
            on_first_token: called once, when the first token arrives.
        """
        outcome = Outcome()
        headers: Mapping[str, str] = {
            "Content-Type": "application/json",
            **target.endpoint.headers(self.api_key),
            **target.headers,
        }
        try:
            request = self.http.build_request(
                "POST", target.endpoint.url(self.path), content=self.body(prompt), headers=dict(headers)
            )
            async with asyncio.timeout(self.timeouts.total):
                outcome.sent = time.perf_counter()
                response = await self.http.send(request, stream=True)
                try:
                    await self._read(response, outcome, on_first_token)
                finally:
                    await response.aclose()
        except asyncio.CancelledError:
            outcome.status, outcome.error = "cancelled", "the run was stopped"
            raise _Stopped(outcome) from None
        except TimeoutError as error:
            outcome.status = "timeout"
            outcome.error = str(error) or f"no complete answer within {self.timeouts.total:g} s"
        except (httpx.HTTPError, OSError) as error:
            self._failed(outcome, error)
        except Exception as error:  # a request never takes the run down with it
            outcome.status = "stream_error" if outcome.http_status is not None else "connect_error"
            outcome.error = f"{MISFIT}: it cannot be read ({type(error).__name__})"
        if outcome.error is not None:
            outcome.error = self._short(outcome.error, prompt)
        return outcome

    async def _read(
        self, response: httpx.Response, outcome: Outcome, on_first_token: Callable[[], None] | None
    ) -> None:
        outcome.http_status = response.status_code
        if response.status_code != 200:
            outcome.status = "http_error"
            outcome.error = _message(await response.aread()) or f"HTTP {response.status_code}"
            return
        rank = response.headers.get(RANK_HEADER, "")
        outcome.served_rank = int(rank) if rank.isascii() and rank.isdecimal() and len(rank) < MOST_DIGITS else None
        parser = SSEParser()
        stray = b""
        async for chunk in response.aiter_raw():
            now = time.perf_counter()
            if outcome.first_byte is None:
                outcome.first_byte = now
                stray = chunk[:MAX_ERROR_BYTES]
            for event in parser.feed(chunk):
                if _take(event, outcome, now) and on_first_token is not None:
                    on_first_token()
        for event in parser.close():
            _take(event, outcome, time.perf_counter())
        if parser.error is not None:  # it outweighs what its data was taken for
            outcome.error = _message(parser.error) or "the server reported an error within the stream"
        if outcome.error is not None:
            outcome.status = "stream_error"
        elif outcome.finished and outcome.first_token is not None:
            outcome.status = "ok"
        elif outcome.first_token is None and stray.lstrip()[:1] in (b"{", b"<"):
            outcome.error = _message(stray) or "the server answered without a stream"
        else:
            outcome.error = "the stream ended before the answer was finished"

    def _failed(self, outcome: Outcome, error: Exception) -> None:
        proxy = proxy_failure(error)
        outcome.error = failure_text(error) if proxy is None else proxy.message
        if outcome.http_status is not None:
            outcome.status = "timeout" if failure_kind(error) == "timeout" else "stream_error"
        else:
            outcome.status = "timeout" if failure_kind(error) == "timeout" else "connect_error"

    def _short(self, text: str, prompt: Prompt) -> str:
        """An error text without secrets and, where the server echoes it, without the prompt."""
        return without_quotes(redact(text, self.secrets), prompt, MAX_ERROR_CHARS)


class _Stopped(asyncio.CancelledError):
    """A cancelled request: carries what was known of it, so that it is recorded before the run ends."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def stopped_outcome(error: asyncio.CancelledError) -> Outcome | None:
    return error.outcome if isinstance(error, _Stopped) else None


def _take(event: bytes, outcome: Outcome, now: float) -> bool:
    """Read one event into the outcome; True if it brought the first token."""
    if event == DONE:
        outcome.finished = True
        return False
    try:
        data: Any = orjson.loads(event)
    except orjson.JSONDecodeError:
        outcome.error = outcome.error or "an event of the stream is not JSON"
        return False
    if not isinstance(data, dict):
        return False
    if data.get("error") or data.get("object") == "error":
        outcome.error = outcome.error or _message(event) or "the server reported an error within the stream"
        return False
    if isinstance(data.get("usage"), dict):
        outcome.usage = read_usage(data["usage"], outcome.usage)
    choices = data.get("choices")
    if not choices:
        return False
    if not isinstance(choices, list) or not isinstance(choices[0], dict):
        outcome.error = outcome.error or f"{MISFIT}: `choices` is no list of objects"
        return False
    if choices[0].get("finish_reason"):
        outcome.finished = True
    elif _role_only(choices[0]):
        return False
    # A token may have no text yet (half a character), so any other choice counts, not only one with text.
    outcome.last_token = now
    first = outcome.first_token is None
    if first:
        outcome.first_token = now
    return first


def _role_only(choice: Mapping[str, Any]) -> bool:
    """The opening chunk of a chat stream: it says who speaks and may come long before the first token."""
    delta = choice.get("delta")
    if not isinstance(delta, dict) or "role" not in delta:
        return False
    return not any(value for name, value in delta.items() if name != "role")


def _message(body: bytes) -> str:
    """The message of an error body, whatever of the usual shapes it has."""
    try:
        data: Any = orjson.loads(body)
    except orjson.JSONDecodeError:
        return body[:MAX_ERROR_BYTES].decode("utf-8", "replace").strip()
    if isinstance(data, dict):
        error = data.get("error", data)
        found = error.get("message") or error.get("detail") if isinstance(error, dict) else error
        if found:
            return str(found)
    return str(data)
