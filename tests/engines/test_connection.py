"""TLS and proxies, over real sockets."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from prefixcache.engines.http import Connection, open_client
from prefixcache.errors import InputError
from tests.load.fake_server import FakeServer


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PEM file with a self-signed certificate for 127.0.0.1, and its key beside it."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    path = folder / "certificate.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return path


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
