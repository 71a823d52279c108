"""TLS and proxies of the wire client, over real sockets."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from prefixcache.engines.http import Connection, Timeouts
from prefixcache.load.wire.client import Sent, WireClient
from prefixcache.load.wire.connection import Route
from prefixcache.load.wire.failure import WireError
from tests.load.fake_server import FakeServer
from tests.load.scripted import Scripted, chunked, scripted
from tests.load.wire.test_wire import Taker
from tests.support.certificates import self_signed


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("tls"))[0]


@pytest.fixture
def secure(certificate: Path) -> Iterator[FakeServer]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with FakeServer(tls=context) as server:
        yield server


def status(url: str, connection: Connection) -> int:
    async def go() -> int:
        taker = Taker()
        async with WireClient(Timeouts(connect=2, idle=2, total=5), Route.of(connection)) as wire:
            for _ in range(2):  # the second one over the kept connection
                await wire.post(url, {}, b"{}", taker, Sent())
        return taker.status

    return asyncio.run(go())


def kind(url: str, connection: Connection) -> str:
    with pytest.raises(WireError) as caught:
        status(url, connection)
    return caught.value.kind


def test_certificates_are_checked_unless_told_not_to(secure: FakeServer, certificate: Path) -> None:
    url = f"{secure.url}/nowhere"
    assert kind(url, Connection()) == "tls"
    assert status(url, Connection(insecure=True)) == 404
    assert status(url, Connection(ca_file=certificate)) == 404


def test_what_is_no_tls_at_all_is_said() -> None:
    with scripted([[chunked(b"a")]]) as server:
        found = kind(server.url.replace("http://", "https://"), Connection(insecure=True))
    assert found in ("tls", "connect", "connect_timeout")


def test_a_proxy_is_asked_for_the_whole_address() -> None:
    with scripted([[chunked(b"a")]]) as proxy:
        url = proxy.url.replace("http://", "http://user:p%2Fw@")
        assert status("http://server.invalid:1234/x?q=1", Connection(proxy=url)) == 200
        head = proxy.seen[0].decode()
    assert head.startswith("POST http://server.invalid:1234/x?q=1 HTTP/1.1\r\nHost: server.invalid:1234\r\n")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'user:p/w').decode()}\r\n" in head


@contextmanager
def tunnel() -> Iterator[tuple[str, list[str]]]:
    """A proxy that opens ways; gives its address and what it was asked for."""
    asked: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        target.close()

    def talk(peer: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += peer.recv(4096)
        line = head.split(b"\r\n")[0].decode()
        asked.append(line)
        host, _, port = line.split()[1].rpartition(":")
        server = socket.create_connection((host, int(port)))
        peer.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        threading.Thread(target=pump, args=(server, peer), daemon=True).start()
        pump(peer, server)

    def accept() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(peer,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    finally:
        listener.close()


def test_tls_goes_through_a_proxy_s_tunnel(secure: FakeServer, certificate: Path) -> None:
    with tunnel() as (proxy, asked):
        assert status(f"{secure.url}/nowhere", Connection(ca_file=certificate, proxy=proxy)) == 404
        assert kind(f"{secure.url}/nowhere", Connection(proxy=proxy)) == "tls"
    assert asked[0] == f"CONNECT {secure.url.removeprefix('https://')} HTTP/1.1"


def refusing(answer: bytes) -> tuple[str, Scripted]:
    with scripted([[answer]]) as proxy:
        return kind("https://server.invalid:1234/x", Connection(proxy=proxy.url)), proxy


def test_a_proxy_that_opens_no_way_or_is_not_there() -> None:
    refused, proxy = refusing(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
    assert refused == "proxy"
    assert proxy.seen[0].startswith(b"CONNECT server.invalid:1234 HTTP/1.1\r\n")
    assert refusing(b"no HTTP at all\r\n")[0] == "proxy"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        assert kind("http://server.invalid/x", Connection(proxy=url)) == "proxy"
