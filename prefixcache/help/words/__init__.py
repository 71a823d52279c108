"""What one entry of the help says. Texts are one line each, English and Chinese side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
ENVIRONMENT = "PREFIXCACHE_LANG"
"""Environment variable with the language of those who give no ``--lang``."""


@dataclass(frozen=True, slots=True)
class Words:
    """Meaning of a key, field, code or status.

    Args:
        en, zh: the meaning, one sentence.
        rfc: clause of the RFC (AISBench #432), e.g. ``3.3.12``; empty where the RFC has none.
        formula: in the field's letters (L, P, C, H, u, b), the same in both languages.
        unit: a key of :data:`UNITS`.
        default: English and Chinese, where the default is a rule and not a value.
        flag: command-line flag that sets the same thing.
    """

    en: str
    zh: str
    rfc: str = ""
    formula: str = ""
    unit: str = ""
    default: tuple[str, str] | None = None
    flag: str = ""

    def text(self, language: Language) -> str:
        return self.en if language == "en" else self.zh


UNITS: dict[str, tuple[str, str]] = {
    "tokens": ("tokens", "Token"),
    "ratio": ("ratio, 0 to 1", "比例，0 到 1"),
    "deviation": ("ratio; 0.01 is 1 percentage point", "比例；0.01 即 1 个百分点"),
    "pp": ("percentage points", "个百分点"),
    "requests": ("requests", "请求"),
    "blocks": ("blocks", "Block"),
    "units": ("hit units", "命中粒度"),
    "seconds": ("seconds", "秒"),
    "per_second": ("per second", "每秒"),
    "index": ("number from 0", "从 0 起的序号"),
    "count": ("count", "个数"),
    "time": ("time of day, UTC", "UTC 时间"),
}
