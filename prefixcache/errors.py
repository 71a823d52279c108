"""What goes wrong, in three kinds that the command line maps to exit codes.

Every error carries the place it happened and what the user can do about it, so that one line says it all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The places of an error that RFC 3.4.3 asks for, in the order they are shown in.
PLACES = ("stage", "dataset_id", "request_id", "group", "retry_count", "field", "remedy")


class PrefixCacheError(Exception):
    """Base of all errors a user may see.

    Args:
        message: what was found, in one sentence.
        field: dotted path of the configuration field or flag concerned, e.g. ``target.hit_ratio``.
        remedy: what the user can do, in one sentence.
        stage: stage of the pipeline, e.g. ``plan_lengths``.
        dataset_id, request_id, group: where there is one.
        retry_count: how often it was tried again before; None where nothing is ever tried again.
    """

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        remedy: str | None = None,
        stage: str | None = None,
        dataset_id: str | None = None,
        request_id: str | None = None,
        group: str | None = None,
        retry_count: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.remedy = remedy
        self.stage = stage
        self.dataset_id = dataset_id
        self.request_id = request_id
        self.group = group
        self.retry_count = retry_count

    def context(self) -> dict[str, Any]:
        """The places that are known."""
        return {name: value for name in PLACES if (value := getattr(self, name)) is not None}

    def as_json(self) -> dict[str, Any]:
        """The message and every place; null where there is none."""
        return {"message": self.message, **{name: getattr(self, name) for name in PLACES}}

    def located(self, **places: Any) -> None:
        """Fill in places that are not known yet; those nearest to the cause were filled in first and stay."""
        for name, value in places.items():
            if getattr(self, name) is None:
                setattr(self, name, value)

    def __str__(self) -> str:
        where = ", ".join(f"{k} {v}" for k, v in self.context().items() if k not in ("field", "remedy") and v != 0)
        text = f"{self.field}: {self.message}" if self.field else self.message
        if where:
            text = f"[{where}] {text}"
        if not self.remedy:
            return text
        return f"{text if text.endswith(('.', '!', '?')) else text + '.'} Remedy: {self.remedy}"

    def __reduce__(self) -> tuple[object, ...]:  # keyword arguments survive process pools
        return (_rebuild, (type(self), self.message, self.context()))


def _rebuild(cls: type[PrefixCacheError], message: str, context: dict[str, Any]) -> PrefixCacheError:
    return cls(message, **context)


def of_system(error: OSError) -> EnvironmentFailure:
    """A refused write or read as a message of the product."""
    what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
    return EnvironmentFailure(what, remedy="check the path, its permissions and the free space.")


def remedy_for_reading(error: Exception) -> str:
    """What to do about a file that cannot be read."""
    if isinstance(error, IsADirectoryError):
        return "name a file, not a folder."
    return "check the path and its permissions."


@contextmanager
def locating(**places: Any) -> Iterator[None]:
    """Errors raised inside are told where they happened, as far as they do not know better."""
    try:
        yield
    except PrefixCacheError as error:
        error.located(**places)
        raise


class VerdictError(PrefixCacheError):
    """The product's verdict is FAIL: the target cannot be reached, the certificate is broken, requests failed."""

    exit_code = 1


class InputError(PrefixCacheError):
    """The user's input is wrong: configuration, flags, files."""

    exit_code = 2


class EnvironmentFailure(PrefixCacheError):
    """The world failed: server, network, disk, a source that cannot be reached."""

    exit_code = 3
