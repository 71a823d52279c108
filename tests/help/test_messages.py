"""Suggestions and reasons in Chinese: the figures of the English ones, nothing made up."""

from __future__ import annotations

import re
from typing import Any

import pytest

from prefixcache.config import parse_config
from prefixcache.errors import InputError
from prefixcache.help.messages import language_of, named, note_of, reason_of
from prefixcache.help.suggestions import LEVERS, chinese
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report


def planned(**changes: Any) -> dict[str, Any]:
    raw = {
        "dataset_id": "x",
        "request_count": 30,
        "input_length": {"mode": "uniform", "min": 100, "max": 400},
        "target": {"hit_ratio": 0.93},
        "prefix": {"group_count": 3},
        "routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "round_robin"},
    }
    config = parse_config({**raw, **changes})
    return plan_report(config, plan_dataset(config))


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:\.\d+)?", text.replace(",", "")))


def test_every_suggestion_has_a_chinese_text_with_its_own_figures() -> None:
    tight = {"assume": "capacity", "num_blocks": 40}
    entries = planned()["suggestions"] + planned(target={"hit_ratio": 0.5}, planning=tight)["suggestions"]
    assert {entry["lever"] for entry in entries} == set(LEVERS)
    for entry in entries:
        assert entry["text_zh"] == chinese(entry)
        assert re.search(r"[\u4e00-\u9fff]", entry["text_zh"])
        assert numbers(entry["text_zh"]) <= numbers(entry["text"]) | {"0"}, entry
        assert ("可达" in entry["text_zh"]) == (entry["needed"] is not None)


def test_an_unknown_lever_keeps_its_text() -> None:
    entry = {"lever": "moon_phase", "current": 1, "needed": 2, "reachable_hit_ratio": 0.5, "text": "Wait."}
    assert chinese(entry) == "Wait."


def test_what_is_least_already_is_said_so() -> None:
    report = planned(prefix={}, routing={})
    texts = {entry["lever"]: entry["text_zh"] for entry in report["suggestions"]}
    assert "仅有一个 Prefix Group" in texts["group_count"]
    assert "仅有一个缓存域" in texts["cache_domains"]


def test_why_a_target_is_out_of_reach() -> None:
    report = planned()
    assert reason_of(report, "en") == report["reason"]
    text = reason_of(report, "zh")
    for figure in ("max_reachable_hit_tokens", "input_tokens", "target_hit_tokens"):
        assert str(report[figure]) in numbers(text)


def test_granularity_and_an_unknown_reason() -> None:
    report = planned(request_count=2, input_length=64, target={"hit_ratio": 0.1}, prefix={}, routing={})
    assert report["reason"].startswith("granularity")
    assert "容差" in reason_of(report, "zh")
    assert reason_of({"reason": "something new", "reachable": True}, "zh") == "something new"


def test_groups_with_targets_of_their_own_are_named() -> None:
    target = {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 0.99}, {"id": "b", "hit_ratio": 0.2}]}
    report = planned(target=target, prefix={"groups": [{"id": "a"}, {"id": "b"}]}, routing={})
    text = reason_of(report, "zh")
    assert "Group a" in text
    assert "Group b" not in text


def test_notes_and_names() -> None:
    assert note_of({"note": "3 prompts re-encoded, 40 tokens"}, "zh") == "已重新 Encode 3 条 Prompt，40 Token"
    assert note_of({"note": "3 prompts re-encoded, 40 tokens"}, "en") == "3 prompts re-encoded, 40 tokens"
    assert note_of({"note": "else"}, "zh") == "else"
    assert note_of({}, "zh") == ""
    assert named("check", "brand_new", "zh") == "brand_new"
    with pytest.raises(InputError, match="'fr' is unknown"):
        language_of("fr")
