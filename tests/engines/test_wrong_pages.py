"""Pages that are not what they were given for: another exporter's, another framework's, before and after swapped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from prefixcache.engines.aggregate import UNREAD_AFTER, UNREAD_BEFORE, aggregate
from prefixcache.engines.detect import known_adapter
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.offline import adapter_of, read_pairs, snapshots
from prefixcache.engines.page import MetricsPage, Sample, parse_page
from prefixcache.engines.prometheus import tells_more_than_age
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.snapshot import Snapshot
from prefixcache.engines.told import tell
from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of

GO = "go_x 3\n"
YAML = "block_size: 16\nname: x\n"
BARE = "vllm:num_requests_running 0\n"
SGLANG = "sglang:prompt_tokens_total 9\n"
HAN, WORD = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"\b(?:is|are|or|the|no|has|of)\b")


def page(queries: int, hits: int, more: str = "") -> str:
    return f"vllm:prefix_cache_queries_total {queries}\nvllm:prefix_cache_hits_total {hits}\n{more}"


BEFORE, AFTER = page(10_000, 5_003), page(20_000, 10_002)


def told(folder: Path, before: str, after: str, engine: str = "auto", model: str | None = None) -> dict[str, Any]:
    (folder / "first.prom").write_text(before)
    (folder / "last.prom").write_text(after)
    first, second = snapshots(read_pairs([folder / "first.prom"], [folder / "last.prom"], model))
    return tell(adapter_of(engine, first, second), first, second)


def refused(*given: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        told(*given)
    error = caught.value
    assert error.remedy
    for text in (error.message, error.remedy):
        assert HAN.search(chinese_of(text)), text
        assert not WORD.search(chinese_of(text)), chinese_of(text)
    return error


@pytest.mark.parametrize("engine", ["auto", "vllm", "vllm-ascend"])
@pytest.mark.parametrize(("wrong", "has"), [(GO, "it has go_x"), (YAML, "it has block_size:")])
def test_a_page_without_a_series_of_the_framework(tmp_path: Path, engine: str, wrong: str, has: str) -> None:
    for pages, file, field in (((wrong, AFTER), "first", "--before"), ((BEFORE, wrong), "last", "--after")):
        error = refused(tmp_path, *pages, engine)
        assert error.field == field
        assert error.message.startswith(f"{file}.prom holds no series of vLLM")
        assert error.message.endswith(has)


def test_two_pages_of_nobody_are_told_of_once(tmp_path: Path) -> None:
    error = refused(tmp_path, GO, GO)
    assert (error.field, error.message.count(".prom")) == ("--before", 1)


def test_what_is_absent_before_counts_from_nothing_on_the_frameworks_pages(tmp_path: Path) -> None:
    declared = "# TYPE vllm:prefix_cache_queries counter\ngo_x 3\n"
    for before in (BARE, declared):
        assert told(tmp_path, before, AFTER)["global"]["queries"] == 20_000


def test_a_page_that_lacks_the_model_alone_is_the_frameworks(tmp_path: Path) -> None:
    other, own = (f'vllm:prefix_cache_queries_total{{model_name="{name}"}} 7\n' for name in "ab")
    hits = 'vllm:prefix_cache_hits_total{model_name="b"} 7\n'
    assert told(tmp_path, other, other + own + hits, "auto", "b")["global"]["queries"] == 7


def test_a_named_framework_whose_pages_are_anothers(tmp_path: Path) -> None:
    error = refused(tmp_path, SGLANG, SGLANG, "vllm")
    assert error.message == "first.prom holds no series of vLLM: it is a page of SGLang"
    assert "Leave --engine out" in (error.remedy or "")


def test_a_described_framework_says_what_to_save(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\nmetrics:\n  queries: {name: my:q}\n  hits: {name: my:h}\n")
    error = refused(tmp_path, GO, "my:q 5\nmy:h 1\n", str(tmp_path / "mine.yaml"))
    assert "after its first request" in (error.remedy or "")


def test_a_stores_page_stands_beside(tmp_path: Path) -> None:
    files = {"a": BEFORE, "b": AFTER, "c": "other 1\n", "d": "lmcache:num_lookup_tokens_total 5\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    a, b, c, d = (tmp_path / name for name in files)
    first, second = snapshots(read_pairs([a, c], [b, d]))
    assert tell(adapter_of("auto", first, second), first, second)["global"]["queries"] == 10_000


def test_a_warning_names_the_file_that_it_is_about(tmp_path: Path) -> None:
    warnings = told(tmp_path, BEFORE + "broken line here\n", AFTER)["warnings"]
    assert next(w for w in warnings if "skipped" in w).startswith("before: first.prom: metrics line 3")


@pytest.mark.parametrize("bad", ["<html>502</html>", "no metrics here\n"])
def test_no_page_is_told_of_once_in_both_languages(tmp_path: Path, bad: str) -> None:
    for pages, file, field in (((bad, bad), "first", "--before"), ((BEFORE, bad), "last", "--after")):
        error = refused(tmp_path, *pages)
        assert (error.field, error.message.count(".prom")) == (field, 1)
        assert error.message.startswith(f"{file}.prom")


# Before and after swapped ---------------------------------------------------------------------------------------------


def started(at: int) -> str:
    return f"process_start_time_seconds {at}\n"


@pytest.mark.parametrize(
    ("first", "second", "hint"),
    [
        (AFTER, BEFORE, "the two may be swapped"),
        (AFTER + started(5), BEFORE + started(5), "both pages are of one process: the two are probably swapped"),
        (AFTER + started(9), BEFORE + started(5), "began before that of its page of before"),
        (AFTER + started(5), BEFORE + started(9), None),
        (AFTER, page(10_000, 5_003, "vllm:prompt_tokens_total 8\n"), "the two may be swapped"),
        (page(9, 9, "vllm:prompt_tokens_total 1\n"), page(3, 3, "vllm:prompt_tokens_total 8\n"), None),
    ],
)
def test_swapped_pages_are_guessed(tmp_path: Path, first: str, second: str, hint: str | None) -> None:
    found = told(tmp_path, first, second)
    assert found["status"] == "reset_detected"
    swapped = [text for text in found["warnings"] if "swapped" in text]
    assert [hint in text for text in swapped] == ([] if hint is None else [True])
    for text in swapped:
        assert "反" in chinese_of(text)
        assert not WORD.search(chinese_of(text))


def test_creation_times_tell_of_swapped_pages(tmp_path: Path) -> None:
    made = "vllm:prefix_cache_hits_created {}\n"
    for first, second, swapped in ((9, 5, True), (5, 9, False)):
        warnings = told(tmp_path, AFTER + made.format(first), BEFORE + made.format(second))["warnings"]
        assert any("probably swapped" in text for text in warnings) is swapped


# A run's own snapshots, and Prometheus --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "flag", "why"),
    [
        (GO, AFTER, UNREAD_BEFORE, "the page of its beginning has no series of vLLM"),
        (AFTER, GO, UNREAD_AFTER, "the page of its end has no series of vLLM"),
    ],
)
def test_another_exporter_at_one_end_of_a_pass_is_no_zero(first: str, second: str, flag: str, why: str) -> None:
    found = aggregate(VLLM, Snapshot({"a": parse_page(first)}), Snapshot({"a": parse_page(second)}))
    assert (found.status, found.endpoints[0].status, found.total.hit_rate) == ("partial", "missing", None)
    figure = found.endpoints[0].total.counters[Quantity.QUERIES]
    assert (figure.delta, figure.why, flag in figure.flags) == (None, why, True)
    assert HAN.search(chinese_of(why))


def test_a_target_that_tells_only_its_age_is_none() -> None:
    age = Sample("process_start_time_seconds", {}, 5.0)
    assert not tells_more_than_age(MetricsPage({age.name: (age,)}))
    assert tells_more_than_age(parse_page(BARE + started(5)))


def test_alternatives_of_a_series_in_chinese() -> None:
    text = "the page has no sglang:prompt_tokens or sglang:realtime_tokens"
    assert chinese_of(text) == "页面中没有 sglang:prompt_tokens 或 sglang:realtime_tokens"
    assert chinese_of("the page has no a or b or c here") == "页面中没有 a 或 b 或 c"


def test_vllm_is_what_an_unnamed_page_of_vllm_ascend_tells() -> None:
    assert known_adapter(parse_page(BARE)) is VLLM
    assert known_adapter(parse_page(GO)) is None
