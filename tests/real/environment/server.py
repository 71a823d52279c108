"""A real engine as a child process, for the length of a ``with`` block."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import httpx

from tests.real.environment import keeper
from tests.real.environment.model import tiny_model
from tests.real.environment.venvs import home, sglang_python, vllm_python

READY_S = 900.0
"""Until the health route answers: half a minute on an idle machine, minutes beside other tests."""
SHOWN = 3000
MODEL = "tiny"


class ServerFailed(Exception):
    """It ended, or was not ready in time; with the end of its log."""


@dataclass(frozen=True)
class Ports:
    """Where an engine shall listen, and publish its KV events."""

    http: int
    events: int


class Engine(Protocol):
    """A way to start a server; equal engines are the same server."""

    def command(self, ports: Ports, scratch: Path) -> list[str]: ...

    def environment(self, scratch: Path) -> dict[str, str]: ...


@dataclass(frozen=True)
class Vllm:
    """vLLM with these settings of its cache and scheduler.

    Args:
        block_size: tokens; the CPU build takes multiples of 32.
        blocks: of one rank, the null block among them.
        ranks: data-parallel ranks.
        budget: ``max_num_batched_tokens``; the engine's default if None.
        sequences: ``max_num_seqs``; the engine's default if None.
        external: with a second tier on disk, kept through a reset of the cache.
        events: publishes KV events, rank r on the r-th port after the first.
    """

    block_size: int = 32
    blocks: int = 8192
    ranks: int = 1
    budget: int | None = None
    sequences: int | None = None
    external: bool = False
    events: bool = False

    @property
    def max_model_len(self) -> int:
        """One sequence must fit into the pool beside the null block."""
        return min(16384, (self.blocks - 1) * self.block_size)

    def command(self, ports: Ports, scratch: Path) -> list[str]:
        words = [str(vllm_python()), "-m", "vllm.entrypoints.cli.main", "serve", str(tiny_model())]
        words += ["--host", "127.0.0.1", "--port", str(ports.http), "--served-model-name", MODEL, "--dtype", "bfloat16"]
        words += ["--enforce-eager", "--enable-prefix-caching", "--enable-prompt-tokens-details"]
        words += ["--block-size", str(self.block_size), "--num-gpu-blocks-override", str(self.blocks)]
        words += ["--max-model-len", str(self.max_model_len)]
        if self.ranks > 1:
            words += ["--data-parallel-size", str(self.ranks)]
        if self.budget is not None:
            words += ["--max-num-batched-tokens", str(self.budget)]
        if self.sequences is not None:
            words += ["--max-num-seqs", str(self.sequences)]
        if self.external:
            tier = {"shared_storage_path": str(scratch / "tier")}
            connector = {"kv_connector": "ExampleConnector", "kv_role": "kv_both", "kv_connector_extra_config": tier}
            words += ["--kv-transfer-config", json.dumps(connector)]
        if self.events:
            publisher = {"publisher": "zmq", "endpoint": f"tcp://*:{ports.events}", "topic": "kv"}
            events = {"enable_kv_cache_events": True, "buffer_steps": 100_000, **publisher}
            words += ["--kv-events-config", json.dumps(events)]
        return words

    def environment(self, scratch: Path) -> dict[str, str]:
        return {
            "VLLM_SERVER_DEV_MODE": "1",  # POST /reset_prefix_cache
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": "2",
            "VLLM_RPC_BASE_PATH": str(scratch),
            "VLLM_CACHE_ROOT": str(home() / "vllm-cache"),
            "VLLM_CONFIG_ROOT": str(home() / "vllm-config"),
        }


@dataclass(frozen=True)
class Sglang:
    """SGLang's real scheduler and radix cache with PyTorch's attention.

    Args:
        page_size: tokens.
        tokens: of the pool.
    """

    page_size: int = 1
    tokens: int = 65536

    def command(self, ports: Ports, scratch: Path) -> list[str]:
        words = [str(sglang_python()), "-m", "sglang.launch_server", "--model-path", str(tiny_model())]
        words += ["--host", "127.0.0.1", "--port", str(ports.http), "--served-model-name", MODEL, "--device", "cpu"]
        words += ["--attention-backend", "torch_native", "--sampling-backend", "pytorch", "--disable-overlap-schedule"]
        words += ["--enable-metrics", "--enable-cache-report", "--skip-server-warmup"]
        words += ["--page-size", str(self.page_size), "--max-total-tokens", str(self.tokens)]
        return words

    def environment(self, scratch: Path) -> dict[str, str]:
        return {"SGLANG_USE_CPU_ENGINE": "1", "OMP_NUM_THREADS": "2"}


@dataclass
class RealServer:
    """Starts an engine and waits until it is healthy; ends it with the block, or when this process is gone.

    Attributes:
        url: ``http://127.0.0.1:PORT``, inside the block.
        events_url: where the first rank publishes KV events, if the engine does.
        seconds: from start to health.

    Raises (on entering):
        Unavailable: the engine cannot be had here.
        ServerFailed: it ended or was not ready in time.
    """

    engine: Engine
    url: str = ""
    events_url: str = ""
    seconds: float = 0.0
    _keeper: subprocess.Popen[bytes] | None = None
    _scratch: Path = field(default_factory=Path)

    def __enter__(self) -> RealServer:
        # A short path: sockets lie in it, and their names have at most 107 characters.
        self._scratch = Path(tempfile.mkdtemp(prefix="engine-"))
        ports = Ports(_free_port(), _free_port())
        self.events_url = f"tcp://127.0.0.1:{ports.events}"
        try:
            command = self.engine.command(ports, self._scratch)
            self._start(command, self.engine.environment(self._scratch))
            self._await_health(f"http://127.0.0.1:{ports.http}")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def log(self) -> str:
        """What it has said so far."""
        return (self._scratch / "log").read_text(encoding="utf-8", errors="replace")

    def _start(self, command: list[str], more: dict[str, str]) -> None:
        path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_", "PYTEST_", "VIRTUAL_ENV"))}
        offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1"}
        with open(self._scratch / "log", "wb") as log:
            self._keeper = subprocess.Popen(
                [sys.executable, keeper.__file__, str(os.getpid()), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._scratch,
                env={**kept, **offline, **more, "PATH": path, "TMPDIR": str(self._scratch)},
            )

    def _await_health(self, url: str) -> None:
        assert self._keeper is not None
        began = time.monotonic()
        with httpx.Client(timeout=10.0, trust_env=False) as client:
            while time.monotonic() - began < READY_S:
                if self._keeper.poll() is not None:
                    raise ServerFailed(f"the engine ended with code {self._keeper.returncode}: {self.log[-SHOWN:]}")
                try:
                    if client.get(f"{url}/health").status_code == 200:
                        self.url, self.seconds = url, time.monotonic() - began
                        return
                except httpx.HTTPError:
                    pass
                time.sleep(0.25)
        raise ServerFailed(f"the engine is not ready after {READY_S:g} s: {self.log[-SHOWN:]}")

    def _end(self) -> None:
        child, self._keeper, self.url = self._keeper, None, ""
        if child is not None:
            child.terminate()
            try:
                child.wait(keeper.GRACE_S + 10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def version_of(server: RealServer) -> dict[str, Any]:
    """The engine's own word on its version."""
    for path in ("/version", "/server_info"):
        answer = httpx.get(f"{server.url}{path}", timeout=30.0, trust_env=False)
        if answer.status_code == 200 and "version" in answer.json():
            return {"version": answer.json()["version"]}
    return {"version": None}
