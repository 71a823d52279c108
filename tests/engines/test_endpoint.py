from __future__ import annotations

from collections.abc import Callable

import pytest

from prefixcache.engines.endpoint import metrics_location, parse_endpoint, redact, url_secrets
from prefixcache.engines.snapshot import metrics_source
from prefixcache.errors import InputError


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://h:8000", "http://h:8000"),
        ("http://h:8000/", "http://h:8000"),
        (" https://h/v1 ", "https://h"),
        ("http://h:8000/v1/completions", "http://h:8000"),
        ("http://h:8000/v1/chat/completions/", "http://h:8000"),
        ("http://h/gateway/a/v1/completions", "http://h/gateway/a"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
        ("http://user:pw@h:1/metrics", "http://h:1"),
    ],
)
def test_base_of_an_address(url: str, base: str) -> None:
    assert parse_endpoint(url).base == base


def test_credentials_go_into_a_header_and_the_query_stays_with_the_requests() -> None:
    endpoint = parse_endpoint("http://me:p%40ss@h:1/v1?key=abcdef")
    assert endpoint.url("/x") == "http://h:1/x?key=abcdef"
    assert endpoint.headers() == {"Authorization": "Basic bWU6cEBzcw=="}
    assert endpoint.headers("sk") == {"Authorization": "Bearer sk"}
    assert "abcdef" not in repr(endpoint)
    assert "bWU6" not in repr(endpoint)
    assert set(endpoint.secrets) == {"key=abcdef", "abcdef", "bWU6cEBzcw==", "me", "p@ss"}
    assert set(parse_endpoint("http://h/?plain").secrets) == {"plain"}


@pytest.mark.parametrize("url", ["h:8000", "ftp://h", "http://", "http://h:port", "http://me:secret@"])
def test_what_is_no_address_is_refused_without_repeating_credentials(url: str) -> None:
    with pytest.raises(InputError, match="is not an http") as caught:
        parse_endpoint(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://secret..b:1", "1 to 63 characters"),
        ("http://.:1", "1 to 63 characters"),
        (f"http://{'secret' * 11}:1", "1 to 63 characters"),
        (f"http://h/{'secret' * 20_000}", "120,009 characters, 4,096 at most"),
        ("http://h/secret\ud800", "no URL can carry"),
        ("http://h/secret\x01", "no URL can carry"),
        ("http://secret name/", "no host name"),
        ("http://secret:0", "is not an http"),
        ("http://[secret", "is not an http"),
    ],
)
@pytest.mark.parametrize("read", [parse_endpoint, metrics_location])
def test_what_cannot_be_asked_is_refused_and_not_quoted(url: str, text: str, read: Callable[[str], object]) -> None:
    with pytest.raises(InputError, match=text) as caught:
        read(url)
    assert "secret" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("url", ["http://[::1]:80", "http://my_host:80", "http://h.:80", "http://ü.de:80"])
def test_unusual_hosts_that_can_be_asked(url: str) -> None:
    assert parse_endpoint(url).base == url


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("http://h:1", "http://h:1/metrics"),
        ("http://h:1/metrics", "http://h:1/metrics"),
        ("http://h:1/v1/completions", "http://h:1/metrics"),
        ("http://h:1/prometheus/all", "http://h:1/prometheus/all"),
        ("http://h:1/gateway/metrics", "http://h:1/gateway/metrics"),
    ],
)
def test_address_of_a_metrics_page(url: str, page: str) -> None:
    endpoint, path = metrics_location(url)
    assert endpoint.url(path) == page
    assert metrics_source(url).url == page


def test_redaction() -> None:
    secrets = url_secrets(["http://me:p%40ss@h/?key=abcdef&a=1"])
    text = redact("GET http://me:p%40ss@h/?key=abcdef p@ss", secrets)
    assert not any(word in text for word in ("p%40ss", "p@ss", "abcdef"))
    assert redact("see http://x:y@h/") == "see http://h/"
