"""What all tests share: where the shared data lies, and a home of their own for Prefect."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

# Before anything imports Prefect: its records go to a folder of this test run, and nothing is reported anywhere.
os.environ.setdefault("PREFECT_HOME", tempfile.mkdtemp(prefix="prefixcache-prefect-"))
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.fixture(scope="session")
def gsm8k() -> Path:
    """GSM8K's folder; it is never part of the project."""
    folder = SHARED / "data" / "gsm8k"
    if not (folder / "train.jsonl").is_file():
        pytest.skip("GSM8K is not there: it is expected in ../shared/data/gsm8k beside the checkout")
    return folder


@pytest.fixture(scope="session")
def qwen() -> Path:
    from tests.support.tokenizers import qwen_folder

    return qwen_folder()


@pytest.fixture(scope="session")
def deepseek() -> Path:
    from tests.support.tokenizers import deepseek_folder

    return deepseek_folder()
