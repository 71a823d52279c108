"""vLLM-Ascend: vLLM's page, and on dense models blocks of 128 tokens whatever was asked for.

Its ``/server_info`` is that of a vLLM in development mode: a text, or JSON with ``?config_format=json``.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from prefixcache.reference.dialects.face import Face
from prefixcache.reference.metrics import EngineMetrics
from prefixcache.reference.routes import Routes, json_response


class AscendRoutes(Routes):
    async def server_info(self, request: Request) -> Response:
        config = self._config()
        asked = request.query_params.get("config_format", "text")
        told: Any = config if asked == "json" else ", ".join(f"{name}={part}" for name, part in config.items())
        return json_response({"vllm_config": told})

    def _config(self) -> dict[str, Any]:
        options = self.options
        return {
            "model_config": {"model": options.model, "max_model_len": options.context_len},
            "cache_config": {
                "block_size": options.claimed_block,
                "enable_prefix_caching": options.prefix_caching,
                "num_gpu_blocks": options.num_blocks,
            },
            "parallel_config": {"data_parallel_size": options.dp},
            "device_config": {"device_type": "npu"},
        }


FACE = Face(EngineMetrics, AscendRoutes)
