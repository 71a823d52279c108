"""vLLM of today: its page is :mod:`prefixcache.reference.metrics`, its routes :mod:`prefixcache.reference.routes`."""

from __future__ import annotations

from prefixcache.reference.dialects.face import Face
from prefixcache.reference.metrics import EngineMetrics
from prefixcache.reference.routes import Routes

FACE = Face(EngineMetrics, Routes)
