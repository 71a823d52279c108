"""Finding an explanation: by name, by the end of a dotted one, by a word, by something near."""

from __future__ import annotations

import pytest

from prefixcache.errors import InputError
from prefixcache.help.entries import Entry, all_entries, find, words_of


def names(query: str) -> set[tuple[str, str]]:
    return {(entry.topic, entry.name) for entry in find(query)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("target.hit_ratio", {("config", "target.hit_ratio")}),
        ("prefix_cache_dataset.seed", {("config", "seed"), ("field", "seed")}),
        ("output_length.mean", {("config", "input_length.mean")}),
        ("mean", {("config", "input_length.mean"), ("config", "suffix.collision_detection.chunk.mean")}),
        ("kv-capacity", {("warning", "kv_capacity")}),
        ("pass_with_warning", {("status", "PASS_WITH_WARNING")}),
        ("3", {("exit", "3")}),
        ("exit 130", {("exit", "130")}),
        ("certificate", {("field", "certificate"), ("check", "certificate")}),
        ("concurency", {("config", "execution.concurrency")}),
    ],
)
def test_finding(query: str, expected: set[tuple[str, str]]) -> None:
    assert names(query) == expected


def test_a_word_of_either_language_finds_what_speaks_of_it() -> None:
    assert ("config", "target.hit_ratio") in names("目标命中率") or ("field", "target_hit_ratio") in names("目标命中率")
    assert ("field", "cached_watermark_before") in names("watermark")
    assert len(names("token")) <= 6


@pytest.mark.parametrize("query", ["hit_rato", "xyzzy", "", "  ", "[]", "%"])
def test_what_is_not_found_names_what_is_near_or_ends_in_one_message(query: str) -> None:
    try:
        assert find(query)
    except InputError as error:
        assert error.remedy
        assert error.exit_code == 2


def test_nothing_near_points_to_the_list() -> None:
    with pytest.raises(InputError, match="nothing is known of 'qqqqqqqqqqqq'") as caught:
        find("qqqqqqqqqqqq")
    assert "lists everything" in str(caught.value.remedy)


def entry(query: str) -> Entry:
    (found,) = find(query)
    return found


def test_the_facts_of_a_key_come_from_the_models() -> None:
    facts = dict(entry("validation.on_failure").facts("en"))
    assert facts["type"] == "one of: error, warn, accept_with_warning"
    assert facts["default"] == "error"
    assert facts["RFC"] == "3.3.17"
    assert "--set validation.on_failure=" in facts["where"]
    assert dict(entry("prefix.minimum_non_shared_length").facts("zh"))["默认值"] == "一个 Block"
    assert dict(entry("input_length.mean").facts("en"))["default"] == "required"
    assert "--tokenizer" in dict(entry("tokenizer.path").facts("en"))["where"]
    assert dict(entry("suffix.separator").facts("en"))["default"] == '"\\n\\n"'


def test_a_key_of_several_length_models_names_them() -> None:
    assert "mode truncated_normal / uniform / lognormal" in dict(entry("input_length.min").facts("en"))["type"]


def test_the_facts_of_a_field_say_where_it_stands() -> None:
    facts = dict(entry("ttft_s").facts("en"))
    assert facts["formula"] == "first_token_s - sent_s"
    assert facts["unit"] == "seconds"
    assert "runtime/request_results.jsonl" in facts["where"]


def test_json_has_both_languages() -> None:
    for item in all_entries():
        data = item.to_json()
        assert data["text_en"] != data["text_zh"]
        assert data["name"]


def test_words_of_a_path() -> None:
    assert words_of("output_length.value") == words_of("input_length.value")
    with pytest.raises(KeyError):
        words_of("no.such.key")
