"""Plans: what they may say, and one clear message for each mistake."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import InputError
from prefixcache.reference.faults.front import front_of
from prefixcache.reference.faults.plan import load_plan, parse_plan
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.server import build_app


@pytest.mark.parametrize(
    ("rule", "field", "said", "remedy"),
    [
        ({"requests": 1}, "rules[0]", "nothing happens", "status: 503"),
        ({"status": 99}, "rules[0].status", "99", "at least 200"),
        ({"status": "503"}, "rules[0].status", "text", "503"),
        ({"statu": 503}, "rules[0].statu", "unknown key", "`status`"),
        ({"requests": 0, "status": 503}, "rules[0].requests", "0 is no number", '"4-7"'),
        ({"requests": "7-4", "status": 503}, "rules[0].requests", "ends before", "smaller"),
        ({"requests": [1, "a"], "status": 503}, "rules[0].requests", "'a' is no number", '"4-7"'),
        ({"requests": True, "status": 503}, "rules[0].requests", "True is no number", '"4-7"'),
        ({"requests": [], "status": 503}, "rules[0].requests", "[]", "at least 1"),
        ({"every": 0, "status": 503}, "rules[0].every", "0", "at least 1"),
        ({"path": "metrics", "status": 503}, "rules[0].path", "'metrics' is no path", "slash"),
        ({"probability": 1.5, "status": 503}, "rules[0].probability", "1.5", "at most 1"),
        ({"stall": {"seconds": 2}}, "rules[0].stall", "needs a moment", "after_events"),
        ({"stall": {"after_events": 1, "after_bytes": 1}}, "rules[0].stall", "needs a moment", "either"),
        ({"stall": {"after_events": 1, "seconds": -1}}, "rules[0].stall.seconds", "-1", "at least 0"),
        (
            {"stall": {"after_events": 1, "seconds": "long"}},
            "rules[0].stall.seconds",
            "'long'",
            "seconds as a number, or forever",
        ),
        ({"reset": "sometime"}, "rules[0].reset", "is no moment", "before_headers"),
        ({"reset": {"after": 1}}, "rules[0].reset.after", "unknown key", "after_"),
        ({"close": {}}, "rules[0].close", "needs a moment", "after_events"),
        ({"keep_alive": "no"}, "rules[0].keep_alive", "'no'", "close_on_next"),
        ({"content_type": "text/html"}, "rules[0].content_type", "no body", "body"),
        ({"headers": {"a b": 1}}, "rules[0].headers", "'a b' is no name", "letters"),
        ({"headers": {"a": [1]}}, "rules[0].headers", "value of a", "text"),
        ({"headers": {"a": "b\n"}}, "rules[0].headers", "line end", "one line"),
        ({"headers": "a: b"}, "rules[0].headers", "no block", "lines"),
        ({"status_line": "HTTP/1.1 200 OK\r\nx: y"}, "rules[0].status_line", "line end", "one line"),
        ({"retry_after": -1, "status": 429}, "rules[0].retry_after", "-1", ""),
        ({"body": [1]}, "rules[0].body", "[1]", ""),
        ({"stream": {"line_end": "nl"}}, "rules[0].stream.line_end", "'nl'", "crlf"),
        ({"stream": {"usage": "often"}}, "rules[0].stream.usage", "'often'", "absent"),
        ({"stream": {"chunk_bytes": 0}}, "rules[0].stream.chunk_bytes", "0", "at least 1"),
        ({"stream": {"insert": [{"after_events": 1}]}}, "rules[0].stream.insert[0]", "needs a content", "what"),
        ({"stream": {"insert": [{"what": "error"}]}}, "rules[0].stream.insert[0].after_events", "missing", "add"),
        ({"stream": {"texts": []}}, "rules[0].stream.texts", "[]", "at least 1"),
        ({"missing_bytes": 0}, "rules[0].missing_bytes", "0", "at least 1"),
    ],
)
def test_a_mistake_names_rule_key_and_remedy(rule: dict[str, Any], field: str, said: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_plan([rule])
    error = caught.value
    assert error.field == field
    assert said in error.message
    assert error.remedy
    assert remedy in error.remedy
    assert error.stage == "fault plan"
    assert "\n" not in str(error)


def test_the_second_of_two_rules_is_named() -> None:
    with pytest.raises(InputError, match=r"rules\[1\]\.status"):
        parse_plan([{"status": 503}, {"status": 1}])


@pytest.mark.parametrize("raw", ["status", 5, None])
def test_a_plan_is_a_list(raw: object) -> None:
    with pytest.raises(InputError, match="no list of rules"):
        parse_plan(raw)


def test_a_rule_without_its_dash_is_told_how_a_list_begins() -> None:
    with pytest.raises(InputError, match="is one rule, not a list of rules") as caught:
        parse_plan({"requests": 3, "status": 500})
    assert "begin each rule with '- '" in (caught.value.remedy or "")
    with pytest.raises(InputError, match="unknown key"):
        parse_plan({"rulez": []})


def test_both_forms_of_a_file(tmp_path: Path) -> None:
    text = "- requests: 4-7\n  status: 429\n"
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text("rules:\n" + "".join(f"  {line}\n" for line in text.splitlines()))
    plan = load_plan(tmp_path / "a.yaml")
    assert plan == load_plan(tmp_path / "b.yaml")
    assert plan.rules[0].requests == ((4, 7),)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"- {", "not YAML in line 1"), (b"\xff", "not UTF-8"), (b"- status: 503\n  status: 504\n", "stands twice")],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "plan.yaml"
    file.write_bytes(content)
    with pytest.raises(InputError, match=said):
        load_plan(file)


def test_a_missing_file() -> None:
    with pytest.raises(InputError, match="No such file") as caught:
        load_plan("nowhere.yaml")
    assert caught.value.field == "--faults"


def test_series_that_the_engine_does_not_have(toy: str) -> None:
    plan = parse_plan([{"status": 503}, {"drop_series": ["vllm:prefix_cache_hit"]}])
    with pytest.raises(InputError, match=r"rules\[1\]\.drop_series.*write vllm:prefix_cache_hits"):
        front_of(build_app(EngineOptions(toy)), plan)
