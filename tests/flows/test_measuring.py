"""`search`, `compare` and `--slo` as a user meets them, with Prefect and without."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from flows.cli import app
from prefixcache.files import read_json
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.support.datasets import made

pytestmark = pytest.mark.engine


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def json_of(result: Result) -> dict[str, Any]:
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


@pytest.fixture(scope="module")
def engine() -> Any:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measuring") / "set"
    made(folder, request_count=12, execution={"mode": "compare"})
    return folder


@pytest.fixture(scope="module")
def run(engine: Any, dataset: Path) -> Path:
    folder = dataset.parent / "run"
    result = call("run", "-d", dataset, "-u", engine.url, "-r", folder, "--no-prefect", "--slo", "e2e=50", "--json")
    assert result.exit_code == 0, result.stderr
    report = json_of(result)
    assert report["slo"] == {"e2e_s": 50.0}
    assert [p["goodput"]["attainment"] for p in report["passes"]] == [1.0, 1.0]
    return folder


def test_the_report_is_made_again_with_other_thresholds(run: Path) -> None:
    result = call("report", "-r", run, "--slo", "ttft=0.001ms")
    assert result.exit_code == 0, result.stderr
    assert "SLO ttft=0.000001: 0 of 12 requests good (0.00 %)" in result.stdout
    assert "SLO e2e=50: 12 of 12" in call("report", "-r", run).stdout
    wrong = call("report", "-r", run, "--slo", "ttft", "--json")
    assert wrong.exit_code == 2
    assert json_of(wrong)["error"]["field"] == "--slo"


def test_passes_of_one_run_are_compared(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = call("compare", "--run", run, "--html", page, "--resamples", "50", "--lang", "zh")
    assert result.exit_code == 0, result.stderr
    assert "12 对请求" in result.stdout
    assert "加速比" in page.read_text()
    copy = tmp_path / "copy"
    shutil.copytree(run, copy, symlinks=True)
    report = json_of(call("compare", "--run", run, "--run", copy, "--label", "a", "--label", "b", "--json"))
    assert [(c["baseline"]["pass"], c["candidate"]["pass"]) for c in report["comparisons"]] == [
        ("cold", "cold"),
        ("hot", "hot"),
    ]
    assert report["comparisons"][0]["speedups"]["e2e_s"]["mean"]["ratio"] == 1.0
    assert report["comparisons"][0]["differences"] == []
    alone = call("compare", "--run", run, "--label", "a", "--label", "b", "--json")
    assert alone.exit_code == 2
    assert json_of(alone)["error"]["field"] == "--label"


def search(engine: Any, dataset: Path, folder: Path, *more: str) -> Result:
    asked = ("--slo", "e2e=50", "--high", "2", "--pass", "hot", "--json")
    return call("search", "-d", dataset, "-u", engine.url, "-r", folder, *asked, *more)


def test_a_search_without_prefect(engine: Any, dataset: Path, tmp_path: Path) -> None:
    result = search(engine, dataset, tmp_path, "--no-prefect")
    assert result.exit_code == 0, result.stderr
    report = json_of(result)
    assert (report["best"], report["limit"], report["pass"]) == (2, "above_high", "hot")
    assert read_json(tmp_path / "search.json") == report
    assert "plotly" in (tmp_path / "search.html").read_text().lower()
    missed = call("search", "-d", dataset, "-u", engine.url, "-r", tmp_path, "--slo", "e2e=0.001ms", "--no-prefect",
                  "--lang", "zh", "--high", "2", "--pass", "hot")  # fmt: skip
    assert missed.exit_code == 1
    assert "极限低于 --low" in missed.stdout
    assert "1 个负载点中有 1 个沿用已有结果" in missed.stderr


@pytest.mark.prefect
@pytest.mark.xdist_group("prefect")
def test_a_search_as_a_flow_keeps_its_curve(prefect: None, engine: Any, dataset: Path, tmp_path: Path) -> None:
    address = engine.url.replace("http://", "http://user:hunter2hunter2@")
    result = call("search", "-d", dataset, "-u", address, "-r", tmp_path, "--slo", "e2e=50", "--high", "2", "--json")
    assert result.exit_code == 0, result.stderr
    assert json_of(result)["best"] == 2
    again = json_of(search(engine, dataset, tmp_path, "--no-prefect"))
    assert [p["reused"] for p in again["points"]] == [True, True], "what a flow finished is finished"

    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

    with get_client(sync_client=True) as client:
        wanted = ArtifactFilter(key=ArtifactFilterKey(any_=["prefixcache-slo-curve"]))
        # Other tests of the same Prefect server have searched too, over other loads.
        tables = [json.loads(str(table.data)) for table in client.read_artifacts(artifact_filter=wanted)]
        assert [1, 2] in [[row.get("concurrency") for row in rows] for rows in tables]
        names = {run.name for run in client.read_task_runs()}
        assert {"concurrency-1", "concurrency-2"} <= names
        flows = client.read_flow_runs()
        assert not any("hunter2" in json.dumps(run.parameters, default=str) for run in flows)


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        (("--slo", "nonsense"), "--slo"),
        (("--low", "9"), "--low, --high"),
        (("--over", "speed"), "--over"),
        (("--max-in-flight", "3"), "--max-in-flight"),
        (("--resolution", "0.5", "--low", "0.5", "--high", "0.5"), "--resolution"),
    ],
)
def test_wrong_searches_are_one_clear_error(
    flags: tuple[str, ...], field: str, engine: Any, dataset: Path, tmp_path: Path
) -> None:
    result = search(engine, dataset, tmp_path, "--no-prefect", *flags)
    assert result.exit_code == 2
    assert json_of(result)["error"]["field"] == field
    assert not list(tmp_path.iterdir())
