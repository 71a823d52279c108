"""What is under the clock, each in a process of its own: `python -m benchmarks.work NAME '{"folder": …}'`.

Prints one JSON line with the seconds of the work alone, start-up and imports left out, and what it went over.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import dataset

SHARD = 500  # prompts of a file of keys, about as many as a shard of 4,096 tokens each has


@dataclass(frozen=True)
class Given:
    """``tokenizer``: a folder or `embedded`. ``fixed``: all requests are equally long."""

    folder: Path
    requests: int
    mean: int
    groups: int
    tokenizer: str
    workers: int = 1
    fixed: bool = False

    def config(self) -> Any:
        from prefixcache.config import parse_config

        return parse_config(dataset(self.requests, self.mean, self.groups, self.tokenizer, fixed=self.fixed))


Timed = tuple[float, int] | tuple[float, int, float]
"""Seconds, what it went over, and of a part the seconds of the whole."""


def plan(given: Given) -> Timed:
    """Lengths, groups, order, prefixes and watermarks."""
    from prefixcache.workload.plan import plan_dataset

    config = given.config()
    began = time.perf_counter()
    made = plan_dataset(config)
    seconds = time.perf_counter() - began
    assert made.reachable
    return seconds, int(made.shape.lengths.sum())


def generate(given: Given) -> Timed:
    """Everything that `prefixcache generate --no-prefect` does: plan, corpus, prompts, files and proof."""
    from prefixcache.pipeline import generate_prefix_cache_dataset
    from prefixcache.stages.stage import InProcess

    config = given.config()
    began = time.perf_counter()
    report = generate_prefix_cache_dataset(config, given.folder, InProcess(given.workers)).report
    seconds = time.perf_counter() - began
    assert report["validation_status"] == "PASS", report["reason"]
    return seconds, int(report["input_tokens"])


def reporting(given: Given) -> Timed:
    """Seconds that telling how far it is takes, of `prefixcache generate` through Prefect on a terminal.

    Counted are all calls of whoever observes (the terminal's bars, Prefect's progress artifacts), the thread that draws
    the bars anew, and the processor time of the thread that sends the artifacts.
    """
    import os
    from contextlib import contextmanager

    os.environ["FORCE_COLOR"] = "1"  # as on a terminal
    from rich.live import Live

    from flows.commands.generate import build
    from flows.progress import Reporter
    from prefixcache.stages.progress import Meter

    inside, spent = threading.local(), [0.0]

    @contextmanager
    def counted(clock: Callable[[], float]) -> Iterator[None]:
        if getattr(inside, "now", False):
            yield
            return
        inside.now, began = True, clock()
        try:
            yield
        finally:
            inside.now = False
            spent[0] += clock() - began

    def timed(method: Any, clock: Callable[[], float] = time.perf_counter) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            with counted(clock):
                return method(*arguments, **named)

        return call

    Meter._tell = timed(Meter._tell)  # type: ignore[method-assign]
    Live.refresh = timed(Live.refresh)  # type: ignore[method-assign]
    Reporter.close = timed(Reporter.close)  # type: ignore[method-assign]
    Reporter._send = timed(Reporter._send, time.thread_time)  # type: ignore[method-assign]
    began = time.perf_counter()
    report = build(given.config(), given.folder, workers=given.workers, no_prefect=False, quiet=False)
    whole = time.perf_counter() - began
    assert report["validation_status"] == "PASS", report["reason"]
    return spent[0], int(report["input_tokens"]), whole


def validate(given: Given) -> Timed:
    """All checks over the dataset in the folder."""
    from prefixcache.dataset.check import check_dataset

    began = time.perf_counter()
    result = check_dataset(given.folder)
    seconds = time.perf_counter() - began
    assert result["intact"], result["checks"]
    return seconds, int(result["input_tokens"])


def keys(given: Given) -> Timed:
    """Key files as a dataset of this plan has them: each request begins with its group's keys and then leaves them."""
    import numpy as np

    from prefixcache.cache.key_files import by_depth, write_array
    from prefixcache.workload.plan import plan_dataset

    made = plan_dataset(given.config())
    order = made.order
    lengths, prefixes, groups = made.shape.lengths[order], made.prefixes[order], made.shape.groups[order]
    unit, random = made.unit, np.random.default_rng(1)
    sizes = lengths // unit
    masters = random.integers(1, 2**63, size=(given.groups, int(sizes.max())), dtype=np.uint64)
    began = time.perf_counter()
    for number, first in enumerate(range(0, given.requests, SHARD)):
        part = slice(first, first + SHARD)
        table = by_depth(random.integers(1, 2**63, size=int(sizes[part].sum()), dtype=np.uint64), sizes[part])
        depth = np.arange(len(table))[:, None]
        table = np.where(depth < prefixes[part] // unit, masters[groups[part]].T[: len(table)], table)
        write_array(given.folder / f"keys-{number:05d}.npy", table)
    np.save(given.folder / "lengths.npy", lengths)
    np.save(given.folder / "expected.npy", made.of_pass("cold").hit[order])
    return time.perf_counter() - began, int(sizes.sum())


def simulate(given: Given) -> Timed:
    """Hits of an unbounded block cache over the key files in the folder; they must be the plan's."""
    import numpy as np

    from prefixcache.cache.key_files import KeyFiles
    from prefixcache.cache.trie import leading_hits

    unit = given.config().unit
    paths = sorted(given.folder.glob("keys-*.npy"))
    lengths, expected = (np.load(given.folder / f"{name}.npy") for name in ("lengths", "expected"))
    began = time.perf_counter()
    sizes = lengths // unit
    hits = leading_hits(KeyFiles(paths, sizes), lengths, unit)
    seconds = time.perf_counter() - began
    assert np.array_equal(hits, expected)
    return seconds, int(sizes.sum())


def count_exact(given: Given) -> Timed:
    """Prompts of `prompts.json` in the folder, or of a dataset there, that have exactly ``mean`` tokens."""
    from tokenizers import Tokenizer

    backend = Tokenizer.from_file(str(Path(given.tokenizer) / "tokenizer.json"))
    backend.no_truncation()
    began, exact = time.perf_counter(), 0
    plain = given.folder / "prompts.json"
    if plain.is_file():
        prompts = json.loads(plain.read_text())
    else:
        prompts = [json.loads(line)["prompt"] for line in (given.folder / "data.jsonl").open(encoding="utf-8")]
    for first in range(0, len(prompts), 64):
        encoded = backend.encode_batch_fast(prompts[first : first + 64], add_special_tokens=False)
        exact += sum(len(item.ids) == given.mean for item in encoded)
    return time.perf_counter() - began, exact


WORK: dict[str, Callable[[Given], Timed]] = {
    function.__name__: function for function in (plan, generate, reporting, validate, keys, simulate, count_exact)
}


def main() -> None:
    name, given = sys.argv[1], json.loads(sys.argv[2])
    seconds, count, *whole = WORK[name](Given(**{**given, "folder": Path(given["folder"])}))
    print(json.dumps({"seconds": seconds, "count": count, "whole": whole[0] if whole else None}))


if __name__ == "__main__":
    main()
