"""vLLM-Ascend: vLLM's metrics, other hit units.

Its pages cannot be told from vLLM's: the device that the server's info route tells of decides, or the user who names
it. What differs is in its traits.
"""

from __future__ import annotations

from dataclasses import replace

from prefixcache.engines.frameworks.vllm import TRAITS, VLLM

VLLM_ASCEND = replace(
    VLLM,
    name="vllm-ascend",
    marks=VLLM.marks,
    traits=replace(
        TRAITS,
        title="vLLM-Ascend",
        default_block_size=128,
        fixed_block=True,
        units=(
            ("dense", "128 whenever prefix caching or chunked prefill is on, whatever was asked for"),
            (
                "DeepSeek-V4",
                "block × compression 128: 16,384 at block 128, 4,096 at 32; twice that with speculative decoding, "
                "which drops the last matched unit (vllm-ascend#10710)",
            ),
            ("hybrid (Mamba-aligned)", "784 to 3584 tokens seen: 1024 in vllm-ascend#7965"),
            ("decode context parallel", "block × dcp size (vllm-ascend#13750)"),
            ("EAGLE, MTP", "the last matched unit is thrown away again"),
        ),
        traps=(
            "`cache_config_info.block_size` can read 2 where the unit is 4096 (vllm-ascend#16270)",
            "hybrid models with MTP on 0.26: the hits counter stays 0 while TTFT proves hits (vllm-ascend#16639)",
            "several API servers make each metrics page a part of the service (vllm-ascend#10049)",
            *TRAITS.traps[0:1],
        ),
        sources=(*TRAITS.sources, "the vllm-ascend issues named"),
    ),
    needs="vLLM-Ascend: /metrics of the API server",
)
