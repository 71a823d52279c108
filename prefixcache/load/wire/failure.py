"""What can go wrong on the wire, told apart by kind."""

from __future__ import annotations

from typing import Literal

WireKind = Literal[
    "dns",
    "refused",
    "connect_timeout",
    "connect",
    "tls",
    "proxy",
    "keepalive_closed",
    "disconnected",
    "reset",
    "incomplete",
    "first_byte_timeout",
    "idle_timeout",
    "total_timeout",
    "malformed_http",
]


class WireError(Exception):
    """A request that got no complete answer.

    ``kind``: before a connection stood: ``dns``, ``refused``, ``connect_timeout``, ``tls``, ``proxy``, ``connect``
    (anything else). Afterwards: ``keepalive_closed`` (a connection used before was closed by the server, not one byte
    of an answer came), ``disconnected`` (the same on a new connection), ``reset`` and ``incomplete`` (broken off within
    the answer, by an error or by a regular end), the time-outs by phase, ``malformed_http``.
    """

    def __init__(self, kind: WireKind, text: str) -> None:
        super().__init__(text)
        self.kind: WireKind = kind
