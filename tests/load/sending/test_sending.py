"""Options of the sender, health of its loop, prompts that warm an engine."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from typing import Any

import pytest

from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.request.client import CompletionClient
from prefixcache.load.request.retries import Retries
from prefixcache.load.sending.engine_warmup import unrelated
from prefixcache.load.sending.health import Health, Watcher
from prefixcache.load.sending.options import EXACT, Sending, parse_extra_body, parse_headers
from prefixcache.load.sending.prompts import Prompt


def test_headers_and_bodies_are_read() -> None:
    assert parse_headers(["X-A: 1", "Authorization:Bearer x:y"]) == {"X-A": "1", "Authorization": "Bearer x:y"}
    assert parse_extra_body('{"top_k": 1, "min_tokens": null}') == {"top_k": 1, "min_tokens": None}
    assert parse_extra_body(None) == parse_extra_body(" ") == {}


def test_mistakes_name_the_option_and_repeat_no_secret() -> None:
    cases = [
        (lambda: parse_headers(["sk-SECRET"]), "header"),
        (lambda: Sending(headers={"X Y": "sk-SECRET"}), "header"),
        (lambda: Sending(headers={"X-Y": "sk-SECRET\n"}), "header"),
        (lambda: Sending(headers={"Host": "sk-SECRET"}), "header"),
        (lambda: parse_extra_body("[1]"), "extra_body"),
        (lambda: parse_extra_body("{"), "extra_body"),
        (lambda: Sending(extra_body={"prompt": "x"}), "extra_body"),
        (lambda: Sending(processes=0), "processes"),
        (lambda: Sending(api="soap"), "api"),  # type: ignore[arg-type]
        (lambda: Sending(engine_warmup=-1), "engine_warmup"),
        (lambda: Sending(engine_warmup=10**30), "engine_warmup"),
        (lambda: Sending(retries=Retries(10**30)), "retries"),
        (lambda: parse_headers(["X-A: sk-SECRET", "x-a: 2"]), "header"),
        (lambda: Sending(headers={"X-A": "sk-SECRET", "x-a": "2"}), "header"),
        (lambda: Sending(extra_body={"n": 3}), "extra_body"),
    ]
    for make, field in cases:
        with pytest.raises(InputError) as caught:
            make()
        assert caught.value.field == field
        assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize(
    ("api", "extra", "changed"),
    [
        ("openai", {}, {}),
        ("openai", {"top_p": 0.9, "temperature": 0}, {}),
        ("openai", {"temperature": 0.7}, {"temperature": 0.7}),
        ("openai", {"ignore_eos": None, "max_tokens": 5}, {"ignore_eos": None, "max_tokens": 5}),
        ("openai", {"min_tokens": "sk-1"}, {"min_tokens": "changed"}),
        ("openai", {"sampling_params": {"temperature": 1}}, {}),
        ("generate", {"temperature": 1}, {}),
        ("generate", {"sampling_params": {"top_p": 0.9}}, {}),
        ("generate", {"sampling_params": {"min_new_tokens": 1}}, {"min_tokens": 1}),
        (
            "generate",
            {"sampling_params": None},
            {"temperature": None, "ignore_eos": None, "min_tokens": None, "max_tokens": None},
        ),
    ],
)
def test_what_is_said_of_sampling_is_what_is_sent(api: Any, extra: dict[str, Any], changed: dict[str, Any]) -> None:
    sending = Sending(api=api, extra_body=extra)
    assert sending.sampling == {**EXACT, **changed}
    assert sending.sampling_changed == [name for name in sending.sampling if name in changed]
    client = CompletionClient(None, "m", "text", interface=api, extra_body=extra)  # type: ignore[arg-type]
    body = json.loads(client.body(Prompt("a", None, 9)))
    sent = body.get("sampling_params") or {} if api == "generate" else body
    for name, value in sending.sampling.items():
        own = name.replace("_tokens", "_new_tokens") if api == "generate" else name
        wanted = {"max_tokens": 9, "changed": "sk-1"}.get(value, value) if isinstance(value, str) else value
        assert sent.get(own) == wanted
    if extra.get("sampling_params"):
        assert body["sampling_params"].items() >= extra["sampling_params"].items()


def test_processes_follow_the_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [Sending().processes_for(streams) for streams in (None, 1, 512)] == [1, 1, 1]
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert [Sending().processes_for(streams) for streams in (513, 1025, 100_000)] == [2, 3, 7]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert Sending().processes_for(100_000) == 1
    assert Sending(processes=3).processes_for(1) == 3


def test_a_stalled_loop_and_the_collector_are_seen() -> None:
    async def go() -> Health:
        watcher = Watcher()
        with watcher.watching():
            await asyncio.sleep(0.05)
            time.sleep(0.2)  # what a loop must not do
            await asyncio.sleep(0.05)
            gc.collect()
        return watcher.take()

    found = asyncio.run(go())
    assert 0.1 < found.longest_stall_s < 1
    assert found.stalls >= 1 and found.ticks > 5 and found.collections >= 1
    both = Health(stalls=1, longest_stall_s=0.5)
    both.add(Health(stalls=2, longest_stall_s=0.2))
    assert (both.stalls, both.longest_stall_s) == (3, 0.5)


def test_an_unrelated_prompt_has_the_same_words_and_another_beginning() -> None:
    chat = [{"role": "system", "content": "be kind"}, {"role": "user", "content": "one two"}]
    found = unrelated(Prompt("one two three", [1, 2, 3], 4, chat))
    assert (found.text, found.ids, found.max_tokens) == ("three two one", [3, 2, 1], 4)
    assert found.messages == [{"role": "user", "content": "two one"}]


def test_texts_of_the_body_are_taken_out_where_a_server_repeats_them() -> None:
    body = {"user": "sk-planted-key", "a": [{"b": "another-one"}], "c": "x"}
    sending = Sending(headers={"X-A": "k1"}, extra_body=body)
    assert sending.secrets == ("k1", "sk-planted-key", "another-one")


def test_a_body_that_is_not_json_is_told_where_and_not_in_the_librarys_words() -> None:
    with pytest.raises(InputError) as caught:
        parse_extra_body("{a:1}")
    assert caught.value.message == "it is not JSON in line 1, column 2"
    assert chinese_of(caught.value.message) == "第 1 行第 2 列不是有效的 JSON"
