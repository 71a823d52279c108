"""What all configuration models share: strict, frozen, no unknown keys, decimals that keep what was written."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer


class ConfigModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, use_attribute_docstrings=True)


def _as_written(value: Any) -> Any:
    """A YAML float such as 0.29 becomes the decimal 0.29, not its binary neighbour."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return Decimal(repr(value)) if isinstance(value, float) else value


ExactDecimal = Annotated[
    Decimal,
    BeforeValidator(_as_written),
    PlainSerializer(float, return_type=float, when_used="json"),
    Field(allow_inf_nan=False),
]
Count = Annotated[int, Field(strict=True, ge=1)]
NonNegative = Annotated[int, Field(strict=True, ge=0)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
