"""The benchmarks' commands run at tiny size and print what they promise. No second is asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import generation, peers, readme
from benchmarks.environments import Environment, NotInstalled, python_of
from benchmarks.figures import FIGURES, chosen
from benchmarks.measure import ROOT, spread

MIB = 200
EMBEDDED = ROOT / "prefixcache" / "content" / "embedded_tokenizer"  # as a folder, to be small


def lines_of(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_figures_are_measured_and_printed(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["--case", "simulator", "--case", "validate-10k", "--tokenizer", "embedded", "--workers", "1"]
    generation.main([*words, "--runs", "2", "--shrink", "1000", "--folder", str(tmp_path), "--json"])
    printed = capfd.readouterr()
    simulator, validated = lines_of(printed.out)
    [row] = simulator["cases"]  # type: ignore[misc]
    assert (row["requests"], row["count"], row["unit"]) == (100, 100 * 256, "block keys")
    assert len(row["seconds"]["all"]) == len(row["peaks_mib"]) == simulator["runs"] == 2
    assert row["peak_mib"] == max(row["peaks_mib"]) > 20
    assert row["per_second"] == pytest.approx(row["count"] / row["seconds"]["median"], rel=0.05)
    [row] = validated["cases"]  # type: ignore[misc]
    assert row["requests"] == 50
    assert 3000 < row["count"] / 50 < 5000
    assert "load" in validated["machine"]  # type: ignore[operator]
    assert "| validate 10,000 × 4,096 |" in printed.err
    assert not list(tmp_path.iterdir())


def test_comparisons_pair_the_runs_that_stood_side_by_side() -> None:
    [figure] = chosen(["scale"], full=False)
    first = [generation.Run(30.0, 1, 200.0), generation.Run(80.0, 1, 300.0), generation.Run(20.0, 1, 220.0)]
    second = [generation.Run(3.0, 1, 200.0), generation.Run(4.0, 1, 200.0), generation.Run(2.0, 1, 200.0)]
    seconds, peak = (generation.compared(each, first, second) for each in figure.comparisons)
    assert seconds["all"] == [10.0, 20.0, 10.0]
    assert (seconds["median"], seconds["least"], seconds["most"]) == (10.0, 10.0, 20.0)
    assert peak["all"] == [1.0, 1.5, 1.1]
    [rerun] = chosen(["rerun"], full=False)
    assert generation.compared(rerun.comparisons[0], first, second)["all"] == [27.0, 76.0, 18.0]


def test_the_peak_is_that_of_the_largest_process_below() -> None:
    # A new process is counted with the pages of the one it was made by until it runs its own program: ours is small.
    measured = "import sys; from benchmarks.measure import run_process; print(run_process(sys.argv[1:]).peak_mib)"

    def peak(code: str) -> float:
        command = [sys.executable, "-c", measured, sys.executable, "-c", code]
        return float(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)

    child = f"bytearray({MIB} * 2**20)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    assert peak("print(1)") < MIB < peak(code) < 2 * MIB


def test_an_unknown_figure_is_named() -> None:
    with pytest.raises(SystemExit, match="no figure is called 7k"):
        generation.main(["--case", "7k"])


def test_the_documents_name_every_figure_and_flag(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert [figure.key for figure in FIGURES if f"`{figure.key}`" not in page] == []
    for module in (generation, peers):
        with pytest.raises(SystemExit):
            module.main(["--help"])
        flags = {word.strip(",") for word in capsys.readouterr().out.split() if word.startswith("--")}
        assert {flag for flag in flags - {"--help"} if flag not in page} == set()


PEER = """
import time

from common import timed, wanted

want = wanted()
print("noise before")

def generate():
    print("noise")
    time.sleep(0.05)
    return [*[" the" * (want.shared + want.own)] * (want.prompts - 1), "short"]

timed("pytest", want, generate)
"""


def test_a_peer_is_measured_beside_ours_and_one_that_fails_is_named(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two peers of our own: one gives prompts of which one is too short, the other ends with an error."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "common.py").write_bytes((peers.SCRIPTS / "common.py").read_bytes())
    (scripts / "good.py").write_text(PEER)
    (scripts / "bad.py").write_text("raise RuntimeError('it has no generator')")
    good = peers.Peer("good", "a good one", peers.VLLM, "good.py")
    bad = peers.Peer("bad", "a bad one", peers.VLLM, "bad.py")
    lost = peers.Peer("lost", "a lost one", Environment("lost", ("no-such-thing",)), "lost.py")
    monkeypatch.setattr(peers, "SCRIPTS", scripts)
    monkeypatch.setattr(peers, "PEERS", (good, bad, lost))
    words = ["--prompts", "50", "--ours-prompts", "60", "--runs", "1", "--workers", "1", "--json"]
    words += ["--tokenizer", str(EMBEDDED)]
    gone = ["--base-python", str(tmp_path / "no-python")]
    peers.main([*words, *gone, "--vllm-python", sys.executable, "--folder", str(tmp_path)])
    printed = capfd.readouterr()
    [result] = lines_of(printed.out)
    rows = {row["generator"]: row for row in result["generators"]}  # type: ignore[attr-defined]
    assert (rows["ours"]["prompts"], rows["ours"]["exact_prompts"]) == (50, 50)
    assert (rows["good"]["prompts"], rows["good"]["exact_prompts"]) == (50, 49)
    assert rows["good"]["ours_same"]["median"] > 0 < rows["good"]["ours_large"]["median"]
    assert "it has no generator" in rows["bad"]["reason"]
    assert "cannot be installed" in rows["lost"]["reason"]
    assert "| a bad one | not measured: did not run:" in printed.err

    file = tmp_path / "peers.jsonl"
    file.write_text(printed.out)
    readme.main([str(file)])
    table = capfd.readouterr().out
    assert "| a bad one | 未测：did not run" in table
    assert table.count("| a good one ") == 2


def test_an_installer_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match="no-python"):
        python_of(Environment("any", ("any",)), tmp_path, tmp_path / "no-python")


def test_the_readme_rows_come_in_both_languages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every case and comparison has its Chinese words."""
    setting = generation.Setting(tmp_path, "embedded", 2)
    runs = [generation.Run(2.0, 4_000_000, 300.0, 100.0), generation.Run(4.0, 4_000_000, 310.0, 100.0)]
    text = ""
    for figure in FIGURES:
        cases = [generation.as_row(case, runs, setting) for case in figure.cases]
        compared = [generation.compared(each, runs, runs) for each in figure.comparisons]
        about = {"figure": figure.key, "runs": 2, "cases": cases, "comparisons": compared}
        text += json.dumps({**about, "machine": {**generation.machine(), "load": 0.5}, "shrunk": 1}) + "\n"
    file = tmp_path / "figures.jsonl"
    file.write_text(text)
    readme.main([str(file)])
    table = capsys.readouterr().out
    row = "4.00 M input tokens | 3.00 s | 2.00 – 4.00 s | 1.33 M | 310 MiB |"
    assert f"| generate 100,000 × 4,096 | {row}" in table
    assert "| reports of progress: share of the wall time | | 3.00 % | 2.00 – 4.00 % | | |" in table
    assert f"| 生成 100,000 × 4,096 | {row.replace('input tokens', '输入 Token')}" in table

    file.write_text(text.replace('"shrunk": 1', '"shrunk": 50'))
    with pytest.raises(SystemExit, match="shrunk"):
        readme.main([str(file)])


def test_spread_keeps_every_value() -> None:
    assert spread([3.0, 1.0, 2.0]) == {"median": 2.0, "least": 1.0, "most": 3.0, "all": [3.0, 1.0, 2.0]}
