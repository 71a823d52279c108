"""Prompts of a dataset put aside while it is checked: small ones in memory, large ones in a temporary file.

A dataset's prompts take gigabytes; a check looks at them one after the other, several times.
"""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

IN_MEMORY_BYTES = 64 << 20
Ids = NDArray[np.int32]
T = TypeVar("T")


class _Spool(Sequence[T], Generic[T]):
    """Values in the order they were added, read back one by one."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - goes with the object
        self._ends: list[int] = []
        self._sizes: list[int] = []
        self._reading = False

    @abstractmethod
    def _encode(self, value: T) -> bytes | None:
        """A value as bytes; None: there is none."""

    @abstractmethod
    def _decode(self, data: bytes | None) -> T:
        """What :meth:`_encode` was given."""

    def append(self, value: T) -> None:
        """Only before the first value is read."""
        if self._reading:
            raise ValueError("values are being read")
        data = self._encode(value)
        before = self._ends[-1] if self._ends else 0
        self._sizes.append(-1 if data is None else len(data))
        self._ends.append(before + len(data or b""))
        if data:
            self._file.write(data)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        size = self._sizes[place]
        if size < 0:
            return self._decode(None)
        self._reading = True
        self._file.seek(self._ends[place] - size)
        return self._decode(self._file.read(size))

    def __iter__(self) -> Iterator[T]:
        for place in range(len(self)):
            yield self[place]


class IdSpool(_Spool[Ids]):
    """Token ids of each prompt, int32."""

    def _encode(self, value: Ids) -> bytes:
        return value.tobytes()

    def _decode(self, data: bytes | None) -> Ids:
        return np.frombuffer(data or b"", dtype=np.int32)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each prompt."""
        return np.array(self._sizes, dtype=np.int64) // 4


class TextSpool(_Spool[str | None]):
    """Text of each prompt; None where there is none."""

    def _encode(self, value: str | None) -> bytes | None:
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def _decode(self, data: bytes | None) -> str | None:
        return None if data is None else data.decode("utf-8", "surrogatepass")

    @property
    def texts(self) -> int:
        """How many are there."""
        return sum(size >= 0 for size in self._sizes)
