"""MindIE: names without a prefix, gauges that only grow, one series whatever the number of ranks.

``all_radix_match_num`` and ``npu_radix_match_hit_num`` (since 2026-03) count prompt tokens, typed as gauges;
``npu_prefix_cache_hit_rate`` is their quotient since the start, in single precision. ``mindie-gauge`` is an older
version that has the rate alone. Nothing states the block size, nothing empties the cache, there is no salt, and no
request can ask for a rank. Facts: ``prometheus_metrics.cpp`` of MindIE-LLM; the text is prometheus-cpp's, which writes
whole numbers without a point, and ``Nan``.

Not as the original: it refreshes these gauges once a second, here they are always fresh.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prefixcache.reference.dialects.face import Face
from prefixcache.reference.dialects.table import Table, labels_of
from prefixcache.reference.dialects.vllm_v0 import OldRoutes
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.routes import get, json_response
from prefixcache.reference.sequence import Sequence
from prefixcache.reference.series import Watched

TTFT_BUCKETS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
Gauge = tuple[str, str, Callable[[], float]]
E2E_BUCKETS = (1, 2.5, 5, 10, 15, 20, 30, 40, 50, 60)


class MindiePage:
    """One series for all ranks."""

    content_type = "text/plain; charset=utf-8"

    def __init__(self, options: EngineOptions) -> None:
        self._labels = labels_of(model_name=options.model)
        self._states: list[Watched] = []
        self._asked = self._hit = 0
        self._counts = options.dialect == "mindie"
        self._prefix_caching = options.prefix_caching
        table = self._table = Table()
        self._received = table.family("request_received_total", "counter", "Count of received requests.")
        self._done = table.family("request_success_total", "counter", "Count of successfully processed requests.")
        self._failed = table.family("request_failed_total", "counter", "Count of failed requests.")
        scheduler: tuple[Gauge, ...] = (
            ("num_requests_running", "Number of requests currently running on NPU.", self._running),
            ("num_requests_waiting", "Number of requests waiting to be processed.", self._waiting),
            ("num_requests_swapped", "Number of requests swapped to CPU.", lambda: 0),
        )
        for name, text, value in scheduler:
            table.family(name, "gauge", text).read[self._labels] = value
        self._ttft = table.family(
            "time_to_first_token_seconds", "histogram", "Histogram of time to first token in seconds.", TTFT_BUCKETS
        )
        self._e2e = table.family(
            "e2e_request_latency_seconds",
            "histogram",
            "Histogram of end to end request latency in seconds.",
            E2E_BUCKETS,
        )
        self._prompt = table.family("prompt_tokens_total", "counter", "Number of prefill tokens processed.")
        self._generated = table.family("generation_tokens_total", "counter", "Number of generation tokens processed.")
        self._preempted = table.family(
            "num_preemptions_total", "counter", "Cumulative number of preemption from the engine."
        )
        cache: tuple[Gauge, ...] = (
            ("npu_cache_usage_perc", "NPU KV-cache usage. 1 means 100 percent usage.", self._usage),
            ("cpu_cache_usage_perc", "CPU KV-cache usage. 1 means 100 percent usage.", lambda: 0),
            ("npu_prefix_cache_hit_rate", "NPU prefix cache block hit rate.", self._rate),
        )
        if self._counts:
            matched = "Total number of prefill prompt tokens participating in prefix cache radix match."
            hit = "Number of prefill prompt tokens hit by prefix cache radix match."
            cache += (
                ("all_radix_match_num", matched, lambda: self._matched(self._asked)),
                ("npu_radix_match_hit_num", hit, lambda: self._matched(self._hit)),
            )
        for name, text, value in cache:
            table.family(name, "gauge", text).read[self._labels] = value
        self.reset()

    def rank(self, index: int, model: str) -> MindiePage:
        return self

    def watch(self, state: Watched) -> None:
        self._states.append(state)

    def looked_up(self, sequence: Sequence) -> None:
        self._asked += len(sequence.prompt)
        self._hit += sequence.cached or 0
        self._received.add(1, self._labels)

    def prefilled(self, sequence: Sequence, waited: float) -> None:
        self._prompt.add(len(sequence.prompt), self._labels)
        self._ttft.observe(waited, self._labels)

    def generated(self, sequence: Sequence, tokens: int) -> None:
        self._generated.add(tokens, self._labels)

    def ended(self, sequence: Sequence, reason: str, took: float) -> None:
        if reason != "abort":
            self._done.add(1, self._labels)
            self._e2e.observe(took, self._labels)

    def page(self) -> bytes:
        lines = []
        for family, samples in self._table.shown():
            lines += [f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.kind}"]
            for name, labels, value in samples:
                inside = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
                lines.append(f"{name}{{{inside}}} {_number(value)}")
        return ("\n".join(lines) + "\n").encode()

    def reset(self) -> None:
        self._table.clear()
        self._asked = self._hit = 0
        for family in (self._received, self._done, self._failed, self._prompt, self._generated, self._preempted):
            family.set(0, self._labels)

    def restarted(self) -> None:
        self.reset()

    def families(self) -> list[str]:
        return self._table.families()

    def drop(self, names: Iterable[str]) -> None:
        self._table.drop(names)

    def _running(self) -> float:
        return sum(state.running() for state in self._states)

    def _waiting(self) -> float:
        return sum(state.waiting() for state in self._states)

    def _usage(self) -> float:
        return _single(sum(state.held() for state in self._states), sum(state.usable() for state in self._states))

    def _matched(self, tokens: int) -> float:
        """NaN before the first prompt, -1 without a prefix cache."""
        if not self._prefix_caching:
            return -1
        return tokens if self._asked else math.nan

    def _rate(self) -> float:
        return _single(self._hit, self._asked) if self._asked else 0.0


def _single(part: int, whole: int) -> float:
    """The quotient as a float of four bytes has it."""
    value: float = struct.unpack("f", struct.pack("f", part / whole))[0]
    return value


def _number(value: float) -> str:
    if math.isnan(value):
        return "Nan"
    return str(int(value)) if value == int(value) else repr(float(value))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


class MindieRoutes(OldRoutes):
    owner = "MindIE Server"

    def table(self) -> list[Route]:
        absent = ("/tokenize", "/detokenize", "/version")
        return [*(route for route in super().table() if route.path not in absent), get("/info", self.info)]

    def reset_routes(self) -> list[Route]:
        return []

    def card(self) -> dict[str, Any]:
        card: Mapping[str, Any] = super().card()
        return {name: card[name] for name in ("id", "object", "created", "owned_by")}

    async def info(self, request: Request) -> Response:
        options = self.options
        model = {
            "model_device_type": "npu",
            "model_dtype": "float16",
            "model_id": options.model,
            "model_pipeline_tag": "text-generation",
            "model_sha": None,
            "max_total_tokens": options.context_len,
        }
        return json_response(
            {
                "docker_label": None,
                "max_batch_total_tokens": 8192,
                "max_best_of": 1,
                "max_concurrent_requests": 200,
                "max_stop_sequences": None,
                "max_waiting_tokens": None,
                "sha": None,
                "validation_workers": None,
                "version": options.traits.version,
                "waiting_served_ratio": None,
                "models": [model],
                "max_input_length": options.context_len - 1,
            }
        )


FACE = Face(MindiePage, MindieRoutes)
