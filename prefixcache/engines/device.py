"""What a vLLM says of the device that it runs on: its metrics are the same on all of them.

``GET /server_info`` (with ``VLLM_SERVER_DEV_MODE=1``) has the configuration as a text, ``…, device_config=npu, …``, and
with ``?config_format=json`` as an object whose ``device_config`` is one too (vllm/config/vllm.py and device.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prefixcache.engines.scheduler import CONFIG

NPU = "npu"
NAMES = ("device_type", "device", "type")
ASCEND_WORKER = "vllm_ascend"
_KIND = re.compile(r"\b(npu|cuda|rocm|cpu|xpu|tpu|hpu)\b")
_IN_TEXT = re.compile(r"\bdevice_config=(.{0,120})", re.DOTALL)


def device_of(*infos: Mapping[str, Any]) -> str | None:
    """The kind of device, e.g. ``npu``; None where no answer tells it.

    Args:
        infos: answers of the info route, in whatever format.
    """
    for info in infos:
        config = info.get(CONFIG)
        if isinstance(config, Mapping):
            found = _kind(config.get("device_config")) or _by_worker(config.get("parallel_config"))
        else:
            text = _IN_TEXT.search(config) if isinstance(config, str) else None
            found = None if text is None else _kind(text[1])
        if found is not None:
            return found
    return None


def _kind(told: Any) -> str | None:
    """Of ``npu``, ``npu:0``, ``{"device": "npu"}`` and the like."""
    if isinstance(told, Mapping):
        return next((kind for name in NAMES if (kind := _kind(told.get(name))) is not None), None)
    found = _KIND.search(told.lower()) if isinstance(told, str) else None
    return None if found is None else found[1]


def _by_worker(parallel: Any) -> str | None:
    """By the class that computes, where the device is not told: ``vllm_ascend.worker…``."""
    worker = parallel.get("worker_cls") if isinstance(parallel, Mapping) else None
    return NPU if isinstance(worker, str) and worker.startswith(ASCEND_WORKER) else None
