"""Cache sizes as users write them, and ratios of sums."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prefixcache.errors import InputError

UNBOUNDED = "unbounded"
MOST_BLOCKS = 1 << 30
FIELD = "--num-blocks"


def parse_sizes(text: str, field: str = FIELD) -> list[int | None]:
    """``1000,10000,unbounded`` → sizes in blocks; None: unbounded. ``field``: the flag, for the error.

    Raises:
        InputError: something else stands there.
    """
    return [_size(part.strip(), field) for part in text.split(",")]


def _size(part: str, field: str) -> int | None:
    if part == UNBOUNDED:
        return None
    number = int(part) if part.isascii() and part.isdigit() and len(part) < 12 else 0
    if not 1 <= number <= MOST_BLOCKS:
        raise InputError(
            f"{part[:40]!r} is no number of blocks",
            field=field,
            remedy=f"write whole numbers from 1 to {MOST_BLOCKS}, or {UNBOUNDED}, with commas between them.",
        )
    return number


@contextmanager
def named_as_flags() -> Iterator[None]:
    """What the models find wrong with a size is told by the flag that sets it."""
    try:
        yield
    except InputError as error:
        if error.field is not None and error.field.replace("_", "").isalpha():
            error.field = "--" + error.field.replace("_", "-")
        raise


def as_given(blocks: int | None) -> int | str:
    """The size as it was written."""
    return UNBOUNDED if blocks is None else blocks


def ratio(hits: int, of: int) -> float | None:
    """Null where there is nothing to divide by."""
    return hits / of if of else None
