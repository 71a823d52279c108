"""A small HTTP proxy on a real socket, for what a router or a careless gateway does."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@contextmanager
def proxy(*targets: str, resets: bool = True) -> Iterator[tuple[str, list[str]]]:
    """A router in front of servers; gives its address and the completions it passed on.

    Completions go to the targets in turn, resets to all of them, the rest to the first. ``resets``: False for one that
    says yes to every reset and passes none on.
    """
    passed: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.forward()

        def do_POST(self) -> None:
            if self.path.startswith("/reset_prefix_cache"):
                for target in targets if resets else ():
                    self.ask(target, b"")
                self.answer(200, b'{"success": true}', "application/json")
            else:
                self.forward()

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            target = targets[0]
            if self.path == "/v1/completions":
                target = targets[len(passed) % len(targets)]
                passed.append(target)
            self.answer(*self.ask(target, body))

        def ask(self, target: str, body: bytes) -> tuple[int, bytes, str]:
            upstream = http.client.HTTPConnection(urlsplit(target).netloc)
            upstream.request(self.command, self.path, body, {"Content-Type": "application/json"})
            found = upstream.getresponse()
            return found.status, found.read(), found.getheader("content-type") or "text/plain"

        def answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", passed
    finally:
        server.shutdown()
        server.server_close()
