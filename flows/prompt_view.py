"""A prompt on a terminal: its parts coloured, long ones shortened in the middle, block boundaries marked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rich.text import Text

from prefixcache.dataset.regions import PromptText, Region
from prefixcache.help.messages import say
from prefixcache.help.words import Language

SHOWN = 32
"""Tokens shown at each end of a part that is shortened."""
STYLES = {
    "head": "magenta",
    "cached": "green",
    "prefix": "cyan",
    "divergence": "bold yellow",
    "suffix": "default",
    "tail": "magenta",
}
BLOCK_MARK = "│"


def prompt_lines(
    regions: list[Region], text: PromptText, language: Language, *, full: bool = False, block: int | None = None
) -> Iterator[Text]:
    """A title and the text of each part.

    Args:
        full: shorten nothing.
        block: mark the beginning of every block of so many tokens; None marks none.
    """
    for region in regions:
        style = STYLES[region.part]
        title = Text(f"■ {say(f'inspect.{region.part}', language)}  ", style=f"bold {style}")
        place = say("inspect.tokens", language, start=region.start, end=region.end, count=f"{region.tokens:,}")
        yield title.append(place, style="not bold dim")
        if text.split != "none":
            yield _body(region, text, language, full, block).append("\n")


def _body(region: Region, text: PromptText, language: Language, full: bool, block: int | None) -> Text:
    body, style = Text(), STYLES[region.part]
    if full or region.tokens <= 2 * SHOWN + 1:
        return body.append_text(_run(region.start, region.end, text, style, block))
    body.append_text(_run(region.start, region.start + SHOWN, text, style, block))
    hidden = say("inspect.hidden", language, count=f"{region.tokens - 2 * SHOWN:,}")
    body.append(f" {hidden} ", style="dim italic")
    return body.append_text(_run(region.end - SHOWN, region.end, text, style, block))


def _run(start: int, end: int, text: PromptText, style: str, block: int | None) -> Text:
    cuts = [start, *(n for n in range(start + 1, end) if block and n % block == 0), end]
    run = Text()
    for at, until in pairwise(cuts):
        if block and at % block == 0:
            run.append(BLOCK_MARK, style="bold red")
        run.append(visible(text.piece(at, until)), style=style)
    return run


def visible(text: str) -> str:
    """Control characters other than line ends as escapes: a prompt must not steer the terminal."""
    return "".join(c if c == "\n" or c.isprintable() else c.encode("unicode_escape").decode() for c in text)
