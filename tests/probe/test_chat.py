"""Servers that take prompts through the chat route alone: exact all the same, or unknown with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from prefixcache.probe.forms import FORMS, body_of, forms_of, streamed_body
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.run import probe_server
from tests.probe.chat_front import chat_only

CHAT = FORMS[-1]
HEAD, TAIL = 5, 7
"""Tokens of the embedded tokenizer's template before (the first word among them) and behind a probe's words."""


@pytest.mark.engine
class TestWithEngine:
    @pytest.mark.parametrize(
        ("absent", "options", "unit", "drop"),
        [
            ((), {"block_size": 16}, 16, 0),
            (("/tokenize",), {"block_size": 32, "hit_drop": 1}, 32, 1),
            (("/tokenize",), {"block_size": 784}, 784, 0),
        ],
    )
    def test_unit_and_drop_are_exact(
        self, absent: tuple[str, ...], options: dict[str, Any], unit: int, drop: int
    ) -> None:
        """The template is placed by the tokenize route, or by what prompts hit."""
        with chat_only(*absent, **options) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert (report.value("hit_unit"), report.value("hit_drop")) == (unit, drop)
        assert f"{HEAD} tokens of its template stand before the words, {TAIL} behind" in report.findings[
            "hit_unit"
        ].text("en")
        assert report.contradictions == []
        assert (report.value("last_token_rule"), report.value("matching")) == ("computed", "chained_prefix")
        assert (report.value("salt"), report.value("reset")) == ("cache_salt", "POST /reset_prefix_cache")
        assert report.value("outputs_cached") is None
        assert report.tokens_left == 0

    @pytest.mark.parametrize("status", [405, 501])
    def test_a_lie_is_named(self, status: int) -> None:
        with chat_only("/tokenize", status=status, block_size=32, claims_block_size=16) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert [each.code for each in report.contradictions] == ["block_size"]
        assert report.value("hit_unit") == 32

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"block_size": 1}, "token by token"),
            ({"dialect": "mindie-gauge", "block_size": 128, "usage_cached": False}, "rounded rate"),
        ],
    )
    def test_what_cannot_be_placed_is_unknown(self, options: dict[str, Any], why: str) -> None:
        with chat_only("/tokenize", **options) as url:
            report = probe_server(ProbeOptions(url, time_limit=300, tokenizer="embedded"))
        assert (report.value("hit_unit"), report.value("hit_drop")) == (None, None)
        assert why in report.findings["hit_unit"].text("en")
        assert report.contradictions == []
        assert "a template stands around every text" in report.findings["tokenizer"].text("en")

    def test_hits_of_single_tokens_are_placed_by_the_route(self) -> None:
        with chat_only(block_size=1) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert (report.value("hit_unit"), report.value("hit_drop"), report.value("last_token_rule")) == (
            1, 0, "computed",
        )  # fmt: skip

    def test_without_hits_there_is_no_number(self) -> None:
        with chat_only("/tokenize", prefix_caching=False, max_model_len=3000) as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert report.value("hit_unit") is None
        assert "No hit up to" in report.findings["hit_unit"].text("en")

    def test_without_any_route_the_reason_is_that_of_one_that_is_there(self) -> None:
        with chat_only("/v1/chat/completions") as url:
            report = probe_server(ProbeOptions(url, time_limit=300))
        assert report.status == "partial"
        assert "HTTP 404" in report.findings["hit_unit"].text("en")


def test_a_chat_holds_the_words_in_one_message_of_the_user() -> None:
    body = body_of(CHAT, "m", "So the and", 1, streamed=False)
    assert body["messages"] == [{"role": "user", "content": "So the and"}]
    assert "stream" not in body


def test_only_the_native_route_is_asked_where_the_user_says_so() -> None:
    assert {form.path for form in forms_of("generate")} == {"/generate"}
    assert forms_of("openai") == FORMS


def test_what_the_events_of_a_stream_tell() -> None:
    raw = (
        b'data: {"choices": [{"text": "a"}], "usage": null}\n\n'
        b'data: {"choices": [], "usage": {"prompt_tokens": 9}}\n\n: comment\n\ndata: [DONE]\n\n'
    )
    assert streamed_body(raw) == {"choices": [{"text": "a"}], "usage": {"prompt_tokens": 9}}
    assert streamed_body(b'data: {"meta_info": {"a": 1}}\n\ndata: {"meta_info": {"a": 2}}\n\n') == {
        "meta_info": {"a": 2}
    }
    assert streamed_body(b"no events") == {}
