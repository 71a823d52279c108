"""Server-sent events, read incrementally by the standard (WHATWG HTML 9.2.6) from chunks split at any byte."""

from __future__ import annotations

DONE = b"[DONE]"
MOST_EVENT_BYTES = 1 << 26
"""No answer has an event that long; a stream without line ends would fill the memory."""


class SSEParser:
    """Feed it bytes as they arrive; it hands out the data of the events that are complete.

    Lines end in LF, CRLF or CR; comments and fields other than ``data`` and ``event`` are skipped; several data lines
    of one event are joined by LF. ``error`` is the data of the first event that calls itself ``error``. Data stays
    bytes, so a character split between chunks is whole again before anyone decodes it.
    """

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # of the line that has not ended; joined once, however many reads bring it
        self._held = 0
        self.error: bytes | None = None
        self._data: list[bytes] = []
        self._name = b""
        self._skip_lf = False
        self._at_start = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """Data of the events completed by this chunk, in order.

        Raises:
            ValueError: an event is longer than ``MOST_EVENT_BYTES``.
        """
        if not chunk:
            return []
        if self._skip_lf and chunk[:1] == b"\n":  # a CRLF split between two chunks
            chunk = chunk[1:]
        self._skip_lf = False
        text = chunk
        if self._at_start:
            text = b"".join((*self._tail, chunk))
            self._tail = []
            if b"\xef\xbb\xbf".startswith(text[:3]) and len(text) < 3:
                self._tail = [text]
                return []
            text = text.removeprefix(b"\xef\xbb\xbf")
            self._at_start = False
        if text[-1:] == b"\r":
            self._skip_lf = True
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        first, *lines = text.split(b"\n")
        self._tail.append(first)
        self._held += len(text)
        if lines:
            lines.insert(0, b"".join(self._tail))
            self._tail = [lines.pop()]
        events = [event for line in lines if (event := self._line(line)) is not None]
        if self._held > MOST_EVENT_BYTES:
            raise ValueError(f"an event of the stream is longer than {MOST_EVENT_BYTES >> 20} MiB")
        return events

    def close(self) -> list[bytes]:
        """Data of a last event that the server did not end with an empty line.

        The standard drops it; servers that forget the line are common, and its data is complete JSON or it is not.
        """
        tail, self._tail, self._skip_lf = b"".join(self._tail), [], False
        if tail:
            self._line(tail)
        event = self._line(b"")
        return [] if event is None else [event]

    def _line(self, line: bytes) -> bytes | None:
        if not line:
            self._held = 0
            called, self._name = self._name, b""
            if not self._data:
                return None
            event = b"\n".join(self._data)
            self._data = []
            if called == b"error" and self.error is None:
                self.error = event
            return event
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value
        return None
