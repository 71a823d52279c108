"""Metrics pages: names, kinds, help texts and labels are those of the real ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.reference.conftest import MODEL, Running, Start, ids
from tests.reference.dialects.support import page_of, value

pytestmark = pytest.mark.engine

CAPTURES = Path(__file__).parents[2] / "engines" / "data"

V0 = {
    "vllm:num_requests_running": "gauge",
    "vllm:num_requests_swapped": "gauge",
    "vllm:num_requests_waiting": "gauge",
    "vllm:gpu_cache_usage_perc": "gauge",
    "vllm:cpu_cache_usage_perc": "gauge",
    "vllm:cpu_prefix_cache_hit_rate": "gauge",
    "vllm:gpu_prefix_cache_hit_rate": "gauge",
    "vllm:num_preemptions_total": "counter",
    "vllm:prompt_tokens_total": "counter",
    "vllm:generation_tokens_total": "counter",
    "vllm:time_to_first_token_seconds": "histogram",
    "vllm:e2e_request_latency_seconds": "histogram",
    "vllm:request_success_total": "counter",
    "vllm:cache_config_info": "gauge",
}
EARLY = {
    **{name: kind for name, kind in V0.items() if not re.search("cpu|swapped|hit_rate", name)},
    "vllm:gpu_prefix_cache_queries_total": "counter",
    "vllm:gpu_prefix_cache_hits_total": "counter",
}
MINDIE_GAUGE = {
    "request_received_total": "counter",
    "request_success_total": "counter",
    "request_failed_total": "counter",
    "num_requests_running": "gauge",
    "num_requests_waiting": "gauge",
    "num_requests_swapped": "gauge",
    "time_to_first_token_seconds": "histogram",
    "e2e_request_latency_seconds": "histogram",
    "prompt_tokens_total": "counter",
    "generation_tokens_total": "counter",
    "num_preemptions_total": "counter",
    "npu_cache_usage_perc": "gauge",
    "cpu_cache_usage_perc": "gauge",
    "npu_prefix_cache_hit_rate": "gauge",
}
MINDIE = {**MINDIE_GAUGE, "all_radix_match_num": "gauge", "npu_radix_match_hit_num": "gauge"}


def busy(engine: Running) -> None:
    for _ in range(2):
        engine.complete(ids(0, 41), max_tokens=3)


def forms(text: str) -> dict[str, tuple[str, str, frozenset[frozenset[str]]]]:
    """Family → kind, help and the sets of label names of its samples."""
    return {
        family.name: (family.type, family.documentation, frozenset(frozenset(s.labels) for s in family.samples))
        for family in text_string_to_metric_families(text)
    }


def lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line and not line.startswith("#"))


@pytest.mark.parametrize(
    ("dialect", "names"),
    [("vllm-v0", V0), ("vllm-early-v1", EARLY), ("mindie", MINDIE), ("mindie-gauge", MINDIE_GAUGE)],
)
def test_names_and_kinds(start: Start, dialect: str, names: dict[str, str]) -> None:
    engine = start(dialect=dialect)
    busy(engine)
    page = page_of(engine)
    found = {name: kind for name, (kind, _, _) in page.items() if not re.search("^process_|_created$", name)}
    assert found == names


def test_sglang_is_a_part_of_a_real_page(start: Start) -> None:
    engine = start(dialect="sglang")
    busy(engine)
    real = forms((CAPTURES / "sglang_after.prom").read_text())
    mine = forms(engine.client.get("/metrics").text)
    assert len(mine) > 15
    assert {name: form for name, form in mine.items() if real.get(name) != form} == {}
    assert "_created" not in engine.client.get("/metrics").text


def test_sglang_has_what_a_fresh_page_has_and_no_more(start: Start) -> None:
    real = forms((CAPTURES / "sglang_fresh.prom").read_text())
    mine = forms(start(dialect="sglang").client.get("/metrics").text)
    assert mine.keys() <= real.keys()
    assert "sglang:cached_tokens" not in mine
    assert "sglang:prompt_tokens" not in mine


@pytest.mark.parametrize("dialect", ["vllm", "vllm-ascend"])
def test_vllm_is_a_part_of_a_real_page(start: Start, dialect: str) -> None:
    real = forms((CAPTURES / "vllm032_bs32_after.prom").read_text())
    mine = forms(start(dialect=dialect).client.get("/metrics").text)
    named = {name: form for name, form in mine.items() if name.startswith("vllm:") and name != "vllm:cache_config_info"}
    assert {name: form for name, form in named.items() if real.get(name) != form} == {}
    [info], [real_info] = mine["vllm:cache_config_info"][2], real["vllm:cache_config_info"][2]
    assert info <= real_info


class TestEarlyVllm:
    def test_help_says_blocks_and_labels_tell_the_rank(self, start: Start) -> None:
        page = page_of(start(dialect="vllm-early-v1", dp=2))
        for name in ("queries", "hits"):
            _kind, text, values = page[f"vllm:gpu_prefix_cache_{name}_total"]
            assert text.endswith("blocks.")
            assert set(values) == {(("engine", rank), ("model_name", MODEL)) for rank in "01"}
        assert "vllm:prefix_cache_queries_total" not in page


class TestV0:
    def test_there_is_no_rank_and_no_counter(self, start: Start) -> None:
        page = page_of(start(dialect="vllm-v0"))
        assert list(page["vllm:gpu_prefix_cache_hit_rate"][2]) == [(("model_name", MODEL),)]
        assert not any("queries" in name or "hits" in name for name in page)
        assert list(page["vllm:cpu_prefix_cache_hit_rate"][2].values()) == [-1]

    def test_too_short_a_prompt_leaves_the_rate_unknown(self, start: Start) -> None:
        engine = start(dialect="vllm-v0")
        engine.complete(ids(0, 3))
        assert value(engine, "vllm:gpu_prefix_cache_hit_rate") == -1


class TestSglang:
    def test_series_are_born_with_their_first_event(self, start: Start) -> None:
        engine = start(dialect="sglang")
        assert value(engine, "sglang:prompt_tokens_total") is None
        engine.complete(ids(0, 41))
        assert (value(engine, "sglang:prompt_tokens_total"), value(engine, "sglang:cached_tokens_total")) == (41, None)
        engine.complete(ids(0, 41), stream=True)
        assert value(engine, "sglang:cached_tokens_total", cache_source="device") == 40
        assert value(engine, "sglang:prompt_tokens_total", is_streaming="true") == 41
        assert value(engine, "sglang:realtime_tokens_total", mode="prefill_cache") == 40
        assert value(engine, "sglang:realtime_tokens_total", mode="prefill_compute") == 42
        assert value(engine, "sglang:realtime_tokens_total", mode="decode") == 0

    def test_the_hit_rate_is_that_of_the_last_prompt(self, start: Start) -> None:
        engine = start(dialect="sglang")
        rates = []
        for prompt in (ids(0, 41), ids(0, 41), ids(100, 9)):
            engine.complete(prompt)
            rates.append(value(engine, "sglang:cache_hit_rate"))
        assert rates == [0, pytest.approx(40 / 41), 0]

    def test_gauges_tell_the_rank_and_token_counters_do_not(self, start: Start) -> None:
        engine = start(dialect="sglang", dp=2)
        for _ in range(4):
            engine.complete(ids(0, 41))
        assert value(engine, "sglang:page_size", dp_rank="1") == 4
        assert value(engine, "sglang:max_total_num_tokens", dp_rank="0") == 999 * 4
        assert value(engine, "sglang:prompt_tokens_total") == 4 * 41
        assert value(engine, "sglang:cached_tokens_total") == 80
        assert value(engine, "sglang:cached_tokens_total", dp_rank="0") is None

    def test_evictions_are_counted_in_tokens(self, start: Start) -> None:
        engine = start(dialect="sglang", num_blocks=11)
        engine.complete(ids(0, 32))
        assert value(engine, "sglang:evicted_tokens_total") is None
        engine.complete(ids(100, 32))
        assert value(engine, "sglang:evicted_tokens_total", cache_type="UnifiedRadixCache") == 24
        assert value(engine, "sglang:evicted_tokens_total") == 24


class TestMindie:
    def test_gauges_that_only_grow_and_know_no_rank(self, start: Start) -> None:
        engine = start(dialect="mindie", dp=2)
        for count in range(1, 5):
            engine.complete(ids(0, 41))
            assert value(engine, "all_radix_match_num") == 41 * count
        assert value(engine, "npu_radix_match_hit_num") == 80
        assert list(page_of(engine)["npu_radix_match_hit_num"][2]) == [(("model_name", MODEL),)]

    def test_nan_before_the_first_prompt(self, start: Start) -> None:
        text = start(dialect="mindie").client.get("/metrics").text
        assert f'all_radix_match_num{{model_name="{MODEL}"}} Nan' in text.splitlines()
        assert f'npu_prefix_cache_hit_rate{{model_name="{MODEL}"}} 0' in text.splitlines()

    def test_numbers_are_written_as_prometheus_cpp_does(self, start: Start) -> None:
        engine = start(dialect="mindie", model='a "b"\\')
        engine.complete(ids(0, 41), model='a "b"\\')
        page = engine.client.get("/metrics").text
        assert 'prompt_tokens_total{model_name="a \\"b\\"\\\\"} 41' in page.splitlines()
        assert not re.search(r"\.0$", page, re.MULTILINE)
        assert "process_" not in page
        assert value(engine, "prompt_tokens_total", model_name='a "b"\\') == 41

    def test_the_rate_has_single_precision(self, start: Start) -> None:
        engine = start(dialect="mindie-gauge")
        for _ in range(3):
            engine.complete(ids(0, 41))
        rate = value(engine, "npu_prefix_cache_hit_rate")
        assert rate != 80 / 123
        assert rate == pytest.approx(80 / 123, rel=2**-23)


@pytest.mark.parametrize("dialect", ["vllm-v0", "vllm-early-v1", "sglang", "mindie"])
def test_usage_of_the_cache_and_queues_while_requests_run(start: Start, dialect: str) -> None:
    running, waiting, usage = {
        "sglang": ("sglang:num_running_reqs", "sglang:num_queue_reqs", "sglang:token_usage"),
        "mindie": ("num_requests_running", "num_requests_waiting", "npu_cache_usage_perc"),
    }.get(dialect, ("vllm:num_requests_running", "vllm:num_requests_waiting", "vllm:gpu_cache_usage_perc"))
    engine = start(dialect=dialect, num_blocks=11, decode_tps=10)
    body = {"prompt": ids(0, 20), "max_tokens": 9, "stream": True}
    with (
        engine.client.stream("POST", "/v1/completions", json=body) as answer,
        engine.client.stream("POST", "/v1/completions", json=body),
    ):
        lines = answer.iter_lines()
        next(lines)
        engine.until(lambda: value(engine, waiting) == 0 and value(engine, running) == 2)
        assert 0.5 <= (value(engine, usage) or 0) <= 1


@pytest.mark.parametrize("dialect", ["vllm-v0", "vllm-early-v1", "vllm-ascend", "sglang", "mindie", "mindie-gauge"])
def test_counters_can_be_reset_and_families_dropped(start: Start, dialect: str) -> None:
    """What a fault plan asks for, on the engine itself."""
    engine = start(dialect=dialect)
    fresh = set(page_of(engine))
    busy(engine)
    served = engine.app.state.engine
    served.reset_counters()
    assert set(page_of(engine)) == fresh
    counters = [
        (name, number)
        for name, (kind, _, values) in page_of(engine).items()
        if kind == "counter" and not name.startswith("process_")
        for number in values.values()
    ]
    assert [name for name, number in counters if number] == []
    names = served.metrics.families()
    assert {name.removesuffix("_total") for name in page_of(engine) if not name.endswith("_created")} <= set(names)
    served.drop_series((next(name for name in page_of(engine) if "running" in name),))
    assert len(fresh - set(page_of(engine))) == 1
