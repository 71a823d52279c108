"""Does a service fit the plan? Its block size, context, capacity, number of caches, and what its counters cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from prefixcache.engines.adapter import CacheFacts
from prefixcache.engines.server import ServerFacts
from prefixcache.errors import InputError
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.preflight.conditions import Conditions
from prefixcache.load.preflight.contradictions import Contradiction
from prefixcache.load.preflight.facts import kv_tokens_needed
from prefixcache.load.preflight.probe_report import Measured

OWN_MODELS = ("vllm", "sglang")
OTHER_TOKENS = "other tokens are other blocks: what they would hit is not known"


def eviction_of(adapter: str) -> str:
    """The cache model of an engine's eviction; least recently used where it is not modelled."""
    return next((name for name in OWN_MODELS if adapter.startswith(name)), "lru")


@dataclass(slots=True)
class Fit:
    """The checks of one service. What is found is added to ``found``, errors and warnings alike.

    Args:
        adapter: name of the framework.
        fixed_block: the server decides on its block size itself.
    """

    dataset: RunDataset
    adapter: str = "vllm"
    fixed_block: bool = False
    found: list[Contradiction] = field(default_factory=list)

    def server(self, server: ServerFacts) -> None:
        """One endpoint: tokenizer and context length."""
        self._tokenizer_allowed(server)
        self._context_length(server)
        if server.cache.prefix_caching is False and all(c.code != "prefix_caching_off" for c in self.found):
            self._caching_off(server.endpoint)

    def cache(self, label: str, cache: CacheFacts, measured: Measured | None = None) -> None:
        """The cache that one metrics page tells of; ``measured``: what a probe found of its matching."""
        if measured is not None and measured.hit_unit is not None:
            cache = _as_measured(cache, measured.hit_unit)
        elif self._was_measured and cache.block_size is not None:
            cache = self._as_planned(label, cache)
        self._block_size(label, cache)
        self._hit_unit(label, cache)
        self._hit_drop(label, cache, measured)
        self._capacity(label, cache)
        if cache.prefix_caching is False:
            self._caching_off(label)

    def _caching_off(self, label: str) -> None:
        self._warn(
            "prefix_caching_off",
            f"{label} says that prefix caching is switched off",
            remedy="Start the server with prefix caching (vLLM: --enable-prefix-caching; SGLang: without "
            "--disable-radix-cache).",
            change=Conditions(caching=False),
        )

    def caches(self, endpoints: Sequence[str], ranks: Mapping[str, int], *, by_rank: bool) -> None:
        """All caches of the service beside the plan's cache domains.

        Args:
            endpoints: base URLs.
            ranks: metrics page → DP ranks on it; 0 if it names none.
            by_rank: domains are DP ranks of the single endpoint, pinned by header.
        """
        planned, there = self.dataset.domains, sum(max(1, n) for n in ranks.values())
        if len(endpoints) > len(ranks):
            self._warn(
                "metrics_fewer",
                f"{len(endpoints)} endpoints, {len(ranks)} metrics page{'s' * (len(ranks) > 1)} "
                f"({', '.join(ranks)}): whether the counters cover all endpoints is known only after the run, by the "
                "prompt tokens that they count",
                unknown="it moves no hit, only what is counted of them",
            )
        if by_rank and any(ranks.values()) and there < planned:
            self._error(
                "fewer_ranks",
                f"the dataset plans {planned} cache domains, {', '.join(ranks)} has {there} DP ranks",
                "routing.dp_size",
                f"Serve with --data-parallel-size {planned}, or give one --url for each domain.",
                change=Conditions(folded=there),
            )
        if by_rank and there > planned:
            self._warn(
                "idle_ranks",
                f"the dataset plans {planned} cache domains, {', '.join(ranks)} has {there} DP ranks: those from "
                f"{planned} on get no request",
                unknown="it moves no hit: the ranks are pinned",
            )
        elif not by_rank and there > len(endpoints):
            plans = "one cache" if planned == 1 else f"{planned} caches, one behind each endpoint"
            self._warn(
                "more_ranks",
                f"the dataset plans {plans}; {', '.join(ranks)} has {there} caches in all (DP ranks or instances): "
                "hits are missed where a group meets several of them",
                remedy=f"Generate the dataset with routing.cache_scope: dp_local and routing.dp_size: {there}, or "
                "serve with one rank.",
                change=Conditions(ranks=_spread(len(endpoints), list(ranks.values()))),
            )

    def counters(self, label: str, missing: Mapping[str, str]) -> None:
        """A metrics page that lacks what a hit rate is made of; quantity → why there is no figure."""
        for quantity, why in missing.items():
            self._warn(
                "counters_missing",
                f"{label} gives no figure for {quantity}: {why}",
                remedy="Give the server's own metrics page with --metrics-url, and switch its metrics on.",
                unknown="it moves no hit, but how much is hit will not be known from the counters",
            )

    def filled(self, label: str, tokens: int) -> None:
        """A server that has served before, into whose cache a cold pass is sent as it is (``--isolation none``)."""
        self._warn(
            "cache_used",
            f"{label} has served {tokens:,} prompt tokens before and its cache is not emptied (--isolation none): if "
            "they were this dataset's, the first requests hit too",
            remedy="Choose --isolation auto, or restart the server.",
            change=Conditions(filled=True),
        )

    def other_tokens(self, error: InputError) -> None:
        """``/tokenize`` disagrees; said once, for the first endpoint and prompt."""
        if all(other.code != "tokenizer_differs" for other in self.found):
            self._add(
                Contradiction(
                    "tokenizer_differs",
                    "error",
                    error.message,
                    error.remedy,
                    error.field,
                    error.request_id,
                    error.group,
                    unknown=OTHER_TOKENS,
                )
            )

    def _tokenizer_allowed(self, server: ServerFacts) -> None:
        if self.dataset.embedded_tokenizer and not server.is_reference:
            self._error(
                "tokenizer_embedded",
                "the dataset was built with the embedded tokenizer, which no real model uses, and "
                f"{server.endpoint} is not the reference engine",
                "tokenizer.path",
                "Generate the dataset with the served model's tokenizer (--tokenizer PATH), or run it against "
                "`prefixcache serve`.",
                unknown=OTHER_TOKENS,
            )

    def _context_length(self, server: ServerFacts) -> None:
        limit = server.max_model_len
        everything = (*self.dataset.requests, *self.dataset.warmup)
        long = [r for r in everything if limit is not None and r.input_len + r.output_len > limit]
        if not long:
            return
        first = long[0]
        others = f", as are {len(long) - 1:,} more" if len(long) > 1 else ""
        self._error(
            "context_length",
            f"a request of {first.input_len} + {first.output_len} tokens is longer than the server's "
            f"max_model_len {limit}{others}",
            "max_model_len",
            f"Set max_model_len: {limit} in the dataset's configuration, or serve with a longer context.",
            first,
            change=Conditions(longest=limit),
            allowable=True,
        )

    def _block_size(self, label: str, cache: CacheFacts) -> None:
        size, planned = cache.block_size, self.dataset.block_size
        if size is None:
            self._warn(
                "block_size_unknown",
                f"{label} does not state its block size, so it was not compared",
                remedy="Measure it: `prefixcache probe --url URL`.",
                unknown="the server's block size is not known",
            )
        elif (odd := self._not_divided(size)) is not None:
            self._error(
                "block_size",
                f"a planned prefix of {odd.prefix:,} tokens is no multiple of the block size {size} of {label}",
                "block_size",
                f"Generate the dataset with block_size {size}: on an NPU the server keeps its own, whatever it is "
                "asked for."
                if self.fixed_block
                else f"Generate the dataset with block_size {size}, or serve with block size {planned}.",
                odd,
                change=Conditions(unit=self._unit(cache)),
                allowable=True,
            )
        elif size not in self.dataset.valid_hit_units:
            self._warn(
                "block_size_differs",
                f"the dataset plans blocks of {planned} tokens, {label} has blocks of {size}: requests "
                "may hit otherwise than planned",
                remedy=f"Generate the dataset with block_size {size}.",
                field="block_size",
                change=Conditions(unit=self._unit(cache)),
                strict=True,
            )

    @property
    def _was_measured(self) -> bool:
        """Did a probe measure the unit that the dataset is planned in?"""
        sources = ("block_size_source", "hit_unit_source")
        return any(self.dataset.manifest.get(name) == "measured" for name in sources)

    def _as_planned(self, label: str, cache: CacheFacts) -> CacheFacts:
        """What was measured when the dataset was generated goes before what the server states now."""
        unit = self.dataset.hit_unit
        if unit not in (cache.block_size, cache.hit_alignment):
            self._warn(
                "hit_unit_measured",
                f"the dataset is planned in units of {unit} tokens as measured, {label} states {cache.block_size}: "
                "what was measured counts",
                remedy="Give what was measured of this server: --probe-report FILE.",
                unknown="the server's unit is taken as it was measured",
            )
        return _as_measured(cache, unit)

    def _hit_unit(self, label: str, cache: CacheFacts) -> None:
        """A unit of matching that the server states beside its block size."""
        alignment, planned = cache.hit_alignment, self.dataset.hit_unit
        if alignment is None or alignment == cache.block_size:
            return
        if (odd := self._not_divided(alignment)) is not None:
            self._error(
                "hit_alignment",
                f"a planned prefix of {odd.prefix:,} tokens is no multiple of the hit alignment {alignment} of {label}",
                "hit_unit",
                f"Generate the dataset with hit_unit {alignment}.",
                odd,
                change=Conditions(unit=self._unit(cache)),
                allowable=True,
            )
        elif alignment not in self.dataset.valid_hit_units:
            self._warn(
                "hit_unit_differs",
                f"the dataset plans hits in units of {planned} tokens, {label} states {alignment}: requests may hit "
                "otherwise than planned",
                remedy=f"Generate the dataset with hit_unit {alignment}.",
                field="hit_unit",
                change=Conditions(unit=self._unit(cache)),
                strict=True,
            )

    def _hit_drop(self, label: str, cache: CacheFacts, measured: Measured | None) -> None:
        planned = int(self.dataset.manifest.get("hit_drop") or 0)
        if measured is None or measured.hit_drop in (None, planned):
            return
        self._warn(
            "hit_drop_differs",
            f"the dataset plans a hit drop of {planned} units, {label} drops {measured.hit_drop} as measured: requests "
            "may hit otherwise than planned",
            remedy=f"Generate the dataset with hit_drop {measured.hit_drop}.",
            field="hit_drop",
            change=Conditions(drop=measured.hit_drop, unit=self._unit(cache)),
            strict=True,
        )

    def _unit(self, cache: CacheFacts) -> int:
        """Tokens in which the server matches, as far as it says so.

        A planned hit unit above the planned block size is knowledge that a block size cannot contradict.
        """
        size = cache.block_size or self.dataset.block_size
        known = self.dataset.hit_unit if self.dataset.hit_unit > self.dataset.block_size else 0
        if cache.hit_alignment is not None:
            return max(cache.hit_alignment, size)
        return known if known and known % size == 0 else size

    def _not_divided(self, unit: int) -> Planned | None:
        everything = (*self.dataset.requests, *self.dataset.warmup)
        return next((r for r in everything if r.prefix % unit), None)

    def _capacity(self, label: str, cache: CacheFacts) -> None:
        # A cache that evicts does so block by block: its own size counts, even one that divides every planned prefix.
        change = Conditions(pool_tokens=cache.kv_tokens, engine=eviction_of(self.adapter), unit=self._unit(cache))
        if (planned := self.dataset.planned_blocks) is not None:
            size, own = cache.block_size or self.dataset.block_size, self.dataset.block_size
            there = cache.num_blocks
            if there is not None and (there, size) != (planned, own):
                found = (
                    f"the hits were planned for caches of {planned:,} blocks, {label} has {there:,}: requests may hit "
                    "otherwise than planned"
                    if size == own
                    else f"the hits were planned for caches of {planned:,} blocks of {own} tokens, {label} has "
                    f"{there:,} of {size}: requests may hit otherwise than planned"
                )
                remedy = f"Generate the dataset with planning.num_blocks: {there}"
                self._warn(
                    "capacity_differs",
                    found,
                    remedy=f"{remedy}." if size == own else f"{remedy} and block_size: {size}.",
                    change=change if cache.kv_tokens is not None else None,
                )
            return
        if cache.kv_tokens is None:
            return
        for name in self.dataset.passes:
            domain, needed = max(kv_tokens_needed(self.dataset, name).items(), key=lambda entry: entry[1])
            if needed > cache.kv_tokens:
                self._warn(
                    "kv_capacity",
                    f"pass {name} needs {needed:,} KV tokens in cache domain {domain}, {label} holds "
                    f"{cache.kv_tokens:,}: blocks may be evicted before they are hit",
                    remedy="Give the server more KV cache, use fewer or shorter requests, or plan for the capacity "
                    "(planning.assume: capacity).",
                    change=change,
                )

    def _warn(
        self,
        code: str,
        text: str,
        *,
        remedy: str | None = None,
        field: str | None = None,
        change: Conditions | None = None,
        unknown: str | None = None,
        strict: bool = False,
    ) -> None:
        self._add(
            Contradiction(
                code, "warning", text, remedy, field, change=change, unknown=unknown, allowable=strict, strict=strict
            )
        )

    def _error(
        self,
        code: str,
        message: str,
        name: str,
        remedy: str,
        request: Planned | None = None,
        *,
        change: Conditions | None = None,
        unknown: str | None = None,
        allowable: bool = False,
    ) -> None:
        self._add(
            Contradiction(
                code,
                "error",
                message,
                remedy,
                name,
                request.request_id if request else None,
                request.group if request else None,
                change,
                unknown,
                allowable,
            )
        )

    def _add(self, found: Contradiction) -> None:
        if all((found.code, found.text) != (other.code, other.text) for other in self.found):
            self.found.append(found)


def _as_measured(cache: CacheFacts, unit: int) -> CacheFacts:
    """A measured unit goes before what is stated; a stated block size that is no divisor of it is wrong altogether."""
    if cache.block_size is not None and unit % cache.block_size:
        return replace(cache, block_size=unit, hit_alignment=None)
    return replace(cache, hit_alignment=unit)


def _spread(endpoints: int, ranks: list[int]) -> tuple[int, ...]:
    """Caches behind each endpoint, as far as the pages tell."""
    counts = [max(1, n) for n in ranks]
    if len(counts) == endpoints:
        return tuple(counts)
    if endpoints == 1:
        return (sum(counts),)
    return (max(1, sum(counts) // endpoints),) * endpoints
