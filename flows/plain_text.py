"""Texts from outside (names of files and columns, what a server said) as a terminal may show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

# Control characters but for tab and line feed; those that turn the direction of writing; halves of characters, which a
# file's name can hold and no encoding can write.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """The text with what would change the terminal written out, ``\\x1b`` for an escape."""
    return _UNSEEN.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def encodable(value: Any) -> Any:
    """A JSON value without halves of characters, which UTF-8 cannot hold."""
    if isinstance(value, str):
        return value if value.isascii() else re.sub("[\ud800-\udfff]", _written_out, value)
    if isinstance(value, dict):
        return {encodable(name): encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if isinstance(value, list | tuple) else value


class PlainConsole(Console):
    """A console whose texts cannot steer the terminal; its own colours are no texts."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Rich passes strings through here that are printed or stand in a table: before their width is taken."""
        return super().render_str(plain(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """And everything else, such as texts with styles of their own, through here."""
        for segment in super().render(renderable, options):
            shown = segment.text if segment.control else plain(segment.text)
            yield segment if shown == segment.text else Segment(shown, segment.style)
