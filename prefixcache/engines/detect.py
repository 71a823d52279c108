"""Which framework is this? Its metrics page tells, or the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.device import NPU
from prefixcache.engines.frameworks.custom import load_adapter
from prefixcache.engines.frameworks.llamacpp import LLAMACPP
from prefixcache.engines.frameworks.lmdeploy import LMDEPLOY
from prefixcache.engines.frameworks.mindie import MINDIE
from prefixcache.engines.frameworks.sglang import SGLANG
from prefixcache.engines.frameworks.stores import STORES
from prefixcache.engines.frameworks.tensorrt_llm import TENSORRT_LLM
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.frameworks.vllm_ascend import VLLM_ASCEND
from prefixcache.engines.page import MetricsPage
from prefixcache.errors import InputError

ENGINES: tuple[Adapter, ...] = (VLLM, VLLM_ASCEND, SGLANG, MINDIE, TENSORRT_LLM, LMDEPLOY, LLAMACPP)
ADAPTERS = ENGINES + STORES
AUTO = "auto"
YAML = (".yaml", ".yml")


def detect_adapter(page: MetricsPage, url: str = "", clean: Callable[[str], str] = str) -> Adapter:
    """The engine whose metrics are most of a page's; a store only where the page has no engine's.

    Args:
        page: a metrics page.
        url: where it came from, without credentials, for the message.
        clean: takes out of a metric's name what must not be shown.

    Raises:
        InputError: no known framework's metric is on the page.
    """
    if (found := known_adapter(page)) is not None:
        return found
    known = ", ".join(a.name for a in ADAPTERS)
    seen = some_names(page, clean)
    hints = "; ".join(a.needs for a in ENGINES if a.needs)
    raise InputError(
        f"{url or 'the metrics page'} has no metric of a known framework ({known}); it has {seen}",
        field="metrics_url",
        remedy=f"Give the server's own metrics page with --metrics-url ({hints}), or describe it in a YAML file for "
        "--engine.",
        stage="preflight",
    )


def known_adapter(page: MetricsPage) -> Adapter | None:
    """As :func:`detect_adapter`; None for a page of no known framework."""
    for family in (ENGINES, STORES):
        counts = {a.name: sum(a.recognises(name) for name in page.series) for a in family}
        best = max(family, key=lambda a: counts[a.name])
        if counts[best.name]:
            return best
    return None


def adapter_on(adapter: Adapter, device: str | None) -> Adapter:
    """vLLM on an NPU is vLLM-Ascend, whose metrics are the same; any other framework is what it is."""
    return VLLM_ASCEND if adapter is VLLM and device == NPU else adapter


def owner_of(name: str | None) -> Adapter | None:
    """The engine that lists its models under this owner; of vLLM and vLLM-Ascend the former."""
    return next((a for a in ENGINES if name and a.owner == name), None)


def some_names(page: MetricsPage, clean: Callable[[str], str] = str) -> str:
    """What a page has, for a message."""
    return ", ".join(clean(name)[:80] for name in sorted(page.series)[:3]) or "nothing"


def named_adapter(name: str) -> Adapter | None:
    """The adapter that a user names, or describes in a YAML file; None for ``auto``.

    Raises:
        InputError: no such framework, no such file, or a description that is none.
    """
    if name == AUTO:
        return None
    if name.lower().endswith(YAML):
        own = load_adapter(Path(name))
        if any(a.name == own.name.lower() for a in ADAPTERS):
            raise InputError(
                f"{Path(name).name}: name: {own.name} is a framework that is known without it",
                field="engine",
                remedy=f"Give it another name, or write --engine {own.name.lower()}.",
            )
        return own
    found = next((a for a in ADAPTERS if a.name == name.lower()), None)
    if found is None:
        raise InputError(
            f"{name!r} is no known framework",
            field="engine",
            remedy=f"Write auto, {', '.join(a.name for a in ADAPTERS)}, or a YAML file that describes one "
            "(docs/engines.md).",
        )
    return found


def adapter_for(name: str, page: MetricsPage, url: str = "", clean: Callable[[str], str] = str) -> Adapter:
    """The adapter that is named, else the page's own.

    Raises:
        InputError: as :func:`named_adapter` and :func:`detect_adapter`.
    """
    return named_adapter(name) or detect_adapter(page, url, clean)
