"""Block size and hit unit of a service in RFC 3.2.3's order, with the source of each.

1. What the server's metrics page states of its configuration (``cache_config_info`` and its like).
2. What it was started with, as its information route tells it.
3. (What the user writes needs nobody to be asked.)
4. Rules of the model's family, then the framework's default, each with a warning.

A measurement (``prefixcache probe``) goes before all of them for the unit of matching: that is what it measured. Where
the stated block size does not divide it, the statement is wrong, and the measurement stands for both.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prefixcache.config.nearest import near_names, offered
from prefixcache.config.sizes import FoundSizes, SizeSource
from prefixcache.engines.detect import ADAPTERS, AUTO, adapter_for, named_adapter
from prefixcache.engines.endpoint import parse_endpoint, redact, url_secrets
from prefixcache.engines.http import Connection, Timeouts, open_client
from prefixcache.engines.server import ServerFacts, read_facts
from prefixcache.engines.snapshot import metrics_source, scrape, source_of
from prefixcache.errors import InputError
from prefixcache.load.preflight.probe_report import Measured, read_probe_report

STAGE = "config"
PATIENCE_S = 20.0
DEFAULTS = {"vllm": 16, "vllm-cpu": 128, "vllm-ascend": 128, "sglang": 1, "mindie": 128}
"""Tokens per block where nobody says otherwise: vLLM on a GPU, on a CPU, vLLM-Ascend, SGLang's page, MindIE's
``cacheBlockSize``."""
START_PARAMETERS = ("page_size", "block_size", "cacheBlockSize", "cache_block_size", "tokens_per_block")
ASCEND_BLOCK = 128
COMPRESSION = 128
"""DeepSeek-V4 on vLLM-Ascend matches in blocks of compressed entries (vllm-ascend#10710)."""
DEEPSEEK_V4 = re.compile(r"deepseek[-_ ]?v4", re.IGNORECASE)
HYBRID = re.compile(
    r"qwen3[-_.]?next|qwen3[-_.]5|mamba|jamba|zamba|bamba|nemotron[-_]?h|falcon[-_]?h1|granite[-_]4|kimi[-_]linear"
    r"|lfm2|minimax[-_](?:text|m1)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SizesAsked:
    """Who is asked for the sizes; calling it asks.

    Args:
        urls, metrics_urls: as of a run; metrics pages default to ``/metrics`` of each URL.
        engine: name of the framework, ``auto``: its metrics page tells.
        probe_report: JSON that ``prefixcache probe --json`` printed.
        api_key, connection: how servers are reached.
    """

    urls: tuple[str, ...] = field(default=(), repr=False)
    metrics_urls: tuple[str, ...] = field(default=(), repr=False)
    engine: str | None = None
    probe_report: Path | None = None
    api_key: str | None = field(default=None, repr=False)
    connection: Connection = field(default_factory=Connection)

    def __call__(self) -> FoundSizes:
        """Ask.

        Raises:
            InputError: servers that disagree, an unknown framework, no such report.
            EnvironmentFailure: a server cannot be reached.
        """
        measured = None if self.probe_report is None else read_probe_report(self.probe_report)
        facts = asyncio.run(self._facts()) if self.urls else []
        return sizes_of(facts, measured, self.engine)

    async def _facts(self) -> list[ServerFacts]:
        endpoints = [parse_endpoint(url) for url in self.urls]
        if self.metrics_urls:
            sources = [metrics_source(url, self.api_key) for url in self.metrics_urls]
        else:
            sources = [source_of(endpoint, api_key=self.api_key) for endpoint in endpoints]
        secrets = url_secrets((*self.urls, *self.metrics_urls))
        async with open_client(Timeouts(connect=PATIENCE_S, idle=PATIENCE_S), self.connection) as http:
            pages = await asyncio.gather(*(scrape(http, source) for source in sources))
            adapters = [
                adapter_for(_adapter_name(self.engine), page, source.label, lambda text: redact(text, secrets))
                for page, source in zip(pages, sources, strict=True)
            ]
            return [
                await read_facts(
                    http,
                    endpoints[min(number, len(endpoints) - 1)],
                    page,
                    adapters[number],
                    self.api_key,
                    secrets,
                    named=_adapter_name(self.engine) != AUTO,
                )
                for number, page in enumerate(pages)
            ]


def sizes_asked(
    urls: Sequence[str],
    metrics_urls: Sequence[str],
    engine: str | None,
    probe_report: Path | str | None,
    api_key: str | None = None,
    connection: Connection | None = None,
) -> SizesAsked | None:
    """Who is asked, or nobody where nothing was given.

    Raises:
        InputError: an unknown framework, metrics pages without a server.
    """
    if metrics_urls and not urls:
        raise InputError(
            "stands without --url", field="--metrics-url", remedy="give the server's address too.", stage=STAGE
        )
    if engine is not None:
        _adapter_name(engine)
    if not (urls or engine or probe_report):
        return None
    report = None if probe_report is None else Path(probe_report)
    return SizesAsked(tuple(urls), tuple(metrics_urls), engine, report, api_key, connection or Connection())


def _adapter_name(engine: str | None) -> str:
    """``vllm-cpu`` is vLLM with another default.

    Raises:
        InputError: no such framework.
    """
    name = "auto" if engine is None else "vllm" if engine == "vllm-cpu" else engine
    try:
        named_adapter(name)
    except InputError as error:
        known = [*dict.fromkeys([*DEFAULTS, *(adapter.name for adapter in ADAPTERS)])]
        if near := near_names(name.lower(), known, 0.6):
            error.remedy = f"{offered(near)}."
        raise
    return name


def sizes_of(facts: Sequence[ServerFacts], measured: Measured | None, engine: str | None) -> FoundSizes:
    """Sizes from what servers say, what was measured and what is known of the framework.

    Raises:
        InputError: servers that state different block sizes.
    """
    stated, source = _stated(facts)
    other = None if measured is None else measured.of_others(f.endpoint for f in facts)
    warnings: list[str] = [] if other is None else [other]
    block, unit, unit_source = stated, None, None
    alignment = max((f.cache.hit_alignment for f in facts if f.cache.hit_alignment), default=None)
    if alignment is not None and alignment != stated:
        unit, unit_source = alignment, "server_config"
    if measured is not None and measured.hit_unit is not None:
        if stated is not None and measured.hit_unit % stated == 0:
            unit, unit_source = measured.hit_unit, "measured"
        else:
            if stated is not None:
                warnings.append(
                    f"the server states a block size of {stated}, but matches in {measured.hit_unit} tokens as "
                    "measured, of which it is no divisor: the measured unit is taken for both"
                )
            block, source, unit, unit_source = measured.hit_unit, "measured", None, None
    elif block is None and measured is not None and measured.block_size is not None:
        block, source = measured.block_size, "measured"
    framework = engine or (facts[0].adapter if facts else None)
    if block is None and framework in DEFAULTS:
        block, source = DEFAULTS[framework], "framework_default"
        warnings.append(
            f"nobody tells the block size: {block} is assumed, the default of {framework}. If the server's differs, "
            "the hit rate will too; `prefixcache probe` measures it"
        )
    model = next((f.model for f in facts if f.model), None)
    if block is not None and unit is None and (measured is None or measured.hit_unit is None):
        unit, why = _rule(framework, model, block)
        unit_source = None if unit is None else "model_rule"
        warnings += why
    return FoundSizes(
        block,
        source,
        unit,
        unit_source,  # type: ignore[arg-type]
        None if measured is None else measured.hit_drop,
        tuple(warnings),
        ", ".join(dict.fromkeys(f.endpoint for f in facts)),
    )


def _stated(facts: Sequence[ServerFacts]) -> tuple[int | None, SizeSource | None]:
    """The block size that all servers state who state one."""
    told = {f.endpoint: (f.cache.block_size, _started_with(f.info)) for f in facts}
    found: dict[str, int] = {name: page or start for name, (page, start) in told.items() if page or start}  # type: ignore[misc]
    if len(set(found.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in found.items())
        raise InputError(
            f"is auto, but the servers state different block sizes: {listed}",
            field="block_size",
            remedy="serve all instances with one block size.",
            stage=STAGE,
        )
    if not found:
        return None, None
    by_page = any(page for page, _ in told.values())
    return next(iter(found.values())), "server_config" if by_page else "server_start"


def _started_with(info: Mapping[str, Any]) -> int | None:
    for name in START_PARAMETERS:
        value = info.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def _rule(framework: str | None, model: str | None, block: int) -> tuple[int | None, list[str]]:
    """The hit unit that is known of the model's family on this framework, and what to know of it."""
    if framework == "vllm-ascend":
        if model is not None and DEEPSEEK_V4.search(model):
            unit = block * COMPRESSION
            return unit, [
                f"hit_unit {unit} is a rule for {model} on vLLM-Ascend (block x {COMPRESSION}), not what the server "
                "says; with speculative decoding it also drops the last unit (hit_drop: 1). `prefixcache probe` "
                "measures both"
            ]
        if block < ASCEND_BLOCK and ASCEND_BLOCK % block == 0:
            return ASCEND_BLOCK, [
                f"hit_unit {ASCEND_BLOCK} is a rule for dense models on vLLM-Ascend, which match in {ASCEND_BLOCK} "
                f"tokens whatever block size was asked for (here {block}). `prefixcache probe` measures it"
            ]
    if model is not None and HYBRID.search(model):
        return None, [
            f"{model} looks like a hybrid model: such models match in larger units than a block (784 to 3,584 tokens "
            f"were seen), and the server states none, so {block} is taken. `prefixcache probe` measures it"
        ]
    return None, []
