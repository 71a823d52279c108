"""The walker that `make check` uses finds wrong arrows, and there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import imports


def test_no_arrow_points_the_wrong_way() -> None:
    assert imports.wrong_arrows() == []


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("prefixcache/cache/x.py", "from prefect import flow\n"),
        ("prefixcache/reference/x.py", "def f():\n    from prefixcache.workload import plan\n"),
        ("tasks/x.py", "import flows.cli\n"),
        ("prefixcache/content/x.py", "import tasks.runner as r\n"),
        ("prefixcache/report/x.py", "from prefixcache.api.objects import RequestPlan\n"),
        ("prefixcache/pipeline.py", "import prefixcache.api\n"),
        ("prefixcache/schemas/x.py", "from prefixcache.dataset import manifest\n"),
    ],
)
def test_a_wrong_arrow_is_found(place: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(text)
    monkeypatch.setattr(imports, "ROOT", tmp_path)
    assert imports.wrong_arrows()
