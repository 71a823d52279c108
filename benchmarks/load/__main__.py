"""Requests per second and truth of the time to first token, ours and others', against one server in one session.

    python -m benchmarks.load                                  64 streams; 512 streams over several processes
    python -m benchmarks.load --peers --env-dir DIR            AIPerf and `vllm bench serve` too, installed in DIR
    python -m benchmarks.load --peers --vllm-python PYTHON     an environment that has vLLM already

The server streams 32 chunks 10 ms apart, the first after 50 ms, and stamps what it does; so the time to first token
that a client reports has a true value, the server's own. Its error is measured minus true, transport included. A peer
that tells its requests only as percentiles is compared by percentiles. What cannot be installed or run is named.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.environments import NotInstalled
from benchmarks.load.peers import Answer, Unusable, aiperf, vllm_bench
from benchmarks.measure import machine

FIRST_S, GAP_S, CHUNKS = 0.05, 0.01, 32
IDEAL_S = FIRST_S + GAP_S * (CHUNKS - 1)
HEAD = (
    "| client | streams | processes | requests/s | of the ideal | TTFT p50 / p99, ms | true TTFT p50 / p99, ms "
    "| error p50 / p99, ms |\n|---|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Figure:
    """One client's run; milliseconds. ``processes``: 0 where it has its own. ``errors``: per request where they are
    known, else difference of percentiles."""

    client: str
    streams: int
    processes: int
    requests: int
    per_second: float
    ideal: float
    ttft: tuple[float, float]
    true: tuple[float, float]
    errors: tuple[float, float]
    by_request: bool

    def row(self) -> str:
        pair = "{:.1f} / {:.1f}"
        mark = "" if self.by_request else " (of percentiles)"
        return (
            f"| {self.client} | {self.streams} | {self.processes or 'its own'} | {self.per_second:.1f} "
            f"| {self.per_second / self.ideal:.0%} | {pair.format(*self.ttft)} | {pair.format(*self.true)} "
            f"| {self.errors[0]:.2f} / {self.errors[1]:.2f}{mark} |"
        )


@contextmanager
def serving() -> Iterator[str]:
    """A fresh server; its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "benchmarks.load.server", str(port)]
    more = ["--chunks", str(CHUNKS), "--gap", str(GAP_S), "--first", str(FIRST_S)]
    process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def stamps(url: str) -> dict[str, tuple[float, float, float]]:
    with urllib.request.urlopen(f"{url}/stamps", timeout=30) as answer:
        found: dict[str, tuple[float, float, float]] = json.load(answer)
    return found


def own(kind: str, requests: int, streams: int, processes: int) -> Figure:
    """A client of ``benchmarks.load.clients``."""
    with serving() as url:
        command = [sys.executable, "-m", "benchmarks.load.clients", kind, url]
        sizes = [str(requests), str(streams), str(processes)]
        done = subprocess.run([*command, *sizes], capture_output=True, text=True, check=True)
        truth = stamps(url)
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    measured, true = [], []
    for number, sent, first, _ in answer["rows"]:
        arrived, begun, _ = truth[str(number)]
        measured.append((first - sent) * 1e3)
        true.append((begun - arrived) * 1e3)
    errors = np.array(measured) - np.array(true)
    rate = requests / answer["seconds"]
    spreads = (_pair(measured), _pair(true), _pair(errors))
    return Figure(kind, streams, processes, requests, rate, streams / IDEAL_S, *spreads, by_request=True)


def other(name: str, answer: Answer, truth: dict[str, tuple[float, float, float]], streams: int) -> Figure:
    true = _pair([(begun - arrived) * 1e3 for arrived, begun, _ in truth.values()])
    errors = (answer.ttft_ms[0] - true[0], answer.ttft_ms[1] - true[1])
    figures = (answer.requests, answer.per_second, streams / IDEAL_S, answer.ttft_ms, true, errors)
    return Figure(f"{name} {answer.version}", streams, answer.processes, *figures, by_request=False)


def _pair(values: Any) -> tuple[float, float]:
    p50, p99 = np.percentile(np.asarray(values, dtype=float), (50, 99))
    return float(p50), float(p99)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=8, help="requests of each stream")
    parser.add_argument("--peers", action="store_true", help="AIPerf and vllm bench serve too")
    parser.add_argument("--env-dir", type=Path, help="where environments of peers are kept")
    parser.add_argument("--vllm-python", type=Path, help="an interpreter that has vLLM")
    parser.add_argument("--many", type=int, nargs="*", default=[512], help="streams to spread over processes")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of the table")
    chosen = parser.parse_args(arguments)
    figures: list[Figure] = []

    def show(figure: Figure) -> None:
        figures.append(figure)
        print(json.dumps(vars(figure)) if chosen.json else figure.row(), flush=True)

    if not chosen.json:
        facts = ", ".join(f"{name} {value}" for name, value in machine().items())
        print(f"{CHUNKS} chunks {GAP_S * 1e3:.0f} ms apart, the first after {FIRST_S * 1e3:.0f} ms; {facts}\n\n{HEAD}")
    for kind in ("prefixcache", "httpx-aiohttp", "httpx"):
        show(own(kind, 64 * chosen.rounds, 64, 1))
    if chosen.peers:
        with tempfile.TemporaryDirectory() as folder:
            place = chosen.env_dir or Path(folder)
            for name, run in (("AIPerf", aiperf), ("vllm bench serve", vllm_bench)):
                try:
                    with serving() as url:
                        answer = run(url, 64 * chosen.rounds, 64, place, chosen.vllm_python)
                        truth = stamps(url)
                    show(other(name, answer, truth, 64))
                except (NotInstalled, Unusable) as error:
                    print(f"{name}: not measured: {error}", file=sys.stderr)
    for streams in chosen.many:
        for processes in (1, 2, 4):
            show(own("prefixcache", streams * chosen.rounds, streams, processes))
    if not chosen.json:
        mine, plain = figures[0].per_second, next(f for f in figures if f.client == "httpx").per_second
        print(f"\nprefixcache / httpx's shared pool: {mine / plain:.1f} ×")


if __name__ == "__main__":
    main()
