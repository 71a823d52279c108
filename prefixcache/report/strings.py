"""Every word of the report in both languages, in one table: key → (English, Chinese).

The Chinese terms are those of the RFC (3.3.17-3.3.22).
"""

from __future__ import annotations

from typing import Literal

from prefixcache.errors import InputError
from prefixcache.report.words_page import PAGE
from prefixcache.report.words_verdict import VERDICT

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
STRINGS: dict[str, tuple[str, str]] = PAGE | VERDICT


def language_of(value: str) -> Language:
    """Check a language named by a user.

    Raises:
        InputError: it is neither ``en`` nor ``zh``.
    """
    if value not in LANGUAGES:
        raise InputError(
            f"{value!r} is not a language of the report",
            field="language",
            remedy=f"Choose one of {', '.join(LANGUAGES)}.",
            stage="report",
        )
    return value


def text(key: str, language: Language, **values: object) -> str:
    """The words for a key with its ``{places}`` filled in."""
    words = STRINGS[key][LANGUAGES.index(language)]
    return words.format(**values) if values else words


def named(group: str, code: str, language: Language) -> str:
    """The words for ``group.code``; a code that is not in the table stands for itself."""
    key = f"{group}.{code}"
    return text(key, language) if key in STRINGS else code


def spoken(items: list[str], language: Language) -> str:
    """Several remarks as one."""
    return ("; " if language == "en" else "；").join(items)
