"""generate as a flow: the same bytes as in process, cached by content, mended where files are damaged."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from prefixcache.config.sizes import FoundSizes
from prefixcache.errors import InputError, PrefixCacheError, VerdictError
from prefixcache.files import read_json
from prefixcache.stages import build_shards
from tests.probe.serving import engine
from tests.support.datasets import config_of, digest_of, made

pytestmark = [pytest.mark.prefect, pytest.mark.xdist_group("prefect")]
STAGES = 11


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 4_000)


def run_flow(output: Path, **changes: Any) -> tuple[Any, dict[str, list[str]]]:
    """The flow's value, and per stage the names of its tasks' final states."""
    from prefect import State
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    from flows.generate import generate

    settings = changes.pop("workers", 1)
    state = generate(output=str(output), config=config_of(**changes), workers=settings, return_state=True)
    assert isinstance(state, State)
    with get_client(sync_client=True) as client:
        identity = FlowRunFilter(id=FlowRunFilterId(any_=[state.state_details.flow_run_id]))
        deadline = time.monotonic() + 60
        while True:  # states reach the server by way of its event queue
            runs = client.read_task_runs(flow_run_filter=identity)
            if all(run.state is not None and run.state.is_final() for run in runs) or time.monotonic() > deadline:
                break
            time.sleep(0.1)
    names: dict[str, list[str]] = {}
    for run in runs:
        names.setdefault(run.name.split(" ")[0], []).append(run.state_name or "")
    return state.result(raise_on_failure=False), names


def test_flow_and_library_give_the_same_bytes(prefect: None, small_shards: None, tmp_path: Path) -> None:
    report, states = run_flow(tmp_path / "flow")
    assert report["validation_status"] == "PASS"
    assert len(states) == STAGES
    assert len(states["build_shards"]) > 2
    made(tmp_path / "library")
    assert digest_of(tmp_path / "flow") == digest_of(tmp_path / "library")


def test_nothing_is_done_twice(prefect: None, small_shards: None, tmp_path: Path) -> None:
    _, first = run_flow(tmp_path, dataset_id="twice")
    assert {name for names in first.values() for name in names} == {"Completed"}
    before = digest_of(tmp_path)
    report, second = run_flow(tmp_path, dataset_id="twice")
    assert report["validation_status"] == "PASS"
    assert {name for names in second.values() for name in names} == {"Cached"}
    assert digest_of(tmp_path) == before


def test_how_it_is_run_does_not_rebuild_content(prefect: None, small_shards: None, tmp_path: Path) -> None:
    run_flow(tmp_path, dataset_id="rerun")
    _, states = run_flow(tmp_path, dataset_id="rerun", execution={"concurrency": 8, "gating": "none"})
    assert set(states["build_shards"]) == set(states["simulate"]) == {"Cached"}
    assert set(states["publish"]) == {"Completed"}, "the manifest says how it is run"


@pytest.mark.parametrize("change", [{"seed": 9}, {"target": {"hit_ratio": 0.4}}, {"block_size": 8}])
def test_changed_content_is_never_reused(
    prefect: None, small_shards: None, tmp_path: Path, change: dict[str, Any]
) -> None:
    name = f"changed-{next(iter(change))}"
    run_flow(tmp_path / "a", dataset_id=name)
    _, states = run_flow(tmp_path / "a", dataset_id=name, **change)
    assert set(states["build_shards"]) == {"Completed"}
    made(tmp_path / "fresh", dataset_id=name, **change)
    assert digest_of(tmp_path / "a") == digest_of(tmp_path / "fresh")


def test_a_changed_stage_version_is_never_reused(
    prefect: None, small_shards: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_flow(tmp_path, dataset_id="version")
    monkeypatch.setattr("prefixcache.stages.job.GENERATOR_VERSION", "another")
    _, states = run_flow(tmp_path, dataset_id="version")
    assert set(states["build_shards"]) == {"Completed"}


def test_damaged_and_missing_files_are_made_again(prefect: None, small_shards: None, tmp_path: Path) -> None:
    run_flow(tmp_path, dataset_id="damage")
    whole = digest_of(tmp_path)
    shards = sorted((tmp_path / "shards").glob("requests-*.parquet"))
    shards[0].unlink()
    data = bytearray(shards[1].read_bytes())
    data[len(data) // 2] ^= 255
    shards[1].write_bytes(data)
    (tmp_path / "data.jsonl").write_text("half a li")
    _, states = run_flow(tmp_path, dataset_id="damage")
    assert digest_of(tmp_path) == whole
    # Two shards and the publication were asked for again; everything else came from the cache.
    assert sorted(states["build_shards"]).count("Completed") == 2
    assert "Completed" in states["publish"]
    assert set(states["tokenize_sources"]) == {"Cached"}


def test_another_folder_gets_its_own_files(prefect: None, small_shards: None, tmp_path: Path) -> None:
    run_flow(tmp_path / "one", dataset_id="folders")
    run_flow(tmp_path / "two", dataset_id="folders")
    assert digest_of(tmp_path / "one") == digest_of(tmp_path / "two")


def test_a_refused_target_is_a_failed_flow_with_one_message(prefect: None, tmp_path: Path) -> None:
    error, _ = run_flow(tmp_path, target={"hit_ratio": 0.99})
    assert isinstance(error, VerdictError)
    assert "at most" in str(error)


def test_neither_form_nor_file(prefect: None, tmp_path: Path) -> None:
    from flows.generate import generate

    state: Any = generate(output=str(tmp_path), return_state=True)
    error = state.result(raise_on_failure=False)
    assert isinstance(error, InputError)
    assert state.is_failed()


def test_a_file_that_is_not_there(prefect: None, tmp_path: Path) -> None:
    from flows.generate import generate

    state: Any = generate(output=str(tmp_path), config_file=str(tmp_path / "no.yaml"), return_state=True)
    assert isinstance(state.result(raise_on_failure=False), PrefixCacheError)


def test_a_form_takes_the_sizes_of_a_server(prefect: None, tmp_path: Path) -> None:
    """The form's own field takes numbers alone; without somebody to ask the flow says so."""
    from flows.generate import generate

    with engine(block_size=16, hit_unit=48) as url:
        report: Any = generate(
            output=str(tmp_path / "asked"), config=config_of(block_size=8), auto_sizes=True, url=[url]
        )
        assert report["validation_status"] == "PASS"
        manifest = read_json(tmp_path / "asked" / "manifest.json")
        assert (manifest["block_size"], manifest["block_size_source"]) == (16, "server_config")
        (tmp_path / "own.yaml").write_text(
            "request_count: 20\nblock_size: 8\ninput_length: 200\ntarget: {hit_ratio: 0.3}"
        )
        generate(output=str(tmp_path / "file"), config_file=str(tmp_path / "own.yaml"), auto_sizes=True, url=[url])
        assert read_json(tmp_path / "file" / "manifest.json")["block_size"] == 16
    with pytest.raises(InputError, match="nobody was asked"):
        generate(output=str(tmp_path / "alone"), config=config_of(block_size=8), auto_sizes=True)


def test_a_measured_drop_comes_with_the_sizes() -> None:
    from flows.generate import _sized

    found = FoundSizes(16, "server_config", 48, "measured", 1)
    config, warnings = _sized(config_of(block_size=8), lambda: found)
    assert (config.block_size, config.hit_unit, config.hit_drop) == (16, 48, 1)
    assert warnings == ["hit_drop 1 is taken from the probe's report"]
    assert _sized(config_of(hit_drop=2), lambda: found)[0].hit_drop == 2  # somebody has thought of it
    assert _sized(config_of(), lambda: FoundSizes(16, "server_config"))[0].hit_drop == 0
