from __future__ import annotations

import asyncio
import random
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.load.sending.gate import GATINGS, Gates, Gating, Item, chain, needs

ITEMS = st.lists(
    st.builds(Item, st.integers(0, 1), st.sampled_from("ab"), st.integers(0, 6).map(lambda n: n * 16)), max_size=14
)


def lane(*prefixes: int, group: str = "a", domain: int = 0) -> list[Item]:
    return [Item(domain, group, p) for p in prefixes]


async def is_open(gates: Gates, index: int) -> bool:
    task = asyncio.ensure_future(gates.pass_through(index))
    await asyncio.sleep(0)
    if task.done():
        return True
    task.cancel()
    return False


def test_watermark_waits_for_a_prefix_that_covers() -> None:
    async def scene() -> None:
        gates = Gates(lane(32, 64, 32, 96), "watermark")
        assert await is_open(gates, 0)
        assert not await is_open(gates, 1)  # needs 32
        gates.first_token(0)
        assert await is_open(gates, 1)
        assert await is_open(gates, 2)  # needs 32, so it need not wait for request 1
        assert not await is_open(gates, 3)  # needs 64
        gates.first_token(2)
        assert not await is_open(gates, 3)
        gates.first_token(1)
        assert (await gates.pass_through(3)).broken is False

    asyncio.run(scene())


def test_watermark_breaks_when_every_earlier_request_of_the_lane_has_ended() -> None:
    async def scene() -> None:
        gates = Gates([*lane(32), *lane(16, group="b"), *lane(64)], "watermark")
        waiting = asyncio.ensure_future(gates.pass_through(2))
        await asyncio.sleep(0)
        gates.ended(1)
        await asyncio.sleep(0)
        assert not waiting.done()
        gates.ended(0)  # failed: no first token
        assert (await waiting).broken is True

    asyncio.run(scene())


def test_head_is_covered_by_any_request_of_the_domain() -> None:
    async def scene() -> None:
        items = [*lane(16), *lane(48, group="b"), *lane(48, group="c", domain=1)]
        gates = Gates(items, "watermark", head=16)
        assert not await is_open(gates, 1)
        assert await is_open(gates, 2)  # the first of its domain
        gates.first_token(0)
        assert await is_open(gates, 1)

    asyncio.run(scene())
    assert needs([*lane(16), *lane(48, group="b")], head=16) == [0, 16]


def test_warm_lanes_are_open_at_once() -> None:
    async def scene() -> None:
        gates = Gates(lane(64, 32), "watermark", warm={(0, "a"): 64})
        assert await is_open(gates, 0)
        assert await is_open(gates, 1)

    asyncio.run(scene())


def test_first_token_and_completion_follow_the_previous_request_of_the_lane() -> None:
    async def scene() -> None:
        items = [*lane(0), *lane(0, group="b"), *lane(0)]
        first, complete = Gates(items, "first_token"), Gates(items, "completion")
        for gates in (first, complete):
            assert await is_open(gates, 1)
            assert not await is_open(gates, 2)
            gates.first_token(0)
        assert await is_open(first, 2)
        assert not await is_open(complete, 2)
        complete.ended(0)
        assert (await complete.pass_through(2)).broken is False
        failed = Gates(items, "first_token")
        failed.ended(0)
        assert (await failed.pass_through(2)).broken is True

    asyncio.run(scene())


@settings(max_examples=150, deadline=None)
@given(ITEMS, st.sampled_from(GATINGS), st.integers(1, 6), st.integers(0, 10**6), st.booleans())
def test_slots_in_send_order_never_deadlock(
    items: list[Item], gating: Gating, slots: int, seed: int, with_head: bool
) -> None:
    """Whatever finishes in whatever order, and whatever fails, every request is sent; covered means covered."""
    luck = random.Random(seed)
    head = 16 if with_head else 0
    items = [i._replace(prefix=max(i.prefix, head)) for i in items]
    wanted = needs(items, head=head)
    visible: dict[tuple[int, str], int] = defaultdict(int)
    touched: set[int] = set()
    sent: list[int] = []

    async def scene() -> None:
        gates = Gates(items, gating, head=head)
        numbers = iter(range(len(items)))

        async def slot() -> None:
            for n in numbers:
                ticket = await gates.pass_through(n)
                item = items[n]
                if gating == "watermark" and not ticket.broken:
                    covered = max(visible[item.lane], head if item.domain in touched else 0)
                    assert covered >= wanted[n]
                sent.append(n)
                for _ in range(luck.randrange(4)):
                    await asyncio.sleep(0)
                if luck.random() < 0.8:
                    visible[item.lane] = max(visible[item.lane], item.prefix)
                    touched.add(item.domain)
                    gates.first_token(n)
                    await asyncio.sleep(0)
                gates.ended(n)

        async with asyncio.timeout(5):
            await asyncio.gather(*(slot() for _ in range(slots)))

    asyncio.run(scene())
    assert sorted(sent) == list(range(len(items)))


@settings(max_examples=200, deadline=None)
@given(ITEMS, st.booleans(), st.booleans())
def test_chain_is_the_depth_of_a_simulation_with_unlimited_slots(
    items: list[Item], with_head: bool, warm: bool
) -> None:
    """Every request takes one step; in each step all open gates go."""
    head = 16 if with_head else 0
    items = [i._replace(prefix=max(i.prefix, head)) for i in items]
    lanes = {i.lane: max(j.prefix for j in items if j.lane == i.lane) for i in items} if warm else None

    async def steps() -> int:
        gates = Gates(items, "watermark", head=head, warm=lanes)
        left, count = set(range(len(items))), 0
        while left:
            going = [n for n in sorted(left) if await is_open(gates, n)]
            for n in going:
                gates.first_token(n)
            for n in going:
                gates.ended(n)
            left -= set(going)
            count += 1
        return count

    assert chain(items, "watermark", head=head, warm=lanes).longest == asyncio.run(steps())


@pytest.mark.parametrize(("gating", "longest"), [("watermark", 4), ("first_token", 4), ("completion", 4), ("none", 1)])
def test_ascending_prefixes_make_the_longest_chain(gating: Gating, longest: int) -> None:
    items = [item for p in (16, 32, 48, 64) for item in (*lane(p), *lane(p, group="b"))]
    links = chain(items, gating)
    assert (links.longest, links.mean_concurrency) == (longest, 8 / longest)


def test_descending_prefixes_need_one_request_only() -> None:
    assert chain(lane(64, 48, 32, 16), "watermark").longest == 2
    assert chain([], "watermark").mean_concurrency == 0
