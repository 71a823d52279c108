"""The small parts: prompts, readings, time, who is told what by usage and configuration."""

from __future__ import annotations

import asyncio
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

import prefixcache.probe
from flows.probe_view import value_text
from prefixcache.errors import InputError
from prefixcache.help.words.probe import PROBE
from prefixcache.probe.capacity import Bracket
from prefixcache.probe.clock import Clock, NoAnswer, OutOfTime
from prefixcache.probe.findings import NAMES, SOURCES, Contradiction, Finding, ProbeReport, said, unknown
from prefixcache.probe.forms import FORMS, output_ids, usage_of
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.prompts import WORDS, Pieces
from prefixcache.probe.reading import Reading
from prefixcache.probe.service import Answer, Service
from prefixcache.probe.tokens import STRINGS, agree
from prefixcache.probe.told import _published, _settings, find_order_evidence

SOURCE = Path(prefixcache.probe.__file__).parent


class TestPieces:
    def test_what_follows_the_shared_part_differs_from_the_base_and_from_each_other(self) -> None:
        pieces = Pieces(range(40), random.Random(1))
        base = pieces.fresh(50)
        firsts = [pieces.sharing(base, 20, 3)[20] for _ in range(30)]
        assert len(set(firsts)) == 30
        assert base[20] not in firsts

    def test_the_shared_part_is_the_base(self) -> None:
        pieces = Pieces(WORDS, random.Random(1))
        base = pieces.fresh(50)
        for shared in (0, 1, 49, 50):
            prompt = pieces.sharing(base, shared, 2)
            assert prompt[:shared] == base[:shared]
            assert len(prompt) == shared + 2

    def test_without_a_seed_no_prompt_is_drawn_twice(self) -> None:
        assert Pieces(range(8000)).fresh(20) != Pieces(range(8000)).fresh(20)

    def test_words_are_single_and_many(self) -> None:
        assert len(set(WORDS)) == len(WORDS) > 150
        assert all(re.fullmatch(r"[a-z]+", word) for word in WORDS)


class TestReading:
    def test_counters_count_before_usage(self) -> None:
        assert Reading(0, 9, 8, 16.0).hit == 16
        assert Reading(0, 9, 8, None).hit == 8
        assert Reading(0, 9, None, None).hit is None

    def test_counters_with_others_requests_in_them_do_not(self) -> None:
        assert Reading(0, 9, 8, 16.0, foreign=True).hit == 8
        assert Reading(0, 9, None, 16.0, foreign=True).hit is None

    def test_usage_holds_the_external_tier_too(self) -> None:
        assert Reading(0, 99, 48, 16.0).disagrees
        assert not Reading(0, 99, 48, 16.0, external=32.0).disagrees
        assert not Reading(0, 99, None, 16.0).disagrees


class TestClock:
    def test_a_wait_ends_with_the_limit(self) -> None:
        clock, began = Clock(0.05), time.perf_counter()
        with pytest.raises(OutOfTime):
            asyncio.run(clock.bounded(asyncio.sleep(30), 60))
        assert time.perf_counter() - began < 5
        with pytest.raises(OutOfTime):
            asyncio.run(clock.bounded(asyncio.sleep(0), 60))

    def test_one_answer_may_be_late_without_the_limit(self) -> None:
        with pytest.raises(NoAnswer):
            asyncio.run(Clock(60).bounded(asyncio.sleep(30), 0.05))

    def test_what_was_asked_is_handed_back(self) -> None:
        assert asyncio.run(Clock(60).bounded(asyncio.sleep(0, 7), 1)) == 7

    def test_a_reserve_is_kept_and_opened(self) -> None:
        clock = Clock(1, reserve=1)
        assert clock.left <= 0
        clock.open_reserve(1)
        assert clock.left > 0.5


class TestUsage:
    @pytest.mark.parametrize(
        ("body", "cached"),
        [
            ({"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}}, 4),
            ({"usage": {"prompt_tokens": 9, "prompt_tokens_details": None}}, None),
            ({"usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}}}, 0),
            ({"usage": {"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}}, 4),
            ({"usage": {"prompt_tokens": 9}, "timings": {"cache_n": 4}}, 4),
            ({}, None),
        ],
    )
    def test_openai(self, body: dict[str, Any], cached: int | None) -> None:
        assert usage_of(Answer(200, body), FORMS[0]).cached_tokens == cached

    def test_sglang(self) -> None:
        answer = Answer(200, {"output_ids": [5], "meta_info": {"prompt_tokens": 9, "cached_tokens": 4}})
        found = usage_of(answer, FORMS[2])
        assert (found.prompt_tokens, found.cached_tokens) == (9, 4)
        assert output_ids(answer.body) == [5]

    def test_ids_of_outputs(self) -> None:
        assert output_ids({"choices": [{"token_ids": [1, 2]}]}) == [1, 2]
        assert output_ids({"choices": [{"text": "a"}]}) is None
        assert output_ids({"choices": [{"token_ids": ["a"]}]}) is None


class TestBracket:
    @pytest.mark.parametrize("stated", [None, 4000, 100_000, 1_000_000])
    @pytest.mark.parametrize("true", [9_000, 100_000, 131_040])
    def test_any_capacity_is_bracketed(self, true: int, stated: int | None) -> None:
        bracket, fills = Bracket(), 0
        while not bracket.narrow:
            size = bracket.next(stated)
            assert bracket.held < size
            assert bracket.lost is None or size < bracket.lost
            if size <= true:
                bracket.held = size
            else:
                bracket.lost = size
            fills += 1
        assert bracket.lost is not None
        assert bracket.held <= true < bracket.lost
        assert fills < 25

    def test_a_true_statement_takes_few_fills(self) -> None:
        bracket = Bracket()
        sizes = [bracket.next(100_000)]
        bracket.held = sizes[0]
        sizes.append(bracket.next(100_000))
        assert sizes == [97_000, 103_000]


class TestKvEvents:
    @pytest.mark.parametrize(
        ("info", "where"),
        [
            ({"kv_events": "tcp://*:5557"}, "tcp://*:5557"),
            ({"kv_events": ""}, None),
            (
                {"vllm_config": {"kv_events_config": {"enable_kv_cache_events": True, "endpoint": "tcp://*:1"}}},
                "tcp://*:1",
            ),
            ({"vllm_config": {"kv_events_config": {"enable_kv_cache_events": False, "endpoint": "tcp://*:1"}}}, None),
            ({"kv_events_config": '{"publisher": "zmq", "endpoint": "tcp://*:2"}'}, "tcp://*:2"),
            ({"kv_events_config": "no json"}, None),
            ({"kv_events_config": None}, None),
            ({}, None),
        ],
    )
    def test_are_found_wherever_the_server_tells_them(self, info: dict[str, Any], where: str | None) -> None:
        assert _published(dict(_settings(info))) == where


class TestTracing:
    @pytest.mark.parametrize(
        ("info", "traced"),
        [
            ({"enable_trace": False, "otlp_traces_endpoint": "localhost:4317"}, False),  # SGLang's defaults
            ({"enable_trace": True, "otlp_traces_endpoint": "localhost:4317"}, True),
            ({"vllm_config": {"observability_config": {"otlp_traces_endpoint": None}}}, False),
            ({"vllm_config": {"observability_config": {"otlp_traces_endpoint": "http://h:1"}}}, True),
            ({}, False),
        ],
    )
    def test_is_on_where_the_servers_settings_say_so(self, info: dict[str, Any], traced: bool) -> None:
        service = Service.__new__(Service)
        service.raw_info, service.secrets = info, ()
        report = ProbeReport("http://h:1")
        find_order_evidence(service, report)
        assert ("tracing" in report.value("order_evidence")) == traced


class TestOptions:
    @pytest.mark.parametrize("limit", [0, 0.5, -1, float("nan"), float("inf"), 1e9])
    def test_a_time_limit_that_is_none(self, limit: float) -> None:
        with pytest.raises(InputError, match="--time-limit"):
            ProbeOptions("http://127.0.0.1:1", time_limit=limit)

    def test_secrets_are_not_in_the_repr(self) -> None:
        shown = repr(ProbeOptions("http://user:hunter2@h:1", ("http://h:1/metrics?key=hunter3",), api_key="hunter4"))
        assert "hunter" not in shown


class TestReport:
    def test_findings_stand_in_their_order_and_gaps_are_left_out(self) -> None:
        report = ProbeReport("http://h:1")
        report.add(unknown("salt", "time"), Finding("framework", "vllm", "derived"))
        assert [row["name"] for row in report.to_json()["findings"]] == ["salt", "framework"]

    def test_a_contradiction_is_named_once_and_is_exit_1(self) -> None:
        report = ProbeReport("http://h:1")
        assert report.exit_code == 0
        for _ in range(2):
            report.contradict("block_size", stated=16, unit=32)
        assert [each.to_json()["text"] for each in report.contradictions] == [
            "the server says 16, it matches in 32 tokens"
        ]
        assert report.exit_code == 1
        report.status = "lost"
        assert report.exit_code == 3

    def test_a_contradiction_is_told_in_both_languages(self) -> None:
        told = Contradiction("block_size", said("contra.block_size", stated=16, unit=32)).to_json()
        assert "16" in told["text_zh"]
        assert "32" in told["text_zh"]


def test_equal_ids_agree_and_equal_counts_do_where_ids_are_not_told() -> None:
    assert agree([1, 2], [1, 2])
    assert not agree([1, 2], [1, 3])
    assert agree([1, 2], 2)
    assert not agree([1, 2], 3)
    assert not agree([1, 2], None)


def test_the_strings_are_what_tokenizers_differ_at() -> None:
    texts = "".join(STRINGS.values())
    for piece in ("  ", "\n\n", "\r\n", "\t", "\u0301", "\u00e9", "\u2581", "\u200d", "<|", "1234567890", "今天", "👍"):
        assert piece in texts
    assert len(set(STRINGS.values())) == len(STRINGS)


def test_values_that_are_words_are_chinese() -> None:
    told = [
        (Finding("last_token_rule", "computed", "measured"), "重新计算"),
        (Finding("usage_cached_tokens", "present", "measured"), "有"),
        (Finding("rank_route", "none needed", "derived"), "无需指定"),
        (Finding("order_evidence", ["kv_events", "first_token"], "stated"), "KV 事件、首 Token"),
        (Finding("matching", "chained_prefix", "measured"), "chained_prefix"),  # what a configuration calls it
        (Finding("models", ["a", "b"], "stated"), "a、b"),
    ]
    assert [value_text(finding, "zh") for finding, _ in told] == [chinese for _, chinese in told]
    assert value_text(told[0][0], "en") == "computed"
    assert value_text(told[3][0], "en") == "kv_events, first_token"


def test_every_sentence_that_is_said_has_words_and_no_words_are_left_over() -> None:
    text = "\n".join(path.read_text() for path in SOURCE.glob("*.py"))
    view = "\n".join(
        (SOURCE.parents[1] / "flows" / name).read_text() for name in ("probe_view.py", "commands/probe.py")
    )
    quoted = {key for key in PROBE if f'"{key.removeprefix("probe.")}"' in text or key in view}
    made = {f"probe.name.{name}" for name in NAMES} | {f"probe.source.{source}" for source in SOURCES}
    made |= {f"probe.contra.{code}" for code in re.findall(r'contradict\(\s*f?"(\w+)"', text)}
    made |= {f"probe.contra.usage_{code}" for code in ("zero", "differs")}
    made |= {f"probe.usage.{code}" for code in ("zero", "differs")}
    made |= {f"probe.reset.{answer}" for answer in ("absent", "refused", "busy")}
    words = {key for key in PROBE if key.startswith("probe.value.")}
    made |= {key for key in words if key.split(".")[2] in NAMES and f'"{key.split(".", 3)[3]}"' in text}
    assert made <= set(PROBE)
    assert set(PROBE) - quoted - made == set()
    for code in re.findall(r'(?:said|unknown|warn)\((?:"\w+", )?"([a-z_.]+)"', text):
        assert f"probe.{code}" in PROBE or code in NAMES, code
