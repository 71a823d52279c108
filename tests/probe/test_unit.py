"""The search for hit unit and drop, against a cache that compares token by token."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest

from prefixcache.probe.prompts import Pieces
from prefixcache.probe.reading import Reading
from prefixcache.probe.unit import RUNGS, UnitFinding, UnitSearch, hits_of, rungs, units_tried
from tests.probe.slow_cache import SlowCache

Send = Callable[[list[int]], float | None]


def search(send: Send, lengths: list[int], seed: int = 0, slack: float = 0.0) -> UnitFinding:
    """Search with prompts of a token each piece, sent to ``send``."""
    luck = random.Random(seed)
    pieces = Pieces(range(1000, 9000), luck)
    base = pieces.fresh(max(lengths) + 8)

    async def grow(tokens: int) -> None:
        send([int(piece) for piece in base[:tokens]])

    async def measure(shared: int) -> Reading:
        prompt = [int(piece) for piece in pieces.sharing(base, shared, 2)]
        return Reading(shared, len(prompt), None, send(prompt), slack=slack)

    return asyncio.run(UnitSearch(grow, measure, luck).run(lengths))


@pytest.mark.parametrize("drop", [0, 1, 2])
@pytest.mark.parametrize("unit", [1, 2, 16, 17, 128, 511, 512])
def test_every_unit_and_drop_is_found(unit: int, drop: int) -> None:
    found = search(SlowCache(unit, drop).send, [512, 2048])
    assert (found.outcome, found.unit, found.drop) == ("found", unit, drop)


@pytest.mark.parametrize("seed", range(60))
def test_units_drawn_at_random_are_found(seed: int) -> None:
    luck = random.Random(seed)
    unit, drop = luck.randint(1, 1500), luck.randint(0, 3)
    found = search(SlowCache(unit, drop).send, [512, 2048, 8192], seed)
    assert (found.outcome, found.unit, found.drop) == ("found", unit, drop)
    # Misses; top, edge by bisection and the one below it, twice where there was one step only; checks.
    assert len(found.readings) <= 2 * 3 + 2 * (1 + 13 + 1) + 9


def test_a_shorter_base_suffices_for_small_units_and_a_longer_one_is_taken_for_large_ones() -> None:
    assert search(SlowCache(16).send, list(RUNGS[:3])).reach == 512
    assert search(SlowCache(784).send, list(RUNGS[:3])).reach == 2048
    assert search(SlowCache(1536, 1).send, list(RUNGS[:3])).reach == 8192


@pytest.mark.parametrize("send", [lambda prompt: 0.0, SlowCache(4096).send])
def test_no_hit_gives_no_number(send: Send) -> None:
    found = search(send, [512, 2048])
    assert (found.outcome, found.unit, found.drop, found.reach) == ("no_hit", None, None, 2048)


def test_a_unit_is_found_where_two_of_them_fit() -> None:
    assert search(SlowCache(1024).send, [512, 2048]).unit == 1024
    assert search(SlowCache(2049).send, [512, 2048]).outcome == "no_hit"


@pytest.mark.parametrize(("unit", "drop"), [(2048, 0), (1025, 0), (700, 1)])
def test_one_step_makes_no_unit(unit: int, drop: int) -> None:
    """Any single one fits a unit of its own length; a longer prompt tells."""
    assert search(SlowCache(unit, drop).send, [512, 2048]).outcome == "one_step"
    found = search(SlowCache(unit, drop).send, [512, 2048, 8192])
    assert (found.outcome, found.unit, found.drop) == ("found", unit, drop)


@pytest.mark.parametrize("seed", range(20))
def test_chunks_of_any_length_are_never_taken_for_units(seed: int) -> None:
    """Cuts at random places: the hit is the last cut within what is shared."""
    luck = random.Random(seed)
    cuts = sorted(luck.sample(range(1, 2048), luck.randint(1, 6)))
    base: list[int] = []

    def send(prompt: list[int]) -> float:
        if not base or len(prompt) > len(base):
            base[:] = prompt
        shared = next((at for at, (a, b) in enumerate(zip(prompt, base, strict=False)) if a != b), len(prompt))
        return max((cut for cut in cuts if cut <= shared), default=0)

    assert search(send, [512, 2048], seed).outcome in ("inconsistent", "one_step", "no_hit")


def test_what_nobody_tells_is_untold() -> None:
    assert search(lambda prompt: None, [512]).outcome == "untold"


class TestInconsistent:
    """Several caches behind one address, evictions and noise never end in a number."""

    def test_two_caches_by_turns(self) -> None:
        caches, turn = [SlowCache(16), SlowCache(16)], iter(range(10**6))
        found = search(lambda prompt: caches[next(turn) % 2].send(prompt), [512])
        assert (found.outcome, found.unit) == ("inconsistent", None)
        assert found.against

    def test_two_units_by_turns(self) -> None:
        caches, turn = [SlowCache(16), SlowCache(48)], iter(range(10**6))

        def send(prompt: list[int]) -> float:
            at = next(turn)
            return [cache.send(prompt) for cache in caches][at % 2]

        outcomes = {search(send, [512], seed).outcome for seed in range(5)}
        assert outcomes == {"inconsistent"}

    @pytest.mark.parametrize("seed", range(10))
    def test_a_base_that_is_forgotten(self, seed: int) -> None:
        cache, sent = SlowCache(16), iter(range(10**6))

        def send(prompt: list[int]) -> float:
            if next(sent) == 3:
                cache.seen.clear()
            return cache.send(prompt)

        assert search(send, [512], seed).outcome == "inconsistent"

    @pytest.mark.parametrize("seed", range(10))
    def test_noise(self, seed: int) -> None:
        cache, luck = SlowCache(32), random.Random(seed)
        found = search(lambda prompt: cache.send(prompt) + luck.choice((0, 7, 13, 40)), [512], seed)
        assert found.outcome == "inconsistent"

    def test_a_least_length_above_the_unit(self) -> None:
        """Nothing below 256 tokens hits, then blocks of 16 do."""
        cache = SlowCache(16)

        def send(prompt: list[int]) -> float:
            hit = cache.send(prompt)
            return hit if hit >= 256 else 0

        outcomes = {search(send, [512], seed).outcome for seed in range(20)}
        assert "inconsistent" in outcomes  # a point drawn below it contradicts


def test_a_rounded_rate_still_tells_the_unit() -> None:
    cache, luck = SlowCache(128), random.Random(3)
    found = search(lambda prompt: cache.send(prompt) + luck.choice((-2, -1, 0, 1, 2)), [2048], slack=5.0)
    assert (found.outcome, found.unit, found.drop) == ("found", 128, 0)


def test_a_rate_too_rounded_for_the_unit_is_no_contradiction() -> None:
    cache, luck = SlowCache(1), random.Random(3)
    found = search(lambda prompt: cache.send(prompt) + luck.choice((-1, 0, 1)), [512], slack=5.0)
    assert (found.outcome, found.unit) == ("coarse", None)


def test_some_tell_no_zero() -> None:
    """Null where nothing was hit: neither a contradiction nor the end of the search."""
    cache = SlowCache(784)
    found = search(lambda prompt: cache.send(prompt) or None, [512, 2048])
    assert (found.outcome, found.unit, found.drop) == ("found", 784, 0)


@pytest.mark.parametrize("told", [16, 48])
def test_the_stride_is_that_of_the_prompts_whatever_the_hits_are_told_in(told: int) -> None:
    cache = SlowCache(32, 1)
    luck = random.Random(5)
    pieces = Pieces(range(1000, 9000), luck)
    base = pieces.fresh(600)

    async def grow(tokens: int) -> None:
        cache.send([int(piece) for piece in base[:tokens]])

    async def measure(shared: int) -> Reading:
        prompt = [int(piece) for piece in pieces.sharing(base, shared, 2)]
        return Reading(shared, len(prompt), None, cache.send(prompt) / 32 * told)

    async def run() -> int | None:
        searching = UnitSearch(grow, measure, luck)
        assert (await searching.run([512])).outcome == "inconsistent"
        return await searching.stride(512)

    assert asyncio.run(run()) == 32


@pytest.mark.parametrize("drop", [0, 1, 2])
@pytest.mark.parametrize("unit", [1, 3, 16])
def test_the_formula_is_the_slow_cache(unit: int, drop: int) -> None:
    luck = random.Random(unit * 10 + drop)
    for _ in range(200):
        shared, more = luck.randint(0, 60), luck.randint(1, 5)
        base = [luck.randint(0, 10**6) for _ in range(64)]
        cache = SlowCache(unit, drop)
        cache.send(base)
        fresh = [10**7 + luck.randint(0, 10**6) for _ in range(more)]
        prompt = base[:shared] + fresh
        assert cache.send(prompt) == hits_of(shared, len(prompt), unit, drop)


def test_the_last_token_is_never_hit() -> None:
    cache = SlowCache(16)
    cache.send(list(range(64)))
    assert cache.send(list(range(64))) == hits_of(64, 64, 16, 0) == 48


def test_lengths_to_try() -> None:
    assert rungs(131072) == [512, 2048, 8192, 32768]
    assert rungs(4096) == [512, 2048, 4096]
    assert rungs(2048) == [512, 2048]
    assert rungs(300) == [300]
    assert rungs(1) == []


def test_rules_are_tried_with_enough_units() -> None:
    assert units_tried(128, 0) == 2
    assert units_tried(128, 2) == 4
    assert units_tried(1, 0) == 32
