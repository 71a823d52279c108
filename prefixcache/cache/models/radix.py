"""SGLang's radix cache with its eviction, one request at a time (docs/cache-models.md; SGLang 0.5.23).

The tree's edges are runs of whole pages. Rules:

1. A request matches its prompt without the last token, in whole pages; a node that is matched in part is split. The
   match stamps the deepest node with a new time, each ancestor with a slightly earlier one.
2. The prompt needs room for what it did not hit, and one page more if pages are larger than a token; each decode step
   needs a page. Room is made by dropping whole leaves that no running request holds, least recently stamped first; a
   parent left without children becomes a leaf.
3. With more than one token to generate the prompt is published right after prefill; at the end prompt and generated
   tokens without the last are, in whole pages, split where the prompt ends. Publishing stamps every node that is walked
   over, deeper ones later. A split stamps the prefix and then the rest with new times.

Page numbers are those of their chains, so a page has one place in the tree: a node is known by its first and last page.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.arrays import grown
from prefixcache.cache.models.radix_kernel import AVAILABLE, HEAPED, NODES, TIME, serve_radix
from prefixcache.cache.models.trace import Counts, Numbers, Served, Trace
from prefixcache.errors import InputError

NODES_A_REQUEST = 8
"""More than one request can add: a split and a leaf at each of three walks, and the generated leaf."""


class RadixCache:
    """A tree with room for ``tokens``; :attr:`Trace.unit` is the page size, 1 for single tokens.

    What is generated is taken to be unlike every later prompt. Numbers of a trace must be chained
    (:meth:`Trace.chained`).

    Args:
        tokens: ``max_total_num_tokens`` as the server tells it.
    """

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._nodes: Numbers = np.zeros((0, 6), dtype=np.int32)
        self._stamps: Counts = np.zeros(0, dtype=np.int64)
        # Per page: the node that begins with it, and the page before it.
        self._pages: Numbers = np.full((0, 2), -1, dtype=np.int32)
        self._heap: Counts = np.zeros((0, 2), dtype=np.int64)
        self._state: NDArray[np.int64] = np.zeros(4, dtype=np.int64)
        self._unit: int | None = None

    def serve(self, trace: Trace) -> Served:
        """Serve these requests in order.

        Raises:
            InputError: a request that does not fit into the cache.
        """
        if self._unit is None:
            self._unit = trace.unit
            self._state[AVAILABLE] = self._tokens // trace.unit * trace.unit
        nodes = int(self._state[NODES]) + NODES_A_REQUEST * len(trace) + 1
        self._nodes = grown(self._nodes, nodes, -1)
        self._stamps = grown(self._stamps, nodes, 0)
        self._heap = grown(self._heap, int(self._state[HEAPED]) + 2 * nodes, 0)
        self._pages = grown(self._pages, trace.distinct, -1)
        hit_pages, runs, evicted, free = np.empty((4, len(trace)), dtype=np.int64)
        misfit = serve_radix(
            trace.blocks, trace.ends, trace.input_tokens, np.maximum(trace.output_tokens - 1, 0), trace.unit,
            self._nodes, self._stamps, self._pages, self._heap, self._state, hit_pages, runs, evicted, free,
        )  # fmt: skip
        if misfit >= 0:
            raise InputError(
                f"request {misfit + 1} with {trace.input_tokens[misfit]} input and {trace.output_tokens[misfit]} "
                f"output tokens does not fit into a cache of {self._tokens} tokens in pages of {trace.unit}",
                field="num_blocks",
                remedy=f"write at least {least_tokens(trace) // trace.unit}, or leave out longer requests.",
            )
        hits = hit_pages * trace.unit
        return Served(hits, np.zeros_like(hits), evicted, self._tokens // trace.unit - free, runs)

    def reset(self) -> None:
        """``/flush_cache``: the tree is emptied."""
        self._pages[:] = -1
        self._state[[NODES, HEAPED]] = 0
        self._state[AVAILABLE] = self._tokens // (self._unit or 1) * (self._unit or 1)
        self._state[TIME] = 0


def least_tokens(trace: Trace) -> int:
    """The smallest capacity, in tokens and whole pages, that every request of the trace fits into."""
    unit = trace.unit
    prompts = -(-trace.input_tokens // unit) * unit
    written = trace.input_tokens + np.maximum(trace.output_tokens - 1, 0)
    # A decode step that begins no page asks for one more than it holds, one that does for that page.
    decoding = np.where(written > trace.input_tokens, -(-(written - 1) // unit) * unit + unit, 0)
    prefill = prompts + (unit if unit > 1 else 0)
    return int(np.maximum(prefill, decoding).max(initial=unit))
