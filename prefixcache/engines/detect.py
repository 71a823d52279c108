"""Which framework is this? Its metrics page tells."""

from __future__ import annotations

from collections.abc import Callable

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.sglang import SGLANG
from prefixcache.engines.vllm import VLLM
from prefixcache.errors import InputError

ADAPTERS: tuple[Adapter, ...] = (VLLM, SGLANG)


def detect_adapter(page: MetricsPage, url: str = "", clean: Callable[[str], str] = str) -> Adapter:
    """The adapter whose metrics are most of a page's.

    Args:
        page: a metrics page.
        url: where it came from, without credentials, for the message.
        clean: takes out of a metric's name what must not be shown.

    Raises:
        InputError: no known framework's metric is on the page.
    """
    counts = {a.name: sum(name.startswith(a.metric_prefix) for name in page.series) for a in ADAPTERS}
    best = max(ADAPTERS, key=lambda a: counts[a.name])
    if counts[best.name]:
        return best
    known = ", ".join(a.name for a in ADAPTERS)
    seen = ", ".join(clean(name)[:80] for name in sorted(page.series)[:3]) or "nothing"
    raise InputError(
        f"{url or 'the metrics page'} has no metric of a known framework ({known}); it has {seen}",
        field="metrics_url",
        remedy="Give the server's own metrics page with --metrics-url (vLLM: /metrics; SGLang: --enable-metrics).",
        stage="preflight",
    )
