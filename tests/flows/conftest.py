"""One Prefect server for all tests of flows in a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def prefect() -> Iterator[None]:
    from flows.local_server import prefect_server

    with prefect_server():
        yield
