"""A server that states nonsense, says back what it was asked with, or is not there: what is written and said of it."""

from __future__ import annotations

import base64
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.engines.http import Connection, Timeouts
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.options import Progress, RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.report.build import build_prefix_cache_report
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, make_dataset

WISHES = [Wish("a", 16), Wish("b", 32), Wish("a", 32)]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "set", WISHES)


def options(*urls: str, **more: Any) -> RunOptions:
    return RunOptions(urls=urls, poll_interval=0.05, quiesce_timeout=1.0, timeouts=Timeouts(2, 2, 5), **more)


def call(dataset: Path, address: str, *more: str) -> Any:
    return CliRunner().invoke(
        app, ["run", "--dataset", str(dataset), "--url", address, *more, "--no-prefect", "--json"]
    )


def test_a_server_that_tells_its_model_by_the_credentials_it_got(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = base64.b64encode(b"usr-PLANT:p@ss-PLANT").decode()
    said = f"m Basic {token} usr-PLANT p@ss-PLANT token=tok-PLANT&k=v-PLANT"
    with FakeServer(
        models={"data": [{"id": said}]},
        engine="prefixcache-reference",
        page=lambda text: text.replace('engine="0"', f'engine="{said}"').replace("1048576", f'1048576",x="{said}'),
    ) as server:
        address = server.url.replace("://", "://usr-PLANT:p%40ss-PLANT@") + "/?token=tok-PLANT&k=v-PLANT"
        ended = call(dataset, address, "--run-dir", str(tmp_path / "run"))
        assert ended.exit_code == 0, ended.output
        assert {body["model"] for _, body in server.requests("/v1/completions")} == {said}  # as it is served
        refused = call(dataset, address, "--model", "x")
    assert refused.exit_code == 2
    for text in (ended.output, refused.output):
        assert "PLANT" not in text and token not in text
    for path in (tmp_path / "run").rglob("*"):
        assert not path.is_file() or b"PLANT" not in path.read_bytes(), path
        assert not path.is_file() or token.encode() not in path.read_bytes(), path
    report = orjson.loads(ended.stdout)
    assert report["server"]["options"]["model"].startswith("m Basic [redacted]")
    assert report["server"]["endpoints"][0]["model"].startswith("m Basic [redacted]")


def test_a_password_that_is_a_word_of_the_metrics_page_breaks_nothing(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(counted_hits=lambda n: 16 * (n == 2)) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url.replace("://", "://vllm:0@")))
    assert (summary.status, summary.passes[0]["measured_hit_tokens"]) == ("complete", 16)


@pytest.mark.parametrize(
    ("gone", "named"),
    [
        ("vllm:prefix_cache_hits", "vllm:prefix_cache_hits"),
        ("vllm:prefix_cache_queries", "vllm:prefix_cache_queries"),
    ],
)
def test_a_metric_that_is_missing_from_the_start_is_not_complete(
    dataset: Path, tmp_path: Path, gone: str, named: str
) -> None:
    def page(text: str) -> str:
        return "\n".join(line for line in text.splitlines() if not line.startswith(gone)) + "\n"

    with FakeServer(page=page) as server:
        ended = call(dataset, server.url, "--run-dir", str(tmp_path / "run"))
    assert ended.exit_code == 1
    report = orjson.loads(ended.stdout)
    assert (report["run_status"], report["verdict"]["code"]) == ("partial", "incomplete")
    assert report["actual_hit_rate"] is None
    [warning] = [w for w in report["warnings"] if w["code"] == "counters_absent"]
    assert named in warning["text_en"] and "命中量未知" in warning["text_zh"]


def test_counters_that_are_no_numbers_from_the_start(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(page=lambda t: t.replace('hits_total{engine="0"} 0', 'hits_total{engine="0"} NaN')) as server:
        assert run_benchmark(dataset, tmp_path / "run", options(server.url)).status == "partial"


def test_an_infinite_counter_costs_itself_and_a_warning(dataset: Path, tmp_path: Path) -> None:
    server = FakeServer()
    server.page = lambda t: t.replace(f'hits_total{{engine="0"}} {server.hits}', 'hits_total{engine="0"} +Inf')
    with server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url))
    assert summary.status == "partial"
    assert any("infinite" in w["message"] for w in summary.warnings if w["code"] == "metrics")


def test_a_block_size_of_zero_is_not_said(dataset: Path, tmp_path: Path) -> None:
    with FakeServer(block_size=0) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url))
    assert summary.status == "complete"
    assert "block_size_unknown" in {w["code"] for w in summary.warnings}


@pytest.mark.parametrize("name", [5, None, ["a"]])
def test_a_model_that_is_no_name(dataset: Path, tmp_path: Path, name: Any) -> None:
    with FakeServer(models={"data": [{"id": name}]}) as server:
        with pytest.raises(EnvironmentFailure, match="names no model"):
            run_benchmark(dataset, tmp_path / "run", options(server.url))
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url, model="fake"))
    assert summary.status == "complete"


@pytest.mark.parametrize("place", ["127.0.0.1:9", "no-such-proxy.invalid:3128"])
def test_a_dead_proxy_is_not_taken_for_the_server(dataset: Path, tmp_path: Path, place: str) -> None:
    with FakeServer() as server, pytest.raises(EnvironmentFailure) as caught:
        run_benchmark(
            dataset, tmp_path / "r", options(server.url, connection=Connection(proxy=f"http://u:pw-X@{place}"))
        )
    assert caught.value.field == "proxy"
    assert place in caught.value.message and "pw-X" not in str(caught.value)


def test_a_second_run_into_the_same_folder_is_refused(dataset: Path, tmp_path: Path) -> None:
    refusals: list[EnvironmentFailure] = []
    sent = threading.Event()

    def again(step: Progress) -> None:
        if step.phase == "measured" and step.done == 1 and not sent.is_set():
            sent.set()
            second.start()
            second.join(20)

    def run_second() -> None:
        try:
            run_benchmark(dataset, tmp_path / "run", options(server.url, overwrite=True))
        except EnvironmentFailure as error:
            refusals.append(error)

    second = threading.Thread(target=run_second)
    with FakeServer(counted_hits=lambda n: 16 * (n == 2)) as server:
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url), again)
        assert summary.status == "complete"
        [refusal] = refusals
        assert (refusal.exit_code, refusal.field) == (3, "run_dir")
        assert "another run is being written" in refusal.message
        assert build_prefix_cache_report(tmp_path / "run")["run_status"] == "complete"
        with pytest.raises(InputError, match="already holds a finished run"):  # free again
            run_benchmark(dataset, tmp_path / "run", options(server.url))
        assert run_benchmark(dataset, tmp_path / "run", options(server.url, overwrite=True)).status == "complete"
