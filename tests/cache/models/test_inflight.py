"""Requests in flight against a slow model of the scheduler's rules, and against the sequential pool."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.cache.models.inflight import (
    GatePlan,
    InflightModel,
    InflightServed,
    Pace,
    SchedulerSettings,
    simulate_inflight,
)
from prefixcache.cache.models.inflight.gating import Rule
from prefixcache.cache.models.inflight.model import needed_blocks
from prefixcache.cache.models.pool import BlockPool
from prefixcache.errors import InputError
from prefixcache.load.sending.gate import Gates, Item
from tests.cache.models.slow_inflight import Played, play
from tests.cache.models.workloads import PROMPTS, REQUESTS, Request, trace_of

SLOWLY = settings(deadline=None, max_examples=150)
RULES: tuple[Rule, ...] = ("watermark", "first_token", "completion", "none")
PACES = st.sampled_from([Pace(), Pace(1, 0, 0, 0), Pace(1, 0, 1.5, 0.25), Pace(0.5, 0.125, 0.75, 0.0625)])


@st.composite
def servers(draw: st.DrawFn, requests: list[Request], unit: int) -> SchedulerSettings:
    least = int(needed_blocks(trace_of(requests, unit)).max()) + 1
    return SchedulerSettings(
        num_blocks=max(least, 2) + draw(st.integers(0, 12)),
        block_size=unit,
        max_num_batched_tokens=draw(st.sampled_from([1, 3, 8, 100])),
        max_num_seqs=draw(st.sampled_from([1, 2, 5, 100])),
        reserve_full_prompt=draw(st.booleans()),
        long_prefill_token_threshold=draw(st.sampled_from([0, 2, 5])),
        watermark=draw(st.sampled_from([0.0, 0.2])),
        hit_drop=draw(st.sampled_from([0, 0, 1])),
        pace=draw(PACES),
    )


def agree(served: InflightServed, played: Played) -> None:
    """Every figure of every request."""
    assert served.hits.tolist() == [r.hit_tokens for r in played.requests]
    assert served.admitted.tolist() == played.admitted
    assert served.admitted_at.tolist() == [r.admitted_at for r in played.requests]
    assert served.ended_at.tolist() == [r.ended_at for r in played.requests]
    assert served.preemptions.tolist() == [r.preempted for r in played.requests]
    assert served.evicted.tolist() == [r.evicted for r in played.requests]
    assert served.steps.tolist() == [engine.steps for engine in played.engines]


def prompts_of(requests: list[Request]) -> list[tuple[list[int], int]]:
    return [(list(request.prompt), max(request.out, 1)) for request in requests]


@SLOWLY
@given(st.data(), REQUESTS, st.integers(1, 3), st.integers(1, 9))
def test_fast_equals_slow(data: st.DataObject, requests: list[Request], unit: int, concurrency: int) -> None:
    server = data.draw(servers(requests, unit))
    served = simulate_inflight(trace_of(requests, unit), domains=None, settings=server, concurrency=concurrency)
    agree(served, play(prompts_of(requests), server, concurrency=concurrency))


@SLOWLY
@given(st.data(), st.lists(REQUESTS, min_size=2, max_size=3), st.integers(1, 3), st.integers(1, 6), st.integers(1, 3))
def test_state_is_kept_and_domains_share_nothing_but_the_client(
    data: st.DataObject, parts: list[list[Request]], unit: int, concurrency: int, count: int
) -> None:
    server = data.draw(servers([request for part in parts for request in part], unit))
    model, engines, begin = InflightModel(server, count), None, 0
    known: dict[tuple[int, ...], int] = {}
    for part in parts:
        homes = data.draw(st.lists(st.integers(0, count - 1), min_size=len(part), max_size=len(part)))
        served = model.serve(trace_of(part, unit, known), concurrency=concurrency, domains=np.array(homes))
        played = play(
            prompts_of(part), server, concurrency=concurrency, domains=homes, count=count,
            engines=engines, numbered_from=begin,
        )  # fmt: skip
        agree(served, played)
        engines, begin = played.engines, begin + len(part)


@SLOWLY
@given(st.data(), st.integers(1, 3), st.integers(1, 9), st.sampled_from(RULES), st.booleans(), st.booleans())
def test_gates_open_as_those_of_a_run(
    data: st.DataObject, unit: int, concurrency: int, rule: Rule, first_alone: bool, warm: bool
) -> None:
    requests = data.draw(st.lists(st.builds(Request, PROMPTS, st.integers(1, 4)), min_size=1, max_size=20))
    many = {"min_size": len(requests), "max_size": len(requests)}
    homes = data.draw(st.lists(st.integers(0, 1), **many))
    groups = data.draw(st.lists(st.sampled_from("ab"), **many))
    prefixes = data.draw(st.lists(st.integers(2, 6), **many))
    head = data.draw(st.integers(0, 2))
    marks = {(0, "a"): 4, (1, "b"): 3} if warm else {}
    server = data.draw(servers(requests, unit))
    items = [Item(*item) for item in zip(homes, groups, prefixes, strict=True)]
    played = play(
        prompts_of(requests), server, concurrency=concurrency, domains=homes, count=2,
        gates=Gates(items, rule, head=head, warm=marks), first_alone=first_alone,
    )  # fmt: skip
    plan = GatePlan.of(rule, homes, groups, prefixes, head=head, warm=marks, first_alone=first_alone)
    model = InflightModel(server, 2)
    trace = trace_of(requests, unit)
    agree(model.serve(trace, concurrency=concurrency, domains=np.array(homes), gates=plan), played)


@SLOWLY
@given(st.data(), REQUESTS, st.integers(1, 4), st.integers(0, 9))
def test_one_at_a_time_it_is_the_sequential_pool(
    data: st.DataObject, requests: list[Request], unit: int, spare: int
) -> None:
    trace = trace_of(requests, unit)
    blocks = max(int(needed_blocks(trace).max()) + 1, 2) + spare
    budget, seats = data.draw(st.sampled_from([1, 7, 2048])), data.draw(st.sampled_from([1, 256]))
    server = SchedulerSettings(blocks, unit, budget, seats, pace=data.draw(PACES))
    served = simulate_inflight(trace, domains=None, settings=server, concurrency=1)
    alone = BlockPool(blocks).serve(trace)
    for name in ("hits", "evicted", "used", "runs"):
        assert getattr(served, name).tolist() == getattr(alone, name).tolist(), name
    assert not served.preemptions.any()


def prompts(*lengths: int) -> list[Request]:
    return [Request(tuple(range(1000 * n, 1000 * n + length))) for n, length in enumerate(lengths)]


def test_equal_prompts_sent_at_once_are_computed_once() -> None:
    same = [Request(tuple(range(33)))] * 16
    served = simulate_inflight(trace_of(same, 8), domains=None, settings=SchedulerSettings(200, 8), concurrency=16)
    assert served.hits.tolist() == [0] + [32] * 15


def test_the_second_of_two_long_ones_hits_the_chunks_scheduled_so_far() -> None:
    same = [Request(tuple(range(65)))] * 2
    server = SchedulerSettings(200, 8, max_num_batched_tokens=24, pace=Pace(1, 0, 0, 0))
    served = simulate_inflight(trace_of(same, 8), domains=None, settings=server, concurrency=2)
    assert served.hits.tolist() == [0, 64]
    assert served.admitted_at.tolist() == [0, 2]  # two steps of 24 tokens take the budget, the third leaves 7


def test_running_requests_hold_their_blocks() -> None:
    """What a sequential cache would have evicted is still there while somebody holds it."""
    long, other = Request(tuple(range(40)), 30), prompts(*[40] * 5)[1:]
    again = Request((*range(40), 7))
    trace = trace_of([long, *other, again], 8)
    server = SchedulerSettings(16, 8)
    assert BlockPool(16).serve(trace).hits[-1] == 0
    assert simulate_inflight(trace, domains=None, settings=server, concurrency=2).hits[-1] == 40


def test_a_request_that_outgrows_the_pool_is_preempted_and_ends_all_the_same() -> None:
    requests = [Request(request.prompt, 40) for request in prompts(16, 16)]
    served = simulate_inflight(trace_of(requests, 4), domains=None, settings=SchedulerSettings(19, 4), concurrency=2)
    assert served.preemptions.tolist() == [0, 1]
    assert (served.ended_at > served.admitted_at).all()


def test_usage_over_time_stays_within_its_rows() -> None:
    requests = [Request(request.prompt, 50) for request in prompts(*[9] * 120)]
    served = simulate_inflight(trace_of(requests, 4), domains=None, settings=SchedulerSettings(40, 4), concurrency=1)
    assert served.steps[0] > 4096
    usage = served.usage
    assert 1024 <= len(usage.time) <= 2048
    assert (np.diff(usage.time) > 0).all()
    assert usage.held.max() <= 39
    assert usage.held.max() == max(needed_blocks(trace_of(requests, 4)))


def test_a_reset_forgets_contents_and_keeps_the_queue() -> None:
    model, pool = InflightModel(SchedulerSettings(30, 4)), BlockPool(30)
    trace = trace_of([Request((*range(length), 99)) for length in (30, 20, 40, 12)] * 3, 4)
    for _ in range(3):
        assert model.serve(trace, concurrency=1).hits.tolist() == pool.serve(trace).hits.tolist()
        model.reset()
        pool.reset()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_blocks": 1}, "num_blocks"),
        ({"max_num_seqs": 0}, "max_num_seqs"),
        ({"watermark": 1.0}, "watermark"),
        ({"num_blocks": 5}, "num_blocks"),
        ({"block_size": 8}, "block_size"),
    ],
)
def test_what_cannot_be_is_told(changes: dict[str, float], field: str) -> None:
    trace = trace_of(prompts(20), 4)
    with pytest.raises(InputError) as caught:
        server = SchedulerSettings(**{"num_blocks": 30, "block_size": 4, **changes})  # type: ignore[arg-type]
        simulate_inflight(trace, domains=None, settings=server, concurrency=1)
    assert caught.value.field == field


def test_settings_of_a_server() -> None:
    told = {"num_gpu_blocks": 97, "block_size": 32, "engines": ["0"]}
    assert SchedulerSettings.of_server(told, max_num_seqs=None) == SchedulerSettings(97, 32)
    assert SchedulerSettings.of_server(told, max_num_seqs=8).max_num_seqs == 8
    limits = {"max_num_seqs": 6, "scheduler_reserve_full_isl": False, "watermark": 0.01, "policy": "fcfs"}
    found = SchedulerSettings.of_server(told | {"scheduler": limits}, watermark=0.02)
    assert found == SchedulerSettings(97, 32, max_num_seqs=6, reserve_full_prompt=False, watermark=0.02)
    two_ranks = {"num_gpu_blocks": 258, "kv_cache_tokens_per_engine": 4096, "block_size": 32}
    assert SchedulerSettings.of_server(two_ranks) == SchedulerSettings(129, 32)
    with pytest.raises(InputError, match="does not tell its num_blocks"):
        SchedulerSettings.of_server({"block_size": 32})
