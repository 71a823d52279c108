"""Which framework a run measures: by its page, its device and its own word; and pages that are another's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.counters.metering import Metering
from prefixcache.load.options import RunOptions
from prefixcache.load.preflight.dry_run import dry_run
from prefixcache.load.run import run_benchmark
from prefixcache.report.build import build_prefix_cache_report
from tests.probe.serving import engine
from tests.support.datasets import made

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frameworks") / "set"
    made(folder, request_count=4, block_size=16)
    return folder


@pytest.fixture(scope="module")
def in_128(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("frameworks") / "set"
    made(folder, request_count=4, block_size=128, input_length=600)
    return folder


@pytest.fixture(scope="module")
def vllm() -> Iterator[str]:
    with engine(block_size=16) as url:
        yield url


@pytest.fixture(scope="module")
def sglang() -> Iterator[str]:
    with engine(dialect="sglang", block_size=16) as url:
        yield url


@pytest.fixture(scope="module")
def ascend() -> Iterator[str]:
    with engine(dialect="vllm-ascend") as url:
        yield url


def options(*urls: str, engine_name: str = "auto", metrics_urls: tuple[str, ...] = ()) -> RunOptions:
    return RunOptions(urls, metrics_urls=metrics_urls, metering=Metering(engine=engine_name))


def checked(dataset: Path, chosen: RunOptions) -> dict[str, Any]:
    found: dict[str, Any] = dry_run(dataset, chosen)["server_check"]
    return found


def about_pages(check: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [row for row in check["contradictions"] if row["code"] == "other_framework"]
    for row in rows:
        for text in (row["text"], row["remedy"]):
            assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese_of(text)), text
    return rows


def adapters(run: Path) -> tuple[str, str]:
    """As run.json and the metrics of the first pass name it."""
    told, metrics = (json.loads((run / "runtime" / n).read_text()) for n in ("run.json", "prefix_cache_metrics.json"))
    return told["servers"][0]["adapter"], metrics["passes"][0]["adapter"]


def test_an_npu_makes_it_vllm_ascend(in_128: Path, ascend: str, tmp_path: Path) -> None:
    run_benchmark(in_128, tmp_path / "run", options(ascend))
    assert adapters(tmp_path / "run") == ("vllm-ascend", "vllm-ascend")
    report = json.dumps(build_prefix_cache_report(tmp_path / "run"))
    assert '"adapter": "vllm-ascend"' in report
    assert '"adapter": "vllm"' not in report


def test_what_the_user_names_stays(in_128: Path, ascend: str, tmp_path: Path) -> None:
    run_benchmark(in_128, tmp_path / "run", options(ascend, engine_name="vllm"))
    assert adapters(tmp_path / "run") == ("vllm", "vllm")


@pytest.mark.parametrize("named", ["auto", "vllm", "vllm-ascend"])
def test_nobody_is_told_to_serve_an_npu_with_another_block(small: Path, ascend: str, named: str) -> None:
    check = checked(small, options(ascend, engine_name=named))
    [row] = [row for row in check["contradictions"] if row["code"] == "block_size"]
    assert row["remedy"].startswith("Generate the dataset with block_size 128: on an NPU")
    assert "serve with" not in row["remedy"]
    assert chinese_of(row["remedy"]).startswith("请以 block_size 128 重新生成数据集：在 NPU 上")


def test_elsewhere_the_server_may_be_changed(tmp_path: Path, sglang: str) -> None:
    made(tmp_path / "set", request_count=4, block_size=24)
    [row] = [row for row in checked(tmp_path / "set", options(sglang))["contradictions"] if row["code"] == "block_size"]
    assert "or serve with block size 24" in row["remedy"]


def test_a_named_framework_that_the_page_is_not_of(small: Path, sglang: str, tmp_path: Path) -> None:
    chosen = options(sglang, engine_name="vllm")
    with pytest.raises(InputError, match="is one of SGLang, not of vLLM as --engine says") as caught:
        run_benchmark(small, tmp_path / "run", chosen)
    assert caught.value.field == "--engine"
    assert "Leave --engine out" in (caught.value.remedy or "")
    assert not (tmp_path / "run").exists()
    assert [row["severity"] for row in about_pages(checked(small, chosen))] == ["error"]


def test_servers_of_two_frameworks(small: Path, vllm: str, sglang: str) -> None:
    [row] = about_pages(checked(small, options(vllm, sglang)))
    assert (row["severity"], row["field"]) == ("error", "--url")
    assert row["text"] == f"the metrics pages are of different frameworks: {vllm} of vLLM, {sglang} of SGLang"


def test_the_metrics_page_of_another_server(small: Path, vllm: str, sglang: str) -> None:
    [row] = about_pages(checked(small, options(vllm, metrics_urls=(sglang,))))
    assert (row["severity"], row["field"]) == ("warning", "--metrics-url")
    assert row["text"] == f"{vllm} says that it is vLLM, but {sglang} is read as a metrics page of SGLang"
    [row] = about_pages(checked(small, options(vllm, metrics_urls=(sglang,), engine_name="vllm")))
    assert (row["severity"], row["field"]) == ("error", "--engine")


def test_a_page_of_nobody_is_named(small: Path, vllm: str) -> None:
    with engine(block_size=16, rewrite=lambda path, body: b"go_x 3\n" if path == "/metrics" else body) as exporter:
        [row] = about_pages(checked(small, options(vllm, metrics_urls=(vllm, exporter))))
    assert (row["severity"], row["field"]) == ("warning", "--metrics-url")
    assert row["text"] == f"the metrics page of {exporter} has no series of vLLM; it has go_x"


@pytest.mark.parametrize("named", ["auto", "vllm"])
def test_the_right_page_is_not_remarked_on(small: Path, vllm: str, named: str) -> None:
    assert about_pages(checked(small, options(vllm, engine_name=named))) == []
