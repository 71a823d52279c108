"""One rank on a clock that jumps from timer to timer, so that every moment is known exactly."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Coroutine
from typing import Any

import pytest

from prefixcache.reference.cache import BlockPool, block_keys
from prefixcache.reference.metrics import EngineMetrics
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.scheduler import Rank
from prefixcache.reference.sequence import Sequence

B = 4


class JumpingLoop(asyncio.SelectorEventLoop):
    """Time stands still while there is work and jumps to the next timer when there is none."""

    moment = 0.0

    def time(self) -> float:
        return self.moment

    def _run_once(self) -> None:
        timers = [timer.when() for timer in self._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
        if timers and not self._ready:  # type: ignore[attr-defined]
            self.moment = max(self.moment, min(timers))
        super()._run_once()  # type: ignore[misc]


def run(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        runner.run(work)


class Bench:
    """A rank, and a diary of the moments at which each request's tokens came."""

    def __init__(self, num_blocks: int = 100, prefill_tps: float = 0, decode_tps: float = 0) -> None:
        self.metrics = EngineMetrics(EngineOptions("unused", block_size=B, num_blocks=num_blocks))
        series = self.metrics.rank(0, "toy")
        self.pool = BlockPool(num_blocks, B)
        self.rank = Rank(self.pool, prefill_tps, decode_tps, series)
        self.diary: dict[Sequence, list[tuple[float, int]]] = {}

    def send(self, prompt: list[int], output: int = 1) -> Sequence:
        ids, answer = array("I", prompt), list(range(500, 500 + output))
        keys = block_keys(ids + array("I", answer[:-1]), B)

        def notify() -> None:
            self.diary[sequence].append((round(asyncio.get_running_loop().time(), 9), sequence.emitted))

        sequence = Sequence(ids, answer, [""] * output, keys, "length", notify)
        self.diary[sequence] = []
        self.rank.submit(sequence)
        return sequence

    def total(self, name: str, **labels: str) -> float:
        value = self.metrics.registry.get_sample_value(f"vllm:{name}", {"model_name": "toy", "engine": "0", **labels})
        assert value is not None
        return value


def prompt(start: int, length: int) -> list[int]:
    return list(range(start, start + length))


def test_without_rates_a_request_is_done_when_it_is_sent() -> None:
    async def work() -> None:
        bench = Bench()
        assert bench.send(prompt(0, 9), 5).finished == "length"
        assert bench.send(prompt(0, 9), 5).cached == 8
        assert (bench.pool.held, bench.total("generation_tokens_total")) == (0, 10)

    run(work())


def test_prefills_follow_each_other_and_only_uncached_tokens_take_time() -> None:
    async def work() -> None:
        bench = Bench(prefill_tps=10)
        cold, warm, other = bench.send(prompt(0, 20)), bench.send(prompt(0, 25)), bench.send(prompt(100, 10))
        assert (cold.cached, warm.cached, bench.total("num_requests_waiting")) == (0, None, 2)
        await asyncio.sleep(10)
        assert [bench.diary[sequence] for sequence in (cold, warm, other)] == [[(2.0, 1)], [(2.5, 1)], [(3.5, 1)]]
        assert warm.cached == 20

    run(work())


def test_tokens_come_at_absolute_moments() -> None:
    async def work() -> None:
        bench = Bench(prefill_tps=10, decode_tps=4)
        first, second = bench.send(prompt(0, 10), 4), bench.send(prompt(100, 5), 2)
        await asyncio.sleep(10)
        assert bench.diary[first] == [(1.0, 1), (1.25, 2), (1.5, 3), (1.75, 4)]
        assert bench.diary[second] == [(1.5, 1), (1.75, 2)]

    run(work())


def test_lateness_does_not_add_up() -> None:
    async def work() -> None:
        bench = Bench(decode_tps=10)
        sequence = bench.send(prompt(0, 4), 6)
        await asyncio.sleep(0.1)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, JumpingLoop)
        loop.moment += 0.23  # as if something had kept the thread busy
        await asyncio.sleep(10)
        assert bench.diary[sequence] == [(0.0, 1), (0.1, 2), (0.33, 4), (0.4, 5), (0.5, 6)]

    run(work())


def test_a_head_that_does_not_fit_blocks_those_behind_it() -> None:
    async def work() -> None:
        bench = Bench(num_blocks=6, decode_tps=1)
        running = bench.send(prompt(0, 12), 3)  # 4 of 5 blocks: 14 tokens are written
        large, small = bench.send(prompt(100, 8)), bench.send(prompt(200, 2))
        assert (bench.total("num_requests_running"), bench.total("num_requests_waiting")) == (1, 2)
        assert bench.total("kv_cache_usage_perc") == pytest.approx(3 / 5)
        await asyncio.sleep(1.5)
        assert (large.finished, small.finished) == (None, None)
        assert bench.total("prefix_cache_queries_total") == 12
        await asyncio.sleep(1)
        assert (running.finished, large.finished, small.finished) == ("length", "length", "length")
        assert bench.diary[small] == [(2.0, 1)]

    run(work())


def test_output_is_known_but_for_its_last_token() -> None:
    async def work() -> None:
        bench = Bench()
        first = bench.send(prompt(0, 6), 7)  # 12 tokens are written: three full blocks
        follow_up = bench.send([*prompt(0, 6), *first.output, 7, 8, 9])
        assert follow_up.cached == 12

    run(work())


def test_an_abort_while_waiting_counts_nothing_and_unblocks_the_queue() -> None:
    async def work() -> None:
        bench = Bench(num_blocks=6, decode_tps=1)
        bench.send(prompt(0, 12), 3)
        large, small = bench.send(prompt(100, 8)), bench.send(prompt(200, 2))
        before = bench.total("prefix_cache_queries_total")
        bench.rank.abort(large)
        assert (large.finished, small.finished) == ("abort", "length")
        assert bench.total("prefix_cache_queries_total") == before + 2
        assert bench.total("request_success_total", finished_reason="abort") == 0

    run(work())


def test_an_abort_in_prefill_counts_queries_but_no_prompt_tokens_and_keeps_the_blocks() -> None:
    async def work() -> None:
        bench = Bench(prefill_tps=10)
        sequence, behind = bench.send(prompt(0, 20)), bench.send(prompt(0, 20))
        await asyncio.sleep(0.5)
        bench.rank.abort(sequence)
        assert (bench.total("prefix_cache_queries_total"), bench.total("prompt_tokens_total")) == (40, 0)
        assert behind.cached == 16
        await asyncio.sleep(5)
        assert bench.diary[behind] == [(0.9, 1)]
        assert bench.total("request_success_total", finished_reason="abort") == 1
        assert bench.pool.held == 0

    run(work())


def test_an_abort_while_decoding_frees_the_blocks_once() -> None:
    async def work() -> None:
        bench = Bench(decode_tps=1)
        sequence = bench.send(prompt(0, 6), 50)
        await asyncio.sleep(3.5)
        bench.rank.abort(sequence)
        bench.rank.abort(sequence)
        await asyncio.sleep(100)
        assert (sequence.emitted, bench.pool.held) == (4, 0)
        assert bench.total("generation_tokens_total") == 4
        assert bench.pool.known == 2  # 6 + 3 tokens are written

    run(work())


def test_reset_is_refused_while_a_request_runs() -> None:
    async def work() -> None:
        bench = Bench(decode_tps=1)
        bench.send(prompt(0, 9), 3)
        assert not bench.rank.reset()
        await asyncio.sleep(5)
        assert bench.rank.reset()
        assert bench.send(prompt(0, 9)).cached == 0
        assert bench.total("prefix_cache_queries_total") == 18

    run(work())
