"""HTTPS, with and without a fault plan."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx
import pytest

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.support.certificates import self_signed

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Certificate of 127.0.0.1 and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = self_signed(folder)
    return str(cert), str(key)


@pytest.mark.parametrize("plan", [None, "- requests: 2\n  reset: before_headers\n"])
def test_it_is_served(toy: str, tmp_path: Path, pair: tuple[str, str], plan: str | None) -> None:
    cert, key = pair
    file = tmp_path / "plan.yaml"
    file.write_text(plan or "")
    options = EngineOptions(toy, tls_cert=cert, tls_key=key, faults=str(file) if plan else "")
    with EngineProcess(options) as engine:
        assert engine.url.startswith("https://127.0.0.1:")
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(f"{engine.url}/health")
        with httpx.Client(verify=ssl.create_default_context(cafile=cert), base_url=engine.url) as client:
            body = {"prompt": [11, 12], "stream": True}
            assert client.post("/v1/completions", json=body).text.endswith("data: [DONE]\n\n")
            facts = client.get("/server_info").json()
            assert not {"tls_cert", "tls_key", "faults"} & facts.keys()
            if plan:
                # OpenSSL tells a reset between two records as an end, so either is seen.
                with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
                    client.post("/v1/completions", json=body)
        with pytest.raises(httpx.HTTPError):
            httpx.get(engine.url.replace("https", "http") + "/health")


def test_half_a_pair() -> None:
    with pytest.raises(InputError, match="tls_key: is missing"):
        EngineOptions("embedded", tls_cert="cert.pem")


def test_files_that_are_no_certificate(toy: str, tmp_path: Path, pair: tuple[str, str]) -> None:
    (tmp_path / "cert.pem").write_text("nothing")
    for cert in (tmp_path / "cert.pem", tmp_path / "nowhere.pem"):
        options = EngineOptions(toy, tls_cert=str(cert), tls_key=pair[1])
        with pytest.raises(EnvironmentFailure, match=r"exit code 2.*tls_cert: the certificate"):
            EngineProcess(options).__enter__()
