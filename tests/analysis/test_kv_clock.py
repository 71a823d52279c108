"""Requests known again in recorded events, and the model led by them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl
import pytest

from prefixcache.analysis.kv_clock import clock_of, read_events, sole_owners
from prefixcache.cache.blocks import chained_keys, chained_keys_of_many
from prefixcache.cache.models.inflight import InflightModel, Pace, SchedulerSettings, simulate_inflight
from prefixcache.cache.models.inflight.clocked import serve_clocked
from prefixcache.cache.models.trace import Trace
from prefixcache.engines.kv_events import batch_of
from prefixcache.errors import InputError
from prefixcache.load.counters.kv_ledger import KvLedger
from tests.cache.models.slow_inflight import Engine, Played, play
from tests.cache.models.workloads import Request, trace_of

UNIT = 8
CAPTURE = Path(__file__).parents[3] / "shared" / "data" / "metrics" / "vllm032_kv_events.jsonl"


def workload(seed: int, count: int, outputs: int) -> list[tuple[list[int], int]]:
    """Requests that share nested prefixes of three groups and go on with tokens of their own, at least a block."""
    luck = random.Random(seed)
    masters = [[luck.randrange(10**6) for _ in range(12 * UNIT)] for _ in range(3)]
    own = iter(range(10**6, 10**8))
    return [
        (
            luck.choice(masters)[: luck.randrange(0, 12) * UNIT]
            + [next(own) for _ in range(luck.randrange(UNIT, 8 * UNIT))],
            luck.randrange(1, outputs + 1),
        )
        for _ in range(count)
    ]


def keyed(prompts: list[tuple[list[int], int]]) -> tuple[Trace, np.ndarray[Any, np.dtype[np.uint64]]]:
    ids = np.concatenate([np.array(tokens, dtype=np.int32) for tokens, _ in prompts])
    ends = np.cumsum([len(tokens) for tokens, _ in prompts])
    keys, sizes = chained_keys_of_many(ids, ends, UNIT, np.zeros(len(prompts), dtype=np.int64))
    outputs = np.array([count for _, count in prompts])
    return Trace.of_keys(keys, np.cumsum(sizes), np.diff(ends, prepend=0), outputs, UNIT), np.unique(keys)


def rows_of(engine: Engine, domain: int = 0) -> list[dict[str, Any]]:
    """The slow engine's diary as a run would have recorded it; steps in which nothing happened publish nothing."""
    ledger = KvLedger()

    def tokens(content: tuple[Any, ...]) -> list[int]:
        return [token if isinstance(token, int) else 1 + token[2] for token in content[-UNIT:]]

    def event(kind: str, contents: list[tuple[Any, ...]]) -> dict[str, Any]:
        hashes = [hash(content) for content in contents]
        if kind == "removed":
            return {"type": "BlockRemoved", "block_hashes": hashes}
        parent = hash(contents[0][:-UNIT]) if len(contents[0]) > UNIT else None
        return {"type": "BlockStored", "block_hashes": hashes, "parent_block_hash": parent, "block_size": UNIT,
                "token_ids": [token for content in contents for token in tokens(content)]}  # fmt: skip

    batches = [
        (at, batch_of([at, [event(*each) for each in step], domain]))
        for at, step in zip(engine.told, engine.diary, strict=True)
        if step
    ]
    return [{"domain": domain, "t_s": at, "events": ledger.rows(batch)} for at, batch in batches]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("concurrency", [1, 5, 16])
def test_hits_are_told_and_the_clocked_model_is_exact(seed: int, concurrency: int) -> None:
    """At a pace of which the model knows nothing."""
    prompts = workload(seed, 80, 1)
    trace, keys = keyed(prompts)
    pace = Pace(0.3, 0.011, random.Random(seed).random() * 3, 0.2)
    settings = SchedulerSettings(40, UNIT, max_num_batched_tokens=64, max_num_seqs=6)
    truth = play(prompts, settings.at_pace(pace), concurrency=concurrency)
    clock = clock_of(trace, keys, rows_of(truth.engines[0]), times_of(truth))
    hits = [request.hit_tokens for request in truth.requests]
    assert (clock.hit_blocks * UNIT).tolist() == hits
    assert list(clock.admitted) == truth.admitted
    assert (clock.evicted, clock.unknown) == (sum(request.evicted for request in truth.requests), 0)
    led = serve_clocked(InflightModel(settings), trace, clock.steps, concurrency=concurrency)
    assert led.hits.tolist() == hits
    assert led.evicted.sum() == clock.evicted


def test_order_alone_does_not_tell_the_pace() -> None:
    """The test above could fail: without the clock the model is off."""
    wrong = 0
    for seed in range(6):
        prompts = workload(seed, 80, 1)
        settings = SchedulerSettings(40, UNIT, max_num_batched_tokens=64, max_num_seqs=6)
        pace = Pace(0.3, 0.011, 2.5, 0.2)
        truth = play(prompts, settings.at_pace(pace), concurrency=5)
        alone = simulate_inflight(keyed(prompts)[0], domains=None, settings=settings, concurrency=5)
        wrong += alone.hits.tolist() != [request.hit_tokens for request in truth.requests]
    assert wrong >= 3


@pytest.mark.parametrize("seed", range(4))
def test_with_outputs_hits_are_told_and_the_clocked_model_is_near(seed: int) -> None:
    prompts = workload(seed, 80, 40)
    trace, keys = keyed(prompts)
    settings = SchedulerSettings(44, UNIT, max_num_batched_tokens=64, max_num_seqs=6)
    truth = play(prompts, settings.at_pace(Pace(0.5, 0.01, 0.9, 0.1)), concurrency=8)
    clock = clock_of(trace, keys, rows_of(truth.engines[0]), times_of(truth))
    hits = np.array([request.hit_tokens for request in truth.requests])
    told = clock.hit_blocks >= 0
    assert told.all()
    assert (clock.hit_blocks * UNIT).tolist() == hits.tolist()
    led = serve_clocked(InflightModel(settings), trace, clock.steps, concurrency=8)
    assert abs(int(led.hits.sum()) - int(hits.sum())) <= 0.003 * trace.input_tokens.sum()


def times_of(played: Played) -> pl.DataFrame:
    """As the client saw them."""
    columns = {"sent_s": "sent_s", "last_token_s": "ended_s"}
    return pl.DataFrame({name: [getattr(r, of) for r in played.requests] for name, of in columns.items()})


def test_a_request_that_stored_nothing_stands_beside_the_one_before_it() -> None:
    """Its blocks were all there: no event tells of it."""
    prompts = workload(1, 12, 1)
    prompts.insert(5, ([*prompts[2][0][: UNIT * (len(prompts[2][0]) // UNIT)], 7, 8, 9], 1))
    trace, keys = keyed(prompts)
    settings = SchedulerSettings(400, UNIT)
    truth = play(prompts, settings, concurrency=1)
    clock = clock_of(trace, keys, rows_of(truth.engines[0]))
    assert clock.hit_blocks[5] == -1
    assert sorted(clock.admitted) == list(range(13))
    led = serve_clocked(InflightModel(settings), trace, clock.steps, concurrency=1)
    assert led.hits.tolist() == [request.hit_tokens for request in truth.requests]


def test_sole_owners() -> None:
    trace = trace_of([Request((1, 2, 3, 4)), Request((1, 2, 9, 9)), Request((5, 6))], 2)
    assert sole_owners(trace).tolist() == [-1, 0, 1, 2]


def test_the_record_of_a_phase(tmp_path: Path) -> None:
    path = tmp_path / "kv_events.jsonl"
    rows = [{"pass": "cold", "phase": "measured", "n": 1}, {"pass": "hot", "phase": "warmup", "n": 2}]
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    assert [row["n"] for row in read_events(path, "cold")] == [1]
    assert [row["n"] for row in read_events(path, "hot", "warmup")] == [2]
    with pytest.raises(InputError, match="recorded no KV events"):
        read_events(tmp_path / "none.jsonl", "cold")


@pytest.mark.skipif(not CAPTURE.is_file(), reason="the capture of a real vLLM is not beside the repository")
def test_a_capture_of_a_real_engine_is_read_whole() -> None:
    """Depths, keys and twins of a real record: every parent is known, and every key is the one of the whole prefix."""
    ledger, prefixes, stored = KvLedger(), {}, 0
    for line in CAPTURE.read_text().splitlines():
        message = orjson.loads(line)
        batch = batch_of([message["ts"], message["events"], message["rank"]])
        for event, row in zip(message["events"], ledger.rows(batch), strict=True):
            if row["kind"] != "stored":
                continue
            stored += 1
            prefix = [*prefixes.get(event["parent_block_hash"], ()), *event["token_ids"]]
            keys = chained_keys(np.array(prefix, dtype=np.int32), event["block_size"])[-len(row["blocks"]) :]
            assert row["keys"] == [f"{int(key):016x}" for key in keys]
            for place, block_hash in enumerate(event["block_hashes"], row["depth"] + 1):
                prefixes[block_hash] = prefix[: place * event["block_size"]]
    assert stored > 10
