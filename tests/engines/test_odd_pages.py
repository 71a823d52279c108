"""Pages that were saved in part, changed their version or cannot be read: what is named is true, the rest is null."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from prefixcache.engines.detect import named_adapter
from prefixcache.engines.offline import adapter_of, read_pairs, snapshots
from prefixcache.engines.page import page_text, parse_page
from prefixcache.engines.snapshot import Snapshot
from prefixcache.engines.told import tell
from prefixcache.errors import InputError

PAGE = (
    'vllm:prefix_cache_queries_total{{engine="0"}} {}\n'
    'vllm:prompt_tokens_total{{engine="0"}} {}\n'
    'vllm:prefix_cache_hits_total{{engine="0"}} {}\n'
)


def page(queries: Any, hits: Any) -> str:
    return PAGE.format(queries, queries, hits)


BEFORE, AFTER = page(1000, 500), page(3000, 1500)


def told(tmp_path: Path, before: str | bytes, after: str | bytes, engine: str = "auto") -> dict[str, Any]:
    for name, body in (("before", before), ("after", after)):
        (tmp_path / name).write_bytes(body.encode() if isinstance(body, str) else body)
    first, second = snapshots(read_pairs([tmp_path / "before"], [tmp_path / "after"]))
    found = tell(adapter_of(engine, first, second), first, second)
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize("number", ["NaN", "+Inf", "-500", "5o0"])
@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_counter_that_cannot_be_read_at_one_end_is_neither_zero_nor_reset(
    tmp_path: Path, number: str, lost: str
) -> None:
    pages = {"before": BEFORE, "after": AFTER} | {lost: page(1000 if lost == "before" else 3000, number)}
    found = told(tmp_path, pages["before"], pages["after"])
    row = found["global"]
    assert (row["queries"], row["hits"], row["hit_ratio"], row["reset"]) == (2000, None, None, False)
    assert f"cannot be read on the page of {lost}" in row["not_available"]["hits"]
    assert found["status"] == "partial"


@pytest.mark.parametrize("lost", ["before", "after"])
@pytest.mark.parametrize("cut", [2, 10, 60])
def test_a_page_that_ends_within_a_line_gives_no_figure_of_what_is_lost(tmp_path: Path, lost: str, cut: int) -> None:
    pages = {"before": BEFORE, "after": AFTER}
    pages[lost] = pages[lost][:-cut]
    found = told(tmp_path, pages["before"], pages["after"])
    assert (found["global"]["hits"], found["global"]["reset"], found["status"]) == (None, False, "partial")
    assert any("ends within this line" in warning for warning in found["warnings"])


def test_the_end_of_openmetrics_needs_no_line_feed(tmp_path: Path) -> None:
    assert told(tmp_path, BEFORE + "# EOF", AFTER + "# EOF")["global"]["hits"] == 1000


def test_what_a_cut_page_of_sglang_lacks_is_not_taken_for_no_event_yet(tmp_path: Path) -> None:
    text = "sglang:kv_evictable_tokens 0\nsglang:prompt_tokens_total {}\n"
    assert told(tmp_path, text.format(0), text.format(100))["global"]["hits"] == 0
    assert told(tmp_path, text.format(0), text.format(100) + "sglang:cach")["global"]["hits"] is None


def test_counters_without_a_series_before_are_said_to_count_from_zero(tmp_path: Path) -> None:
    found = told(tmp_path, "".join(BEFORE.splitlines(True)[:2]), AFTER)
    assert found["global"]["hits"] == 1500
    assert any("the page of before has no series of hits" in warning for warning in found["warnings"])


def test_gzip_has_to_be_whole_and_may_have_several_members() -> None:
    text = "".join(f"x_{n} {n * n}\n" for n in range(2000))
    half = len(text) // 2
    assert page_text(gzip.compress(text[:half].encode()) + gzip.compress(text[half:].encode())) == text
    with pytest.raises(ValueError, match="its end is missing"):
        page_text(gzip.compress(text.encode())[:-100])


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_a_page_saved_by_powershell(tmp_path: Path, coding: str) -> None:
    mark = "\ufeff" if coding.endswith("e") else ""
    assert told(tmp_path, BEFORE, (mark + AFTER).encode(coding))["global"]["hits"] == 1000


def test_an_endless_file_is_one_message() -> None:
    with pytest.raises(InputError, match=r"more than .* bytes"):
        read_pairs([Path("/dev/zero")], [Path("/dev/zero")])


def test_only_line_feeds_end_a_line() -> None:
    found = parse_page('vllm:x{a="one\u2028two\x85three\x0bfour"} 7\n')
    assert not found.warnings
    assert found.named("vllm:x")[0].value == 7


def test_one_fallen_counter_tells_that_the_others_began_anew_too(tmp_path: Path) -> None:
    """A restarted server has passed the old hits, not yet the old queries: 200 more hits would be made up."""
    row = told(tmp_path, page(1000, 500), page(900, 700))["global"]
    assert (row["queries"], row["hits"], row["at_least"]) == (None, None, {"queries": 900, "hits": 200})


def test_ranks_of_a_page_begin_anew_together(tmp_path: Path) -> None:
    def ranks(first: int, second: int) -> str:
        return page(first, 0) + page(second, 0).replace('"0"', '"1"')

    found = told(tmp_path, ranks(100, 100), ranks(50, 150))
    assert [(row["queries"], row["at_least"]["queries"]) for row in found["domains"]] == [(None, 50), (None, 50)]


def test_all_series_gone_is_a_reset_with_nothing_counted_since(tmp_path: Path) -> None:
    row = told(tmp_path, BEFORE, 'vllm:num_requests_running{engine="0"} 0\n')["global"]
    assert (row["queries"], row["reset"], row["at_least"]) == (None, True, {"queries": 0, "hits": 0})


def test_other_names_after_than_before_are_another_version(tmp_path: Path) -> None:
    row = told(tmp_path, BEFORE.replace("prefix_cache", "gpu_prefix_cache"), AFTER)["global"]
    assert (row["queries"], row["hits"], row["reset"], row["at_least"]["hits"]) == (None, None, True, 1500)
    assert "another version counts" in row["not_available"]["queries"]


def test_units_that_change_in_between_have_no_difference(tmp_path: Path) -> None:
    def early(text: str, unit: str) -> str:
        names = ("queries", "hits")
        helps = "".join(f"# HELP vllm:gpu_prefix_cache_{n}_total GPU prefix cache {n} of {unit}.\n" for n in names)
        return helps + text.replace("prefix_cache", "gpu_prefix_cache")

    assert told(tmp_path, early(BEFORE, "blocks"), early(AFTER, "blocks"))["global"]["hits"] == 1000
    row = told(tmp_path, early(BEFORE, "blocks"), early(AFTER, "tokens"))["global"]
    assert (row["queries"], row["hits"], row["unit"]) == (None, None, "mixed")
    assert "counts in blocks, that of after in tokens" in row["not_available"]["hits"]


def test_counts_beyond_exact_whole_numbers_are_told(tmp_path: Path) -> None:
    row = told(tmp_path, page(0, 0), page("1e25", "5e24"))["global"]
    assert (row["queries"], row["hits"], row["hit_ratio"]) == (1e25, 5e24, 0.5)
    assert isinstance(row["queries"], float)  # a whole number of that size is none in JSON's 64 bits


def test_the_same_page_twice_is_said(tmp_path: Path) -> None:
    assert any("its two pages are the same" in warning for warning in told(tmp_path, BEFORE, BEFORE)["warnings"])


def test_a_sum_of_series_has_a_least_after_a_reset(tmp_path: Path) -> None:
    text = "llamacpp:prompt_tokens_total {}\nllamacpp:prompt_tokens_cached_total {}\n"
    row = told(tmp_path, text.format(100, 50), text.format(30, 20))["global"]
    assert (row["queries"], row["at_least"]) == (None, {"queries": 50, "hits": 20})


def test_thousands_of_engines_take_no_longer_than_their_lines() -> None:
    ranks = range(2000)
    text = "".join(page(10 * n, 5 * n).replace('"0"', f'"{n}"') for n in ranks)
    bare = "# TYPE vllm:prefix_cache_queries counter\nprocess_start_time_seconds 1\n"
    first, second = Snapshot({"a": parse_page(bare)}), Snapshot({"a": parse_page(text)})
    began = time.process_time()
    found = tell(adapter_of("auto", first, second), first, second)
    assert time.process_time() - began < 8
    assert [row["queries"] for row in found["domains"]] == [10 * n for n in ranks]


DESCRIBED = "name: mine\nmetrics:\n  queries: {name: my:q}\n  hits: {name: my:h}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DESCRIBED.replace("my:q}", "my:q, kind: gauge}"), "metrics.queries is a gauge"),
        (DESCRIBED.replace("my:h}", "my:h, kind: window}"), "metrics.hits is a window"),
        (DESCRIBED.replace("}", ", unit: ratio}"), "metrics.queries is a ratio"),
        (DESCRIBED + "  hits: {name: other}\n", "'hits' stands twice in line 5"),
        (DESCRIBED.replace("{name: my:q}", "[]"), "metrics.queries: "),
        (DESCRIBED.replace("my:q", "[]"), "metrics.queries.name: "),
        (DESCRIBED.replace("my:q}", "my:q, labels: {a: []}}"), "metrics.queries.labels.a: "),
        (DESCRIBED.replace("my:q}", "my:q, lowest: .nan}"), "lowest: Input should be a finite number"),
        (DESCRIBED.replace("my:q}", f"my:q, lowest: {'9' * 5000}}}"), "no YAML"),
        (DESCRIBED + 'rank_header: "X\\r\\nY: 1"\n', "rank_header: "),
        (DESCRIBED + "rank_header: Authorization\n", "Authorization has a meaning of its own"),
        (DESCRIBED + "salt_field: prompt\n", "salt_field prompt has a meaning of its own"),
        (DESCRIBED + 'salt_field: ""\n', "salt_field: "),
        (DESCRIBED + 'reset: {path: "/clear cache"}\n', "reset.path: "),
        (DESCRIBED + 'info_paths: ["/info\\n"]\n', "info_paths.0: "),
        (DESCRIBED.replace("mine", "vLLM"), "known without it"),
        (DESCRIBED + "# " + "x" * 2**20, "more than 1,048,576 bytes"),
    ],
)
def test_a_description_that_cannot_be_meant_is_one_message_with_its_key(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        named_adapter(str(tmp_path / "mine.yaml"))
    assert message in caught.value.message, caught.value.message
    assert caught.value.remedy


def test_figures_of_a_moment_are_never_differenced(tmp_path: Path) -> None:
    """Whatever their kind is said to be: a usage that falls is no reset."""
    described = tmp_path / "mine.yaml"
    described.write_text(DESCRIBED + "  kv_usage: {name: my:usage}\n  running: {name: my:running}\n")
    text = "my:q {}\nmy:h {}\nmy:usage {}\nmy:running {}\n"
    row = told(tmp_path, text.format(0, 0, 0.9, 7), text.format(100, 50, 0.1, 0), str(described))["global"]
    assert (row["hit_ratio"], row["reset"]) == (0.5, False)


def test_a_negative_figure_is_shown_and_explained(tmp_path: Path) -> None:
    described = tmp_path / "mine.yaml"
    described.write_text(DESCRIBED.replace("{name: my:h}", "{sum: [{name: my:h}], minus: [{name: my:q}]}"))
    text = "my:q {}\nmy:h {}\n"
    found = told(tmp_path, text.format(0, 0), text.format(100, 50), str(described))
    assert found["global"]["hits"] == -50
    assert any("hits fell by 50" in warning for warning in found["warnings"])
