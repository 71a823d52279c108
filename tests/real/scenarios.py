"""Datasets of the product and how it sends them: every scenario has an exact answer on an engine with room for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefixcache.config import parse_config
from prefixcache.engines.http import Timeouts
from prefixcache.load.options import Isolation, RunOptions, SendChoice
from prefixcache.load.sending.gate import Gating
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.stages.stage import InProcess
from tests.real.environment.model import tiny_model

PATIENT = Timeouts(connect=60.0, idle=300.0, total=900.0)
GROUPS = {"group_count": 3}
WARM = {"semantics": "static_prefix_ratio"}


@dataclass(frozen=True)
class Scenario:
    """A dataset and a way to run it.

    Args:
        name: for people.
        changes: top-level keys of the configuration that differ from :func:`base`.
        order_free: requests may overtake each other, so only totals are designed, not each request's hits.
    """

    name: str
    changes: dict[str, Any] = field(default_factory=dict)
    concurrency: int = 1
    gating: Gating = "watermark"
    send: SendChoice = "auto"
    isolation: Isolation = "auto"
    order_free: bool = False

    def options(self, url: str, events: str | None = None) -> RunOptions:
        """``events``: where the server publishes its KV events, if they shall be recorded."""
        return RunOptions(
            urls=(url,),
            kv_events=() if events is None else (events,),
            concurrency=self.concurrency,
            gating=self.gating,
            send=self.send,
            isolation=self.isolation,
            timeouts=PATIENT,
            poll_interval=0.5,
            quiesce_timeout=300.0,
        )


def base(unit: int) -> dict[str, Any]:
    """40 requests of 1 to 19 blocks (of 32 tokens at least), half of whose tokens shall hit, one output token."""
    size = max(unit, 32)
    return {
        "dataset_id": "real",
        "seed": 5,
        "request_count": 40,
        "block_size": unit,
        "tokenizer": str(tiny_model()),
        "input_length": {"mode": "uniform", "min": size, "max": 19 * size},
        "output_length": 1,
        "target": {"hit_ratio": 0.5},
    }


def make(scenario: Scenario, folder: Path, unit: int) -> Path:
    """The scenario's dataset, in the folder."""
    config = parse_config({**base(unit), **scenario.changes})
    generate_prefix_cache_dataset(config, folder, InProcess(1))
    return folder


def _mode(mode: str, **more: Any) -> dict[str, Any]:
    """A mode, and the target's semantics where that starts warm."""
    target = {"target": {"hit_ratio": 0.5, **WARM}} if mode in ("warmup", "hot") else {}
    return {"execution": {"mode": mode}, **target, **more}


def _group(name: str, ratio: float) -> dict[str, Any]:
    return {"id": name, "request_weight": 1, "hit_ratio": ratio}


EXACT = (
    Scenario("one group, one at a time"),
    Scenario("one group, 16 at a time", concurrency=16),
    Scenario("three groups interleaved, one at a time", {"prefix": GROUPS}),
    Scenario("three groups interleaved, 16 at a time", {"prefix": GROUPS}, concurrency=16),
    Scenario("three groups, all shuffled", {"prefix": GROUPS, "request_order": "shuffle"}, concurrency=16),
    Scenario("one group, longest first", {"request_order": "input_len_desc"}, concurrency=16),
    Scenario("shortest prefix first", {"prefix": GROUPS, "request_order": "prefix_len_asc"}, concurrency=16),
    Scenario("longest prefix first", {"prefix": GROUPS, "request_order": "prefix_len_desc"}),
    Scenario("group after group", {"prefix": GROUPS, "request_order": "grouped"}, 16, gating="first_token"),
    Scenario(
        "weighted interleave",
        {"prefix": {"group_count": 4, "zipf_exponent": 1}, "request_order": "weighted_interleave"},
        16,
        gating="completion",
    ),
    Scenario("no gates: totals", {"prefix": GROUPS}, 16, gating="none", order_free=True),
    Scenario("warm, no gates", _mode("warmup", prefix=GROUPS), 16, gating="none"),
    Scenario("warm, one group", _mode("hot")),
    Scenario("compare", _mode("compare", prefix=GROUPS), concurrency=16),
    Scenario("compare, salted", _mode("compare", prefix=GROUPS), concurrency=16, isolation="salt"),
    Scenario("replay", {**_mode("replay", prefix=GROUPS), "target": None}, concurrency=16),
    Scenario("token ids", {"prefix": GROUPS}, 16, send="ids"),
    Scenario("random tokens as ids", {"suffix": {"source": "random_tokens"}}, send="ids"),
    Scenario("chat", {"prefix": GROUPS, "prompt": {"format": "chat"}}, concurrency=16),
    Scenario(
        "chat, a system message of three blocks",
        {"prefix": GROUPS, "prompt": {"format": "chat", "system": "Answer in short and plain words only. " * 13}}
        | {"input_length": {"mode": "uniform", "min": 160, "max": 600}},
        concurrency=16,
    ),
    Scenario("a common opening", {"prefix": GROUPS, "prompt": {"system": "You see a list of numbers. " * 20}}, 16),
    Scenario("outputs of 40 tokens", {"prefix": GROUPS, "output_length": 40, "request_count": 24}, 16),
    Scenario(
        "targets by group",
        {
            "target": {"scope": "per_group"},
            "prefix": {"groups": [_group("low", 0.2), _group("middle", 0.5), _group("high", 0.7)]},
            "request_count": 60,
        },
        16,
    ),
    Scenario("fewest shared tokens", {"prefix": GROUPS, "planning": {"objective": "minimal_prefix"}}, 16),
    Scenario("along the target", {"planning": {"objective": "trajectory"}, "request_order": "shuffle"}),
)
"""At the block size 32; sizes in tokens fit it."""


def _tight(name: str, **changes: Any) -> Scenario:
    """80 requests of five groups, one at a time: their prefixes alone are more than 63 blocks hold."""
    more = {"request_count": 80, "prefix": {"group_count": 5}, "seed": 7, "target": {"hit_ratio": 0.6}}
    return Scenario(name, more | changes)


TIGHT = (
    _tight("interleaved"),
    _tight("shuffled", request_order="shuffle"),
    _tight("longest first", request_order="input_len_desc"),
    _tight("outputs of 20 tokens", request_order="shuffle", output_length=20, request_count=30),
    _tight("compare", **_mode("compare")),
    _tight("warm", **_mode("warmup", request_order="shuffle")),
)
"""At the block size 32 on 64 blocks."""

ANY_BLOCK = (
    Scenario("one group, one at a time", {"output_length": 6}),
    Scenario("three groups, all shuffled", {"prefix": GROUPS, "request_order": "shuffle"}, concurrency=16),
    Scenario("compare", _mode("compare", prefix=GROUPS), concurrency=16),
    Scenario("chat", {"prefix": GROUPS, "prompt": {"format": "chat"}}, concurrency=16),
    Scenario("token ids", {"prefix": GROUPS}, 16, send="ids"),
)
"""At any block size: sizes in tokens follow it."""


def _ranks(name: str, routing: dict[str, Any], concurrency: int = 16, **changes: Any) -> Scenario:
    routing = {"cache_scope": "dp_local", "dp_size": 2, **routing}
    return Scenario(name, {"prefix": {"group_count": 4}, "routing": routing, **changes}, concurrency)


RANKS = (
    _ranks("groups bound to ranks, one at a time", {"bind_prefix_group_to_dp": True}, 1),
    _ranks("groups bound to ranks, 16 at a time", {"bind_prefix_group_to_dp": True}, request_order="shuffle"),
    _ranks("round robin", {"policy": "round_robin"}),
    _ranks("round robin by group, compare", {"policy": "group_round_robin"}, **_mode("compare")),
    _ranks("random routes", {"policy": "random"}, 1, request_order="shuffle"),
)
"""At the block size 32 on two data-parallel ranks."""


def _flight(concurrency: int, gating: Gating = "none", name: str = "shuffled", **changes: Any) -> Scenario:
    """120 requests of three groups in any order, more at once than a tight pool holds."""
    more = {"request_count": 120, "prefix": GROUPS, "seed": 11, "request_order": "shuffle", "output_length": 8}
    return Scenario(name, more | changes, concurrency, gating, order_free=True)


FLIGHT = (
    *(_flight(concurrency) for concurrency in (4, 8, 16, 32)),
    *(_flight(concurrency, "watermark") for concurrency in (4, 16)),
    _flight(16, name="outputs of one token", output_length=1),
    _flight(16, name="six groups", prefix={"group_count": 6}),
)
"""At the block size 32 on tight pools, with requests in flight: totals depend on time."""
