"""What all tests share: where the shared data lies, and a home of their own for Prefect."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.prefect_home import throw_away_home

# Before anything imports Prefect: its records go to a folder of this test run, whatever the environment names. Nothing
# is reported anywhere. Each worker of pytest-xdist has one of its own: two servers that start on one database lock it.
worker = os.environ.get("PYTEST_XDIST_WORKER")
if worker is None or "PREFECT_HOME" not in os.environ:
    os.environ["PREFECT_HOME"] = str(throw_away_home())
else:
    os.environ["PREFECT_HOME"] = str(Path(os.environ["PREFECT_HOME"]) / worker)
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")

SHARED = Path(__file__).parents[2] / "shared"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist loadgroup``: see tests/support/groups.py."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.support.groups import ModuleGroups

    return ModuleGroups(config, log)


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
