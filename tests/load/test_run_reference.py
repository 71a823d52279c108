"""Whole runs against the reference engine: its counters must equal the designed hits, token for token."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.errors import InputError
from prefixcache.load.options import RunOptions
from prefixcache.load.preflight.dry_run import dry_run
from prefixcache.load.run import run_benchmark
from prefixcache.load.sending.gate import GATINGS, Gating
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from tests.load.handmade import BLOCK, Wish, expected_hits, make_dataset, sign
from tests.support.datasets import made
from tests.support.reading import warned_of

pytestmark = pytest.mark.engine


def wishes(count: int = 40, groups: str = "abc", domains: int = 1, seed: int = 3) -> list[Wish]:
    """Shuffled prefixes, so that watermarks rise in jumps; some requests share nothing."""
    luck = random.Random(seed)
    lanes = [(g, n % domains) for n, g in enumerate(groups * domains)] if domains > 1 else [(g, 0) for g in groups]
    return [
        Wish(group, luck.randrange(0, 9) * BLOCK, luck.randrange(17, 60), domain)
        for group, domain in (luck.choice(lanes) for _ in range(count))
    ]


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded", prefill_tps=200_000, decode_tps=2_000)) as process:
        yield process


@pytest.fixture(scope="module")
def ranks() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded", dp=2)) as process:
        yield process


def options(*urls: str, **more: Any) -> RunOptions:
    return RunOptions(urls=urls, send="ids", poll_interval=0.05, **more)


def read(run: Path, name: str) -> Any:
    return json.loads((run / "runtime" / name).read_text())


def rows(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "runtime" / "request_results.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "cold", "warmup", "hot", "compare"])
def test_counters_equal_the_design(engine: EngineProcess, tmp_path: Path, mode: str, concurrency: int) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(), mode=mode)
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, concurrency=concurrency))
    assert (summary.status, summary.failed_requests, warned_of(summary.warnings)) == ("complete", 0, [])
    for found in summary.passes:
        assert found["measured_hit_tokens"] == expected_hits(dataset, found["name"]) > 0
        assert found["actual_hit_rate"] == pytest.approx(found["designed_hit_ratio"], abs=1e-12)
        assert found["residue"]["detected"] is (False if found["name"] == "cold" else None)
    measured = [r for r in rows(tmp_path / "run") if r["phase"] == "measured"]
    assert all(r["cached_tokens"] == r["expected_hit_len"] for r in measured)
    assert [p["name"] for p in summary.passes] == {"compare": ["cold", "hot"]}.get(mode, [summary.passes[0]["name"]])


@pytest.mark.parametrize("gating", GATINGS)
def test_each_gating_keeps_its_promise(engine: EngineProcess, tmp_path: Path, gating: Gating) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(), execution={"concurrency": 6})
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, gating=gating))
    done = sorted(rows(tmp_path / "run"), key=lambda r: r["order_index"])
    assert summary.status == "complete"
    if gating == "none":
        assert len(done) == 40
        return
    assert summary.passes[0]["measured_hit_tokens"] == expected_hits(dataset, "cold")
    for group in "abc":
        lane = [r for r in done if r["prefix_group_id"] == group]
        for earlier, later in itertools.pairwise(lane):
            if gating == "first_token":
                assert later["sent_s"] >= earlier["first_token_s"]
            if gating == "completion":
                assert later["sent_s"] >= earlier["last_token_s"]


def test_ranks_are_pinned_and_proven(ranks: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(domains=2), routed=True, routing={"dp_size": 2}, mode="compare")
    summary = run_benchmark(dataset, tmp_path / "run", options(ranks.url, concurrency=6))
    assert summary.status == "complete"
    assert warned_of(summary.warnings) == []
    for figures in read(tmp_path / "run", "prefix_cache_metrics.json")["passes"]:
        assert [d["route_confirmed"] for d in figures["domains"]] == [True, True]
        assert all(d["measured_hit_tokens"] == d["expected_hit_tokens"] for d in figures["domains"])
        engines = figures["endpoints"][0]["engines"]
        assert [e["engine"] for e in engines] == ["0", "1"]
        assert sum(e["counters"]["hits"]["delta"] for e in engines) == figures["measured_hit_tokens"]
        assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"]


def test_two_instances_take_the_place_of_two_domains(
    engine: EngineProcess, ranks: EngineProcess, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        second = stack.enter_context(EngineProcess(EngineOptions("embedded")))
        dataset = make_dataset(
            tmp_path / "set", wishes(domains=2), routed=True, routing={"cache_scope": "instance_local", "dp_size": 2}
        )
        urls = (engine.url, f"{second.url}/v1/completions")
        summary = run_benchmark(dataset, tmp_path / "run", options(*urls, concurrency=6))
    assert warned_of(summary.warnings) == []
    [figures] = read(tmp_path / "run", "prefix_cache_metrics.json")["passes"]
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"]
    assert [d["route_confirmed"] for d in figures["domains"]] == [True, True]
    assert all(r["actual_route"] == r["planned_route"] for r in rows(tmp_path / "run"))


def test_one_shared_plan_on_two_ranks_is_warned_of(ranks: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(12))
    summary = run_benchmark(dataset, tmp_path / "run", options(ranks.url))
    assert "more_ranks" in {w["code"] for w in summary.warnings}


def test_text_prompts_are_checked_and_sent(engine: EngineProcess, tmp_path: Path) -> None:
    """The engine's own tokenizer makes the texts here: ids decoded, encoded again, and cut to what is stable."""
    words = httpx.post(
        f"{engine.url}/tokenize", json={"prompt": " the house and the garden" * 40, "add_special_tokens": False}
    ).json()["tokens"]
    hit = (len(words) - 1) // BLOCK * BLOCK
    dataset = make_dataset(tmp_path / "set", [Wish("a", hit, len(words) - hit)] * 2)
    lines = [json.loads(line) for line in (dataset / "data.jsonl").read_text().splitlines()]
    for line in lines:
        line |= {"prompt": " the house and the garden" * 40, "prompt_token_ids": words}
    (dataset / "data.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    sign(dataset)
    summary = run_benchmark(dataset, tmp_path / "run", RunOptions(urls=(engine.url,), poll_interval=0.05))
    assert summary.passes[0]["measured_hit_tokens"] == hit


def test_polled_gauges_and_performance_are_written(engine: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", [Wish("a", 16, 400, output=80)] * 6)
    run_benchmark(dataset, tmp_path / "run", options(engine.url, concurrency=3))
    samples = [json.loads(s) for s in (tmp_path / "run" / "runtime" / "metrics_samples.jsonl").read_text().splitlines()]
    assert max(s["running"] for s in samples) > 0
    assert max(s["kv_usage"] for s in samples) > 0
    assert {s["pass"] for s in samples} == {"cold"}
    [figures] = read(tmp_path / "run", "performance_metrics.json")["passes"]
    assert figures["output_tokens"] == 480
    assert figures["ttft_s"]["p50"] <= figures["ttft_s"]["p99"] <= figures["e2e_s"]["max"]
    assert figures["tpot_s"]["mean"] > 0.8 / 2000
    assert figures["chain"] == {"longest": 2, "permitted_mean_concurrency": 3.0}


def test_dry_run_states_tokens_time_and_kv(engine: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", [Wish("a", 32, 32, output=16), Wish("a", 32, 32, output=16)])
    facts = dry_run(dataset, options(engine.url))
    assert (facts["requests"], facts["input_tokens"], facts["output_tokens"]) == (2, 128, 32)
    assert facts["kv_tokens_needed"] == 32 + 2 * 48
    assert facts["estimated_time"]["seconds"] == pytest.approx(96 / 200_000 + 32 / 2000, abs=1e-3)
    assert "stated by" in facts["estimated_time"]["assumption"]
    unknown = dry_run(dataset, options("http://127.0.0.1:9"))["estimated_time"]
    assert unknown["seconds"] is None


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "time: client and server overhead only (prefill and decode take no time, stated by {url})"),
        ("zh", "预计用时：仅客户端与服务端自身开销（Prefill 与 Decode 不耗时，由 {url} 给出）"),
    ],
)
def test_a_dry_run_against_an_engine_without_simulated_compute(
    ranks: EngineProcess, tmp_path: Path, language: str, line: str
) -> None:
    dataset = make_dataset(tmp_path / "set", [Wish("a", 32, 32, output=16), Wish("a", 32, 32, output=16)])
    arguments = ["run", "-d", str(dataset), "-u", ranks.url, "--dry-run", "--lang", language]
    printed = CliRunner().invoke(app, arguments)
    assert line.format(url=ranks.url) in printed.stdout.splitlines()


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_replayed_set_hits_all_but_the_last_tokens(engine: EngineProcess, tmp_path: Path, concurrency: int) -> None:
    """Every request finds itself: align_down(L - 1, u), far more than any shared prefix."""
    dataset = make_dataset(tmp_path / "set", wishes(), mode="replay")
    facts = dry_run(dataset, options(engine.url))
    assert (facts["requests"], facts["passes"][0]["longest_chain"]) == (80, 1)
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, concurrency=concurrency))
    assert (summary.status, summary.requests, warned_of(summary.warnings)) == ("complete", 80, [])
    [found] = summary.passes
    assert (found["name"], found["warmup_requests"]) == ("replay", 40)
    assert found["measured_hit_tokens"] == expected_hits(dataset, "replay")
    measured = [r for r in rows(tmp_path / "run") if r["phase"] == "measured"]
    assert all(r["cached_tokens"] == (r["input_len"] - 1) // BLOCK * BLOCK for r in measured)
    assert not any(r["gate_wait_s"] > 0.01 for r in measured)


def test_a_dataset_without_text_is_sent_as_ids(engine: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", wishes(12), text=False)
    chosen = RunOptions(urls=(engine.url,), poll_interval=0.05)
    summary = run_benchmark(dataset, tmp_path / "run", chosen)
    assert summary.status == "complete"
    assert set(warned_of(summary.warnings)) == {"sent_as_ids"}
    assert summary.passes[0]["measured_hit_tokens"] == expected_hits(dataset, "cold") > 0
    assert read(tmp_path / "run", "run.json")["options"]["send"] == "ids"
    with pytest.raises(InputError, match="no text that gives exactly those") as caught:
        run_benchmark(dataset, tmp_path / "text", RunOptions(urls=(engine.url,), send="text"))
    assert (caught.value.field, caught.value.dataset_id) == ("send", "set")


def test_a_generated_replay_is_reported(engine: EngineProcess, tmp_path: Path) -> None:
    """It has no target: the report shows what was designed and measured, and that the two agree."""
    made(tmp_path / "set", request_count=20, prefix={"group_count": 2}, execution={"mode": "replay"}, target=None)
    chosen = RunOptions(urls=(engine.url,), poll_interval=0.05, concurrency=3)
    summary = run_benchmark(tmp_path / "set", tmp_path / "run", chosen)
    assert summary.status == "complete"
    report = build_prefix_cache_report(tmp_path / "run")
    assert (report["verdict"]["code"], report["target_hit_ratio"]) == ("exact", None)
    assert report["measured_hit_tokens"] == report["expected_hit_tokens"] > 0
