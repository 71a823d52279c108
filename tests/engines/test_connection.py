"""TLS and proxies, over real sockets."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import httpx
import pytest

from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.engines.http import Connection, open_client
from prefixcache.engines.server import reach
from prefixcache.engines.snapshot import metrics_source, scrape
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.load.fake_server import FakeServer
from tests.support.certificates import self_signed


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PEM file with a self-signed certificate for 127.0.0.1, and its key beside it."""
    folder = tmp_path_factory.mktemp("tls")
    return self_signed(folder)[0]


def models(url: str, connection: Connection) -> int:
    async def go() -> int:
        async with open_client(connection=connection) as client:
            return (await client.get(f"{url}/v1/models")).status_code

    return asyncio.run(go())


def test_certificates_are_checked_unless_told_not_to(certificate: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with FakeServer(tls=context) as server:
        assert server.url.startswith("https://")
        with pytest.raises(httpx.HTTPError, match="certificate"):
            models(server.url, Connection())
        assert models(server.url, Connection(insecure=True)) == 200
        assert models(server.url, Connection(ca_file=certificate)) == 200


@pytest.mark.engine
def test_a_certificate_that_is_not_trusted_is_named_with_its_remedy(certificate: Path) -> None:
    """The server answers: that nothing listens there would send people the wrong way."""
    options = EngineOptions("embedded", tls_cert=str(certificate), tls_key=str(certificate.with_name("key.pem")))

    async def go(url: str, connection: Connection | None = None) -> None:
        async with open_client(connection=connection) as client:
            await reach(client, parse_endpoint(url))
            await scrape(client, metrics_source(url))

    async def page(url: str) -> None:
        async with open_client() as client:
            await scrape(client, metrics_source(url))

    with EngineProcess(options) as engine:
        for question in (go, page):
            with pytest.raises(EnvironmentFailure, match="certificate is not trusted: self-signed") as caught:
                asyncio.run(question(engine.url))
            assert engine.url.removeprefix("https://") in caught.value.message
            assert "listens" not in caught.value.message and "permitted" not in caught.value.message
            assert caught.value.field == "ca_file"
            assert caught.value.remedy and "--ca-file" in caught.value.remedy and "--insecure" in caught.value.remedy
        for connection in (Connection(insecure=True), Connection(ca_file=certificate)):
            asyncio.run(go(engine.url, connection))


def test_a_server_that_speaks_no_tls() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async def go() -> None:
        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        async with server, open_client() as client:
            port = server.sockets[0].getsockname()[1]
            await reach(client, parse_endpoint(f"https://127.0.0.1:{port}"))

    with pytest.raises(EnvironmentFailure, match="speaks plain HTTP, not HTTPS") as caught:
        asyncio.run(go())
    assert caught.value.field == "url"  # no certificate is wrong
    assert caught.value.remedy and "http://" in caught.value.remedy


@pytest.mark.parametrize(
    ("status", "content", "said", "remedy"),
    [
        (404, "{}", "answered HTTP 404 to /v1/models", "no OpenAI-compatible server"),
        (200, "<html>", "something that is not JSON", "no OpenAI-compatible server"),
        (401, "{}", "answered HTTP 401", "PREFIXCACHE_API_KEY"),
        (503, "{}", "answered HTTP 503", "Check that the server runs"),
    ],
)
def test_what_answers_and_is_no_server_of_models(status: int, content: str, said: str, remedy: str) -> None:
    """It runs: to check that it runs would help nobody."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n{content}".encode())
        await writer.drain()
        writer.close()

    async def go() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server, open_client() as client:
            await reach(client, parse_endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"))

    with pytest.raises(EnvironmentFailure, match=said) as caught:
        asyncio.run(go())
    assert (caught.value.field, remedy in (caught.value.remedy or "")) == ("url", True)


def test_a_host_name_that_nobody_knows() -> None:
    async def go() -> None:
        async with open_client() as client:
            await reach(client, parse_endpoint("http://no-such-host.invalid"))

    with pytest.raises(EnvironmentFailure, match=r"the host name no-such-host\.invalid cannot be resolved") as caught:
        asyncio.run(go())
    assert "listens" not in caught.value.message
    assert "spelling" in (caught.value.remedy or "")


def test_a_proxy_is_asked_for_the_whole_address() -> None:
    """The fake server plays the proxy: it sees the address that no name server knows."""
    with FakeServer() as proxy:
        status = models("http://server.invalid:1234", Connection(proxy=proxy.url))
        assert [path for path, _, _ in proxy.seen] == ["http://server.invalid:1234/v1/models"]
    assert status == 404


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer() as proxy, FakeServer() as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert models(server.url, Connection()) == 200
        assert proxy.seen == []


def test_what_cannot_be_used_is_refused(tmp_path: Path, certificate: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing")
    wrong = [
        ({"insecure": True, "ca_file": certificate}, "insecure"),
        ({"ca_file": tmp_path / "empty.pem"}, "ca_file"),
        ({"ca_file": tmp_path / "absent.pem"}, "ca_file"),
        ({"proxy": "socks5://planted:secret@h"}, "proxy"),
    ]
    for given, field in wrong:
        with pytest.raises(InputError) as caught:
            Connection(**given)  # type: ignore[arg-type]
        assert caught.value.field == field and caught.value.remedy
        assert "planted" not in str(caught.value)
    assert "planted" not in repr(Connection(proxy="http://planted:secret@h"))
