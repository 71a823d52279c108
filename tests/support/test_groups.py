"""Tests that must not run side by side run in one process."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.groups import ROOT, group_of


def test_groups_are_read_from_modules() -> None:
    assert group_of("tests/real/test_vllm.py") == group_of("tests/real/test_sglang.py") == "real"
    assert group_of("tests/cache/test_trie.py") is None


def test_one_process_takes_all_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real tests, which are skipped at once where engines have no place."""
    monkeypatch.setenv("PREFIXCACHE_REAL_ENGINES", "/dev/null/none")
    words = ["-m", "real", "-n", "2", "--dist", "loadgroup", "-v", "tests/real/test_vllm_tight.py"]
    words.append("tests/real/test_vllm_ranks.py")
    done = subprocess.run([sys.executable, "-m", "pytest", *words], cwd=ROOT, capture_output=True, text=True)
    workers = re.findall(r"\[(gw\d)\] \[ *\d+%\] SKIPPED", done.stdout)
    assert len(workers) >= 10, done.stdout + done.stderr
    assert len(set(workers)) == 1
