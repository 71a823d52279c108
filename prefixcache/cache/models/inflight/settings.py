"""What decides how vLLM schedules requests in flight: sizes that the server has, and the pace of server and client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from prefixcache.errors import InputError


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take, all in one unit of time, whichever.

    Only ratios matter. The defaults say: steps take equally long, the client's next request is on its way for half a
    step, and of requests sent at once a step that begins with the first does not see the others.

    Args:
        step: of one step of the engine, whatever is in it.
        token: added for each token computed in it.
        delay: from the end of a step to the arrival of the request that the client sends on it.
        spacing: between two arrivals; the server's front end takes them one after the other.
    """

    step: float = 1.0
    token: float = 0.0
    delay: float = 0.5
    spacing: float = 0.01

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) >= 0:
                raise InputError(
                    f"{getattr(self, each.name)!r} is not a time",
                    field=f"pace.{each.name}",
                    remedy="write 0 or more.",
                )
        if not self.step + self.token > 0:
            raise InputError("steps take no time", field="pace.step", remedy="write a step or a token above 0.")


LIMITS = {
    "max_num_batched_tokens": "max_num_batched_tokens",
    "max_num_seqs": "max_num_seqs",
    "long_prefill_token_threshold": "long_prefill_token_threshold",
    "reserve_full_prompt": "scheduler_reserve_full_isl",
    "watermark": "watermark",
}
"""Fields below and how vLLM's own configuration calls them."""


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """vLLM's scheduler and block pool, one of each per domain. Names and defaults as the server has them
    (vllm/config/scheduler.py; the first two have none).

    Args:
        num_blocks: ``num_gpu_blocks``, the null block included.
        block_size: tokens per block.
        max_num_batched_tokens: tokens of a step; 2048 in an API server below 70 GB of memory, 8192 above.
        max_num_seqs: requests that run at once; 256, on a CPU 128, above 70 GB 1024.
        reserve_full_prompt: ``scheduler_reserve_full_isl``: a request is let in only if its whole prompt fits.
        long_prefill_token_threshold: most tokens of a request in a step beside others; 0: no such limit.
        watermark: share of the blocks that letting in a request beside others leaves free.
        hit_drop: leading blocks found that are computed again (EAGLE and MTP: 1).
        pace: how long things take.
    """

    num_blocks: int
    block_size: int
    max_num_batched_tokens: int = 2048
    max_num_seqs: int = 256
    reserve_full_prompt: bool = True
    long_prefill_token_threshold: int = 0
    watermark: float = 0.0
    hit_drop: int = 0
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        least = {"num_blocks": 2, "block_size": 1, "max_num_batched_tokens": 1, "max_num_seqs": 1}
        for name, smallest in (least | {"long_prefill_token_threshold": 0, "hit_drop": 0}).items():
            if getattr(self, name) < smallest:
                raise InputError(
                    f"{getattr(self, name)} is below {smallest}", field=name, remedy=f"write at least {smallest}."
                )
        if not 0 <= self.watermark < 1:
            raise InputError(f"{self.watermark} is no share", field="watermark", remedy="write 0 to less than 1.")

    @classmethod
    def of_server(cls, facts: Mapping[str, Any], **known: Any) -> SchedulerSettings:
        """Of a server as ``runtime/run.json`` describes it (an entry of ``servers``).

        It tells blocks and block size; the scheduler's own limits (``scheduler``) only where vLLM was started with
        ``VLLM_SERVER_DEV_MODE=1``, else they are the defaults unless ``known``. Blocks are taken from the tokens of one
        rank where those are told: with several ranks ``num_gpu_blocks`` is the sum of all.

        Raises:
            InputError: neither the server nor ``known`` tells blocks and block size.
        """
        size, tokens = facts.get("block_size"), facts.get("kv_cache_tokens_per_engine")
        blocks = tokens // size + 1 if tokens and size else facts.get("num_gpu_blocks")
        told: dict[str, Any] = {"num_blocks": blocks, "block_size": size}
        told |= cls.limits_told(facts)
        told |= {name: value for name, value in known.items() if value is not None}
        for name, value in told.items():
            if value is None:
                raise InputError(
                    f"the server does not tell its {name}", field=name, remedy="write it, as the server was started."
                )
        return cls(**told)

    @staticmethod
    def limits_told(facts: Mapping[str, Any]) -> dict[str, Any]:
        """The scheduler's own limits, as fields of this class, as far as the server told them."""
        told = facts.get("scheduler")
        found = told if isinstance(told, Mapping) else {}
        return {name: found[theirs] for name, theirs in LIMITS.items() if found.get(theirs) is not None}

    def at_pace(self, pace: Pace) -> SchedulerSettings:
        """The same server at another pace."""
        return replace(self, pace=pace)
