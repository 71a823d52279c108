"""Do the server and a local tokenizer give the same ids? On strings at which tokenizers differ, one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from prefixcache.probe.findings import Finding, ProbeReport, said, unknown
from prefixcache.probe.forms import FORMS, usage_of
from prefixcache.probe.line import Line
from prefixcache.probe.service import Service

STRINGS: dict[str, str] = {
    "words": "Linda buys three apples and reads the quiet history book near the river.",
    "leading_space": " leading space",
    "trailing_space": "trailing space ",
    "double_spaces": "two  spaces   and    four",
    "newlines": "line one\nline two\n\nline four\r\nand five",
    "tabs": "a\tb\t\tc",
    "space_newline": "end of line \n next",
    "digits": "0 12 345 6789 1234567890 3.14159 1,000,000",
    "contractions": "don't I'll WE'RE it’s",
    "camel_case": "getHTTPResponseCode_2 snake_case kebab-case",
    "punctuation": "Hello!!! ...What?? (yes) [no] {maybe} <tag/> && || :=",
    "cjk": "今天天气很好，我们去公园散步。",
    "japanese": "東京タワーへ行きました。",
    "korean": "안녕하세요 세계",
    "emoji": "👍🏽 family 👨‍👩‍👧‍👦 flag 🇨🇳",
    "nfc": "caf\u00e9 na\u00efve \u00c5ngstr\u00f6m",
    "nfd": "cafe\u0301 nai\u0308ve A\u030angstro\u0308m",
    "full_width": "ＡＢＣ　１２３",
    "metaspace": "\u2581lower one eighth block \u2581",
    "zero_width": "zero\u200bwidth\u200djoiner\ufeff",
    "rare": "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ꙮ ௵",
    "arabic": "مرحبا بالعالم",
    "special_text": "<|im_start|>user<|im_end|></s><s>[INST]<|endoftext|>",
    "code": "def f(x):\n    return {'a': [1, 2], \"b\": x ** 2}\n",
}
MOST_IDS = 64


class Encodes(Protocol):
    """A local tokenizer that adds what the server would add."""

    def encode(self, text: str) -> list[int]: ...


class Whole:
    """A tokenizer with the special tokens that stand around a prompt."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._backend.encode(text, add_special_tokens=True).ids
        return ids


def load_local(path: str) -> Encodes:
    """The tokenizer to compare with.

    Raises:
        InputError, EnvironmentFailure: it cannot be loaded.
    """
    from prefixcache.config.content import TokenizerConfig
    from prefixcache.content.tokenizer import load_tokenizer

    return Whole(load_tokenizer(TokenizerConfig(path=path)).backend)


async def server_ids(service: Service, model: str, text: str) -> list[int] | int | None:
    """Ids that the server's tokenize route gives, or their number where it tells no ids; None without such a route."""
    for path, body in (
        ("/tokenize", {"model": model, "prompt": text, "add_special_tokens": True}),
        ("/tokenize", {"content": text, "add_special": True}),
        ("/v1/tokenizer", {"inputs": text}),
    ):
        answer = await service.post(path, body)
        if not answer.ok:
            continue
        tokens = answer.body.get("tokens")
        if isinstance(tokens, list) and (tokens or not text) and all(type(each) is int for each in tokens):
            return tokens
        for name in ("count", "token_number"):
            if type(answer.body.get(name)) is int:
                return int(answer.body[name])
    return None


async def find_tokens(line: Line, report: ProbeReport, local: Encodes | None) -> None:
    """Finding ``tokenizer``: how many strings give the same ids (or as many of them)."""
    service = line.service
    by_route = await server_ids(service, line.model, STRINGS["words"]) is not None
    if local is None:
        report.add(unknown("tokenizer", "tokens.not_given" if by_route else "tokens.not_given_no_route"))
        return
    if not by_route and line.form is not None and line.form.chat:
        report.add(unknown("tokenizer", "tokens.chat"))
        return
    rows = []
    for name, text in STRINGS.items():
        own = await asyncio.to_thread(local.encode, text)
        theirs = await (server_ids(service, line.model, text) if by_route else _counted(line, text))
        rows.append((name, text, own, theirs))
    asked = [row for row in rows if row[3] is not None]
    if not asked:
        report.add(unknown("tokenizer", "tokens.no_answer"))
        return
    exact = all(isinstance(row[3], list) for row in asked)
    off = [row for row in asked if not agree(row[2], row[3])]
    value = {
        "strings": len(asked),
        "agree": len(asked) - len(off),
        "compared": "ids" if exact else "counts",
        "differ": [
            {"name": name, "text": text, "local_ids": own[:MOST_IDS], "server": _shortened(theirs)}
            for name, text, own, theirs in off
        ],
    }
    how = "tokens.by_ids" if exact else "tokens.by_route_counts" if by_route else "tokens.by_usage"
    texts = [said(how, agree=len(asked) - len(off), strings=len(asked))]
    if off:
        names = ", ".join(row[0] for row in off)
        texts.append(said("tokens.differ", names=names))
        report.contradict("tokenizer", names=names, count=len(off), strings=len(asked))
    report.add(Finding("tokenizer", value, "measured", texts))


def agree(own: Sequence[int], theirs: list[int] | int | None) -> bool:
    """Equal ids, or as many where only the number is known."""
    return len(own) == theirs if isinstance(theirs, int) else list(own) == theirs


def _shortened(theirs: list[int] | int | None) -> list[int] | int | None:
    return theirs[:MOST_IDS] if isinstance(theirs, list) else theirs


async def _counted(line: Line, text: str) -> int | None:
    """Prompt tokens by the usage of an answer; the text itself is sent, so it is cached afterwards."""
    form = FORMS[0] if line.form is None else line.form
    if form.ids:
        form = next(other for other in FORMS if other.path == form.path and not other.ids)
    answer = await line.post([], form, text=text)
    return usage_of(answer, form).prompt_tokens if answer.ok else None
