"""Every warning of a run in Chinese, with all its names and figures; which sentences there are is read from `load/`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import prefixcache
from prefixcache.help.chinese.text import chinese_of

ROOMS = Path(prefixcache.__file__).parent
HAN = re.compile(r"[\u4e00-\u9fff]")
WARNERS = {"warn", "_warn"}
# Sentences that another function makes: where, and what they begin with.
OTHERS = {
    "engines/aggregate.py": ("the server was", "the hit rate is that of prefill", "not every endpoint"),
    "engines/figures.py": (
        "more hits",
        "this server",
        "the page does not say",
        "hits are an estimate",
        "no series of",
        "the hits counter",
    ),
    "engines/told.py": ("7: 7 tokens were", "7: shows a hit ratio", "7: has series of several", "7: 7 in between"),
    "load/counters/figures.py": ("7 of", "7 answers", "the server worked", "the cache"),
    "load/counters/residue.py": ("request 7", "the counters show", "7 hit"),
    "load/sending/routes.py": ("the dataset plans one",),
    "load/counters/monitor.py": ("the server was not idle", "there is no connection", "7 gave no", "the polling"),
}


def sentences(node: ast.AST) -> Iterator[str]:
    """The texts of an expression, with 7 in every place."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (value.value if isinstance(value, ast.Constant) else "7" for value in node.values)
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from (*sentences(node.body), *sentences(node.orelse))


def assigned(tree: ast.AST, name: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            yield from sentences(node.value)


def warned() -> set[str]:
    """What is handed to ``warn(code, text)`` anywhere in `load/`, and what OTHERS make."""
    found: set[str] = set()
    for path in sorted((ROOMS / "load").rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WARNERS):
                continue
            if len(node.args) < 2:
                continue
            text = node.args[1]
            found |= set(assigned(tree, text.id) if isinstance(text, ast.Name) else sentences(text))
    for name, beginnings in OTHERS.items():
        nodes = list(ast.walk(ast.parse((ROOMS / name).read_text())))
        pieces = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        texts = {text for node in nodes if id(node) not in pieces for text in sentences(node)}
        for beginning in beginnings:
            own = {text for text in texts if text.startswith(beginning)}
            assert own, f"{name} has no sentence that begins with {beginning!r}"
            found |= own
    return {text for text in found if len(text.split()) > 2}


# Places that hold a word, not a figure.
FILLED = {
    "7 was restarted within the interval, so its counters and its cache began anew7": (
        "http://a:1 was restarted within the interval, so its counters and its cache began anew",
        "http://a:1 was restarted within the interval, so its counters and its cache began anew; the hit rate lies "
        "between 7.00% and 9.00%",
    ),
    "the counters of 7 fell within the interval, so how much was asked for and hit is not known7": (
        "the counters of http://a:1 fell within the interval, so how much was asked for and hit is not known",
        "the counters of http://a:1 fell within the interval, so how much was asked for and hit is not known; the hit "
        "rate lies between 7.00% and 9.00%",
    ),
    "hits are an estimate: a rounded ratio since the start times the prompt tokens, at both ends7": (
        "hits are an estimate: a rounded ratio since the start times the prompt tokens, at both ends",
        "hits are an estimate: a rounded ratio since the start times the prompt tokens, at both ends; a Motor's page "
        "has the unweighted mean of its pods: give each pod's own page",
    ),
    "7: 7 in between, so its figures are not known (7)": (
        "http://a:1: its process was restarted in between, so its figures are not known (queries at least 7, hits at "
        "least 7)",
        "http://a:1: its counters began anew in between, so its figures are not known (no bound either)",
    ),
    "7: 7 tokens were looked up, 7 prompt tokens: 7": (
        "http://a:1: 7 tokens were looked up, 8 prompt tokens: some prompts are never looked up (prompt logprobs "
        "bypass the cache)",
        "http://a:1: 9 tokens were looked up, 8 prompt tokens: some tokens were looked up more than once (older "
        "versions count preempted and waiting requests again) or belong to prompts that were aborted",
    ),
    "7 of 7 7 failed": ("7 of 7 warmup prompts failed", "7 of 7 requests of the replayed set failed"),
    "the dataset plans 7; 7 has 7 caches in all (DP ranks or instances): hits are missed where a group meets several "
    "of them": (
        "the dataset plans one cache; http://a:1 has 7 caches in all (DP ranks or instances): hits are missed",
        "the dataset plans 7 caches, one behind each endpoint; http://a:1 has 8 caches in all (DP ranks or instances): "
        "hits are missed",
    ),
    "the dataset holds token ids and 7, so its prompts are sent as ids": (
        "the dataset holds token ids and no text (output.prompts: ids), so its prompts are sent as ids",
        "the dataset holds token ids and no exact text, so its prompts are sent as ids",
    ),
    "7 endpoints, 7 metrics page7 (7): whether the counters cover all endpoints is known only after the run, by the "
    "prompt tokens that they count": (
        "7 endpoints, 1 metrics page (http://a:1): whether the counters cover all endpoints is known",
        "7 endpoints, 2 metrics pages (http://a:1, http://b:2): whether the counters cover all endpoints is known",
    ),
    "the counters of this pass are 7": (
        "the counters of this pass are partial",
        "the counters of this pass are reset_detected",
    ),
    "the server was not idle within 7 s": ("the server was not idle within 60 s after the warmup",),
    "there is no connection to 7": ("there is no connection to http://a:1, http://b:2 before the pass",),
    "7 gave no metrics page 7 times in a row": ("http://a:1 gave no metrics page 5 times in a row after the pass",),
    "7 gave no metrics 7, so the sums leave it out": (
        "http://a:1 gave no metrics when the pass began and when it had ended, so the sums leave it out",
    ),
    "the prefix cache of 7 cannot be proven empty: 7": (
        "the prefix cache of http://a:1 cannot be proven empty: it has no route /reset_prefix_cache (HTTP 404)",
        "the prefix cache of http://a:1 cannot be proven empty: requests were still running there",
        "the prefix cache of http://a:1 cannot be proven empty: the reset failed (500)",
    ),
    "7; each pass carries a fresh 7 instead": (
        "the prefix cache of http://a:1 cannot be proven empty: requests were still running there; each pass carries a "
        "fresh cache_salt instead",
    ),
    "7; and 7": (
        "the prefix cache of http://a:1 cannot be proven empty: the reset failed (500); and sglang has no salt",
    ),
}


def cases() -> list[str]:
    return sorted({case for text in warned() for case in FILLED.get(text, (text,))})


def test_no_filling_is_left_over() -> None:
    assert set(FILLED) <= warned()


@pytest.mark.parametrize("text", cases())
def test_every_warning_has_a_form(text: str) -> None:
    chinese = chinese_of(text)
    assert HAN.search(chinese), text
    left = re.sub(r"[a-z_]*[_./:-][\w./:-]*|\b(?:ids|conn)\b", "", chinese)  # names and addresses stay
    assert not re.search(r"\b[a-z]{2,} [a-z]{2,}\b", left), chinese


@pytest.mark.parametrize(
    "text",
    [
        "pass hot needs 2,061,584 KV tokens in cache domain 0, http://127.0.0.1:8000 holds 1,599,984: blocks may be "
        "evicted before they are hit",
        "2,000 of 31,319 requests failed (2,000 http_error); the first is demo-17: HTTP 500: out of luck",
        "the server http://127.0.0.1:9 cannot be reached (nothing listens there: connection refused)",
        "request demo-3, the first of cache domain 12, hit 1,024 tokens of a cache that should be empty; the counters "
        "show 48 hit tokens after the first request, into an empty cache",
    ],
)
def test_names_and_figures_are_kept(text: str) -> None:
    chinese = chinese_of(text)
    assert set(re.findall(r"\d[\d,.]*\d|\d", text)) == set(re.findall(r"\d[\d,.]*\d|\d", chinese)), chinese
    assert "requests failed" not in chinese and "refused" not in chinese and "holds" not in chinese
