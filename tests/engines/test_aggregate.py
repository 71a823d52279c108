"""The traps of differencing counters: each test is one way in which a hit rate goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixcache.engines.aggregate import Aggregation, aggregate
from prefixcache.engines.frameworks.sglang import SGLANG
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.page import parse_page
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot

DATA = Path(__file__).parent / "data"
Q, H = "vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"


def snapshot(**pages: str) -> Snapshot:
    return Snapshot({label: parse_page(text) for label, text in pages.items()})


def page(queries: float, hits: float, engine: int = 0, more: str = "") -> str:
    return f'{Q}{{engine="{engine}"}} {queries}\n{H}{{engine="{engine}"}} {hits}\n{more}\n'


def vllm(before: Snapshot, after: Snapshot) -> Aggregation:
    return aggregate(VLLM, before, after)


def test_ratios_are_summed_before_they_are_divided() -> None:
    before = snapshot(a=page(100, 50) + page(0, 0, 1), b=page(10, 10))
    after = snapshot(a=page(1100, 950) + page(100, 10, 1), b=page(20, 10))
    found = vllm(before, after)
    assert found.status == "complete"
    assert found.total.hit_rate == (900 + 10 + 0) / (1000 + 100 + 10)
    first, second = found.endpoints
    assert [f.hit_rate for f in first.engines.values()] == [0.9, 0.1]
    assert first.total.hit_rate == 910 / 1100
    assert second.total.hit_rate == 0


def test_a_series_born_in_between_counts_from_zero() -> None:
    found = vllm(snapshot(a=page(10, 5)), snapshot(a=page(10, 5) + page(64, 32, 1)))
    assert found.total.hit_rate == 0.5
    assert found.total.counters[Quantity.HITS].flags == ("absent_before",)


def test_a_decrease_is_a_reset_and_gives_null_not_a_clipped_number() -> None:
    found = vllm(snapshot(a=page(100, 50), b=page(0, 0)), snapshot(a=page(30, 60), b=page(10, 5)))
    assert found.status == "reset_detected"
    queries = found.total.counters[Quantity.QUERIES]
    assert (queries.delta, queries.flags) == (None, ("reset_detected",))
    assert found.total.hit_rate is None
    assert [e.status for e in found.endpoints] == ["reset_detected", "ok"]
    assert found.endpoints[1].total.hit_rate == 0.5


def test_a_vanished_series_is_a_reset() -> None:
    found = vllm(snapshot(a=page(10, 5) + page(10, 5, 1)), snapshot(a=page(20, 10)))
    assert found.total.hit_rate is None
    assert found.status == "reset_detected"


def test_another_start_time_is_a_reset_even_if_the_counters_grew() -> None:
    before = snapshot(a=page(10, 5, more="process_start_time_seconds 100"))
    after = snapshot(a=page(20, 15, more="process_start_time_seconds 200"))
    found = vllm(before, after)
    assert found.total.counters[Quantity.HITS].delta is None
    assert "restarted" in found.endpoints[0].total.notes[0]


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_missing_endpoint_makes_the_sum_partial(lost: str) -> None:
    whole = snapshot(a=page(10, 5), b=page(10, 5))
    grown = snapshot(a=page(20, 10), b=page(20, 10))
    part = Snapshot({"a": (whole if lost == "before" else grown).pages["a"]}, {"b": "no answer"})
    found = vllm(part if lost == "before" else whole, part if lost == "after" else grown)
    assert found.status == "partial"
    assert found.total.hit_rate == 0.5
    assert "partial" in found.total.counters[Quantity.HITS].flags
    assert found.endpoints[1].status == "missing"
    lost_part = found.endpoints[1].total.counters[Quantity.HITS]
    assert (lost_part.delta, lost_part.flags) == (None, ("absent", f"page_unread_{lost}"))
    assert f"page_unread_{lost}" not in found.total.counters[Quantity.HITS].flags, "a part is known"
    alone = Snapshot({}, {"a": "no answer"})
    found = vllm(alone, whole) if lost == "before" else vllm(whole, alone)
    assert f"page_unread_{lost}" in found.total.counters[Quantity.HITS].flags


def test_an_absent_metric_is_null_not_zero() -> None:
    only_queries = snapshot(a=f"{Q} 0"), snapshot(a=f"{Q} 100")
    found = vllm(*only_queries)
    assert found.total.counters[Quantity.HITS].delta is None
    assert found.total.counters[Quantity.HITS].flags == ("absent",)
    assert found.total.hit_rate is None
    assert found.to_json()["global"]["counters"]["hits"]["delta"] is None


def test_no_queries_is_no_ratio() -> None:
    assert vllm(snapshot(a=page(10, 5)), snapshot(a=page(10, 5))).total.hit_rate is None


def test_more_hits_than_queries_is_shown_and_explained() -> None:
    found = vllm(snapshot(a=page(0, 0)), snapshot(a=page(100, 120)))
    assert found.total.hit_rate == 1.2
    assert "more hits (120) than queries (100)" in found.total.notes[0]


def test_old_vllm_counts_blocks_and_its_help_text_says_so() -> None:
    text = (
        "# HELP vllm:gpu_prefix_cache_queries_total GPU prefix cache queries, in terms of number of queried blocks.\n"
        "vllm:gpu_prefix_cache_queries_total {}\n"
        "# HELP vllm:gpu_prefix_cache_hits_total GPU prefix cache hits, in terms of number of cached blocks.\n"
        "vllm:gpu_prefix_cache_hits_total {}\n"
    )
    found = vllm(snapshot(a=text.format(0, 0)), snapshot(a=text.format(10, 5)))
    assert found.total.counters[Quantity.HITS].unit == "block"
    assert found.total.hit_rate == 0.5
    assert "in blocks" in found.total.notes[0]


def test_an_external_tier_is_asked_only_for_what_missed_locally() -> None:
    """A real server: 1,212 tokens asked, 640 local and 256 of 572 external hits."""
    after = parse_page((DATA / "vllm032_external_after.prom").read_text())
    fresh = (DATA / "vllm032_bs32_fresh.prom").read_text().replace("process_start_time_seconds", "other")
    empty = parse_page("\n".join(line for line in fresh.splitlines() if "_created{" not in line))
    found = vllm(Snapshot({"a": empty}), Snapshot({"a": after})).total
    assert found.hit_rate == 640 / 1212
    assert found.external_hit_rate == 256 / 572
    assert found.total_hit_rate == (640 + 256) / 1212
    sources = (Quantity.PROMPT_COMPUTED, Quantity.PROMPT_LOCAL_HIT, Quantity.PROMPT_EXTERNAL)
    assert [found.delta(s) for s in sources] == [316, 640, 256]
    assert found.delta(Quantity.PROMPT_TOKENS) == 1212


def test_real_sglang_counters_are_born_with_their_first_event() -> None:
    fresh, after = (parse_page((DATA / f"sglang_{n}.prom").read_text()) for n in ("fresh", "after"))
    found = aggregate(SGLANG, Snapshot({"a": fresh}), Snapshot({"a": after})).total
    assert found.hit_rate == 6580 / 58606
    assert found.delta(Quantity.EVICTED) == 35072


def test_sglang_without_any_hit_is_zero_because_its_queries_moved() -> None:
    quiet = "sglang:kv_evictable_tokens 0\n"
    asked = f"{quiet}sglang:prompt_tokens_total 100\n"
    found = aggregate(SGLANG, snapshot(a=quiet), snapshot(a=asked)).total
    assert (found.hit_rate, found.counters[Quantity.HITS].flags) == (0, ("no_event_yet",))
    assert found.total_hit_rate == 0
    assert any("no series of hits, external_hits yet" in note for note in found.notes)
    idle = aggregate(SGLANG, snapshot(a=quiet), snapshot(a=quiet)).total
    assert idle.counters[Quantity.HITS].delta is None


def test_sglang_of_a_version_that_may_not_count_hits_is_unknown() -> None:
    """Nothing on the page tells that this version has the series at all, so its absence is no 0."""
    quiet, asked = "sglang:token_usage 0\n", "sglang:token_usage 0\nsglang:prompt_tokens_total 100\n"
    found = aggregate(SGLANG, snapshot(a=quiet), snapshot(a=asked)).total
    assert (found.hit_rate, found.delta(Quantity.HITS), found.delta(Quantity.QUERIES)) == (None, None, 100)
    assert "sglang:cached_tokens" in (found.why_unknown(Quantity.HITS) or "")


def test_counters_seen_to_fall_in_between_are_not_trusted() -> None:
    """From 0 to 24 looks like a rise; that it had been at 160 in the meantime only a sample can know."""
    before, after = snapshot(a=page(0, 0)), snapshot(a=page(24, 16))
    assert aggregate(VLLM, before, after).total.delta(Quantity.HITS) == 16
    seen = aggregate(VLLM, before, after, {"a"})
    assert (seen.status, seen.total.delta(Quantity.HITS), seen.total.hit_rate) == ("reset_detected", None, None)
