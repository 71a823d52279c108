"""SIGTERM ends a command as Ctrl-C does: what was begun is closed, and the end is told."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM: whatever handles Ctrl-C (asyncio, thread pools, Prefect) handles it the same way."""


def end_on_sigterm() -> None:
    """SIGTERM raises :class:`Terminated` in the main thread; a second one ends the process at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def signal_of(error: BaseException) -> int | None:
    """The signal that an exception stands for; Prefect has one of its own for SIGTERM."""
    if isinstance(error, Terminated) or type(error).__name__ == "TerminationSignal":
        return signal.SIGTERM
    return signal.SIGINT if isinstance(error, KeyboardInterrupt) else None
