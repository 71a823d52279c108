"""Options of the sender, health of its loop, prompts that warm an engine."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

from prefixcache.errors import InputError
from prefixcache.load.engine_warmup import unrelated
from prefixcache.load.health import Health, Watcher
from prefixcache.load.prompts import Prompt
from prefixcache.load.sending import Sending, parse_extra_body, parse_headers


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
    ]
    for make, field in cases:
        with pytest.raises(InputError) as caught:
            make()
        assert caught.value.field == field
        assert "SECRET" not in str(caught.value)


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
