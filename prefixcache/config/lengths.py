"""Input and output lengths (RFC 2.3, 3.2.2; domain.md 4)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from prefixcache.config.base import MOST_TOKENS, ConfigModel, ExactDecimal, RuleError, Tokens


class FixedLength(ConfigModel):
    mode: Literal["fixed"] = "fixed"
    value: Tokens
    """Tokens of every request."""


class ExplicitLength(ConfigModel):
    mode: Literal["explicit"]
    values: list[Tokens] | None = None
    """Tokens per request, in generated order."""
    file: str | None = None
    """JSON list, JSONL/CSV/Parquet with `column`, or whitespace-separated integers; relative to the config file."""
    column: str | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> ExplicitLength:
        if (self.values is None) == (self.file is None):
            both = "both `values` and `file` are given" if self.file is not None else "neither `values` nor `file`"
            raise RuleError(both, remedy="give either `values` or `file`")
        if self.values is not None and not self.values:
            raise RuleError("[] is empty", field="values", remedy="list one length per request")
        return self


class _Range(ConfigModel):
    min: Tokens
    max: Tokens

    @model_validator(mode="after")
    def _ordered(self) -> _Range:
        if self.min > self.max:
            raise RuleError(f"{self.min} is above max {self.max}", field="min", remedy="swap them or widen the range")
        return self


class TruncatedNormalLength(_Range):
    """Normal distribution conditioned on [min, max], integers; the tails are left out, not piled on the ends."""

    mode: Literal["truncated_normal"]
    mean: ExactDecimal
    std: Annotated[ExactDecimal, Field(gt=0)]

    @model_validator(mode="after")
    def _mean_inside(self) -> TruncatedNormalLength:
        if not self.min <= self.mean <= self.max:
            raise RuleError(
                f"{self.mean} lies outside [{self.min}, {self.max}]",
                field="mean",
                remedy="move the mean or the range",
            )
        return self


class UniformLength(_Range):
    mode: Literal["uniform"]


class LogNormalLength(_Range):
    """Log-normal distribution conditioned on [min, max]: `median` in tokens, `sigma` of the logarithm."""

    mode: Literal["lognormal"]
    median: Annotated[ExactDecimal, Field(gt=0)]
    sigma: Annotated[ExactDecimal, Field(gt=0)]

    @model_validator(mode="after")
    def _median_inside(self) -> LogNormalLength:
        if not self.min <= self.median <= self.max:
            raise RuleError(
                f"{self.median} lies outside [{self.min}, {self.max}]",
                field="median",
                remedy="move the median or the range",
            )
        return self


Edge = Annotated[int, Field(strict=True, ge=0, le=MOST_TOKENS)]


class Bin(ConfigModel):
    range: tuple[Edge, Edge]
    """[lo, hi) in tokens; the last bin is closed."""
    weight: Annotated[ExactDecimal, Field(ge=0)]


class HistogramLength(ConfigModel):
    mode: Literal["histogram"]
    bins: Annotated[list[Bin], Field(min_length=1)]

    @model_validator(mode="after")
    def _bins_make_sense(self) -> HistogramLength:
        previous = 0
        for number, item in enumerate(self.bins):
            low, high = item.range
            last = number == len(self.bins) - 1
            if low > high or (low == high and not last):
                raise RuleError(
                    f"[{low}, {high}] is empty",
                    field=f"bins[{number}].range",
                    remedy="write [low, high] with low < high",
                )
            if low < previous:
                raise RuleError(
                    f"[{low}, {high}] starts before the end of the bin before it, {previous}",
                    field=f"bins[{number}].range",
                    remedy="sort the bins and let none overlap",
                )
            previous = high
        if not any(item.weight > 0 for item in self.bins):
            raise RuleError("all weights are 0", field="bins", remedy="give at least one bin a positive weight")
        return self


class EmpiricalLength(ConfigModel):
    """Lengths drawn from a file of real ones: JSONL, CSV, Parquet or a request trace."""

    mode: Literal["empirical"]
    file: str
    column: str | None = None
    """Default: `input_length` for inputs, `output_length` for outputs."""
    replacement: bool = True


AnyLength = (
    FixedLength
    | ExplicitLength
    | TruncatedNormalLength
    | UniformLength
    | LogNormalLength
    | HistogramLength
    | EmpiricalLength
)


def _integer_is_fixed(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"mode": "fixed", "value": value}
    return value


LengthConfig = Annotated[AnyLength, Field(discriminator="mode"), BeforeValidator(_integer_is_fixed)]
