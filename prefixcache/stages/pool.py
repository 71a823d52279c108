"""The process pool that shards are built in: one per process, shared by whoever runs the stages."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from prefixcache.errors import EnvironmentFailure

ORPHAN_CHECK_SECONDS = 0.5
AHEAD = 2
APART_FROM = 8
"""Calls for which even a flow's single worker is a process: a shard's memory must not add up with Prefect's own."""

GOES_ON = "the same command again goes on from what is whole"
WORKER_KILLED = f"free memory, or use fewer workers (--workers); {GOES_ON}."


def default_workers() -> int:
    """One per CPU, at most 8: beyond that the disk is the limit."""
    return min(os.cpu_count() or 1, 8)


def pool_size(workers: int, calls: int) -> int:
    """Workers worth starting: a process takes seconds to start, as long as two shards take to build."""
    return 1 if calls <= 2 else min(workers, calls)


def end_with_parent(parent: int) -> None:
    """A worker whose parent was killed ends too, so that kill -9 leaves no orphans."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(ORPHAN_CHECK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def worker_killed(whose: str = "") -> EnvironmentFailure:
    """What a pool that lost a process says; ``whose``: the runner's name where it is not the pool of our own."""
    return EnvironmentFailure(
        f"a worker process{f' of {whose}' if whose else ''} was killed, e.g. by the system for want of memory",
        remedy=WORKER_KILLED,
    )


class WorkerPool:
    """``run`` calls a picklable function in a worker process, or here if one worker need not be ``apart``: one call at
    a time then too, whatever threads ask, since a shard is what bounds the memory.

    Raises:
        EnvironmentFailure: a worker was killed: the pool ends with it, as no other worker knows what it held.
    """

    def __init__(self, workers: int, apart: bool = False) -> None:
        self.workers = workers
        self._here = threading.RLock()
        self._pool: ProcessPoolExecutor | None = None
        if apart or workers > 1:
            # spawn: a fork of a process with threads (Rust tokenizers, Prefect) can deadlock.
            self._pool = ProcessPoolExecutor(
                workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=end_with_parent,
                initargs=(os.getpid(),),
            )

    @property
    def apart(self) -> bool:
        """Whether calls run in processes of their own."""
        return self._pool is not None

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self._pool is None:
            with self._here:
                return function(*arguments)
        try:
            return self._pool.submit(function, *arguments).result()
        except BrokenExecutor as error:
            raise worker_killed() from error

    def map(self, function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> Iterator[Any]:
        """Results in the order of the calls, each as soon as it and those before it are there."""
        if self._pool is None:
            yield from (function(*arguments) for arguments in calls)
            return
        # A few calls ahead of whoever takes the results, so that what they leave on disk does not pile up.
        pending: deque[Future[Any]] = deque()
        try:
            for arguments in calls:
                pending.append(self._pool.submit(function, *arguments))
                if len(pending) > AHEAD * self.workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except BrokenExecutor as error:
            raise worker_killed() from error
        finally:  # after a failure: what has not begun does not, what has goes to its end
            wait([future for future in pending if not future.cancel()])

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


_shared: WorkerPool | None = None
_kept: list[WorkerPool] = []


def shared_pool() -> WorkerPool:
    """The pool of the flow that is running; without one the work is done in the calling thread."""
    return _shared or WorkerPool(1)


@contextmanager
def sharing(workers: int, calls: int) -> Iterator[WorkerPool]:
    """One pool, as large as so many calls are worth, for all that ask for :func:`shared_pool` inside this block."""
    global _shared
    with worker_pool(pool_size(workers, calls), apart=calls >= APART_FROM) as pool:
        _shared = pool
        try:
            yield pool
        finally:
            _shared = None


def largest_pool() -> WorkerPool:
    """The largest pool that is kept open; without one the calling thread."""
    return max(_kept, key=lambda pool: (pool.apart, pool.workers), default=None) or WorkerPool(1)


@contextmanager
def keeping_pools() -> Iterator[None]:
    """Pools that are asked for inside this block stay open until its end: a worker takes seconds to start."""
    first = len(_kept)
    _kept.append(WorkerPool(1))
    try:
        yield
    finally:
        for pool in _kept[first:]:
            pool.close()
        del _kept[first:]


@contextmanager
def worker_pool(workers: int, apart: bool = False) -> Iterator[WorkerPool]:
    """A pool of at least so many workers, or the calling thread if one is enough and need not be ``apart``."""
    apart = apart or workers > 1
    if apart and (kept := next((pool for pool in _kept if pool.apart and pool.workers >= workers), None)):
        yield kept
        return
    pool = WorkerPool(workers, apart)
    if _kept and apart:
        _kept.append(pool)
        yield pool
        return
    try:
        yield pool
    finally:
        pool.close()
