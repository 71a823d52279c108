from __future__ import annotations

from pathlib import Path

import pytest

from prefixcache.errors import EnvironmentFailure, InputError, PrefixCacheError
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset

WISHES = [Wish("a", 16), Wish("a", 48)]


def refused(server: FakeServer, tmp_path: Path, kind: type[PrefixCacheError], **made: object) -> PrefixCacheError:
    dataset = make_dataset(tmp_path / "set", WISHES, **made)  # type: ignore[arg-type]
    with server, pytest.raises(kind) as caught:
        run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(server.url,)))
    assert server.completions == 0
    assert caught.value.remedy
    return caught.value


def test_a_block_size_that_does_not_divide_the_prefixes(tmp_path: Path) -> None:
    error = refused(FakeServer(block_size=32), tmp_path, InputError)
    assert (error.field, error.request_id, error.group) == ("block_size", "r0", "a")
    assert "16 tokens is no multiple of the block size 32" in error.message


def test_a_request_longer_than_the_context(tmp_path: Path) -> None:
    error = refused(FakeServer(max_model_len=64), tmp_path, InputError)
    assert (error.field, error.request_id) == ("max_model_len", "r1")


def test_the_embedded_tokenizer_elsewhere_than_on_the_reference_engine(tmp_path: Path) -> None:
    error = refused(FakeServer(engine="vllm"), tmp_path, InputError, embedded=True)
    assert error.field == "tokenizer.path"


@pytest.mark.parametrize(
    ("tokenize", "text"), [("one_more", "counts 41 tokens where the dataset has 40"), ("other_ids", "other token ids")]
)
def test_another_tokenizer(tmp_path: Path, tokenize: str, text: str) -> None:
    error = refused(FakeServer(tokenize=tokenize), tmp_path, InputError)
    assert text in error.message
    assert "'numbers'" in error.message


def test_more_domains_than_ranks(tmp_path: Path) -> None:
    error = refused(FakeServer(), tmp_path, InputError, routed=True, routing={"dp_size": 2})
    assert error.field == "routing.dp_size"


@pytest.mark.parametrize(("metrics", "text"), [("html", "is an HTML page"), ("absent", "answered HTTP 404")])
def test_no_metrics_page(tmp_path: Path, metrics: str, text: str) -> None:
    error = refused(FakeServer(metrics=metrics), tmp_path, EnvironmentFailure)
    assert text in error.message


def test_numbers_of_endpoints_and_domains_that_do_not_fit(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, routed=True, routing={"dp_size": 3})
    with pytest.raises(InputError, match="3 cache domains, but 2 endpoints"):
        run_benchmark(dataset, tmp_path / "run", RunOptions(urls=("http://127.0.0.1:1", "http://127.0.0.1:2")))


def test_nobody_there(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES)
    with pytest.raises(EnvironmentFailure, match="nothing listens there") as caught:
        run_benchmark(dataset, tmp_path / "run", RunOptions(urls=("http://127.0.0.1:9",)))
    assert "Check that the server runs" in str(caught.value)
