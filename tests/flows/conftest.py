"""One Prefect server for all tests of flows in a process."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def prefect() -> None:
    from flows.local_server import ready_prefect

    ready_prefect()
