"""An OpenAI-compatible server for the failures that a good one never shows, on a real socket, byte by byte.

Prompts are numbers separated by blanks; each is a token. Every completion asks ``behave(arrival number, prompt)`` for
the name of what to do.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any


@dataclass
class FakeServer:
    """Runs in a thread for the length of a ``with`` block; ``url`` is its address inside."""

    behave: Callable[[int, Any], str] = lambda number, prompt: "ok"
    reset: str = "done"  # done | absent | busy | empty
    tokenize: str = "words"  # words | absent | one_more | other_ids
    metrics: str = "vllm"  # vllm | no_hits | sglang | html | absent
    started: float | None = None  # process_start_time_seconds
    tls: ssl.SSLContext | None = None
    role_pause: float = 0.0  # seconds between a chat's opening chunk and its first token
    engine: str = "prefixcache-reference"
    block_size: int = 16
    kv_tokens: int = 1 << 20
    max_model_len: int = 4096
    cached: Callable[[int], int | None] = lambda number: 0
    counted_hits: Callable[[int], int] = lambda number: 0
    extra_prompt_tokens: int = 0
    usage: Callable[[int, dict[str, Any]], dict[str, Any] | None] = lambda number, usage: usage
    page: Callable[[str], str] = lambda text: text  # the metrics page as it is sent
    models: Any = None  # the answer of /v1/models, else one model
    url: str = ""
    echo: str = ""  # the last request as a text: its address and its headers
    seen: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    queries: int = 0
    hits: int = 0
    completions: int = 0

    def __enter__(self) -> FakeServer:
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def requests(self, path: str) -> list[tuple[dict[str, str], Any]]:
        return [(headers, body) for seen, headers, body in self.seen if seen.split("?")[0] == path]

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0, ssl=self.tls))
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                _, path, _ = line.decode().split()
                headers = {}
                while (line := await reader.readline()).strip():
                    name, _, value = line.decode().partition(":")
                    headers[name.strip().lower()] = value.strip()
                raw = await reader.readexactly(int(headers.get("content-length", 0)))
                body = json.loads(raw) if raw else None
                self.seen.append((path, headers, body))
                self.echo = f"{self.url}{path} asked with {headers}"
                if not await self._answer(path.split("?")[0], body, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, body: Any, writer: asyncio.StreamWriter) -> bool:
        if path == "/v1/completions":
            return await self._completion(body, writer)
        if path == "/v1/chat/completions":
            words = " ".join(message["content"] for message in body["messages"])
            return await self._completion({**body, "prompt": words}, writer, chat=True)
        if path == "/metrics" and self.metrics != "absent":
            html = self.metrics == "html"
            return await _send(
                writer, 200, "<html></html>" if html else self.page(self._page()), "text/html" if html else "text/plain"
            )
        if path == "/flush_cache" and self.metrics == "sglang":
            return await _send(writer, 200, "Cache flushed.")
        if path == "/v1/models":
            known = {"data": [{"id": "fake", "max_model_len": self.max_model_len}]}
            return await _json(writer, known if self.models is None else self.models)
        if path == "/server_info":
            return await _json(writer, {"engine": self.engine})
        if path == "/tokenize" and self.tokenize != "absent":
            ids = [int(word) for word in body["prompt"].split()] + [7] * (self.tokenize == "one_more")
            ids = [i + 1 for i in ids] if self.tokenize == "other_ids" else ids
            return await _json(writer, {"count": len(ids), "tokens": ids})
        if path == "/reset_prefix_cache" and self.reset != "absent":
            return await (
                _send(writer, 200, "") if self.reset == "empty" else _json(writer, {"success": self.reset == "done"})
            )
        return await _json(writer, {"error": {"message": "no such route"}}, 404)

    async def _completion(self, body: Any, writer: asyncio.StreamWriter, chat: bool = False) -> bool:
        number, self.completions = self.completions, self.completions + 1
        prompt = body["prompt"]
        length = len(prompt if isinstance(prompt, list) else prompt.split()) + self.extra_prompt_tokens
        how = self.behave(number, prompt)
        if how == "http_500":
            return await _json(writer, {"error": {"message": f"out of luck with {prompt}"}}, 500)
        if how == "http_400_echo":
            return await _json(writer, {"error": {"message": self.echo}}, 400)
        if how == "http_400_raw":  # no JSON, and the secret at the place where long texts are cut
            return await _send(writer, 400, "x" * (270 - self.echo.index("'authorization'")) + self.echo)
        if how == "close":
            return False
        if how == "silent":
            await asyncio.sleep(30)
        self.queries += length
        self.hits += self.counted_hits(number)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        if chat:
            opening = {"role": "assistant", "content": ""}
            await _event(writer, {"choices": [{"delta": opening, "finish_reason": None}]})
            await asyncio.sleep(self.role_pause)
        for n in range(body["max_tokens"]):
            last = n == body["max_tokens"] - 1
            token = {"delta": {"content": " x"}} if chat else {"text": " x"}
            await _event(writer, {"choices": [{**token, "finish_reason": "length" if last else None}]})
            if how == "rst":
                _abort(writer)
                return False
            if how == "stall":
                await asyncio.sleep(30)
            if how == "error_event":
                await _event(writer, {"error": {"message": "the engine died"}})
                break
            if how == "echo_event":
                await _event(writer, {"error": {"message": self.echo}})
                break
            if how == "cut":
                writer.write(b"0\r\n\r\n")
                return True
            if how == "slow":
                await asyncio.sleep(0.05)
        usage: dict[str, Any] = {"prompt_tokens": length, "completion_tokens": body["max_tokens"]}
        cached = self.cached(number)
        if cached is not None:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        if how == "error_named":
            await _event(writer, {"message": "the engine died", "code": 500}, b"error")
        if how == "choices_text":
            await _event(writer, {"choices": "abc"})
        stated = self.usage(number, usage)
        await _event(writer, {"choices": []} | ({} if stated is None else {"usage": stated}))
        writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        await writer.drain()
        return True

    def _page(self) -> str:
        if self.metrics == "sglang":
            born = f'sglang:cached_tokens_total{{cache_source="device"}} {self.hits}\n' if self.hits else ""
            return (
                f"sglang:prompt_tokens_total {self.queries}\n{born}sglang:page_size {self.block_size}\n"
                f"sglang:max_total_num_tokens {self.kv_tokens}\nsglang:token_usage 0.25\n"
                "sglang:num_running_reqs 0\nsglang:num_queue_reqs 0\n"
                # Only versions that count cached tokens have it: without it an absent count would not mean 0.
                "sglang:kv_evictable_tokens 0\n"
            )
        hits = f'vllm:prefix_cache_hits_total{{engine="0"}} {self.hits}\n' if self.metrics != "no_hits" else ""
        started = f"process_start_time_seconds {self.started}\n" if self.started is not None else ""
        return (
            f'{started}vllm:prefix_cache_queries_total{{engine="0"}} {self.queries}\n{hits}'
            f'vllm:prompt_tokens_total{{engine="0"}} {self.queries}\n'
            'vllm:num_requests_running{engine="0"} 0\nvllm:num_requests_waiting{engine="0"} 0\n'
            'vllm:kv_cache_usage_perc{engine="0"} 0.25\n'
            f'vllm:cache_config_info{{engine="0",block_size="{self.block_size}",'
            f'kv_cache_size_tokens="{self.kv_tokens}",enable_prefix_caching="True"}} 1\n'
        )


async def _send(writer: asyncio.StreamWriter, status: int, text: str, kind: str = "application/json") -> bool:
    data = text.encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)
    await writer.drain()
    return True


async def _json(writer: asyncio.StreamWriter, value: Any, status: int = 200) -> bool:
    return await _send(writer, status, json.dumps(value))


async def _event(writer: asyncio.StreamWriter, value: Any, name: bytes = b"") -> None:
    data = (b"event: " + name + b"\n" if name else b"") + f"data: {json.dumps(value)}\n\n".encode()
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))
    await writer.drain()


def _abort(writer: asyncio.StreamWriter) -> None:
    """Closes with a TCP reset instead of an orderly end."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
