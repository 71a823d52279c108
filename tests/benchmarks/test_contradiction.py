"""README's section on servers: its figures are those of the command, and predicted is measured."""

from __future__ import annotations

from pathlib import Path

from benchmarks.contradiction import figures

ROOT = Path(__file__).parents[2]


def test_predicted_is_measured_and_stands_in_the_readme(tmp_path: Path) -> None:
    found = figures(tmp_path)
    assert (found["stated_block_size"], found["hit_unit"]) == (16, 32)
    assert found["predicted"] == found["measured"] != found["designed"]
    designed, predicted = (f"{found[name] * 100:.2f} %" for name in ("designed", "predicted"))
    for name in ("README.md", "README.zh-CN.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert designed in text
        assert text.count(predicted) >= 2, "as predicted and as measured"
