"""Progress of a generation in the Prefect UI: the numbers that the terminal shows, as progress artifacts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact

from prefixcache.stages.progress import Progress, observing

SECONDS = 2.0
"""At most one report in so many seconds: each is a request to the server."""


class _Reporter:
    """One artifact per mapped stage, brought up to date now and then and at its end."""

    def __init__(self, dataset_id: str) -> None:
        self.dataset_id = dataset_id
        self._artifacts: dict[str, UUID] = {}
        self._last = 0.0

    def __call__(self, state: Progress) -> None:
        if state.total == 1:
            return
        now = time.monotonic()
        ended = state.done == state.total
        if not ended and now - self._last < SECONDS:
            return
        self._last = now
        share = 100.0 * state.done / state.total
        text = f"{self.dataset_id}: {state.text}"
        known = self._artifacts.get(state.stage)
        if known is not None:
            update_progress_artifact(known, share, description=text)
            return
        key = f"prefixcache-{state.stage.replace('_', '-')}"
        found = create_progress_artifact(share, key=key, description=text)
        assert isinstance(found, UUID)  # outside of an event loop it is no coroutine
        self._artifacts[state.stage] = found


@contextmanager
def progress_artifacts(dataset_id: str) -> Iterator[None]:
    """Report the stages that run inside this block."""
    with observing(_Reporter(dataset_id)):
        yield
