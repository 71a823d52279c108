"""One worker means one call at a time, however many threads of a task runner ask."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from prefixcache.stages.pool import shared_pool, sharing


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

    with sharing(1), ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: shared_pool().run(work, number), range(20)))
    assert (found, most) == (list(range(20)), 1)
