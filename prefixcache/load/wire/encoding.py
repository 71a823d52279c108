"""Answers that come compressed although nobody asked for it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

# A proxy's or a server's way of saying "deflate" differs; 32 lets zlib find gzip and zlib headers by themselves.
ANY_ZLIB = 32 + zlib.MAX_WBITS
RAW = -zlib.MAX_WBITS
PIECE_BYTES = 1 << 20
"""Handed on at once: a few bytes of an answer may stand for gigabytes."""
KNOWN = ("gzip", "x-gzip", "deflate")


class Inflater:
    """Decompresses gzip, also of several members (RFC 1952 2.2), and deflate.

    Args:
        headless: the data may come without any header, as some servers take "deflate" to mean.
    """

    def __init__(self, *, headless: bool) -> None:
        self._headless = headless
        self._stream = zlib.decompressobj(ANY_ZLIB)
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces that the data stands for.

        Raises:
            ValueError: it is not compressed, or damaged.
        """
        while data:
            if self._stream.eof:
                self._stream, self._begun = zlib.decompressobj(ANY_ZLIB), False
            try:
                piece = self._stream.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                if self._begun or not self._headless:
                    raise ValueError(f"the compressed answer cannot be read: {error}") from None
                piece = self._raw(data)
            self._begun = True
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            if piece:
                yield piece

    def _raw(self, data: bytes) -> bytes:
        self._stream = zlib.decompressobj(RAW)
        try:
            return self._stream.decompress(data, PIECE_BYTES)
        except zlib.error as error:
            raise ValueError(f"the compressed answer cannot be read: {error}") from None


def inflater(encoding: str) -> Inflater | None:
    """Who decompresses an answer of such a Content-Encoding; None where it is not compressed.

    Raises:
        ValueError: an encoding that cannot be read.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding in KNOWN:
        return Inflater(headless=encoding == "deflate")
    raise ValueError(f"the answer is encoded as {encoding[:20]!r}, although it was asked for as it is")
