"""The dashboard on a terminal, of a run or of a search's runs one after the other: drawn by a thread of its own, so
that no request waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live

from flows.console import note
from prefixcache.help.messages import named, say
from prefixcache.help.words import Language
from prefixcache.load.options import Progress
from prefixcache.load.records.series import Sample
from prefixcache.report.dashboard import frame

LEAST_BETWEEN_S = 0.25
"""Seconds between two drawings at least: a frame takes a few milliseconds of the interpreter that sends requests."""


class LiveView:
    """Takes a run's steps and shows its dashboard.

    Args:
        console: a terminal.
        language: of the words.
    """

    def __init__(self, console: Console, language: Language) -> None:
        self.console = console
        self.language = language
        self._samples: list[Sample] = []
        self._step = ""
        self._point = ""
        self._new = threading.Event()
        self._ended = False
        self._drawn: Sample | None = None
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="crop")

    def __call__(self, event: Progress) -> None:
        """A step of the run; called from the loop that sends, so it only takes note."""
        if event.note:
            note(event.note)
        if event.phase == "point":
            if not event.done:  # the next run of a search begins, and nothing is being sent
                self._draw()  # the last frame of the one before, if the thread did not come to it
                self._samples, self._step, self._point = [], "", event.pass_name
        elif event.sample is not None:
            self._samples.append(event.sample)
            self._new.set()
        elif not self._samples and event.phase != self._step:
            self._step = event.phase
            self._new.set()

    @contextmanager
    def showing(self) -> Iterator[LiveView]:
        """Draw within the block; the last frame stays."""
        with self._live:
            thread = threading.Thread(target=self._draw_on, name="live-view", daemon=True)
            thread.start()
            try:
                yield self
            finally:
                self._ended = True
                self._new.set()
                thread.join()
                self._draw()

    def _draw_on(self) -> None:
        while not self._ended:
            self._new.wait()
            self._new.clear()
            self._draw()
            time.sleep(0 if self._ended else LEAST_BETWEEN_S)

    def _draw(self) -> None:
        shown, point = self._samples[:], self._point
        if not shown:
            step = say("live.step", self.language, step=named("stage", self._step, self.language)) if self._step else ""
            self._live.update(" ".join(text for text in (point, step) if text), refresh=True)
        elif shown[-1] is not self._drawn:
            self._drawn = shown[-1]
            drawn = frame(shown, self.language, self.console.width)
            self._live.update(Group(f"[bold]{point}[/]", drawn) if point else drawn, refresh=True)


def play(samples: Sequence[Sample], console: Console, language: Language, speed: float) -> None:
    """Show a run again, ``speed`` times as fast as it was.

    Args:
        samples: at least one.
        console: a terminal.
    """
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        began, shown_at = time.perf_counter(), float("-inf")
        for number, sample in enumerate(samples, start=1):
            wait = (sample.run_s - samples[0].run_s) / speed - (time.perf_counter() - began)
            if wait > 0:
                time.sleep(wait)
            # What comes quicker than it can be seen is left out, but never the last.
            if time.perf_counter() - shown_at >= LEAST_BETWEEN_S / 5 or number == len(samples):
                shown_at = time.perf_counter()
                live.update(frame(samples[:number], language, console.width), refresh=True)


@contextmanager
def live_progress(console: Console, language: Language) -> Iterator[Any]:
    """A receiver of a run's steps that shows the dashboard within the block."""
    with LiveView(console, language).showing() as view:
        yield view
