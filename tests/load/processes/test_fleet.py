"""Several sender processes do what one does, on one clock."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.http import Timeouts
from prefixcache.errors import EnvironmentFailure
from prefixcache.load.processes.fleet import Fleet, SenderEnded
from prefixcache.load.request.client import CompletionClient, stopped_outcome
from prefixcache.load.request.outcome import Outcome
from prefixcache.load.sending.carrier import Sends, open_carrier
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target
from tests.load.scripted import GOOD, chunked, event, scripted

PROMPT = Prompt("11 12 13", [11, 12, 13], 2)
QUICK = Timeouts(connect=5, idle=15, total=30)


def test_requests_gates_and_moments_cross_the_border() -> None:
    firsts: list[float] = []

    async def go(url: str) -> tuple[list[Outcome], float]:
        async with open_carrier(2, QUICK) as carrier:
            client = carrier.client(CompletionClient(carrier.wire, "m", "text", secrets=("s3cret",)))
            at = time.perf_counter() + 0.3
            found = await asyncio.gather(
                *(
                    client.complete(PROMPT, Target(Endpoint(url)), lambda: firsts.append(time.perf_counter()), at)
                    for _ in range(20)
                )
            )
            health = await carrier.health()
            assert health.ticks > 20  # of three event loops
            assert carrier.processes == 2
        return list(found), at

    with scripted([[GOOD]]) as server:
        outcomes, at = asyncio.run(go(server.url))
        assert len(server.seen) == 20
    assert [outcome.status for outcome in outcomes] == ["ok"] * 20
    assert len(firsts) == 20
    for outcome in outcomes:
        assert outcome.sent is not None and outcome.first_token is not None and outcome.last_token is not None
        assert 0 <= outcome.sent - at < 0.2  # on the clock of this process
        assert outcome.sent <= outcome.first_token <= outcome.last_token < time.perf_counter()
        assert outcome.usage.cached_tokens == 5 and outcome.output_by == "usage"


def test_a_cancelled_request_tells_what_is_known_of_it() -> None:
    async def go(url: str) -> Outcome | None:
        async with open_carrier(2, QUICK) as carrier:
            client = carrier.client(CompletionClient(carrier.wire, "m", "text"))
            started = asyncio.Event()
            task = asyncio.create_task(client.complete(PROMPT, Target(Endpoint(url)), started.set))
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            return stopped_outcome(caught.value)

    with scripted([[chunked(event("a"), end=False), 5.0]]) as server:
        outcome = asyncio.run(go(server.url))
    assert outcome is not None
    assert (outcome.status, outcome.failure, len(outcome.tokens_at)) == ("cancelled", "cancelled", 1)
    assert outcome.sent is not None and outcome.first_token is not None


def test_a_worker_that_dies_ends_the_run_with_one_message() -> None:
    async def go(url: str) -> None:
        async with Fleet(1, QUICK) as fleet:
            [found] = fleet._workers
            client = fleet.client(CompletionClient(None, "m", "text"))  # type: ignore[arg-type]
            task = asyncio.create_task(client.complete(PROMPT, Target(Endpoint(url))))
            await asyncio.sleep(0.3)
            os.kill(found.process.pid, signal.SIGKILL)
            await task

    with scripted([[chunked(event("a"), end=False), 5.0]]) as server, pytest.raises(EnvironmentFailure) as caught:
        asyncio.run(go(server.url))
    assert caught.value.field == "processes"
    assert stopped_outcome(caught.value) is not None  # which is how its request comes to be recorded


def test_a_worker_that_dies_while_it_is_asked_for_its_health_is_not_waited_for() -> None:
    async def go() -> int:
        async with Fleet(2, QUICK) as fleet:
            first = fleet._workers[0].process.pid
            os.kill(first, signal.SIGSTOP)
            asked = asyncio.create_task(fleet.health())
            await asyncio.sleep(0.2)
            assert not asked.done()
            os.kill(first, signal.SIGKILL)
            return (await asyncio.wait_for(asked, 20)).ticks

    assert asyncio.run(go()) > 0  # of the other one


def test_workers_end_with_the_fleet() -> None:
    async def go() -> list[int]:
        async with Fleet(2, QUICK) as fleet:
            return [each.process.pid for each in fleet._workers]

    for pid in asyncio.run(go()):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_signal_that_cancels_everything_ends_at_once_and_records_what_was_in_flight() -> None:
    """SIGTERM is raised within the loop, whose every task is then cancelled, and some of them twice."""
    known: list[Outcome | None] = []
    begun: list[float] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    def first() -> None:
        begun.append(time.perf_counter())
        if len(begun) == 4:  # all are in flight
            asyncio.get_running_loop().call_soon(interrupt)

    async def one(client: Sends, url: str) -> None:
        try:
            await client.complete(PROMPT, Target(Endpoint(url)), first)
        except asyncio.CancelledError as error:
            known.append(stopped_outcome(error))
            raise

    async def go(url: str) -> None:
        async with open_carrier(2, QUICK) as carrier:
            client = carrier.client(CompletionClient(carrier.wire, "m", "text"))
            async with asyncio.TaskGroup() as group:
                for _ in range(4):
                    group.create_task(one(client, url))

    with scripted([[chunked(event("a"), end=False), 30.0]]) as server:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(go(server.url))
        assert time.perf_counter() - begun[-1] < 10
    assert [outcome and (outcome.status, len(outcome.tokens_at)) for outcome in known] == [("cancelled", 1)] * 4


def test_the_request_of_a_worker_that_died_is_not_lost() -> None:
    error = SenderEnded()
    outcome = stopped_outcome(error)
    assert outcome is not None and (outcome.status, outcome.attempts) == ("cancelled", 1)
    assert error.remedy and error.field == "processes"


def test_a_signal_to_the_whole_group_leaves_the_end_to_who_plans() -> None:
    async def go(url: str) -> Outcome:
        async with Fleet(1, QUICK) as fleet:
            [found] = fleet._workers
            client = fleet.client(CompletionClient(None, "m", "text"))  # type: ignore[arg-type]
            os.kill(found.process.pid, signal.SIGTERM)
            return await client.complete(PROMPT, Target(Endpoint(url)))

    with scripted([[GOOD]]) as server:
        assert asyncio.run(go(server.url)).status == "ok"
