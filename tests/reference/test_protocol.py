"""What a request may say, and how it is refused."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from prefixcache.errors import InputError
from prefixcache.reference import protocol
from prefixcache.reference.options import EMBEDDED_FOLDER, EngineOptions
from prefixcache.reference.protocol import RequestError


@pytest.mark.parametrize(
    ("prompt", "read"),
    [
        ("text", ["text"]),
        ("", [""]),
        ([1, 2], [array("I", [1, 2])]),
        (["a", "b"], ["a", "b"]),
        ([[1], [2, 3]], [array("I", [1]), array("I", [2, 3])]),
        ([[1], []], [array("I", [1]), array("I")]),
    ],
)
def test_the_four_forms_of_a_prompt(prompt: Any, read: Any) -> None:
    assert protocol.read_prompts(prompt) == read


@pytest.mark.parametrize(
    "prompt",
    [None, 5, {}, [], [1, "a"], ["a", 1], [[1], "a"], [1, 2.5], [1, -1], [1, 2**32], [1, True], [None], [[True]]],
)
def test_prompts_of_other_types_are_refused(prompt: Any) -> None:
    with pytest.raises(RequestError) as caught:
        protocol.read_prompts(prompt)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("body", "chat", "limit"),
    [
        ({}, False, 16),
        ({"max_tokens": 5}, False, 5),
        ({"max_tokens": None}, False, None),
        ({}, True, None),
        ({"max_tokens": 5}, True, 5),
        ({"max_tokens": 5, "max_completion_tokens": 6}, True, 6),
    ],
)
def test_the_output_limit(body: dict[str, Any], chat: bool, limit: int | None) -> None:
    assert protocol.read_sampling(body, chat).max_tokens == limit


@pytest.mark.parametrize(
    "body",
    [
        {"max_tokens": 0},
        {"max_tokens": "5"},
        {"max_tokens": True},
        {"max_tokens": 2.0},
        {"min_tokens": 17},
        {"min_tokens": -1},
        {"n": 0},
        {"temperature": -1},
        {"temperature": "hot"},
        {"cache_salt": ""},
        {"cache_salt": 5},
        {"stream": "yes"},
        {"ignore_eos": 1},
        {"stream_options": {"include_usage": True}},
        {"stream": True, "stream_options": True},
        {"stream": True, "stream_options": {"include_usage": 1}},
        {"echo": True},
        {"prompt_logprobs": 1},
        {"stop": ["x"]},
    ],
)
def test_fields_that_cannot_be_followed_are_refused(body: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as caught:
        protocol.read_sampling(body, chat=False)
    error = caught.value.body["error"]
    assert (error["code"], error["type"]) == (400, "BadRequestError")
    assert error["message"]


def test_neutral_values_and_unknown_fields_pass() -> None:
    body: dict[str, Any] = {
        "echo": False,
        "logprobs": None,
        "stop": [],
        "top_p": 0.9,
        "user": "u",
        "temperature": 0,
        "n": 2,
    }
    assert protocol.read_sampling(body, chat=False).n == 2


def test_text_parts_of_a_message_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert protocol.read_messages({"messages": [{"role": "user", "content": parts}]})[0]["content"] == "a\nb"


@pytest.mark.parametrize(
    "messages",
    [
        None,
        [],
        "hi",
        ["hi"],
        [{"content": "a"}],
        [{"role": "user", "content": 5}],
        [{"role": "u", "content": [{"type": "image_url"}]}],
    ],
)
def test_messages_of_other_forms_are_refused(messages: Any) -> None:
    with pytest.raises(RequestError):
        protocol.read_messages({"messages": messages})


@pytest.mark.parametrize(
    ("raw", "kind"), [(b"{", "application/json"), (b"[]", "application/json"), (b"{}", "text/plain")]
)
def test_bodies_that_are_no_json_object_are_refused(raw: bytes, kind: str) -> None:
    with pytest.raises(RequestError):
        protocol.read_body(raw, kind)


def test_the_longest_request_fits_into_a_rank() -> None:
    assert EngineOptions("t", block_size=4, num_blocks=10).context_len == 36
    assert EngineOptions("t", block_size=4, num_blocks=10, max_model_len=20).context_len == 20


def test_the_embedded_tokenizer_is_part_of_the_package() -> None:
    assert EngineOptions("embedded").tokenizer_folder == str(EMBEDDED_FOLDER)
    assert EMBEDDED_FOLDER.parts[-3:] == ("prefixcache", "content", "embedded_tokenizer")


@pytest.mark.parametrize(
    ("field", "value"),
    [("block_size", 0), ("num_blocks", 1), ("dp", 0), ("decode_tps", -1), ("prefill_tps", float("nan")), ("model", "")],
)
def test_options_no_engine_can_run_with(field: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        EngineOptions("t", **{field: value})
    assert caught.value.field == field
