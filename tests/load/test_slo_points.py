"""An SLO search on the reference engine: its points are real runs, each once, and the answer is read off them."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from prefixcache.analysis.slo import parse_slo
from prefixcache.analysis.slo_search import Bounds, Loads, bound
from prefixcache.errors import InputError
from prefixcache.files import read_json, write_json
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.options import Progress, RunOptions
from prefixcache.load.slo_points import SEARCH_JSON, SloPoints, search_slo
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.slo_curve import render_slo_curve
from prefixcache.schemas.catalog import schema_of
from prefixcache.schemas.conformance import misfits
from tests.report.test_html import Page
from tests.support.datasets import made
from tests.support.reading import warned_of

pytestmark = pytest.mark.engine
GENEROUS, IMPOSSIBLE = "ttft=100,e2e=100", "ttft=100,e2e=0.000001"


@pytest.fixture(scope="module")
def engine() -> Any:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slo") / "set"
    made(folder, request_count=12)
    return folder


def points(
    engine: Any, dataset: Path, folder: Path, slo: str = GENEROUS, over: str = "concurrency", **more: Any
) -> SloPoints:
    options = RunOptions(urls=(engine.url,), poll_interval=0.05, **more)
    return SloPoints(dataset, folder, options, over, parse_slo(slo))  # type: ignore[arg-type]


def bounds(high: int, low: int = 1) -> Bounds:
    return Bounds(Decimal(low), Decimal(high))


def test_points_are_run_once_and_another_objective_is_read_off_the_same_runs(
    engine: Any, dataset: Path, tmp_path: Path
) -> None:
    heard: list[Progress] = []
    first = points(engine, dataset, tmp_path)
    first.progress = heard.append
    report = search_slo(first, bounds(4))
    assert (report["best"], report["limit"]) == (4, "above_high")
    assert [p["value"] for p in report["points"]] == [1, 2, 4]
    assert not any(p["reused"] for p in report["points"])
    assert read_json(tmp_path / SEARCH_JSON) == report
    assert list(misfits(report, schema_of("slo_search"))) == []
    for point in report["points"]:
        run = read_json(tmp_path / point["folder"] / "runtime" / "run.json")
        assert run["options"]["concurrency"] == point["value"]
        assert point["actual_hit_rate"] == point["designed_hit_ratio"]  # each found an empty cache
        assert (point["requests"], point["failed"], point["attainment"]) == (12, 0, 1.0)
    notes = [event.note for event in heard if event.phase == "point"]
    assert len(notes) == 3
    assert all(chinese_of(note) != note for note in notes)

    began = [read_json(tmp_path / p["folder"] / "runtime" / "run.json")["started_at"] for p in report["points"]]
    again = search_slo(points(engine, dataset, tmp_path, IMPOSSIBLE), bounds(4))
    assert (again["best"], again["limit"]) == (None, "below_low")
    assert list(misfits(again, schema_of("slo_search"))) == []
    assert [(p["value"], p["reused"], p["attainment"]) for p in again["points"]] == [(1, True, 0.0)]
    assert again["points"][0]["thresholds"]["ttft_s"]["attainment"] == 1.0
    third = search_slo(points(engine, dataset, tmp_path), bounds(4))
    assert all(p["reused"] for p in third["points"])
    assert began == [read_json(tmp_path / p["folder"] / "runtime" / "run.json")["started_at"] for p in third["points"]]


def test_given_loads_are_all_measured_once_and_shared_with_a_search(engine: Any, dataset: Path, tmp_path: Path) -> None:
    def loads(*values: int) -> Loads:
        return Loads(tuple(map(Decimal, values)))

    search_slo(points(engine, dataset, tmp_path), bounds(2))
    report = search_slo(points(engine, dataset, tmp_path), loads(2, 3, 7))
    assert [(p["value"], p["reused"], p["meets"]) for p in report["points"]] == [
        (2, True, True), (3, False, True), (7, False, True),
    ]  # fmt: skip
    assert (report["best"], report["limit"], report["loads"]) == (7, "above_high", [2, 3, 7])
    assert (report["low"], report["high"], report["resolution"], report["confirm"]) == (2, 7, None, None)
    assert all(p["actual_hit_rate"] == p["designed_hit_ratio"] for p in report["points"])
    assert list(misfits(report, schema_of("slo_search"))) == []
    # Every load is measured, also above a miss.
    missed = search_slo(points(engine, dataset, tmp_path, IMPOSSIBLE), loads(2, 3, 7))
    assert [(p["value"], p["reused"], p["meets"]) for p in missed["points"]] == [(v, True, False) for v in (2, 3, 7)]
    assert (missed["best"], missed["limit"]) == (None, "below_low")
    for found, english, chinese in (
        (report, "even 7, the highest of these, meets it", "所测最高负载 7"),
        (missed, "even 2, the lowest of these, misses it", "所测最低负载 2"),
    ):
        text = Page(render_slo_curve(found, "en")).text
        assert english in text and "at 2, 3, 7" in text and "--high" not in text
        text = Page(render_slo_curve(found, "zh")).text
        assert chinese in text and "2, 3, 7" in text


def test_other_options_and_broken_points_are_run_again(engine: Any, dataset: Path, tmp_path: Path) -> None:
    def reused(**more: Any) -> bool:
        return bool(points(engine, dataset, tmp_path, **more).measure(Decimal(2))["reused"])

    assert not reused()
    assert reused()
    assert not reused(gating="none")
    assert reused(gating="none")
    mark = tmp_path / "points" / "concurrency-2.json"
    mark.write_text(mark.read_text()[:20])  # cut off
    assert not reused(gating="none")
    run = tmp_path / "points" / "concurrency-2" / "runtime" / "run.json"
    write_json(run, read_json(run) | {"finished_at": None})  # killed before it ended
    assert not reused(gating="none")


def test_no_credential_is_written(engine: Any, dataset: Path, tmp_path: Path) -> None:
    url = engine.url.replace("http://", "http://user:hunter2hunter2@")
    search = SloPoints(
        dataset, tmp_path, RunOptions(urls=(url,), poll_interval=0.05), "concurrency", parse_slo(GENEROUS)
    )
    search_slo(search, bounds(1))
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes(), path


def test_rates_are_poisson_loads(engine: Any, dataset: Path, tmp_path: Path) -> None:
    report = search_slo(
        points(engine, dataset, tmp_path, over="rate"), Bounds(Decimal(60), Decimal(70), Decimal("7.5"))
    )
    assert [p["value"] for p in report["points"]] == [60, 67.5]
    run = read_json(tmp_path / "points" / "rate-67.5" / "runtime" / "run.json")
    assert run["options"]["load"] == "poisson:67.5"
    assert set(warned_of(report["warnings"])) <= {"residue"}


def test_gates_and_few_requests_are_warned_of(engine: Any, dataset: Path, tmp_path: Path) -> None:
    report = search_slo(points(engine, dataset, tmp_path, gating="completion"), bounds(8, 8))
    codes = {warning["code"]: warning["count"] for warning in report["warnings"]}
    assert codes == {"gated": 1, "few_requests": 1}
    page = Page(render_slo_curve(report, "en"))
    assert "the limit lies above --high" in page.text
    assert "fewer than 10 requests per slot" in page.text
    chinese = Page(render_slo_curve(report, "zh")).text
    assert "极限高于" in chinese


def test_a_search_under_way_in_the_same_folder_waits_for_nobody(engine: Any, dataset: Path, tmp_path: Path) -> None:
    """Two threads measure the same point: one is refused, what the other wrote is whole."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            points(engine, dataset, tmp_path).measure(Decimal(1))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) <= 1
    assert points(engine, dataset, tmp_path).measure(Decimal(1))["reused"]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"over": "speed"}, "--over"),
        ({"concurrency": 4}, "--load"),
        ({"load": "poisson:3"}, "--load"),
    ],
)
def test_what_leaves_nothing_to_vary_is_refused(
    more: dict[str, Any], field: str, dataset: Path, tmp_path: Path
) -> None:
    over = more.pop("over", "concurrency")
    with pytest.raises(InputError) as caught:
        SloPoints(dataset, tmp_path, RunOptions(urls=("http://h:1",), **more), over, parse_slo(GENEROUS))
    assert caught.value.field == field


def test_half_a_request_and_an_unknown_pass_are_refused(engine: Any, dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be in flight"):
        points(engine, dataset, tmp_path).measure(Decimal("1.5"))
    search = points(engine, dataset, tmp_path)
    search.pass_name = "hot"
    with pytest.raises(InputError, match="no pass 'hot'"):
        search.measure(Decimal(1))


@pytest.mark.parametrize(("over", "high"), [("rate", 1e300), ("concurrency", 1e6)])
def test_a_load_that_no_run_can_have_is_refused_before_anything_is_run(
    over: Any, high: float, dataset: Path, tmp_path: Path
) -> None:
    search = SloPoints(dataset, tmp_path, RunOptions(urls=("http://h:1",)), over, parse_slo(GENEROUS))
    with pytest.raises(InputError) as caught:
        search_slo(search, Bounds(Decimal(1), bound(high)))
    assert caught.value.field == "--high"
