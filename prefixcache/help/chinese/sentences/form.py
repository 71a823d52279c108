"""One sentence in two languages: the English one is recognised with whatever its places hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter


@dataclass(frozen=True, slots=True)
class Form:
    """A compiled pair.

    Attributes:
        longest: longest piece of the English sentence without a place: what is looked for first, since most sentences
            are told apart by it alone.
        weight: letters outside places; of two forms that fit, the heavier one says more.
    """

    pattern: re.Pattern[str]
    chinese: str
    longest: str
    weight: int

    @classmethod
    def of(cls, english: str, chinese: str) -> Form:
        """Raises: ValueError: the two have different places, or a place has no name."""
        pieces = list(Formatter().parse(english))
        places, wanted = _places(english), _places(chinese)
        if set(places) != set(wanted) or "" in places:
            raise ValueError(f"{english!r} has the places {places}, its Chinese sentence {wanted}")
        texts = [literal for literal, _, _, _ in pieces]
        return cls(
            re.compile("".join(_patterns(english)), re.DOTALL), chinese, max(texts, key=len), sum(map(len, texts))
        )

    def read(self, text: str) -> dict[str, str] | None:
        """What the places hold; None: another sentence."""
        found = self.pattern.fullmatch(text) if self.longest in text else None
        return None if found is None else found.groupdict()


def forms_of(sentences: Mapping[str, str]) -> tuple[Form, ...]:
    """All forms, full stops left out: first those that begin with words, since a place at the beginning takes in whole
    sentences; of these and those the heavier ones first."""
    made: Iterable[Form] = (Form.of(english.removesuffix("."), chinese) for english, chinese in sentences.items())
    return tuple(sorted(made, key=lambda form: (form.pattern.pattern.startswith("(?P<"), -form.weight)))


def _places(text: str) -> list[str]:
    return [name for _, name, _, _ in Formatter().parse(text) if name is not None]


def _patterns(english: str) -> Iterator[str]:
    seen: set[str] = set()
    for literal, name, _, _ in Formatter().parse(english):
        yield re.escape(literal)
        if name is not None:
            yield f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
            seen.add(name)
