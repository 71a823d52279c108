"""Other tools' load generators against the benchmark's server, each called as its own documentation says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environments import Environment, NotInstalled, last_words, python_of
from benchmarks.load.server import MODEL
from benchmarks.tokenizer import tokenizer_path

LONGEST_S = 900
AIPERF = Environment("aiperf", ("aiperf",))
VLLM = Environment("vllm", ("vllm",))


class Unusable(Exception):
    """Why a peer gave no figures, in one line."""


@dataclass(frozen=True)
class Answer:
    """What a peer says of its run: p50 and p99 of its TTFT in ms."""

    version: str
    requests: int
    per_second: float
    ttft_ms: tuple[float, float]
    processes: int = 1


def aiperf(url: str, requests: int, streams: int, place: Path, vllm_python: Path | None) -> Answer:
    """NVIDIA's AIPerf: its own worker processes, its own prompts."""
    python = python_of(AIPERF, place, Path(sys.executable))
    with tempfile.TemporaryDirectory() as folder:
        _run(
            [
                *(
                    python.parent / "aiperf",
                    "profile",
                    "--model",
                    MODEL,
                    "--url",
                    url,
                    "--endpoint-type",
                    "completions",
                ),
                *(
                    "--streaming",
                    "--concurrency",
                    streams,
                    "--request-count",
                    requests,
                    "--tokenizer",
                    tokenizer_path("qwen"),
                ),
                *("--synthetic-input-tokens-mean", 1000, "--output-tokens-mean", 32, "--ui", "none"),
                *("--no-gpu-telemetry", "--no-server-metrics", "--artifact-dir", folder),
            ]
        )
        [path] = sorted(Path(folder).rglob("profile_export_aiperf.json"))[:1] or [None]
        if path is None:
            raise Unusable("it wrote no profile_export_aiperf.json")
        found: dict[str, Any] = json.loads(path.read_text())
    ttft = found["time_to_first_token"]
    version = _version(python, "aiperf")
    return Answer(version, requests, found["request_throughput"]["avg"], (ttft["p50"], ttft["p99"]), processes=0)


def vllm_bench(url: str, requests: int, streams: int, place: Path, vllm_python: Path | None) -> Answer:
    """`vllm bench serve`, random prompts."""
    python = vllm_python or python_of(VLLM, place, Path(sys.executable))
    with tempfile.TemporaryDirectory() as folder:
        _run(
            [
                *(python.parent / "vllm", "bench", "serve", "--backend", "openai", "--base-url", url),
                *("--endpoint", "/v1/completions", "--model", MODEL, "--tokenizer", tokenizer_path("qwen")),
                *("--dataset-name", "random", "--random-input-len", 1000, "--random-output-len", 32),
                *("--num-prompts", requests, "--max-concurrency", streams, "--percentile-metrics", "ttft"),
                *("--metric-percentiles", "50,99", "--save-result", "--result-dir", folder),
            ]
        )
        paths = sorted(Path(folder).rglob("*.json"))
        if not paths:
            raise Unusable("it wrote no result")
        found: dict[str, Any] = json.loads(paths[0].read_text())
    pair = (found["p50_ttft_ms"], found["p99_ttft_ms"])
    return Answer(_version(python, "vllm"), requests, found["request_throughput"], pair)


def _version(python: Path, package: str) -> str:
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([str(python), "-c", code], capture_output=True, text=True).stdout.strip()


def _run(command: list[Any]) -> None:
    words = [str(word) for word in command]
    environment = {k: v for k, v in os.environ.items() if k != "HF_HUB_OFFLINE"}
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LONGEST_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(str(error)) from None
    if done.returncode:
        raise Unusable(last_words(done.stderr or done.stdout) or f"it ended with code {done.returncode}")


__all__ = ["Answer", "NotInstalled", "Unusable", "aiperf", "vllm_bench"]
