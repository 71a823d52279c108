"""Each framework's dialect and each known trap of it, one test each."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from prefixcache.engines.aggregate import aggregate
from prefixcache.engines.detect import ADAPTERS, detect_adapter, named_adapter
from prefixcache.engines.frameworks.mindie import MINDIE
from prefixcache.engines.frameworks.mooncake import MOONCAKE
from prefixcache.engines.frameworks.sglang import SGLANG
from prefixcache.engines.frameworks.ucm import UCM
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.offline import adapter_of, read_pairs, snapshots
from prefixcache.engines.page import page_text, parse_page
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot
from prefixcache.engines.told import tell
from prefixcache.errors import InputError

Q, H = Quantity.QUERIES, Quantity.HITS


def between(before: str, after: str, engine: str = "auto", **roles: Any) -> dict[str, Any]:
    first, second = Snapshot({"a": parse_page(before)}), Snapshot({"a": parse_page(after)})
    return tell(adapter_of(engine, first, second), first, second, roles)


def whole(before: str, after: str, engine: str = "auto") -> dict[str, Any]:
    found: dict[str, Any] = between(before, after, engine)["global"]
    return found


def warned(told: dict[str, Any], text: str) -> bool:
    return any(text in warning for warning in told["warnings"])


# vLLM -----------------------------------------------------------------------------------------------------------------


def test_vllm_v0_has_a_ratio_and_no_figure_follows_from_it() -> None:
    page = 'vllm:gpu_prefix_cache_hit_rate{{model_name="m"}} {}\nvllm:prompt_tokens_total{{model_name="m"}} {}\n'
    found = between(page.format(-1, 0), page.format(0.59, 1000))
    row = found["global"]
    assert (found["engine"], row["queries"], row["hits"], row["hit_ratio"]) == ("vllm", None, None, None)
    assert "prefix_cache_queries" in row["not_available"]["queries"]
    assert warned(found, "shows a hit ratio of 0.59, which is not that of the interval")


BLOCKS = "vllm:gpu_prefix_cache_queries_total {q}\nvllm:gpu_prefix_cache_hits_total {h}\nvllm:prompt_tokens_total {p}\n"


@pytest.mark.parametrize(
    ("queries", "hits", "prompts", "unit"), [(62, 31, 1000, "block"), (1000, 496, 1000, "token"), (10, 5, 0, "block")]
)
def test_early_vllm_without_help_is_told_by_the_prompt_tokens_beside(
    queries: int, hits: int, prompts: int, unit: str
) -> None:
    found = between(BLOCKS.format(q=0, h=0, p=0), BLOCKS.format(q=queries, h=hits, p=prompts))
    assert (found["unit"], found["global"]["hit_ratio"]) == (unit, hits / queries)
    assert warned(found, "in blocks, full blocks only") == (unit == "block")
    assert warned(found, "does not say whether it counts blocks or tokens") == (prompts == 0)


def test_early_vllm_with_help_in_tokens_is_the_deprecated_alias() -> None:
    help_text = "# HELP vllm:gpu_prefix_cache_{}_total GPU prefix cache {}, in terms of number of {} tokens.\n"
    page = (
        help_text.format("queries", "queries", "queried")
        + help_text.format("hits", "hits", "cached")
        + BLOCKS.format(q="{q}", h="{h}", p=0)
    )
    assert between(page.format(q=0, h=0), page.format(q=64, h=32))["unit"] == "token"


def test_the_newer_name_wins_where_a_page_has_both() -> None:
    page = (
        "vllm:gpu_prefix_cache_queries_total {0}\nvllm:prefix_cache_queries_total {0}\nvllm:prefix_cache_hits_total 0\n"
    )
    assert whole(page.format(0), page.format(100))["queries"] == 100


def test_names_with_and_without_total_are_one() -> None:
    page = "vllm:prefix_cache_queries {}\nvllm:prefix_cache_hits {}\n"
    assert whole(page.format(0, 0), page.format(10, 5))["hit_ratio"] == 0.5


def test_a_new_time_of_creation_is_a_reset_although_the_counter_grew() -> None:
    page = "vllm:prefix_cache_queries_total {}\nvllm:prefix_cache_queries_created {}\nvllm:prefix_cache_hits_total 0\n"
    row = whole(page.format(10, 1.7e9), page.format(20, 1.8e9))
    assert (row["queries"], row["reset"], row["at_least"]["queries"]) == (None, True, 20)
    assert whole(page.format(10, 1.7e9), page.format(20, 1.7e9))["queries"] == 10


def test_vllm_without_external_counters_has_no_total() -> None:
    page = "vllm:prefix_cache_queries_total {}\nvllm:prefix_cache_hits_total {}\n"
    row = whole(page.format(0, 0), page.format(100, 50))
    assert (row["hit_ratio"], row["total_hit_ratio"]) == (0.5, None)
    assert "external_prefix_cache_hits" in row["not_available"]["total_hit_ratio"]


def test_hits_and_prompt_tokens_by_source_check_each_other() -> None:
    """Versions that count a waiting request's lookup at each try; and a hits counter that stays 0 (Ascend, MTP)."""
    page = (
        "vllm:prefix_cache_queries_total {}\nvllm:prefix_cache_hits_total {}\nvllm:prompt_tokens_total {}\n"
        'vllm:prompt_tokens_by_source_total{{source="local_cache_hit"}} {}\n'
    )
    for hits, queries in ((3000, 6000), (0, 1000)):
        found = between(page.format(0, 0, 0, 0), page.format(queries, hits, 1000, 500))
        assert warned(found, f"the hits counter says {hits:,}, the prompt tokens by source say that 500")
    assert not warned(between(page.format(0, 0, 0, 0), page.format(1000, 500, 1000, 500)), "by source")


def test_tiers_are_added_over_the_local_queries() -> None:
    """A service with UCM behind vLLM: neither the sum nor the mean of 32.8 % and 73.3 %."""
    page = (
        "vllm:prefix_cache_queries_total {}\nvllm:prefix_cache_hits_total {}\n"
        "vllm:external_prefix_cache_queries_total {}\nvllm:external_prefix_cache_hits_total {}\n"
    )
    row = whole(page.format(0, 0, 0, 0), page.format(44460, 14592, 29868, 21888))
    assert round(row["hit_ratio"], 3) == 0.328
    assert round(row["external_hit_ratio"], 3) == 0.733
    assert round(row["total_hit_ratio"], 4) == 0.8205


def test_ucm_counts_the_same_from_its_own_side() -> None:
    page = (
        "ucm:total_prefix_query_tokens_total {}\nucm:gpu_hbm_hit_tokens_total {}\nucm:ucm_hit_tokens_total {}\n"
        "ucm:cache_lookup_hit_blocks_total 7\n"
    )
    found = between(page.format(0, 0, 0), page.format(44460, 14592, 21888))
    row = found["global"]
    assert (found["engine"], row["external_queries"], round(row["total_hit_ratio"], 4)) == ("ucm", 29868, 0.8205)


@pytest.mark.parametrize("lookup", [True, False])
def test_a_store_on_an_engines_page_is_told_beside_it_and_never_added(lookup: bool) -> None:
    names = ("num_lookup_tokens", "num_lookup_hits") if lookup else ("num_requested_tokens", "num_hit_tokens")
    page = (
        "vllm:prefix_cache_queries_total {0}\nvllm:prefix_cache_hits_total {1}\n"
        f"lmcache:{names[0]}_total {{2}}\nlmcache:{names[1]}_total {{3}}\n"
    )
    found = between(page.format(0, 0, 0, 0), page.format(1000, 400, 600, 300))
    assert (found["global"]["hits"], found["global"]["queries"]) == (400, 1000)
    [store] = found["stores"]
    assert (store["store"], store["queries"], store["hits"]) == ("lmcache", 600, 300)


def test_a_stores_own_page_among_engines_is_no_missing_endpoint() -> None:
    engine = "vllm:prefix_cache_queries_total {0}\nvllm:prefix_cache_hits_total {0}\n"
    store = "total_get_nums_ {0}\nvalid_get_nums_ {0}\nmem_cache_hit_nums_ {0}\n"
    first, second = (Snapshot({"e": parse_page(engine.format(n)), "s": parse_page(store.format(n))}) for n in (0, 10))
    found = tell(adapter_of("auto", first, second), first, second)
    assert (found["engine"], found["status"], found["global"]["partial"]) == ("vllm", "complete", False)
    assert [(s["store"], s["unit"], s["hits"]) for s in found["stores"]] == [("mooncake", "object", 10)]


# SGLang ---------------------------------------------------------------------------------------------------------------


def test_sglang_hits_of_host_and_storage_are_external() -> None:
    page = "sglang:prompt_tokens_total {}\n" + "".join(
        f'sglang:cached_tokens_total{{{{cache_source="{s}"}}}} {{}}\n' for s in ("device", "host", "storage")
    )
    row = whole(page.format(0, 0, 0, 0), page.format(1000, 300, 200, 100))
    assert (row["hits"], row["external_hits"], row["external_queries"]) == (300, 300, None)
    assert row["total_hit_ratio"] == 0.6
    assert "does not count what it looks up" in row["not_available"]["external_queries"]


def test_older_sglang_names_no_source_of_its_hits() -> None:
    page = 'sglang:prompt_tokens_total {}\nsglang:cached_tokens_total{{model_name="m"}} {}\n'
    assert whole(page.format(0, 0), page.format(100, 60))["hits"] == 60


def test_sglang_with_only_the_realtime_tokens() -> None:
    page = "".join(
        f'sglang:realtime_tokens_total{{{{mode="{m}"}}}} {{}}\n' for m in ("prefill_compute", "prefill_cache", "decode")
    )
    row = whole(page.format(0, 0, 0), page.format(60, 40, 1000))
    assert (row["queries"], row["hits"], row["hit_ratio"]) == (100, 40, 0.4)


def test_sglangs_ratio_of_the_last_batch_is_never_a_runs() -> None:
    page = "sglang:cache_hit_rate {}\nsglang:token_usage 0\n"
    found = between(page.format(0), page.format(0.97))
    assert found["global"]["hit_ratio"] is None
    assert warned(found, "of the last prefill batch only")


def test_no_counter_of_sglang_has_a_rank() -> None:
    page = (
        'sglang:prompt_tokens_total {}\nsglang:cached_tokens_total {}\nsglang:evicted_tokens_total{{dp_rank="1"}} 5\n'
    )
    rows = between(page.format(0, 0), page.format(10, 5))["domains"]
    assert [(row["engine_label"], row["hits"]) for row in rows] == [(None, 5)]


# MindIE ---------------------------------------------------------------------------------------------------------------

RADIX = 'all_radix_match_num{{model_name="m"}} {}\nnpu_radix_match_hit_num{{model_name="m"}} {}\n'
GAUGE = 'npu_prefix_cache_hit_rate{{model_name="m"}} {}\nprompt_tokens_total{{model_name="m"}} {}\n'


def test_mindie_counts_tokens_in_gauges_that_only_grow() -> None:
    types = "# TYPE all_radix_match_num gauge\n# TYPE npu_radix_match_hit_num gauge\n"
    found = between(types + RADIX.format(100, 40), types + RADIX.format(1100, 640))
    row = found["global"]
    assert (found["engine"], row["queries"], row["hits"], row["hit_ratio"]) == ("mindie", 1000, 600, 0.6)
    assert (row["external_hits"], row["total_hit_ratio"]) == (None, None)


def test_mindie_nan_before_the_first_prompt_counts_from_zero() -> None:
    assert whole(RADIX.format("Nan", "Nan"), RADIX.format(1000, 600))["hits"] == 600


def test_mindie_without_prefix_cache_reads_minus_one() -> None:
    page = RADIX.format(-1, -1)
    assert MINDIE.cache_facts(parse_page(page)).prefix_caching is False
    row = whole(page, page)
    assert (row["queries"], row["hits"]) == (None, None)


def test_older_mindie_has_only_a_ratio_since_the_start() -> None:
    found = between(GAUGE.format(0.5, 1000), GAUGE.format(0.8, 5000))
    row = found["global"]
    assert (row["queries"], row["hits"]) == (4000, 0.8 * 5000 - 0.5 * 1000)
    assert warned(found, "hits are an estimate")
    assert warned(found, "Motor's page has the unweighted mean of its pods")
    fresh = whole(GAUGE.format("Nan", 0), GAUGE.format(0.25, 400))
    assert (fresh["queries"], fresh["hits"]) == (400, 100)
    restarted = whole(GAUGE.format(0.5, 1000), GAUGE.format(0.8, 500))
    assert (restarted["hits"], restarted["reset"]) == (None, True)


def test_mindies_counters_win_over_its_ratio() -> None:
    page = RADIX + GAUGE
    assert whole(page.format(0, 0, 0, 0), page.format(1000, 600, 0.9, 1200))["hits"] == 600


# Others ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hits", ["trtllm_prompt_cached_tokens_total", "trtllm_prompt_tokens_cached_total"])
def test_tensorrt_llm(hits: str) -> None:
    gauges = "trtllm_kv_cache_hit_rate 0.97\ntrtllm_kv_cache_tokens_per_block 32\n"
    page = f"trtllm_prompt_tokens_total {{}}\n{hits} {{}}\n{gauges}"
    found = between(page.format(0, 0), page.format(1800, 450))
    row = found["global"]
    assert (found["engine"], row["hit_ratio"], row["total_hit_ratio"]) == ("tensorrt-llm", 0.25, 0.25)
    assert warned(found, "shows a hit ratio of 0.97")
    page_now = parse_page(page.format(0, 0))
    assert detect_adapter(page_now).cache_facts(page_now).block_size == 32


def test_lmdeploy() -> None:
    page = "lmdeploy:prompt_tokens_total {}\nlmdeploy:cached_tokens_total {}\nlmdeploy:prefix_cache_hit_rate 0.9\n"
    found = between(page.format(0, 0), page.format(100, 40))
    assert (found["engine"], found["global"]["hit_ratio"], found["global"]["total_hit_ratio"]) == (
        "lmdeploy",
        0.4,
        None,
    )


def test_mooncakes_objects_are_no_tokens() -> None:
    page = "total_get_nums_ {}\nmem_cache_hit_nums_ {}\nfile_cache_hit_nums_ {}\n"
    found = between(page.format(0, 0, 0), page.format(100, 60, 30))
    assert (found["engine"], found["unit"], found["global"]["hits"]) == ("mooncake", "object", 90)
    assert MOONCAKE.store and UCM.store


def test_a_framework_of_ones_own(tmp_path: Path) -> None:
    description = tmp_path / "mine.yaml"
    description.write_text(
        "name: mine\nengine_label: dp\nmetrics:\n"
        "  queries: {name: my:asked_total}\n"
        "  hits: {name: [my:hit, my:old_hit], labels: {tier: [device, hbm]}}\n"
        "  external_hits: {sum: [{name: my:host}, {name: my:disk}]}\n"
        "block_size: {name: my:config, label: block}\n"
    )
    page = (
        'my:config{{block="48"}} 1\nmy:asked_total{{dp="0"}} {}\nmy:old_hit_total{{dp="0",tier="hbm"}} {}\n'
        'my:old_hit_total{{dp="0",tier="cpu"}} 9\nmy:host{{dp="0"}} {}\nmy:disk{{dp="0"}} {}\n'
    )
    found = between(page.format(0, 0, 0, 0), page.format(100, 30, 20, 10), str(description))
    row = found["domains"][0]
    assert (found["engine"], row["engine_label"], row["hits"], row["external_hits"]) == ("mine", "0", 30, 30)
    assert row["total_hit_ratio"] == 0.6
    adapter = named_adapter(str(description))
    assert adapter is not None and adapter.cache_facts(parse_page(page.format(0, 0, 0, 0))).block_size == 48


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no mapping"),
        ("name: x", "metrics"),
        ("name: x\nmetrics: {hits: {name: a}}", "queries and hits"),
        ("name: x\nmetrics: {queries: {name: a}, hits: {name: b, unit: block}}", "different units"),
        ("name: x\nmetrics: {queries: {name: a}, hits: {nam: b}}", "metrics.hits"),
        ("name: x\nmetrics: {querys: {name: a}}", "metrics.querys"),
        ("name: [", "no YAML in line"),
        ("name: x\nmetrics: {queries: {sum: [{name: a}, {name: b, unit: block}]}, hits: {name: a}}", "different units"),
        ("name: x\nmetrics: {queries: {name: a}, hits: {name: b}}\nreset: {path: flush}", "reset.path"),
    ],
)
def test_a_wrong_description_names_its_key(text: str, named: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        named_adapter(str(path))
    assert raised.value.field == "engine"
    assert named in raised.value.message
    assert raised.value.remedy


def test_names_of_frameworks() -> None:
    assert named_adapter("auto") is None
    assert named_adapter("SGLang") is SGLANG
    for wrong in ("vlm", "missing.yaml"):
        with pytest.raises(InputError):
            named_adapter(wrong)
    assert len({a.name for a in ADAPTERS}) == len(ADAPTERS)


# Services -------------------------------------------------------------------------------------------------------------


def test_decode_endpoints_do_not_dilute_the_hit_rate() -> None:
    page = "vllm:prefix_cache_queries_total {}\nvllm:prefix_cache_hits_total {}\n"
    first = Snapshot({"p": parse_page(page.format(0, 0)), "d": parse_page(page.format(0, 0))})
    second = Snapshot({"p": parse_page(page.format(100, 60)), "d": parse_page(page.format(100, 99))})
    found = tell(VLLM, first, second, {"p": "prefill", "d": "decode"})
    assert (found["global"]["hit_ratio"], found["status"]) == (0.6, "complete")
    assert [row["role"] for row in found["domains"]] == ["prefill", "decode"]
    assert warned(found, "decode endpoints (d) are not in the sums")


def test_blocks_and_tokens_have_no_sum() -> None:
    help_text = (
        "# HELP vllm:gpu_prefix_cache_{0}_total in terms of number of {1}.\nvllm:gpu_prefix_cache_{0}_total {2}\n"
    )

    def page(unit: str, queries: int, hits: int) -> str:
        return help_text.format("queries", unit, queries) + help_text.format("hits", unit, hits)

    first = Snapshot({n: parse_page(page(u, 0, 0)) for n, u in (("a", "blocks"), ("b", "tokens"))})
    second = Snapshot({"a": parse_page(page("blocks", 10, 5)), "b": parse_page(page("tokens", 100, 50))})
    found = tell(VLLM, first, second)
    assert (found["unit"], found["global"]["hits"], found["global"]["hit_ratio"]) == ("mixed", None, None)
    assert "block and token, which have no sum" in found["global"]["not_available"]["hits"]
    assert [row["hit_ratio"] for row in found["domains"]] == [0.5, 0.5]


def test_after_a_reset_the_sum_has_a_least() -> None:
    page = "vllm:prefix_cache_queries_total {}\nvllm:prefix_cache_hits_total {}\n"
    first = Snapshot({"a": parse_page(page.format(900, 800)), "b": parse_page(page.format(0, 0))})
    second = Snapshot({"a": parse_page(page.format(100, 60)), "b": parse_page(page.format(50, 10))})
    total = aggregate(VLLM, first, second).total
    assert (total.delta(Q), total.at_least(Q), total.at_least(H)) == (None, 150, 70)


def test_pages_of_two_frameworks_have_no_common_sum() -> None:
    pages = {"a": parse_page("vllm:prefix_cache_queries_total 0"), "b": parse_page("sglang:prompt_tokens_total 0")}
    with pytest.raises(InputError, match="a of vllm, b of sglang"):
        adapter_of("auto", Snapshot(pages))
    with pytest.raises(InputError, match="different frameworks"):
        adapter_of("auto", Snapshot({"a": pages["a"]}), Snapshot({"a": pages["b"]}))


# Pages ----------------------------------------------------------------------------------------------------------------


def test_what_users_servers_put_on_a_page() -> None:
    page = parse_page(
        "\ufeff# HELP a_total A.\r\n# TYPE a_total unknown\r\n"
        'a_total{x="1"} 3 # {trace_id="abc"} 0.5\r\n'
        'a_total{x="2"} 4 1700000000000\r\n'
        'a_total{x="3"} NaN\n'
        'a_total{x="4"} +Inf\n'
        'a_created{x="1"} 1.7e9\n'
        '{"a.b", x="1"} 5\n'
        '{"a", x="5"} 6\n'
        "# UNIT a_total tokens\n# EOF\n".lstrip("\ufeff")
    )
    assert [(s.labels["x"], s.value) for s in page.named("a")[:2]] == [("1", 3), ("2", 4)]
    assert page.named("a.b")[0].value == 5
    assert page.named("a")[-1].value == 6
    assert page.types == {"a": "unknown"}
    assert page.created == {("a", (("x", "1"),)): 1.7e9}
    assert [("infinite" in w) for w in page.warnings] == [True]


def test_the_first_of_two_equal_series_counts() -> None:
    page = parse_page('a_total{x="1"} 3\na_total{x="1"} 7\n')
    assert [s.value for s in page.named("a")] == [3]
    assert "the series is there before, as 3" in page.warnings[0]


def test_a_counter_wins_over_a_gauge_of_the_same_name() -> None:
    for lines in ("a 1\na_total 5\n", "a_total 5\na 1\n"):
        page = parse_page(lines)
        assert ([s.value for s in page.named("a")], page.warnings) == ([5], ())


def test_a_page_in_gzip_whatever_its_header_says() -> None:
    assert page_text(gzip.compress(b"a 1\n")) == "a 1\n"
    with pytest.raises(ValueError, match="broken gzip"):
        page_text(gzip.compress(b"a 1\n" * 100)[:20] + b"xxxxxxxx")
    assert page_text("\ufeffa 1".encode()) == "a 1"


def test_only_series_of_one_model() -> None:
    page = parse_page('a_total{model_name="x"} 1\na_total{model_name="y"} 2\nb_total 3\n')
    assert page.models == ("x", "y")
    own = page.of_model("y")
    assert [s.value for s in own.named("a")] == [2]
    assert own.named("b")[0].value == 3


def test_files_that_are_no_pages(tmp_path: Path) -> None:
    good, html, empty = tmp_path / "good.prom", tmp_path / "err.prom", tmp_path / "empty.prom"
    good.write_text("vllm:prefix_cache_queries_total 5\nvllm:prefix_cache_hits_total 5\n")
    html.write_text("<html>502</html>")
    empty.write_text("\n")
    for bad, what in ((html, "is an HTML page"), (empty, "holds no metric")):
        with pytest.raises(InputError, match=what):
            read_pairs([good], [bad])
        first, second = snapshots(read_pairs([good, good], [good, bad]))
        found = tell(VLLM, first, second)
        assert (found["status"], found["global"]["partial"], found["global"]["queries"]) == ("partial", True, 0)
        assert warned(found, what)
    with pytest.raises(InputError, match="1 pages of before and 2 of after"):
        read_pairs([good], [good, good])
    with pytest.raises(InputError, match="No such file"):
        read_pairs([good], [tmp_path / "none.prom"])
