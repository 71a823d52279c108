"""How a run reads what servers count, against real reference engines and a real Prometheus server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.page import parse_page
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.counters.figures import hit_rate_bounds
from prefixcache.load.counters.metering import Metering
from prefixcache.load.counters.monitor import MOST_SHARE, Monitor, UsageStats
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.engines.test_prometheus import scraping
from tests.load.counters.test_figures import record
from tests.support.datasets import made

Q, H = "vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("metering") / "dataset"
    made(folder, request_count=12)
    return folder


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded", block_size=16)) as running:
        yield running


def counters(run: Path) -> dict[str, Any]:
    found = json.loads((run / "runtime" / "prefix_cache_metrics.json").read_text())["passes"][0]
    assert isinstance(found, dict)
    return found


def test_a_run_reads_its_counters_from_prometheus(dataset: Path, engine: EngineProcess, tmp_path: Path) -> None:
    with scraping(engine.url, tmp_path / "prometheus") as url:
        metering = Metering(prometheus=url, selector='{job="engines"}')
        run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(engine.url,), metering=metering))
    found = counters(tmp_path / "run")
    assert found["measured_hit_tokens"] == found["expected_hit_tokens"] > 0
    assert found["measured_query_tokens"] == found["planned_input_tokens"]
    assert found["endpoints"][0]["endpoint"] == engine.url.removeprefix("http://")


def test_prometheus_without_such_targets_ends_before_the_load(
    dataset: Path, engine: EngineProcess, tmp_path: Path
) -> None:
    with scraping(engine.url, tmp_path / "prometheus") as url:
        metering = Metering(prometheus=url, selector='{job="nobody"}')
        with pytest.raises(EnvironmentFailure, match="no sample of a known framework with"):
            run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(engine.url,), metering=metering))
    assert not (tmp_path / "run").exists()


def test_a_framework_of_ones_own_and_a_decode_server_beside(
    dataset: Path, engine: EngineProcess, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        f"name: mine\nmetrics:\n  queries: {{name: '{Q}'}}\n  hits: {{name: '{H}'}}\n"
        "  prompt_tokens: {name: 'vllm:prompt_tokens_total'}\n"
        "block_size: {name: 'vllm:cache_config_info', label: block_size}\nreset: {path: /reset_prefix_cache}\n"
    )
    with EngineProcess(EngineOptions("embedded", block_size=16)) as decode:
        options = RunOptions(
            urls=(engine.url,),
            metrics_urls=(engine.url, decode.url),
            metering=Metering(engine=str(mine), roles=("prefill", "decode")),
        )
        summary = run_benchmark(dataset, tmp_path / "run", options)
    assert "polling_stopped" not in {warning["code"] for warning in summary.warnings}, "it knows no gauges"
    found = counters(tmp_path / "run")
    assert (found["adapter"], found["status"]) == ("mine", "complete")
    assert found["measured_hit_tokens"] == found["expected_hit_tokens"]
    assert [e["role"] for e in found["endpoints"]] == ["prefill", "decode"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"engine": "vlm"}, "engine"),
        ({"roles": ("both",)}, "role"),
        ({"prometheus": "localhost"}, "prometheus"),
        ({"prometheus": "http://127.0.0.1:9", "selector": "job"}, "--selector"),
        ({"selector": '{job="a"}'}, "selector"),
    ],
)
def test_a_wrong_choice_is_refused_at_once(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as raised:
        Metering(**given)
    assert raised.value.field == field
    assert raised.value.remedy


def test_as_many_roles_as_pages(dataset: Path, engine: EngineProcess, tmp_path: Path) -> None:
    options = RunOptions(urls=(engine.url,), metering=Metering(roles=("prefill", "decode")))
    with pytest.raises(InputError, match="2 roles and 1 metrics pages"):
        run_benchmark(dataset, tmp_path / "run", options)
    assert not (tmp_path / "run").exists()


def test_the_share_of_polling_is_measured(dataset: Path, engine: EngineProcess, tmp_path: Path) -> None:
    run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(engine.url,), poll_interval=0.01))
    usage = counters(tmp_path / "run")["kv_usage"]
    assert usage["polls"] >= 1
    assert usage["polling_s"] > 0
    assert usage["polling_share"] is not None


def monitor() -> Monitor:
    return Monitor(None, (), VLLM, 1.0, lambda _: None)  # type: ignore[arg-type]


def page(queries: float, hits: float) -> Snapshot:
    return Snapshot({"a": parse_page(f"{Q} {queries}\n{H} {hits}\n")})


def test_what_was_seen_to_rise_is_the_least_after_a_reset() -> None:
    usage, found = UsageStats(), monitor()
    steps = [(100, 50), (160, 90), (20, 10), (60, 30)]
    for queries, hits in steps:
        usage.see_counters("a", [queries, hits, None, None, None])
    assert usage.fallen == {"a"}
    total = found.between(page(100, 50), page(60, 30), usage).total
    assert total.delta(Quantity.QUERIES) is None
    # 60 before the reset and 60 after it; 40 and 30 of them hit.
    assert (total.at_least(Quantity.QUERIES), total.at_least(Quantity.HITS)) == (100 + 160 - 100 + 60 - 100, 70)


def test_bounds_of_a_hit_rate_over_a_reset() -> None:
    usage, found = UsageStats(), monitor()
    usage.see_counters("a", [0, 0, None, None, None])
    total = found.between(page(100, 50), page(60, 30), usage).total
    low, high = hit_rate_bounds(total, [record(number) for number in range(2)]) or (None, None)
    # 200 tokens were sent, 60 of them were counted with 30 hits: the other 140 hit nothing, or all.
    assert (low, high) == (30 / 200, 170 / 200)
    whole = found.between(page(0, 0), page(200, 100)).total
    assert hit_rate_bounds(whole, [record(number) for number in range(2)]) is None


def test_the_limit_of_polling_is_one_percent() -> None:
    assert MOST_SHARE == 0.01
    assert isinstance(VLLM, Adapter)


def test_a_reset_that_no_sample_saw_is_found_by_the_time_of_creation(dataset: Path, tmp_path: Path) -> None:
    """The counters grow past what they were before, so between the ends they only seem to have risen."""
    plan = tmp_path / "faults.yaml"
    plan.write_text("- requests: 4\n  reset_counters: true\n")
    with EngineProcess(EngineOptions("embedded", block_size=16, faults=str(plan))) as engine:
        options = RunOptions(urls=(engine.url,), poll_interval=60.0, concurrency=1)
        run_benchmark(dataset, tmp_path / "run", options)
    found = counters(tmp_path / "run")
    assert (found["status"], found["measured_hit_tokens"]) == ("reset_detected", None)
    low, high = found["hit_rate_bounds"]
    truth = found["expected_hit_tokens"] / found["planned_input_tokens"]
    assert 0 < low <= truth <= high < 1
