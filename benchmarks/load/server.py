"""A streaming server that knows the truth: when a request was whole and when its first chunk was written.

    python -m benchmarks.load.server PORT [--chunks 32] [--gap 0.01] [--first 0.05]

Raw asyncio in a process of its own, so that it is not what is measured. ``GET /stamps`` tells
``{request: [arrived, first chunk, last chunk]}`` by ``time.perf_counter``, the clock that processes of one machine
share; requests are told apart by the number that their prompt begins with, others are numbered as they come.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import socket
import time

NUMBER = re.compile(rb'"(?:prompt|content)": ?"(\d+) ')
MODEL = "bench"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Server:
    """The service.

    Args:
        chunks, gap, first: events of an answer, seconds between two of them, seconds before the first.
    """

    def __init__(self, chunks: int, gap: float, first: float) -> None:
        self.chunks, self.gap, self.first = chunks, gap, first
        self.stamps: dict[str, tuple[float, float, float]] = {}
        self._unnamed = itertools.count()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                arrived, body = time.perf_counter(), b""
                if length := re.search(rb"(?i)content-length: *(\d+)", head):
                    body = await reader.readexactly(int(length[1]))
                    arrived = time.perf_counter()
                if head.startswith(b"POST"):
                    await self.answer(writer, head, body, arrived)
                else:
                    self.tell(writer, head)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def answer(self, writer: asyncio.StreamWriter, head: bytes, body: bytes, arrived: float) -> None:
        chat = b"chat/completions" in head
        found = NUMBER.search(body)
        number = found[1].decode() if found else f"unnamed-{next(self._unnamed)}"
        writer.write(HEAD)
        due = arrived + self.first
        begun = 0.0
        for index in range(self.chunks):
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            now = time.perf_counter()
            begun = begun or now
            _write(writer, _event(chat, index == self.chunks - 1, now))
            due += self.gap
        self.stamps[number] = (arrived, begun, now)
        usage = {"prompt_tokens": 9, "completion_tokens": self.chunks, "total_tokens": 9 + self.chunks}
        tail = json.dumps({"id": "x", "object": "x", "model": MODEL, "choices": [], "usage": usage}).encode()
        _write(writer, b"data: " + tail + b"\n\ndata: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")

    def tell(self, writer: asyncio.StreamWriter, head: bytes) -> None:
        path = head.split(b" ", 2)[1]
        answer: object = {}
        if path.startswith(b"/stamps"):
            answer = self.stamps
        elif path.startswith(b"/v1/models"):
            answer = {"object": "list", "data": [{"id": MODEL, "object": "model", "max_model_len": 1 << 20}]}
        body = json.dumps(answer).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )


def _event(chat: bool, last: bool, now: float) -> bytes:
    reason = b'"length"' if last else b"null"
    said = b'"delta":{"content":" x"}' if chat else b'"text":" x"'
    kind = b"chat.completion.chunk" if chat else b"text_completion"
    return (
        b'data: {"id":"x","object":"%b","created":1,"model":"bench","stamp":%.9f,"choices":[{"index":0,%b,'
        b'"finish_reason":%b}]}\n\n' % (kind, now, said, reason)
    )


def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--chunks", type=int, default=32)
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--first", type=float, default=0.05)
    chosen = parser.parse_args()

    async def serve() -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", chosen.port))
        server = Server(chosen.chunks, chosen.gap, chosen.first)
        async with await asyncio.start_server(server.talk, sock=listener, backlog=4096) as found:
            print("ready", flush=True)
            await found.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
