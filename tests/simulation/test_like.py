"""Simulations that take their parameters from a recorded run, or are clocked by its KV events."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.schemas.catalog import schema_of
from prefixcache.simulation.clocked import simulate_clocked
from prefixcache.simulation.dataset import simulate_dataset
from prefixcache.simulation.like import simulate_like
from tests.support.datasets import made

BLOCKS = 120
SCHEDULER: dict[str, Any] = {"max_num_batched_tokens": 96, "max_num_seqs": 3, "long_prefill_token_threshold": 32}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`compare` on a pool too small for the set, six requests in flight."""
    root = tmp_path_factory.mktemp("like")
    made(root / "set", execution={"mode": "compare", "concurrency": 6, "gating": "none"}, output_length=3)
    address = f"127.0.0.1:{free_port()}"
    with EngineProcess(
        EngineOptions("embedded", num_blocks=BLOCKS, prefill_tps=50_000, kv_events=f"tcp://{address}")
    ) as engine:
        options = RunOptions(urls=(engine.url,), poll_interval=0.05, kv_events=(f"tcp://{address}",))
        run_benchmark(root / "set", root / "run", options)
    return root / "run"


def changed(run: Path, to: Path, **parts: Any) -> Path:
    """A copy whose run.json says otherwise."""
    shutil.copytree(run, to)
    path = to / "runtime" / "run.json"
    told = orjson.loads(path.read_bytes())
    told["servers"][0] |= parts.pop("server", {})
    told["options"] |= parts.pop("options", {})
    path.write_bytes(orjson.dumps(told | parts))
    return to


def sources(report: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    return {row["name"]: (row["value"], row["source"]) for row in report["like"]["parameters"]}


@pytest.mark.engine
def test_a_run_tells_all_that_a_simulation_needs(run: Path) -> None:
    report = simulate_like(run / "dataset", run, {})
    told = sources(report)
    assert told["num_blocks"] == (BLOCKS, "run")
    assert told["block_size"] == (16, "run")
    assert told["concurrency"] == (6, "run")
    assert told["gating"] == ("none", "run")
    assert told["max_num_seqs"] == (256, "default")
    assert "max_num_batched_tokens 2048" in report["warnings"][0]
    assert chinese_of(report["warnings"][0]).startswith("运行记录中没有服务的")
    by_hand = simulate_dataset(run / "dataset", num_blocks=BLOCKS, block_size=16, concurrency=6, gating="none")
    assert report["passes"] == by_hand["passes"]
    assert report["like"]["same_dataset"]
    for row, figures in zip(report["like"]["measured"], report["passes"], strict=True):
        assert row["deviation_pp"] == 100 * (figures["token_hit_ratio"] - row["hit_ratio"])
        assert 0 < row["hit_tokens"] < row["query_tokens"] == figures["input_tokens"]
    assert [e.message for e in Draft202012Validator(schema_of("dataset_simulation")).iter_errors(report)] == []


@pytest.mark.engine
def test_limits_of_the_scheduler_are_the_servers_where_it_tells_them(run: Path, tmp_path: Path) -> None:
    other = changed(run, tmp_path / "run", server={"scheduler": SCHEDULER | {"async_scheduling": True}})
    report = simulate_like(run / "dataset", other, {"max_num_seqs": 2})
    told = sources(report)
    assert told["max_num_batched_tokens"] == (96, "run")
    assert told["long_prefill_token_threshold"] == (32, "run")
    assert told["max_num_seqs"] == (2, "flag")
    assert "asynchronously" in report["warnings"][0]
    limits = SCHEDULER | {"max_num_seqs": 2}
    by_hand = simulate_dataset(run / "dataset", num_blocks=BLOCKS, concurrency=6, gating="none", **limits)
    assert report["passes"] == by_hand["passes"]


@pytest.mark.engine
def test_flags_win_and_another_dataset_is_not_compared(run: Path, tmp_path: Path) -> None:
    made(tmp_path / "set", request_count=12, seed=8)
    report = simulate_like(tmp_path / "set", run, {"num_blocks": None, "engine": "lru"})
    assert (report["num_blocks"], report["engine"], report["concurrency"]) == ("unbounded", "lru", 1)
    assert not report["like"]["same_dataset"]
    assert report["like"]["measured"] == []
    assert "one at a time" in report["warnings"][0]


@pytest.mark.engine
def test_what_a_run_does_not_tell_is_said(run: Path, tmp_path: Path) -> None:
    nothing = {"num_gpu_blocks": None, "kv_cache_tokens_per_engine": None, "block_size": None}
    silent = changed(run, tmp_path / "silent", server=nothing)
    with pytest.raises(InputError, match="does not tell the blocks") as caught:
        simulate_like(run / "dataset", silent, {})
    assert caught.value.field == "--num-blocks"
    report = simulate_like(run / "dataset", silent, {"num_blocks": 90})
    assert sources(report)["block_size"] == (16, "dataset")
    timed = changed(run, tmp_path / "timed", options={"concurrency": None})
    assert "given times" in simulate_like(run / "dataset", timed, {})["warnings"][0]
    with pytest.raises(InputError, match="open loop") as caught:
        simulate_like(run / "dataset", timed, {}, calibrate=True)
    assert caught.value.field == "--calibrate"


@pytest.mark.engine
def test_a_pace_is_fitted_to_the_run(run: Path) -> None:
    report = simulate_like(run / "dataset", run, {}, calibrate=True, only_pass="cold")
    pace = report["like"]["pace"]
    assert (pace["pass"], pace["requests"]) == ("cold", 40)
    assert pace["time_error"] <= pace["default_time_error"]
    assert pace["step_s"] + pace["token_s"] > 0
    assert Draft202012Validator(schema_of("dataset_simulation")).is_valid(report)


@pytest.mark.engine
def test_a_run_is_clocked_by_its_own_events(run: Path) -> None:
    report = simulate_clocked(run, {})
    assert [e.message for e in Draft202012Validator(schema_of("clocked_simulation")).iter_errors(report)] == []
    assert [figures["name"] for figures in report["passes"]] == ["cold", "hot"]
    for figures in report["passes"]:
        rows = figures["requests"]
        assert figures["told_requests"] == sum(row["told"] for row in rows) > 30
        for way in ("event", "led"):
            assert figures[f"{way}_hit_tokens"] == sum(row[f"{way}_hit_tokens"] for row in rows)
            off = sum(row[f"{way}_hit_tokens"] != row["answered_hit_tokens"] for row in rows)
            assert figures[f"{way}_requests_off"] == off
        assert all(row["event_hit_tokens"] == row["answered_hit_tokens"] for row in rows if row["told"])
        assert abs(figures["event_deviation_pp"]) <= 100 * sum(
            row["input_len"] for row in rows if not row["told"]
        ) / figures["input_tokens"]  # fmt: skip


@pytest.mark.engine
def test_a_run_without_a_record_is_refused(run: Path, tmp_path: Path) -> None:
    without = changed(run, tmp_path / "run")
    (without / "runtime" / "kv_events.jsonl").unlink()
    with pytest.raises(InputError, match="recorded no KV events") as caught:
        simulate_clocked(without, {})
    assert caught.value.field == "--clocked-by"
    with pytest.raises(InputError, match="no pass 'replay'"):
        simulate_clocked(run, {}, only_pass="replay")


@pytest.mark.engine
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_both_as_a_user_calls_them(lang: str, run: Path) -> None:
    """Without a dataset the run's own is taken."""
    like = CliRunner().invoke(app, ["simulate", "--like", str(run), "--calibrate", "--lang", lang])
    assert like.exit_code == 0, like.output
    clocked = CliRunner().invoke(app, ["simulate", "--clocked-by", str(run), "--lang", lang])
    assert clocked.exit_code == 0, clocked.output
    pace, told = {"en": ("pace fitted", "told by the KV events"), "zh": ("标定的节奏", "按 KV 事件直接得出")}[lang]
    assert pace in like.stdout.replace("\n", " ")
    assert told in clocked.stdout
    sound = CliRunner().invoke(app, ["simulate", "--clocked-by", str(run), "--num-blocks", "130", "--json"])
    assert orjson.loads(sound.stdout)["num_blocks"] == 130


@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        (("--clocked-by", "X", "--dataset", "X"), "--clocked-by", "a dataset and a recorded run"),
        (("--clocked-by", "X", "--concurrency", "4"), "--concurrency", "does not go with a recorded run"),
        (("--clocked-by", "X", "--sweep"), "--sweep", "does not go with a recorded run"),
        (("--clocked-by", "X"), "--clocked-by", "not a readable run directory"),
        (("--dataset", "X", "-n", "9", "--calibrate"), "--calibrate", "no run to calibrate from"),
        (("--trace", "X", "-n", "9", "--like", "X"), "--like", "does not go with a trace"),
        (("--trace", "X", "-n", "9", "--host-blocks", "9"), "--host-blocks", "does not go with a trace"),
        (("--dataset", "X", "-n", "9", "--host-blocks", "many"), "--host-blocks", "'many'"),
        (("--dataset", "X", "-n", "9", "--external-blocks", "1,2"), "--external-blocks", "2 sizes"),
    ],
)
def test_mistakes_end_in_one_message(arguments: tuple[str, ...], field: str, said: str, tmp_path: Path) -> None:
    words = [str(tmp_path) if word == "X" else word for word in arguments]
    result = CliRunner().invoke(app, ["simulate", *words, "--json"])
    assert result.exit_code == 2, result.output
    error = orjson.loads(result.stdout)["error"]
    assert (error["type"], error["field"]) == ("InputError", field)
    assert said in error["message"]
