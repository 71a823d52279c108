"""What the engines can and cannot do, whatever their pages look like; light enough for checking options."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """One engine.

    Args:
        name: as people write it.
        version: what it says of itself, marked by a local version label (PEP 440).
        reset_route: empties the prefix cache; empty: there is none.
        salts: knows ``cache_salt``.
        ranks: has data-parallel ranks.
        pins: a request can ask for one of them.
        forced_block: tokens of a block whatever was asked for; 0: as asked.
        states_block_size: on some page or route.
    """

    name: str
    version: str
    reset_route: str = "/reset_prefix_cache"
    salts: bool = True
    ranks: bool = True
    pins: bool = True
    forced_block: int = 0
    states_block_size: bool = True


TRAITS = {
    "vllm": Traits("vLLM", "0.32.0+reference"),
    "vllm-v0": Traits("vLLM V0", "0.7.3+reference", salts=False, ranks=False, pins=False),
    "vllm-early-v1": Traits("vLLM 0.8", "0.8.3+reference", salts=False, pins=False),
    "vllm-ascend": Traits("vLLM-Ascend", "0.26.0+reference", forced_block=128),
    "sglang": Traits("SGLang", "0.5.23+reference", reset_route="/flush_cache"),
    "mindie": Traits("MindIE", "3.0.0+reference", "", salts=False, pins=False, states_block_size=False),
    "mindie-gauge": Traits("MindIE", "1.0.0+reference", "", salts=False, pins=False, states_block_size=False),
}
