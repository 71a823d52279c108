"""vLLM V1's block pool, one request at a time, block for block (docs/cache-models.md; vllm/v1/core/block_pool.py).

The pool has ``blocks`` blocks; block 0 is the null block and is never handed out. The free queue stands in the order of
eviction:

1. A request looks up its leading cached blocks, all but the last token; the hit ones leave the queue.
2. The other blocks it needs, for the rest of the prompt and for all generated tokens but the last one sampled, come
   from the front of the queue and lose what they held.
3. Every full block is known by its hash from then on, generated ones too. A block that was computed again although its
   hash is known stands beside the first; the first is served until it is evicted.
4. At the end the blocks go back last first: the one that is not full to the front of the queue, the full ones to its
   end. So tails are evicted before heads.
"""

from __future__ import annotations

import numpy as np

from prefixcache.cache.models.arrays import grown
from prefixcache.cache.models.pool_kernel import new_pool, serve_pool
from prefixcache.cache.models.trace import Counts, Numbers, Served, Trace
from prefixcache.errors import InputError


class BlockPool:
    """A pool of vLLM.

    What is generated is taken to be unlike every later prompt.

    Args:
        blocks: ``num_gpu_blocks`` as the server tells it, the null block included.
        drop: leading blocks found that the engine throws away again (EAGLE and MTP: 1); they are computed anew.
        tell_evicted: whether :attr:`Served.gone` is filled.
    """

    def __init__(self, blocks: int, *, drop: int = 0, tell_evicted: bool = False) -> None:
        if blocks < 2:
            raise InputError(
                f"{blocks} blocks leave none to use: one is vLLM's null block",
                field="num_blocks",
                remedy="write at least 2.",
            )
        self._blocks, self._drop, self._tell = blocks, drop, tell_evicted
        self._queue, self._of_block = new_pool(blocks)
        # First and last block of each number; -1: none.
        self._of_number: Numbers = np.full((0, 2), -1, dtype=np.int32)

    def serve(self, trace: Trace) -> Served:
        """Serve these requests in order.

        Raises:
            InputError: a request needs more blocks than the pool has.
        """
        self._check_sizes(trace)
        self._of_number = grown(self._of_number, trace.distinct, -1)
        written = np.maximum(trace.output_tokens - 1, 0)
        full = (trace.input_tokens + written) // trace.unit
        needed = -(-(trace.input_tokens + written) // trace.unit)
        hit_blocks, runs, evicted, used = np.empty((4, len(trace)), dtype=np.int64)
        gone = np.empty(self._blocks + int(full.sum()) if self._tell else 0, dtype=np.int32)
        serve_pool(
            trace.blocks, trace.ends, trace.most_hit_blocks, full, needed, self._drop,
            self._queue, self._of_block, self._of_number, hit_blocks, runs, evicted, used, gone, self._tell,
        )  # fmt: skip
        hits = hit_blocks * trace.unit
        told = gone[: int(evicted.sum())].copy() if self._tell else None
        return Served(hits, np.zeros_like(hits), evicted, used, runs, told)

    def reset(self) -> None:
        """Hashes go, the queue keeps its order."""
        self._of_block[:] = -1
        self._of_number[:] = -1

    def _check_sizes(self, trace: Trace) -> None:
        needed = needed_blocks(trace)
        if not len(needed) or needed.max() < self._blocks:
            return
        at = int(np.argmax(needed))
        raise InputError(
            f"request {at + 1} needs {needed[at]} blocks of {trace.unit} tokens for {trace.input_tokens[at]} input and "
            f"{trace.output_tokens[at]} output tokens, a pool of {self._blocks} has {self._blocks - 1} to use (one is "
            "the null block); vLLM would not start with so long a max_model_len",
            field="num_blocks",
            remedy=f"write at least {int(needed[at]) + 1}, or leave out longer requests.",
        )


def needed_blocks(trace: Trace) -> Counts:
    """Blocks that each request holds at its end: all tokens but the last one sampled, shape (n,)."""
    needed: Counts = -(-(trace.input_tokens + np.maximum(trace.output_tokens - 1, 0)) // trace.unit)
    return needed
