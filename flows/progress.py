"""Progress of a generation in the Prefect UI: the numbers that the terminal shows, as progress artifacts.

They are sent by a thread of their own, over one connection: a stage never waits for the server, and a report that the
server does not take costs nothing but itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate
from prefect.context import FlowRunContext

from prefixcache.stages.progress import Progress, observing

SECONDS = 2.0
"""At most one report in so many seconds: each is a request to the server."""
log = logging.getLogger(__name__)


class Reporter:
    """One artifact per mapped stage, brought up to date now and then and at its end."""

    def __init__(self, dataset_id: str, flow_run: UUID | None) -> None:
        self.dataset_id = dataset_id
        self._flow_run = flow_run
        self._artifacts: dict[str, UUID] = {}
        self._last = 0.0
        self._open = ExitStack()
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="progress")

    def __call__(self, state: Progress) -> None:
        if state.total == 1:
            return
        now = time.monotonic()
        ended = state.done == state.total
        if not ended and now - self._last < SECONDS:
            return
        self._last = now
        self._sender.submit(self._send, state)

    def close(self) -> None:
        """Wait for what is under way."""
        self._sender.shutdown(wait=True)
        self._open.close()

    @cached_property
    def _client(self) -> SyncPrefectClient:
        return self._open.enter_context(get_client(sync_client=True))

    def _send(self, state: Progress) -> None:
        told: dict[str, Any] = {
            "description": f"{self.dataset_id}: {state.text}",
            "data": 100.0 * state.done / state.total,
        }
        try:
            known = self._artifacts.get(state.stage)
            if known is not None:
                self._client.update_artifact(known, ArtifactUpdate(**told))
                return
            key = f"prefixcache-{state.stage.replace('_', '-')}"
            new = ArtifactCreate(key=key, type="progress", flow_run_id=self._flow_run, **told)
            self._artifacts[state.stage] = self._client.create_artifact(new).id
        except Exception as error:  # whatever the server or the way to it has: the dataset does not depend on it
            log.debug("progress was not taken: %s", type(error).__name__)


@contextmanager
def progress_artifacts(dataset_id: str) -> Iterator[None]:
    """Report the stages that run inside this block of a flow."""
    context = FlowRunContext.get()
    run = context.flow_run.id if context is not None and context.flow_run is not None else None
    reporter = Reporter(dataset_id, run)
    try:
        with observing(reporter):
            yield
    finally:
        reporter.close()
