"""Writing a body: pieces grouped into chunks and writes, and what happens at given moments in it."""

from __future__ import annotations

from dataclasses import dataclass

from prefixcache.reference.faults.link import Link
from prefixcache.reference.faults.plan import Happening, MalformedChunk, Point, Stall

AFTER_MALFORMED = b"data: {}\n\n\r\n"


@dataclass(frozen=True)
class Piece:
    """Bytes of a body; ``event``: they are an event that counts (comments do not)."""

    data: bytes
    event: bool = False


class BodyWriter:
    """Writes one answer's body after its head.

    Args:
        link: the connection.
        faults: moments (``stall``, ``reset``, ``close``, ``malformed_chunk``) and sizes of writes.
        chunked: whether the body is written in HTTP chunks.
        stream: whether it is a stream of events; only then the sizes of ``stream`` count.
    """

    def __init__(self, link: Link, faults: Happening, chunked: bool, stream: bool) -> None:
        self._link = link
        self._chunked = chunked
        self._pieces, self._pause = faults.write_bytes or 0, faults.pause or 0.0
        self._chunk_bytes = (faults.stream.chunk_bytes or 0) if stream else 0
        self._per_write = faults.stream.events_per_write if stream else None
        self._held: list[bytes] = []
        self._events_held = 0
        self.bytes = 0
        self.events = 0
        moments: list[tuple[str, Point]] = []
        for kind, moment in (
            ("stall", faults.stall),
            ("malformed_chunk", faults.malformed_chunk if chunked else None),
            ("reset", faults.reset),
            ("close", faults.close),
        ):
            if moment is not None:
                moments.append((kind, moment))
        self._moments = moments

    async def begin(self) -> None:
        """What happens right after the head."""
        await self._happen()

    async def write(self, pieces: list[Piece]) -> None:
        """Write pieces that came together; they stay together unless the form or a moment parts them."""
        for piece in pieces:
            data = piece.data
            while data and not self._link.ended:
                room = self._until_next()
                head, data = (data, b"") if room is None else (data[:room], data[room:])
                self._held.append(head)
                self.bytes += len(head)
                await self._happen(bytes_only=True)
            if piece.event:
                self.events += 1
                self._events_held += 1
                await self._happen()
            if self._per_write and self._events_held >= self._per_write:
                await self.flush()
        if self._per_write is None:
            await self.flush()

    async def end(self) -> None:
        """Everything is written: the last chunk, where there are any."""
        await self.flush()
        if self._chunked and not self._link.ended:
            await self._out(b"0\r\n\r\n")

    async def flush(self) -> None:
        data = b"".join(self._held)
        self._held, self._events_held = [], 0
        if not data or self._link.ended:
            return
        if not self._chunked:
            await self._out(data)
        elif not self._chunk_bytes:
            await self._out(b"%x\r\n%b\r\n" % (len(data), data))
        else:
            for start in range(0, len(data), self._chunk_bytes):
                part = data[start : start + self._chunk_bytes]
                await self._out(b"%x\r\n%b\r\n" % (len(part), part))

    async def _out(self, data: bytes) -> None:
        await self._link.write(data, self._pieces, self._pause)

    def _until_next(self) -> int | None:
        """Bytes that may be written before a moment counted in bytes; None: as many as there are."""
        ahead = [m.after_bytes - self.bytes for _, m in self._moments if m.after_bytes is not None]
        return min((room for room in ahead if room > 0), default=None)

    async def _happen(self, bytes_only: bool = False) -> None:
        due = [
            (kind, moment)
            for kind, moment in self._moments
            if (moment.after_bytes is not None and moment.after_bytes <= self.bytes)
            or (not bytes_only and moment.after_events is not None and moment.after_events <= self.events)
        ]
        for kind, moment in due:
            self._moments.remove((kind, moment))
            await self.flush()
            if self._link.ended:
                return
            if isinstance(moment, Stall):
                await self._link.pause(moment.seconds)
            elif isinstance(moment, MalformedChunk):
                await self._link.write(moment.text.encode("latin-1", "replace") + b"\r\n" + AFTER_MALFORMED)
                self._link.close()
            elif kind == "reset":
                self._link.reset()
            else:
                self._link.close()
