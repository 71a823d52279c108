"""Whole probes of the reference engine, in every pose: what it does is found, whatever it says."""

from __future__ import annotations

import re
import socket
from typing import Any

import pytest

from prefixcache.probe.findings import NAMES, ProbeReport
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.run import probe_server
from tests.probe.serving import engine
from tests.support.tokenizers import qwen_folder

pytestmark = pytest.mark.engine


def probed(url: str, **options: Any) -> ProbeReport:
    report = probe_server(ProbeOptions(url, **{"time_limit": 300.0, **options}))  # on a busy machine seconds are long
    assert set(report.findings) == set(NAMES)
    for finding in report.findings.values():
        assert (finding.source == "unknown") <= (finding.value is None), finding
        assert finding.source in ("stated",) or finding.evidence, finding
    return report


def contradictions(report: ProbeReport) -> list[str]:
    return [each.code for each in report.contradictions]


@pytest.mark.parametrize(
    ("options", "unit", "drop"),
    [
        ({"block_size": 16}, 16, 0),
        ({"block_size": 128}, 128, 0),
        ({"block_size": 784}, 784, 0),
        ({"block_size": 1536}, 1536, 0),
        ({"block_size": 1}, 1, 0),
        ({"block_size": 32, "hit_drop": 1}, 32, 1),
        ({"block_size": 1536, "hit_drop": 1}, 1536, 1),
    ],
)
def test_an_honest_server_is_all_good(options: dict[str, Any], unit: int, drop: int) -> None:
    with engine(**options) as url:
        report = probed(url, tokenizer="embedded")
    assert contradictions(report) == []
    assert report.exit_code == 0
    assert report.status == "complete"
    found = {name: report.value(name) for name in NAMES}
    assert (found["hit_unit"], found["hit_drop"], found["block_size"]) == (unit, drop, options["block_size"])
    assert found["framework"] == "prefixcache-reference"
    assert found["models"] == ["reference"]
    assert found["max_model_len"] == 131072
    assert found["last_token_rule"] == "computed"
    assert found["matching"] == "chained_prefix"
    assert found["outputs_cached"] is True
    assert found["salt"] == "cache_salt"
    assert found["reset"] == "POST /reset_prefix_cache"
    assert found["usage_cached_tokens"] == "present"
    assert found["order_evidence"] == ["first_token"]
    assert (found["dp_size"], found["rank_route"]) == (1, "none needed")
    assert found["tokenizer"]["differ"] == []
    assert found["capacity_tokens"] == 199_999 * options["block_size"]
    assert report.tokens_left == 0 < report.tokens_sent  # the last reset took everything away
    assert report.requests < 50


@pytest.mark.parametrize(("options", "unit"), [({"hit_unit": 784}, 784), ({"hit_unit": 1536}, 1536)])
def test_a_unit_larger_than_the_block_is_named(options: dict[str, Any], unit: int) -> None:
    with engine(block_size=16, **options) as url:
        report = probed(url)
    assert report.value("hit_unit") == unit
    assert [each.sentence.text("en") for each in report.contradictions] == [
        f"the server says 16, it matches in {unit} tokens"
    ]
    assert report.exit_code == 1


def test_a_lie_about_the_block_size_is_named() -> None:
    with engine(block_size=32, claims_block_size=16) as url:
        report = probed(url)
    assert (report.value("block_size"), report.value("hit_unit")) == (16, 32)
    assert contradictions(report) == ["block_size"]


def test_a_reset_that_only_says_so_is_named() -> None:
    with engine(reset="pretends") as url:
        report = probed(url)
    assert contradictions(report) == ["reset_pretends"]
    assert report.value("reset") is None
    assert report.tokens_left == report.tokens_sent > 0


@pytest.mark.parametrize(("reset", "words"), [("absent", "There is no"), ("refused", "requests still run")])
def test_a_reset_that_says_no_is_no_contradiction(reset: str, words: str) -> None:
    with engine(reset=reset) as url:
        report = probed(url)
    assert contradictions(report) == []
    assert report.value("reset") is None
    assert words in report.findings["reset"].text("en")


def test_the_cache_is_not_emptied_where_that_is_forbidden() -> None:
    with engine() as url:
        report = probed(url, reset=False)
        assert report.value("reset") is None
        assert report.tokens_left == report.tokens_sent
        assert "--no-reset" in report.findings["reset"].text("en")
        assert probed(url).tokens_left == 0


def test_an_ignored_salt_is_named() -> None:
    with engine(salt="ignored") as url:
        report = probed(url)
    assert contradictions(report) == ["salt_ignored"]
    assert report.value("salt") is None


def test_a_salt_that_the_release_does_not_have_is_no_contradiction() -> None:
    with engine(dialect="vllm-early-v1") as url:
        report = probed(url)
    assert contradictions(report) == []
    assert (report.value("salt"), report.findings["salt"].source) == (None, "measured")
    assert "not known to have it" in report.findings["salt"].text("en")


@pytest.mark.parametrize(
    ("matching", "value"), [("independent", "independent_block"), ("content-defined", "content_defined_chunk")]
)
def test_other_semantics_are_found(matching: str, value: str) -> None:
    with engine(matching=matching) as url:
        report = probed(url)
    assert report.value("matching") == value
    assert report.value("hit_unit") == (16 if matching == "independent" else None)  # chunks have no one size
    assert contradictions(report) == []
    assert report.value("salt") == "cache_salt"  # and what needs no unit is found all the same
    assert report.value("reset") is not None


@pytest.mark.parametrize(("mean", "seed"), [(100, 2), (784, 1)])
def test_chunks_are_never_given_a_unit(mean: int, seed: int) -> None:
    with engine(matching="content-defined", hit_unit=mean, claims_block_size=16, reset="refused") as url:
        report = probed(url, seed=seed)
    assert (report.value("hit_unit"), report.value("hit_drop")) == (None, None)
    assert report.value("matching") == "content_defined_chunk"
    assert contradictions(report) == []


def test_single_tokens_that_hit_anywhere_are_met_by_chance() -> None:
    """No drop is told then, and no chunks: a token that is moved is a block at another place."""
    with engine(dialect="mindie", hit_unit=1, hit_drop=3, usage_cached=False, matching="independent") as url:
        report = probed(url, seed=1)
    assert (report.value("hit_unit"), report.value("hit_drop")) == (1, None)
    assert report.value("matching") == "independent_block"


def test_one_step_makes_no_unit() -> None:
    with engine(block_size=2048, max_model_len=4096) as url:
        report = probed(url)
    assert report.value("hit_unit") is None
    assert "one step makes no unit" in report.findings["hit_unit"].text("en")
    assert report.value("reset") is not None
    assert contradictions(report) == []


def test_outputs_that_are_not_cached() -> None:
    with engine(outputs_cached=False) as url:
        assert probed(url).value("outputs_cached") is False


def test_answers_without_cached_tokens() -> None:
    with engine(usage_cached=False, block_size=64) as url:
        report = probed(url)
    assert report.value("usage_cached_tokens") == "null"
    assert report.value("hit_unit") == 64
    assert "counters" in report.findings["hit_unit"].text("en")


def test_without_prefix_caching_there_is_no_number() -> None:
    with engine(prefix_caching=False) as url:
        report = probed(url)
    assert report.value("hit_unit") is None
    assert "No hit up to 32768 tokens" in report.findings["hit_unit"].text("en")
    assert "Cannot be told" in report.findings["matching"].text("en")


class TestRanks:
    def test_a_rank_is_reached_by_header(self) -> None:
        with engine(dp=2, block_size=32) as url:
            report = probed(url)
        assert report.value("dp_size") == 2
        assert report.value("rank_route") == "header X-data-parallel-rank"
        assert report.value("hit_unit") == 32
        assert {reading.rank for reading in report.findings["hit_unit"].readings} == {0}

    def test_without_labels_the_caches_tell(self) -> None:
        with engine(dialect="sglang", dp=2, block_size=32) as url:
            report = probed(url)
        assert report.value("rank_route") == "header X-Data-Parallel-Rank"
        assert "on the rank that had it and not on the other" in report.findings["rank_route"].text("en")
        assert report.value("hit_unit") == 32

    def test_where_no_rank_can_be_reached_prompts_are_spread(self) -> None:
        """The old header is taken and ignored, and requests go round."""
        with engine(dialect="vllm-early-v1", dp=2) as url:
            report = probed(url)
        assert report.value("rank_route") is None
        assert "X-data-parallel-rank" in report.findings["rank_route"].text("en")
        assert (report.value("hit_unit"), report.value("last_token_rule")) == (16, "computed")
        assert report.value("reset") is not None


class TestDialects:
    @pytest.mark.parametrize("page", [1, 32])
    def test_sglang(self, page: int) -> None:
        with engine(dialect="sglang", block_size=page) as url:
            report = probed(url, tokenizer="embedded")
        assert report.value("framework") == "sglang"
        assert (report.value("block_size"), report.value("hit_unit")) == (page, page)
        assert report.value("reset") == "POST /flush_cache"
        assert report.value("salt") == "cache_salt"
        assert report.value("outputs_cached") is True
        assert report.value("usage_cached_tokens") == "present"
        assert contradictions(report) == []

    @pytest.mark.parametrize("dialect", ["mindie", "mindie-gauge"])
    def test_mindie(self, dialect: str) -> None:
        """No ids, no block size, no reset, no salt; of the older one a rate in single precision alone."""
        with engine(dialect=dialect, block_size=128, usage_cached=False) as url:
            report = probed(url, tokenizer="embedded")
        assert report.value("framework") == "mindie"
        assert report.value("block_size") is None
        assert (report.value("hit_unit"), report.value("hit_drop")) == (128, 0)
        assert report.value("last_token_rule") == "computed"
        assert report.value("max_model_len") == 131072
        assert report.value("reset") is None
        assert report.value("salt") is None
        assert report.value("tokenizer")["compared"] == "counts"
        assert contradictions(report) == []

    def test_vllm_v0_tells_no_hits(self) -> None:
        with engine(dialect="vllm-v0", usage_cached=False, prefill_tps=10_000) as url:
            report = probed(url)
        told = report.findings["hit_unit"].text("en")
        ratio = re.search(r"repeated prompt: (\d+\.\d)", told)
        assert report.value("hit_unit") is None
        assert ratio is not None
        assert float(ratio[1]) > 2

    def test_early_v1_counts_blocks(self) -> None:
        with engine(dialect="vllm-early-v1", block_size=32, usage_cached=False) as url:
            report = probed(url)
        assert report.value("hit_unit") == 32

    @pytest.mark.parametrize(
        ("options", "unit"),
        [
            ({"hit_unit": 48}, 48),
            ({"block_size": 1, "hit_unit": 4096}, 4096),
            ({"block_size": 32, "hit_unit": 16, "usage_cached": False}, 16),
        ],
    )
    def test_early_v1_whose_blocks_are_not_the_stated_ones(self, options: dict[str, Any], unit: int) -> None:
        """Its counters count them: neither inconsistent nor another number than usage tells."""
        with engine(dialect="vllm-early-v1", **options) as url:
            report = probed(url)
        assert (report.value("hit_unit"), report.value("hit_drop")) == (unit, 0)
        assert contradictions(report) == ["block_size"]
        assert any(f"count blocks of {unit} tokens" in each.text("en") for each in report.warnings)

    def test_a_gauge_too_coarse_for_single_tokens(self) -> None:
        with engine(dialect="mindie-gauge", block_size=1, usage_cached=False) as url:
            report = probed(url)
        assert report.value("hit_unit") is None
        assert "too coarse" in report.findings["hit_unit"].text("en")
        assert contradictions(report) == []

    def test_vllm_ascend_forces_its_block(self) -> None:
        with engine(dialect="vllm-ascend", block_size=16) as url:
            report = probed(url)
        assert (report.value("block_size"), report.value("hit_unit")) == (128, 128)
        assert contradictions(report) == []
        assert report.value("framework") == "vllm-ascend"
        assert "Its info route tells the device: npu." in report.findings["framework"].text("en")

    def test_vllm_ascend_is_vllm_where_the_user_says_so(self) -> None:
        with engine(dialect="vllm-ascend") as url:
            report = probed(url, engine="vllm")
        assert report.value("framework") == "vllm"


class TestCapacity:
    def test_is_bracketed_by_filling(self) -> None:
        with engine(num_blocks=501) as url:
            report = probed(url, capacity=True)
        finding = report.findings["capacity_tokens"]
        assert finding.source == "measured"
        assert finding.value == pytest.approx(500 * 16, rel=0.03)
        assert report.tokens_left == 0

    def test_is_at_least_something_where_time_is_up(self) -> None:
        with engine(num_blocks=100_000, prefill_tps=60_000) as url:
            report = probed(url, capacity=True, time_limit=4)
        finding = report.findings["capacity_tokens"]
        assert (finding.source, report.status) == ("unknown", "partial")
        assert "Time was up" in finding.text("en") or "time limit" in finding.text("en")
        assert report.seconds < 8


class TestTokenizer:
    def test_another_one_is_named(self) -> None:
        with engine() as url:
            report = probed(url, tokenizer=str(qwen_folder()))
        assert contradictions(report) == ["tokenizer"]
        value = report.value("tokenizer")
        assert value["agree"] < value["strings"]
        assert {row["name"] for row in value["differ"]} >= {"cjk"}

    def test_without_one_nothing_is_compared(self) -> None:
        with engine() as url:
            finding = probed(url).findings["tokenizer"]
        assert (finding.value, finding.source) == (None, "unknown")
        assert "no --tokenizer was given" in finding.text("en")


def test_kv_events_are_order_evidence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with engine(kv_events=f"tcp://*:{port}") as url:
        report = probed(url)
    assert report.value("order_evidence") == ["kv_events", "first_token"]
    assert str(port) in report.findings["order_evidence"].text("en")


def test_a_short_model_is_probed_with_short_prompts() -> None:
    with engine(max_model_len=200, block_size=16) as url:
        report = probed(url)
    assert (report.value("hit_unit"), report.value("max_model_len")) == (16, 200)


def test_a_tiny_pool_does_not_mislead() -> None:
    """33 blocks: the base prompt has to be kept in use while others run."""
    with engine(num_blocks=33, block_size=16, max_model_len=400) as url:
        report = probed(url)
    assert report.value("hit_unit") == 16
    assert contradictions(report) == []


def test_a_second_probe_meets_nothing_of_the_first() -> None:
    with engine(reset="absent") as url:
        first, second = probed(url), probed(url)
    assert first.value("hit_unit") == second.value("hit_unit") == 16
    assert contradictions(second) == []
