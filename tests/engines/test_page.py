from __future__ import annotations

import math
from pathlib import Path

import pytest

from prefixcache.engines.detect import detect_adapter
from prefixcache.engines.frameworks.sglang import SGLANG
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.page import MetricsPage, parse_page
from prefixcache.engines.quantities import Quantity
from prefixcache.errors import InputError

DATA = Path(__file__).parent / "data"


def capture(name: str) -> MetricsPage:
    return parse_page((DATA / f"{name}.prom").read_text())


@pytest.mark.parametrize(
    ("name", "queries", "hits"),
    [
        ("vllm032_bs32_fresh", 0, 0),
        ("vllm032_bs32_after", 836828, 47456),
        ("vllm032_dp2_after", 1548, 1024),
        ("vllm032_external_after", 1212, 640),
    ],
)
def test_real_vllm_pages(name: str, queries: int, hits: int) -> None:
    page = capture(name)
    assert page.warnings == ()
    assert detect_adapter(page) is VLLM
    assert VLLM.value(Quantity.QUERIES, page) == queries
    assert VLLM.value(Quantity.HITS, page) == hits
    assert VLLM.value(Quantity.KV_USAGE, page) == 0


def test_real_sglang_pages() -> None:
    fresh, after = capture("sglang_fresh"), capture("sglang_after")
    assert detect_adapter(fresh) is detect_adapter(after) is SGLANG
    assert SGLANG.value(Quantity.HITS, fresh) is None
    assert (SGLANG.value(Quantity.QUERIES, after), SGLANG.value(Quantity.HITS, after)) == (58606, 6580)
    facts = SGLANG.cache_facts(after)
    assert (facts.block_size, facts.kv_tokens, facts.max_model_len) == (1, 16384, 32768)
    assert math.isnan(after.named("sglang:fwd_occupancy")[0].value)


def test_vllm_cache_facts_take_one_ranks_tokens_and_leave_out_the_null_block() -> None:
    one, two = VLLM.cache_facts(capture("vllm032_bs32_after")), VLLM.cache_facts(capture("vllm032_dp2_after"))
    assert (one.block_size, one.num_blocks, one.kv_tokens, one.prefix_caching) == (32, 2048, 65536 - 32, True)
    assert (two.num_blocks, two.kv_tokens) == (1024, 16384 - 32)  # the blocks are both ranks', the tokens one's
    assert one.hit_alignment is None
    assert VLLM.cache_facts(parse_page("vllm:num_requests_running 0")).block_size is None


def test_engines_are_listed_in_numeric_order() -> None:
    page = parse_page("\n".join(f'vllm:num_requests_running{{engine="{n}"}} 0' for n in (10, 2, 0)))
    assert VLLM.engines(page) == ("0", "2", "10")
    assert VLLM.engines(capture("vllm032_dp2_after")) == ("0", "1")


def test_bad_lines_cost_themselves_and_a_warning() -> None:
    page = parse_page(
        "# TYPE x counter\n"
        'x_total{engine="0"} 3\n'
        'x_total{engine="1"} three\n'
        'y{engine="0} 1\n'
        "lonely\n"
        "}{\n"
        "x_created 1.7e9\n"
        "\x00\n"
        'x_total{engine="2",text="a \\"b\\" } \\n"} 5 1700000000\n'
    )
    assert [s.value for s in page.named("x")] == [3, 5]
    assert page.named("x")[1].labels["text"] == 'a "b" } \n'
    assert len(page.warnings) >= 4
    assert "line 3" in page.warnings[0]


def test_with_and_without_total_are_the_same_counter() -> None:
    for spelling in ("vllm:prefix_cache_hits", "vllm:prefix_cache_hits_total"):
        assert VLLM.value(Quantity.HITS, parse_page(f"{spelling} 7")) == 7


def test_newer_names_win_over_their_deprecated_aliases() -> None:
    page = parse_page("vllm:gpu_prefix_cache_hits_total 7\nvllm:prefix_cache_hits_total 7\n")
    assert VLLM.value(Quantity.HITS, page) == 7


def test_nan_is_not_available() -> None:
    assert VLLM.value(Quantity.HITS, parse_page("vllm:prefix_cache_hits_total NaN")) is None


def test_only_wanted_names_are_read() -> None:
    text = (DATA / "vllm032_bs32_after.prom").read_text()
    page = parse_page(text, VLLM.metric_names())
    assert set(page.series) <= VLLM.metric_names()
    full = parse_page(text)
    assert all(VLLM.value(q, page) == VLLM.value(q, full) for q in Quantity)


def test_unknown_frameworks_are_named() -> None:
    with pytest.raises(InputError, match=r"no metric of a known framework .*it has node_load1"):
        detect_adapter(parse_page("node_load1 0.5"))
