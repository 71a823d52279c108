"""Tokens per second of other tools' prompt generators and of ours, with one tokenizer, in one run.

    python -m benchmarks.peers                                     every peer, in environments made for this run
    python -m benchmarks.peers --env-dir DIR --peer aiperf         environments are kept in DIR and used again
    python -m benchmarks.peers --vllm-python /path/to/bin/python   an environment that has vLLM already

Their generators are imported from their packages and called; the clock stands around that call alone. Ours writes a
whole dataset and its proof under its clock, tokenizer and worker processes started. A peer that cannot be installed or
run is named with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.environments import Environment, NotInstalled, last_words, python_of
from benchmarks.figures import GROUPS
from benchmarks.measure import machine, run_process, spread
from benchmarks.tokenizer import tokenizer_path

SCRIPTS = Path(__file__).parent / "peer_scripts"
SHARED = OWN = 2048
VLLM = Environment("vllm", ("vllm",))
SGLANG = Environment(
    *(
        "sglang",
        ("sglang", "transformers>=5", "numpy", "tqdm", "requests", "aiohttp", "pillow", "pybase64", "datasets"),
    ),
    alone=True,
)
AIPERF = Environment("aiperf", ("aiperf",))
INFERENCE_PERF = Environment("inference-perf", ("inference-perf",))
HEAD = (
    "| generator | prompts | of the exact length | median | least – most | tokens per second | largest process "
    "| ours / theirs, as many prompts | ours / theirs, ours large |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Peer:
    key: str
    title: str
    environment: Environment
    script: str


PEERS = (
    Peer("vllm-random", "vLLM random", VLLM, "vllm_random.py"),
    Peer("vllm-prefix-repetition", "vLLM prefix_repetition", VLLM, "vllm_prefix_repetition.py"),
    Peer("sglang", "SGLang generated-shared-prefix", SGLANG, "sglang_shared_prefix.py"),
    Peer("aiperf", "AIPerf sonnet corpus, prefix pool", AIPERF, "aiperf_prefix_pool.py"),
    Peer("inference-perf", "inference-perf shared_prefix", INFERENCE_PERF, "inference_perf_shared_prefix.py"),
)


class Failed(Exception):
    """Why a generator gave no prompts, in one line."""


@dataclass(frozen=True)
class Made:
    """One run of a generator. ``tokens``: as asked for; ``exact``: prompts that really have so many."""

    seconds: float
    prompts: int
    exact: int | None
    peak_mib: float
    version: str

    @property
    def per_second(self) -> float:
        return self.prompts * (SHARED + OWN) / self.seconds


def run_peer(peer: Peer, python: Path, tokenizer: str, prompts: int, scratch: Path) -> Made:
    """Raises :class:`Failed` with what the script said last."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        wanted = {"prompts": prompts, "shared": SHARED, "own": OWN, "groups": GROUPS}
        given = json.dumps({"tokenizer": tokenizer, "folder": folder, **wanted})
        # A home of its own: some keep prompts there and would only read them back the second time.
        environment = {**os.environ, "HOME": folder, "HF_HOME": f"{folder}/hf", "CUDA_VISIBLE_DEVICES": ""}
        environment.pop("PYTHONPATH", None)
        log = Path(folder) / "stderr"
        ended = run_process([python, SCRIPTS / peer.script, given], environment, errors=log)
        if ended.code:
            raise Failed(last_words(log.read_text(errors="replace")) or f"it ended with code {ended.code}")
        answer = ended.answer()
        exact = count_exact(Path(folder), tokenizer)
        return Made(answer["seconds"], answer["prompts"], exact, ended.peak_mib, answer["version"])


def run_ours(prompts: int, workers: int, tokenizer: str, scratch: Path, *, count: bool) -> Made:
    """A dataset with the same shape: half of every prompt shared, the same number of groups."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        given = {"folder": folder, "requests": prompts, "mean": SHARED + OWN, "groups": GROUPS, "fixed": True}
        words = ["-m", "benchmarks.work", "generate", json.dumps({**given, "tokenizer": tokenizer, "workers": workers})]
        ended = run_process([sys.executable, *words])
        if ended.code:
            raise SystemExit("error: our own generator failed; what it said stands above.")
        exact = count_exact(Path(folder), tokenizer) if count else None
        version = str(machine()["prefixcache"])
        return Made(ended.answer()["seconds"], prompts, exact, ended.peak_mib, version)


def count_exact(folder: Path, tokenizer: str) -> int:
    """Prompts in the folder that encode to exactly as many tokens as were asked for."""
    given = {"folder": str(folder), "requests": 0, "mean": SHARED + OWN, "groups": GROUPS, "tokenizer": tokenizer}
    counted: int = run_process([sys.executable, "-m", "benchmarks.work", "count_exact", json.dumps(given)]).answer()[
        "count"
    ]
    return counted


def as_row(key: str, title: str, found: Sequence[Made], **more: Any) -> dict[str, Any]:
    seconds = spread([made.seconds for made in found])
    return {
        "generator": key,
        "title": title,
        "version": found[0].version,
        "prompts": found[0].prompts,
        "exact_prompts": found[0].exact,
        "tokens_per_prompt": SHARED + OWN,
        "seconds": seconds,
        "tokens_per_second": statistics.median(made.per_second for made in found),
        "peak_mib": round(max(made.peak_mib for made in found), 1),
        **more,
    }


def against(ours: Sequence[Made], theirs: Sequence[Made]) -> dict[str, Any]:
    """How many times as many tokens per second, run by run."""
    return spread([own.per_second / other.per_second for own, other in zip(ours, theirs, strict=True)])


def line(row: dict[str, Any]) -> str:
    if row.get("reason"):
        return f"| {row['title']} | not measured: {row['reason']} | | | | | | | |"
    seconds, exact = row["seconds"], row["exact_prompts"]
    same, large = (f"{row[name]['median']:,.1f} ×" if name in row else "" for name in ("ours_same", "ours_large"))
    return (
        f"| {row['title']} {row['version']} | {row['prompts']:,} | {'' if exact is None else f'{exact:,}'} "
        f"| {seconds['median']:.2f} s | {seconds['least']:.2f} – {seconds['most']:.2f} s "
        f"| {row['tokens_per_second'] / 1e3:,.0f} k | {row['peak_mib']:.0f} MiB | {same} | {large} |"
    )


def interpreters(options: argparse.Namespace, peers: Sequence[Peer], folder: Path) -> dict[str, Path | str]:
    """Per environment its interpreter, or the reason why there is none."""
    found: dict[str, Path | str] = {}
    for environment in {peer.environment.name: peer.environment for peer in peers}.values():
        if environment is VLLM and options.vllm_python:
            found[environment.name] = options.vllm_python.absolute()
            continue
        print(f"environment {environment.name} …", file=sys.stderr, flush=True)
        try:
            found[environment.name] = python_of(environment, folder, options.base_python)
        except NotInstalled as error:
            found[environment.name] = f"cannot be installed: {error}"
    return found


def measure(options: argparse.Namespace, peers: Sequence[Peer], scratch: Path, folder: Path) -> dict[str, Any]:
    """All generators take turns, so that what else the machine does hits each."""
    tokenizer = tokenizer_path(options.tokenizer)
    pythons, where = interpreters(options, peers, folder), machine()
    same: list[Made] = []
    large: list[Made] = []
    theirs: dict[str, list[Made]] = {peer.key: [] for peer in peers}
    reasons = {peer.key: reason for peer in peers if isinstance(reason := pythons[peer.environment.name], str)}
    for _ in range(options.runs):
        same.append(run_ours(options.prompts, options.workers, tokenizer, scratch, count=True))
        large.append(run_ours(options.ours_prompts, options.workers, tokenizer, scratch, count=False))
        for peer in peers:
            if peer.key not in reasons:
                try:
                    python = Path(pythons[peer.environment.name])
                    theirs[peer.key].append(run_peer(peer, python, tokenizer, options.prompts, scratch))
                except Failed as error:
                    reasons[peer.key] = f"did not run: {error}"
    rows = [as_row("ours", "prefixcache", same), as_row("ours-large", "prefixcache", large)]
    for peer in peers:
        if peer.key in reasons:
            rows.append({"generator": peer.key, "title": peer.title, "reason": reasons[peer.key]})
        else:
            made = theirs[peer.key]
            compared = {"ours_same": against(same, made), "ours_large": against(large, made)}
            rows.append(as_row(peer.key, peer.title, made, **compared))
    about = {"figure": "peers", "runs": options.runs, "workers": options.workers, "tokenizer": Path(tokenizer).name}
    return {**about, "generators": rows, "machine": where}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    keys = [peer.key for peer in PEERS]
    parser.add_argument("--peer", action="append", choices=keys, help="only this one; may be repeated")
    parser.add_argument("--prompts", type=int, default=300, help="prompts of each generator (default 300)")
    parser.add_argument("--ours-prompts", type=int, default=10_000, help="of our second row (default 10000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each generator (default 3)")
    parser.add_argument("--workers", type=int, default=2, help="processes of ours (default 2)")
    parser.add_argument("--tokenizer", default="qwen", help="qwen (default) or a folder with tokenizer.json")
    parser.add_argument("--env-dir", type=Path, help="keep environments here (default: temporary, removed)")
    parser.add_argument("--vllm-python", type=Path, help="interpreter of an environment that has vLLM")
    parser.add_argument(
        "--base-python",
        type=Path,
        default=Path(sys.executable),
        help="makes the environments; inference-perf needs 3.12",
    )
    parser.add_argument("--folder", type=Path, help="where prompts are written and removed (default: the system's)")
    parser.add_argument("--json", action="store_true", help="one JSON line on stdout, the table on stderr")
    options = parser.parse_args(arguments)
    if options.tokenizer == "embedded":
        parser.error("the embedded tokenizer is no file that peers can load")
    if options.prompts % GROUPS or options.prompts <= 0:
        parser.error(f"--prompts must be a multiple of {GROUPS}, the number of groups")
    peers = [peer for peer in PEERS if not options.peer or peer.key in options.peer]
    with tempfile.TemporaryDirectory(prefix="prefixcache-peers-", dir=options.folder) as scratch:
        place = Path(scratch).resolve()
        result = measure(options, peers, place, (options.env_dir or place).resolve())
    shown = sys.stderr if options.json else sys.stdout
    print("\n".join([HEAD, *(line(row) for row in result["generators"])]), file=shown)
    if options.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
