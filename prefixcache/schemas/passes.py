"""Which passes a manifest's ``execution_mode`` has, in the order they are run (domain: cold start, warm, replay)."""

from __future__ import annotations

PASSES_OF_MODE: dict[str, tuple[str, ...]] = {
    "progressive_prefix_fill": ("cold",),
    "cold": ("cold",),
    "warmup": ("hot",),
    "hot": ("hot",),
    "replay": ("replay",),
    "compare": ("cold", "hot"),
}
