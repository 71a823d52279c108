"""Loading text as a user's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.config import LoadedConfig, load_config


@pytest.fixture
def load(tmp_path: Path) -> Any:
    """Writes text to a file and loads it."""

    def write_and_load(text: str | bytes, name: str = "my-set.yaml", **flags: Any) -> LoadedConfig:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_config(path, **flags)

    return write_and_load
