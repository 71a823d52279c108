"""The device that a vLLM tells of, in every form in which it is known to."""

from __future__ import annotations

from typing import Any

import pytest

from prefixcache.engines.detect import adapter_on
from prefixcache.engines.device import device_of
from prefixcache.engines.frameworks.sglang import SGLANG
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.frameworks.vllm_ascend import VLLM_ASCEND


@pytest.mark.parametrize(
    ("config", "device"),
    [
        ({"device_config": {"device_type": "npu"}}, "npu"),
        ({"device_config": {"device": "npu:0", "device_type": None}}, "npu"),
        ({"device_config": {"device": {"type": "npu", "index": 0}}}, "npu"),
        ({"device_config": {"device": "auto", "device_type": "cuda"}}, "cuda"),
        ({"device_config": "NPU"}, "npu"),
        ({"parallel_config": {"worker_cls": "vllm_ascend.worker.worker_v1.NPUWorker"}}, "npu"),
        ({"parallel_config": {"worker_cls": "vllm.v1.worker.gpu_worker.Worker"}}, None),
        ("model='m', kv_cache_dtype=auto,  device_config=npu, decoding_config=DecodingConfig()", "npu"),
        ("model='npu', kv_cache_dtype=auto, device_config=cuda, seed=0, note='npu'", "cuda"),
        ("device_config={'device_type': 'npu'}", "npu"),
        ("model='npu'", None),
        ({"device_config": 5}, None),
        ({}, None),
        (None, None),
        ([{"device_config": "npu"}], None),
    ],
)
def test_every_form(config: Any, device: str | None) -> None:
    assert device_of({}, {"vllm_config": config}) == device


def test_only_vllm_changes_with_the_device() -> None:
    assert adapter_on(VLLM, "npu") is VLLM_ASCEND
    assert adapter_on(VLLM, "cuda") is adapter_on(VLLM, None) is VLLM
    assert adapter_on(SGLANG, "npu") is SGLANG
