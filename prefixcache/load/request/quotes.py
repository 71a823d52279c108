"""Taking a prompt out of a text that may quote it: a server's error message is stored, a prompt is not."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from prefixcache.load.sending.prompts import Prompt

MASK = "[prompt]"
SHORTEST = 16
"""Characters in a row that make a quote; fewer are ordinary words of both."""


def without_quotes(text: str, prompt: Prompt, most: int) -> str:
    """The first ``most`` characters of a text in which every quote of the prompt is masked.

    A quote is 16 characters or more that stand so in the prompt: as it is, as in a JSON text, as in Python, or, of
    token ids, as a list. What begins like the prompt is cut off there, however short the prompt is.
    """
    sources = tuple(dict.fromkeys(_sources(prompt)))
    for head in {source[:24] for source in sources if len(source) >= 8}:
        if (at := text.find(head)) >= 0:
            text = text[:at] + MASK
    shown: list[str] = []
    length = at = 0
    while at < len(text) and length < most:
        quoted = max((_quoted(text, at, source) for source in sources), default=0)
        if not quoted or (text[at] == " " and quoted > SHORTEST):  # a blank before a quote is nobody's
            shown.append(text[at])
            length, at = length + 1, at + 1
            continue
        if not shown or shown[-1] != MASK:
            shown.append(MASK)
            length += len(MASK)
        at += quoted
    return "".join(shown)[:most]


def _quoted(text: str, at: int, source: str) -> int:
    """Length of the quote that begins at a place of the text; 0 if there is none."""
    window = text[at : at + SHORTEST]
    found = source.find(window) if len(window) == SHORTEST else -1
    if found < 0:
        return 0
    length = SHORTEST
    while at + length < len(text) and found + length < len(source) and text[at + length] == source[found + length]:
        length += 1
    return length


def _sources(prompt: Prompt) -> Iterator[str]:
    for content in (prompt.text, *(message.get("content") for message in prompt.messages or ())):
        if content:
            plain = str(content)
            yield from (plain, repr(plain)[1:-1], orjson.dumps(plain).decode()[1:-1])
            yield plain.encode("ascii", "backslashreplace").decode()
    if prompt.ids:
        yield from (str(list(prompt.ids)), orjson.dumps(list(prompt.ids)).decode())
