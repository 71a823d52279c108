"""What all configuration models share: strict, frozen, no unknown keys, decimals that keep what was written."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

MOST_TOKENS = 1 << 24
"""Longest request that is taken for one; beyond the context of any model, and tables of lengths stay small."""


PERCENTAGE = "it is a percentage"


class ConfigModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, use_attribute_docstrings=True)


class RuleError(ValueError):
    """A rule between fields is broken. ``field`` is a path below the model whose validator raises it."""

    def __init__(self, message: str, *, remedy: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field
        self.remedy = remedy


def as_ratio(percent: Any) -> str | None:
    """What 50 is meant to be where a share of 1 is wanted: 0.5. None: no number above 1 and up to 100."""
    number = None if isinstance(percent, bool) else percent
    if not isinstance(number, int | float | Decimal) or not 1 < number <= 100:
        return None
    return f"{(Decimal(str(number)) / 100).normalize():f}"


def of_text(value: str) -> tuple[str, str]:
    """Why a text where a number is wanted is none, and what to write instead."""
    if percent := re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%", unicodedata.normalize("NFKC", value).strip()):
        return PERCENTAGE, f"write {(Decimal(percent[1]) / 100).normalize():f}"
    digits = "".join(str(unicodedata.decimal(letter, letter)) for letter in value).strip().replace("．", ".")
    number = f"write {digits}" if re.fullmatch(r"[-+]?[0-9]+(?:\.[0-9]+)?", digits) else "write a number"
    if any(letter.isdigit() and not letter.isascii() for letter in value):
        return "its digits are not 0 to 9", number
    if re.fullmatch(r"[-+]?0[0-9]+", digits):
        return "it begins with 0, which some read as octal", f"write {int(digits)}"
    if re.fullmatch(r"[-+]?[0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]{1,3}", digits):
        written = Decimal(digits)
        short = written == int(written) and written < 1 << 64
        return "YAML reads it as text", f"write {int(written)}" if short else "write it without an exponent"
    if re.fullmatch(r"[-+]?[0-9]+(?::[0-9]+)+", digits):
        return "it looks like a time", "write a number"
    return ("it is text", f"{number} without quotes") if number != "write a number" else ("it is text", number)


def _as_written(value: Any) -> Any:
    """A YAML float such as 0.29 becomes the decimal 0.29, not its binary neighbour."""
    if isinstance(value, bool):
        raise RuleError(f"{value} is not a number", remedy="write a number")
    if isinstance(value, str) and not value.isascii():
        why, remedy = of_text(value)
        raise RuleError(f"{value!r} is not allowed: {why}", remedy=remedy)
    return Decimal(repr(value)) if isinstance(value, float) else value


def _for_json(value: Decimal) -> float | str:
    """A JSON number where that reads back as the same decimal, else its text."""
    number = float(value)
    return number if Decimal(repr(number)) == value else str(value)


ExactDecimal = Annotated[
    Decimal,
    BeforeValidator(_as_written),
    PlainSerializer(_for_json, when_used="json"),
    Field(allow_inf_nan=False, max_digits=60, decimal_places=30),
]
RequestCount = Annotated[int, Field(strict=True, ge=1, le=50_000_000)]
"""Planning holds about 200 bytes a request in memory."""
Count = Annotated[int, Field(strict=True, ge=1, le=1 << 30)]
NonNegative = Annotated[int, Field(strict=True, ge=0, le=1 << 30)]
Seed = Annotated[int, Field(strict=True, ge=0, lt=1 << 64)]
Tokens = Annotated[int, Field(strict=True, ge=1, le=MOST_TOKENS)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
