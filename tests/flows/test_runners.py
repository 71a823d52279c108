"""The same flow on every task runner: the same bytes, and nothing is sent to workers that is known already."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.stages import build_shards
from prefixcache.stages.pool import end_with_parent
from tasks import engines
from tasks.engines import Engine
from tests.support.datasets import config_of, digest_of, made
from tests.support.s3_server import BUCKET, free_port, s3_server, wait_for_port

pytestmark = [pytest.mark.prefect, pytest.mark.xdist_group("prefect")]
SHARD_TOKENS = 2_000
SMALL_SHARDS = f"from prefixcache.stages import build_shards\nbuild_shards.SHARD_TOKENS = {SHARD_TOKENS}\n"


@dataclass(frozen=True)
class Cluster:
    """A scheduler and two workers, each in a working directory and with a scratch folder of its own."""

    address: str
    workers: list[Path]
    bucket: Path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Real processes on loopback, with an S3 server beside them; the test's own Prefect server is not told to them."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "small_shards.py").write_text(SMALL_SHARDS)
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    processes: list[subprocess.Popen[bytes]] = []

    def start(where: Path, *arguments: str) -> None:
        where.mkdir()
        environment = {**os.environ, "PREFIXCACHE_SCRATCH": str(where / "scratch")}
        environment.pop("PREFECT_API_URL", None)
        with open(where / "log", "wb") as log:
            command = [sys.executable, "-m", "dask", *arguments]
            processes.append(subprocess.Popen(command, cwd=where, env=environment, stdout=log, stderr=log))

    with pytest.MonkeyPatch.context() as patch, s3_server(folder / "objects", patch) as bucket:
        workers = [folder / "one", folder / "two"]
        try:
            start(folder / "scheduler", "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
            wait_for_port(port, processes[0])
            alone = ("--no-nanny", "--nthreads", "1", "--memory-limit", "0", "--no-dashboard")
            for where in workers:
                start(where, "worker", address, *alone, "--preload", str(folder / "small_shards.py"))
            yield Cluster(address, workers, bucket)
        finally:
            for process in processes:
                process.kill()  # a worker that is asked to end first waits to send Prefect its last events
                process.wait()


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", SHARD_TOKENS)


def run_flow(output: str, **parameters: Any) -> Any:
    from flows.generate import generate

    state: Any = generate(output=output, config=config_of(dataset_id="away"), return_state=True, **parameters)
    return state.result(raise_on_failure=False)


def plain(folder: Path) -> dict[str, str]:
    made(folder, dataset_id="away")
    return digest_of(folder)


def test_a_dask_cluster_of_two_workers(
    prefect: None, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    report = run_flow(str(shared), runner="dask", runner_address=cluster.address, workers=2)
    assert report["validation_status"] == "PASS"
    assert len(list((shared / "shards").iterdir())) > 3
    assert digest_of(shared) == plain(tmp_path / "plain")
    # Again: a cluster is not even asked for. A damaged shard: one alone is built, by whichever runner there is.
    monkeypatch.setattr(Engine, "started", lambda *_: pytest.fail("everything is known"))
    assert run_flow(str(shared), runner="dask", workers=2)["validation_status"] == "PASS"
    monkeypatch.undo()
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", SHARD_TOKENS)
    (shared / "shards" / "requests-00001.parquet").write_bytes(b"damaged")
    assert run_flow(str(shared), runner="dask", runner_address=cluster.address)["validation_status"] == "PASS"
    assert digest_of(shared) == digest_of(tmp_path / "plain")


def test_a_dask_cluster_that_shares_no_folder(
    prefect: None, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files travel through S3: every worker has a scratch folder of its own, and none sees the flow's."""
    monkeypatch.setenv("PREFIXCACHE_SCRATCH", str(tmp_path / "scratch"))
    report = run_flow(f"s3://{BUCKET}/away", runner="dask", runner_address=cluster.address)
    assert report["validation_status"] == "PASS"
    assert digest_of(cluster.bucket / "away") == plain(tmp_path / "plain")
    built = [list((worker / "scratch").rglob("requests-*.parquet")) for worker in cluster.workers]
    assert all(built), "both workers built shards"


def small_shards_there(parent: int) -> None:
    build_shards.SHARD_TOKENS = SHARD_TOKENS
    end_with_parent(parent)


def test_processes(prefect: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "end_with_parent", small_shards_there)
    report = run_flow(str(tmp_path / "out"), runner="processes", workers=2)
    assert report["validation_status"] == "PASS"
    assert digest_of(tmp_path / "out") == plain(tmp_path / "plain")


@pytest.mark.skipif(importlib.util.find_spec("prefect_ray") is None, reason="the extra `ray` is not installed")
def test_ray(prefect: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 2_000_000)  # Ray's workers are not told otherwise
    report = run_flow(str(tmp_path / "out"), runner="ray", workers=2)
    assert report["validation_status"] == "PASS"
    assert digest_of(tmp_path / "out") == plain(tmp_path / "plain")


def test_a_stage_that_fails_on_a_worker_is_its_own_error(
    prefect: None, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.away.GENERATOR_VERSION", "another")
    error = run_flow(str(tmp_path / "out"), runner="dask", runner_address=cluster.address)
    assert isinstance(error, EnvironmentFailure)
    assert "another version of prefixcache" in error.message
    assert error.stage == "build_shards"


def test_a_cluster_that_is_not_there(prefect: None, tmp_path: Path) -> None:
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        error = run_flow(str(tmp_path / "out"), runner="dask", runner_address=f"tcp://127.0.0.1:{free_port()}")
    assert isinstance(error, EnvironmentFailure)
    assert "cannot be reached" in error.message


def test_without_a_prefect_server_workers_would_start_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with (
        temporary_settings(restore_defaults={PREFECT_API_URL}),
        pytest.raises(EnvironmentFailure, match="PREFECT_API_URL"),
    ):
        Engine("processes").started(2)


@pytest.mark.parametrize(
    ("name", "address", "message"),
    [
        ("spark", None, "is unknown"),
        ("threads", "tcp://127.0.0.1:8786", "take no address"),
        ("dask", "tcp://user:hunter2@127.0.0.1:8786", "is no address of dask"),
        ("dask", "http://127.0.0.1:8786/hunter2", "is no address of dask"),
        ("dask", "", "is no address of dask"),
    ],
)
def test_wrong_choices(name: str, address: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Engine(name, address)
    assert "hunter2" not in str(caught.value)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for name in ("dask", "ray"):
        with pytest.raises(InputError, match=rf"prefixcache\[{name}\]"):
            Engine(name)


def test_the_command_line_tells_before_prefect_starts(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("request_count: 4\ninput_length: 64\ntarget: {hit_ratio: 0}\n")
    for wrong in (["--runner", "dask", "--no-prefect"], ["--runner", "spark"], ["--runner-address", "tcp://a:1"]):
        result = CliRunner().invoke(app, ["generate", "-c", str(config), "-o", str(tmp_path / "out"), *wrong])
        assert result.exit_code == 2, result.output
        assert "Remedy" in result.output
    secret = CliRunner().invoke(app, ["generate", "-c", str(config), "-o", "s3://key:hunter2@bucket/x", "--no-prefect"])
    assert secret.exit_code == 2
    assert "hunter2" not in secret.output
    other = CliRunner().invoke(app, ["reorder", "-d", "s3://bucket/x", "-o", str(tmp_path / "y")])
    assert other.exit_code == 2


def test_a_call_whose_worker_is_gone_is_told_as_such() -> None:
    """A pool says so at once, Dask and Ray after trying it elsewhere; names, so that neither need be installed."""
    from concurrent.futures.process import BrokenProcessPool

    from distributed.scheduler import KilledWorker

    from tasks.away import _is_killed

    gone: list[BaseException] = [BrokenProcessPool("no"), KilledWorker("build", None, 3)]
    if importlib.util.find_spec("ray") is not None:
        from ray import exceptions

        gone += [exceptions.WorkerCrashedError(), exceptions.OutOfMemoryError("no")]
    assert all(_is_killed(error) for error in gone)
    assert not _is_killed(ValueError("no"))
