"""The report as a browser shows it: drawn without network, in both languages, without script errors."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from prefixcache.report.build import build_prefix_cache_report
from tests.report.handmade import FOUR, make_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=8000",
    "--dump-dom",
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Debian's package chromium is not installed")


def dom_of(page: Path, profile: Path) -> tuple[str, str]:
    """The document after its scripts have run, and the browser's log."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize(("language", "words"), [("en", "Designed hit ratio"), ("zh", "数据集理论命中率")])
def test_the_page_draws_its_figures(language: str, words: str, tmp_path: Path) -> None:
    run_dir = make_run(tmp_path / "run", FOUR, mode="compare")
    build_prefix_cache_report(run_dir, language)
    dom, log = dom_of(run_dir / "report" / "prefix_cache_report.html", tmp_path / "profile")
    assert words in dom
    assert dom.count("main-svg") >= 5, "plotly drew fewer figures than the page has"
    assert "Uncaught" not in log
    assert "Refused to" not in log


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    hostile = "<script>document.title='owned'</script>"
    run_dir = make_run(tmp_path / "run", [ask.__class__(group=hostile, hit=ask.hit) for ask in FOUR])
    build_prefix_cache_report(run_dir, "en")
    dom, _ = dom_of(run_dir / "report" / "prefix_cache_report.html", tmp_path / "profile")
    assert "<title>owned" not in dom
