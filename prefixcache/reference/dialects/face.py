"""One dialect as the server shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from prefixcache.reference.options import EngineOptions
from prefixcache.reference.series import EnginePage

if TYPE_CHECKING:
    from prefixcache.reference.routes import Routes

MODULES = {
    "vllm": "vllm",
    "vllm-v0": "vllm_v0",
    "vllm-early-v1": "vllm_early",
    "vllm-ascend": "vllm_ascend",
    "sglang": "sglang",
    "mindie": "mindie",
    "mindie-gauge": "mindie",
}


@dataclass(frozen=True)
class Face:
    """One dialect.

    Args:
        page: makes the metrics page.
        routes: makes the routes, of an engine.
    """

    page: Callable[[EngineOptions], EnginePage]
    routes: type[Routes]


def face_of(name: str) -> Face:
    """The dialect of that name; only its own module is loaded."""
    found: Face = import_module(f"prefixcache.reference.dialects.{MODULES[name]}").FACE
    return found
