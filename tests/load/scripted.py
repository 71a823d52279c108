"""A TCP server that sends exactly the bytes it is told to: every answer a list of steps."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

Step = bytes | float | str
"""Bytes to send, seconds to wait, or ``close`` / ``reset``."""


@dataclass
class Scripted:
    """The server: its URL, and the requests it read, raw."""

    url: str = ""
    seen: list[bytes] = field(default_factory=list)
    connections: int = 0


@contextmanager
def scripted(answers: Sequence[Sequence[Step]]) -> Iterator[Scripted]:
    """Serve the answers in order, the last one again and again; connections are kept unless a step ends them."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Scripted(f"http://127.0.0.1:{listener.getsockname()[1]}")
    guard = threading.Lock()

    def talk(peer: socket.socket) -> None:
        with peer:
            data = b""
            while True:
                while not _whole(data):
                    more = peer.recv(65536)
                    if not more:
                        return
                    data += more
                with guard:
                    number = len(server.seen)
                    server.seen.append(data)
                data = b""
                for step in answers[min(number, len(answers) - 1)]:
                    if isinstance(step, float):
                        time.sleep(step)
                    elif step == "close":
                        return
                    elif step == "reset":
                        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    else:
                        assert isinstance(step, bytes)
                        try:
                            peer.sendall(step)
                        except OSError:
                            return

    def accept() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server.connections += 1
            threading.Thread(target=talk, args=(peer,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        listener.close()


def _whole(data: bytes) -> bool:
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return False
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return len(body) >= int(lengths[0]) if lengths else True


def chunked(*pieces: bytes, head: bytes = b"", end: bool = True) -> bytes:
    """A 200 answer in chunks."""
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    start = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    return start + head + b"\r\n" + chunks + (b"0\r\n\r\n" if end else b"")


def event(text: str | None, *, finish: str | None = None, more: str = "") -> bytes:
    """An event of /v1/completions."""
    reason = f'"{finish}"' if finish else "null"
    said = "" if text is None else f'"text":"{text}",'
    return f'data: {{"choices":[{{"index":0,{said}"finish_reason":{reason}}}]{more}}}\n\n'.encode()


DONE = b"data: [DONE]\n\n"
COUNTS = '{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":5}}'
USAGE = f'data: {{"choices":[],"usage":{COUNTS}}}\n\n'.encode()
GOOD = chunked(event("a"), event("b", finish="length"), USAGE, DONE)
