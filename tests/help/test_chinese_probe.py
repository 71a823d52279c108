"""What `probe` refuses and gives as reasons, in Chinese with all figures."""

from __future__ import annotations

import re

import pytest

from prefixcache.help.chinese.text import chinese_of
from prefixcache.probe.findings import said

ENGLISH = re.compile(r"\b(?:the|is|are|was|has|not|it|of|one|Give|Write|Check|name|no)\b")


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8000 did not say who it is within 60 s",
        "http://127.0.0.1:8000: no answer within 30 s",
        "no answer within 30 s",
        "http://127.0.0.1:8000 names no model",
        "http://127.0.0.1:8000 serves no model 'x'; it serves: a, b",
        "the server http://127.0.0.1:9 answered HTTP 401 to /v1/models",
        "the server http://127.0.0.1:9 took the connection but did not answer /v1/models within 30 s",
        "http://127.0.0.1:9/metrics gave no metrics page 5 times in a row",
        "the server was not idle within 5 s",
        "Check that the server is healthy, or give a longer --time-limit.",
        "name one of them, or leave --model out.",
        "0.5 s is not 1 to 86400 s",
        "server.yaml exists",
        "name another file, or --overwrite to replace it.",
        "a line has no colon",
        "X-Tenant stands twice",
        "a prompt under another salt hit 32 tokens of the first one's",
        "/v1/completions: it counts the words of a probe in another way than one token each",
        "/v1/chat/completions: its answers tell no prompt_tokens, so no word is known to be one token",
    ],
)
def test_every_sentence(text: str) -> None:
    found = chinese_of(text)
    assert re.search(r"[\u4e00-\u9fff]", found), text
    assert not ENGLISH.search(found), found
    assert sorted(re.findall(r"\d+", found)) == sorted(re.findall(r"\d+", text))


def test_reasons_within_findings_are_told_in_chinese_too() -> None:
    told = said("refused", why="no answer within 30 s")
    assert told.text("zh") == "服务拒绝请求：30 s 内没有响应。"
    assert told.text("en") == "The server refused: no answer within 30 s."
