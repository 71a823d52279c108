"""Which requests a rule is for."""

from __future__ import annotations

from typing import Any

import pytest

from prefixcache.reference.faults.plan import Happening, parse_plan
from prefixcache.reference.faults.selection import Selection

COMPLETIONS = "/v1/completions"


def chosen(rule: dict[str, Any], count: int = 12) -> list[int]:
    """Numbers of the completions that a rule with a status of 503 is for."""
    selection = Selection(parse_plan([{**rule, "status": 503}]))
    return [n for n in range(1, count + 1) if selection.of("POST", COMPLETIONS, b"") is not None]


@pytest.mark.parametrize(
    ("rule", "numbers"),
    [
        ({}, list(range(1, 13))),
        ({"requests": 3}, [3]),
        ({"requests": "4-6"}, [4, 5, 6]),
        ({"requests": "10-"}, [10, 11, 12]),
        ({"requests": [1, "3-4", "11-"]}, [1, 3, 4, 11, 12]),
        ({"every": 5}, [5, 10]),
        ({"every": 3, "requests": "4-"}, [6, 9, 12]),
        ({"times": 2, "requests": "4-"}, [4, 5]),
        ({"after": 10}, [10, 11, 12]),
        ({"probability": 1.0}, list(range(1, 13))),
        ({"probability": 0.0}, []),
    ],
)
def test_numbers(rule: dict[str, Any], numbers: list[int]) -> None:
    assert chosen(rule) == numbers


def test_chance_is_the_same_every_time_and_as_often_as_asked() -> None:
    found = chosen({"probability": 0.25, "seed": 7}, 2000)
    assert found == chosen({"probability": 0.25, "seed": 7}, 2000)
    assert found != chosen({"probability": 0.25, "seed": 8}, 2000)
    assert len(found) == pytest.approx(500, abs=60)  # three standard deviations of 19


def test_only_generation_requests_are_counted_without_a_path() -> None:
    selection = Selection(parse_plan([{"requests": 2, "status": 503}]))
    asked = [("GET", "/metrics"), ("POST", "/v1/chat/completions"), ("POST", "/tokenize"), ("POST", "/generate")]
    assert [selection.of(method, path, b"") is not None for method, path in asked] == [False, False, False, True]


def test_a_path_has_numbers_of_its_own() -> None:
    selection = Selection(parse_plan([{"path": "/metrics", "requests": 2, "status": 500}]))
    asked = ["/metrics", COMPLETIONS, "/metrics", "/metrics"]
    assert [selection.of("GET", path, b"") is not None for path in asked] == [False, False, True, False]


def test_a_path_after_so_many_generation_requests() -> None:
    selection = Selection(parse_plan([{"path": "/metrics", "after": 2, "status": 500}]))
    found = []
    for _ in range(3):
        found.append(selection.of("GET", "/metrics", b"") is not None)
        selection.of("POST", COMPLETIONS, b"")
    assert found == [False, False, True]


def test_a_text_in_the_body() -> None:
    selection = Selection(parse_plan([{"contains": "ü7", "status": 500}]))
    assert selection.of("POST", COMPLETIONS, b"u7") is None
    assert selection.of("POST", COMPLETIONS, "a ü7 b".encode()) is not None


def test_rules_add_up_and_the_first_wins_key_by_key() -> None:
    rules = [
        {"requests": 1, "retry_after": 5, "stream": {"line_end": "cr"}},
        {"status": 429, "retry_after": 9, "stream": {"line_end": "crlf", "space": False}},
    ]
    selection = Selection(parse_plan(rules))
    first, second = (selection.of("POST", COMPLETIONS, b"") for _ in range(2))
    assert isinstance(first, Happening)
    assert isinstance(second, Happening)
    assert (first.status, first.retry_after, first.stream.line_end, first.stream.space) == (429, 5, "cr", False)
    assert (second.status, second.retry_after, second.stream.line_end) == (429, 9, "crlf")
