"""What vLLM tells of its scheduler, where it was started with ``VLLM_SERVER_DEV_MODE=1``.

Source: ``GET /server_info?config_format=json`` of vLLM 0.32 (vllm/entrypoints/serve/dev/server_info/api_router.py); the
names are those of vllm/config/scheduler.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CONFIG = "vllm_config"
PARAMETERS = {"config_format": "json"}
FIELDS = (
    "max_num_batched_tokens",
    "max_num_seqs",
    "long_prefill_token_threshold",
    "scheduler_reserve_full_isl",
    "watermark",
    "enable_chunked_prefill",
    "async_scheduling",
    "policy",
)


def scheduler_of(info: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that stand there and are plain values; empty where the server tells none."""
    config = info.get(CONFIG)
    limits = config.get("scheduler_config") if isinstance(config, Mapping) else None
    if not isinstance(limits, Mapping):
        return {}
    return {name: limits[name] for name in FIELDS if isinstance(limits.get(name), bool | int | float | str)}
