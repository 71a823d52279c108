"""One worker means one call at a time, however many threads ask; a flow's many calls mean a process of its own."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from prefixcache.stages.pool import APART_FROM, keeping_pools, largest_pool, shared_pool, sharing, worker_pool


def test_calls_of_many_threads_follow_one_another() -> None:
    inside, most, guard = 0, 0, threading.Lock()

    def work(number: int) -> int:
        nonlocal inside, most
        with guard:
            inside += 1
            most = max(most, inside)
        time.sleep(0.01)
        with guard:
            inside -= 1
        return number

    with sharing(1, 2), ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: shared_pool().run(work, number), range(20)))
    assert (found, most) == (list(range(20)), 1)


def test_a_flow_s_single_worker_with_many_calls_is_a_process_of_its_own_kept_for_the_next_stage() -> None:
    with keeping_pools():
        with sharing(1, APART_FROM):
            first = shared_pool().run(os.getpid)
        with worker_pool(1, apart=True) as pool:
            assert set(pool.map(os.getpid, [()] * APART_FROM)) == {first}
        assert largest_pool().run(os.getpid) == first
        with sharing(1, APART_FROM - 1):
            assert shared_pool().run(os.getpid) == os.getpid()
    assert first != os.getpid()
