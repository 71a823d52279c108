"""Does a service fit the plan? Its block size, context, capacity, number of caches, and what its counters cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prefixcache.engines.adapter import CacheFacts
from prefixcache.engines.server import ServerFacts
from prefixcache.errors import InputError
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.facts import kv_tokens_needed

STAGE = "preflight"


@dataclass(slots=True)
class Fit:
    """The checks of one service; what does not stop a run is added to ``warnings`` as ``(code, text)``."""

    dataset: RunDataset
    warnings: list[tuple[str, str]] = field(default_factory=list)

    def server(self, server: ServerFacts) -> None:
        """One endpoint: tokenizer and context length."""
        self._tokenizer_allowed(server)
        self._context_length(server)

    def cache(self, label: str, cache: CacheFacts) -> None:
        """The cache that one metrics page tells of."""
        self._block_size(label, cache)
        self._capacity(label, cache)
        if cache.prefix_caching is False:
            self._warn("prefix_caching_off", f"{label} says that prefix caching is switched off")

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
            )
        if by_rank and any(ranks.values()) and there < planned:
            raise self._error(
                f"the dataset plans {planned} cache domains, {', '.join(ranks)} has {there} DP ranks",
                "routing.dp_size",
                f"Serve with --data-parallel-size {planned}, or give one --url for each domain.",
            )
        if by_rank and there > planned:
            self._warn(
                "idle_ranks",
                f"the dataset plans {planned} cache domains, {', '.join(ranks)} has {there} DP ranks: those from "
                f"{planned} on get no request",
            )
        elif not by_rank and there > len(endpoints):
            plans = "one cache" if planned == 1 else f"{planned} caches, one behind each endpoint"
            self._warn(
                "more_ranks",
                f"the dataset plans {plans}; {', '.join(ranks)} has {there} caches in all (DP ranks or instances): "
                "hits are missed where a group meets several of them",
            )

    def _tokenizer_allowed(self, server: ServerFacts) -> None:
        if self.dataset.embedded_tokenizer and not server.is_reference:
            raise self._error(
                "the dataset was built with the embedded tokenizer, which no real model uses, and "
                f"{server.endpoint} is not the reference engine",
                "tokenizer.path",
                "Generate the dataset with the served model's tokenizer (--tokenizer PATH), or run it against "
                "`prefixcache serve`.",
            )

    def _context_length(self, server: ServerFacts) -> None:
        limit = server.max_model_len
        if limit is None:
            return
        for request in (*self.dataset.requests, *self.dataset.warmup):
            if request.input_len + request.output_len > limit:
                raise self._error(
                    f"a request of {request.input_len} + {request.output_len} tokens is longer than the server's "
                    f"max_model_len {limit}",
                    "max_model_len",
                    f"Set max_model_len: {limit} in the dataset's configuration, or serve with a longer context.",
                    request,
                )

    def _block_size(self, label: str, cache: CacheFacts) -> None:
        size, alignment = cache.block_size, cache.hit_alignment
        if size is None:
            self._warn("block_size_unknown", f"{label} does not state its block size, so it was not compared")
        elif (odd := self._not_divided(size)) is not None:
            raise self._error(
                f"a planned prefix of {odd.prefix:,} tokens is no multiple of the block size {size} of {label}",
                "block_size",
                f"Generate the dataset with block_size {size}, or serve with block size {self.dataset.block_size}.",
                odd,
            )
        elif size not in self.dataset.valid_hit_units:
            self._warn(
                "block_size_differs",
                f"the dataset plans blocks of {self.dataset.block_size} tokens, {label} has blocks of {size}: requests "
                "may hit otherwise than planned",
            )
        if alignment and (odd := self._not_divided(alignment)) is not None:
            self._warn(
                "hit_alignment",
                f"a planned prefix of {odd.prefix:,} tokens is no multiple of the hit alignment {alignment} of {label}",
            )

    def _not_divided(self, unit: int) -> Planned | None:
        everything = (*self.dataset.requests, *self.dataset.warmup)
        return next((r for r in everything if r.prefix % unit), None)

    def _capacity(self, label: str, cache: CacheFacts) -> None:
        if (planned := self.dataset.planned_blocks) is not None:
            if cache.num_blocks not in (None, planned):
                self._warn(
                    "capacity_differs",
                    f"the hits were planned for caches of {planned:,} blocks, {label} has {cache.num_blocks:,}: "
                    "requests may hit otherwise than planned",
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
                )

    def _warn(self, code: str, text: str) -> None:
        if (code, text) not in self.warnings:
            self.warnings.append((code, text))

    def _error(self, message: str, name: str, remedy: str, request: Planned | None = None) -> InputError:
        return InputError(
            message,
            field=name,
            remedy=remedy,
            stage=STAGE,
            dataset_id=self.dataset.dataset_id,
            request_id=request.request_id if request else None,
            group=request.group if request else None,
        )
