"""The block cache of one rank: which prompt tokens a server need not compute again.

The rules are vLLM V1's for full attention (``vllm/v1/core/block_pool.py`` and ``kv_cache_manager.py`` describe them):

* a full block is known by a key that covers its tokens and everything before it, the salt included;
* a lookup takes the longest run of known blocks, but never the block of the last prompt token, which has to be
  computed so that there is something to sample from;
* blocks that nobody holds stand in one queue in the order of their eviction and stay known until they are taken;
* a finished request gives its blocks back last block first, so that ends are evicted before beginnings.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

KEY_BYTES = 16


def block_keys(tokens: array[int], block_size: int, salt: str | None = None) -> list[bytes]:
    """One key for each full block of ``tokens``; equal keys mean equal tokens from the first one on and equal salt."""
    key = blake2b(b"" if salt is None else b"salt:" + salt.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES)
    parent = key.digest()
    data = memoryview(tokens).cast("B")
    step = block_size * tokens.itemsize
    keys = []
    for start in range(0, len(data) - step + 1, step):
        parent = blake2b(data[start : start + step], digest_size=KEY_BYTES, key=parent).digest()
        keys.append(parent)
    return keys


@dataclass(frozen=True)
class Stored:
    """Blocks behind one another are known by their keys from now on; ``begin``: blocks of the request before them."""

    keys: tuple[bytes, ...]
    parent: bytes | None
    begin: int


@dataclass(frozen=True)
class Removed:
    """A block is no longer known."""

    key: bytes


@dataclass(frozen=True)
class Cleared:
    """None is."""


Change = Stored | Removed | Cleared


@dataclass
class Lease:
    """The blocks one admitted request holds.

    Attributes:
        keys: of the full blocks of prompt and output.
        blocks: held blocks, in the order of the tokens.
        hit_blocks: how many of them were found in the cache.
        hit_tokens: those blocks' tokens.
        reserved: blocks promised for output that are not taken yet.
    """

    keys: Sequence[bytes]
    blocks: list[int]
    hit_blocks: int
    hit_tokens: int
    reserved: int
    _named: int = field(default=0, repr=False)  # leading blocks that are known by their keys


class BlockPool:
    """Blocks of one rank. Block 0 is the null block and never handed out.

    Args:
        num_blocks: the null block included.
        block_size: tokens of a block: the unit of matching.
        hit_drop: blocks at the end of a match that are computed again, as with EAGLE and MTP.
    """

    def __init__(self, num_blocks: int, block_size: int, hit_drop: int = 0) -> None:
        self.block_size = block_size
        self.hit_drop = hit_drop
        self.evicted = 0
        self.usable = num_blocks - 1
        self._free: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, num_blocks))  # front is evicted first
        self._holders = [0] * num_blocks
        self._key_of: dict[int, bytes] = {}
        # Recomputing the last prompt block makes a second block of the same key: the oldest is the one that is found.
        self._blocks_of: dict[bytes, dict[int, None]] = {}
        self._reserved = 0
        self._changes: list[Change] | None = None

    def watch(self) -> None:
        """Keep what changes from now on for :meth:`changes`."""
        self._changes = []

    def changes(self) -> list[Change]:
        """What became known and unknown since the last call, in order; nothing unless it is watched."""
        if self._changes is None:
            return []
        found, self._changes = self._changes, []
        return found

    @property
    def held(self) -> int:
        """Blocks that running requests hold."""
        return self.usable - len(self._free)

    @property
    def known(self) -> int:
        """Blocks that a lookup can find."""
        return len(self._key_of)

    @property
    def held_tokens(self) -> int:
        return self.held * self.block_size

    @property
    def usable_tokens(self) -> int:
        return self.usable * self.block_size

    @property
    def evicted_tokens(self) -> int:
        return self.evicted * self.block_size

    def keys(self, tokens: array[int], salt: str | None = None) -> list[bytes]:
        """As :func:`block_keys`."""
        return block_keys(tokens, self.block_size, salt)

    def admit(self, keys: Sequence[bytes], prompt_len: int, total_len: int) -> Lease | None:
        """Look the prompt up, hold what was found and take blocks for the rest; its full blocks are known at once.

        Args:
            keys: of the full blocks of the ``total_len`` tokens; of the prompt's only where outputs are not cached.
            prompt_len: tokens of the prompt, at least 1.
            total_len: tokens whose KV entries will ever be written: prompt and output but the last sampled token.

        Returns:
            The lease, or None where the free blocks do not suffice; then nothing has changed.
        """
        found = self._lookup(keys[: (prompt_len - 1) // self.block_size])
        del found[max(0, len(found) - self.hit_drop) :]
        fresh = self._span(prompt_len) - len(found)
        later = self._span(total_len) - self._span(prompt_len)
        idle = sum(1 for block in found if not self._holders[block])
        if fresh + later + idle > len(self._free) - self._reserved:
            return None
        for block in found:
            if not self._holders[block]:
                del self._free[block]
            self._holders[block] += 1
        lease = Lease(keys, found, len(found), len(found) * self.block_size, later, _named=len(found))
        self._reserved += later
        self._take(lease, fresh)
        self._name(lease, prompt_len)
        return lease

    def grow(self, lease: Lease, written: int) -> None:
        """Take what output needs once ``written`` tokens of the request have KV entries; new full blocks are known."""
        need = self._span(written) - len(lease.blocks)
        if need > 0:
            lease.reserved -= need
            self._reserved -= need
            self._take(lease, need)
        self._name(lease, written)

    def release(self, lease: Lease) -> None:
        """Give a request's blocks back: unknown ones to the front of the queue, known ones to its end."""
        self._reserved -= lease.reserved
        lease.reserved = 0
        unknown = []
        for block in reversed(lease.blocks):
            self._holders[block] -= 1
            if self._holders[block]:
                continue
            if block in self._key_of:
                self._free[block] = None
            else:
                unknown.append(block)
        for block in reversed(unknown):  # pushed one by one to the front, so the request's last block ends up first
            self._free[block] = None
            self._free.move_to_end(block, last=False)
        lease.blocks = []

    def reset(self) -> bool:
        """Forget all keys, keep the queue. Refused (False) while any block is held."""
        if self.held:
            return False
        self._key_of.clear()
        self._blocks_of.clear()
        self._note(Cleared())
        return True

    def _span(self, tokens: int) -> int:
        return -(-tokens // self.block_size)

    def _lookup(self, keys: Sequence[bytes]) -> list[int]:
        found = []
        for key in keys:
            blocks = self._blocks_of.get(key)
            if blocks is None:
                break
            found.append(next(iter(blocks)))
        return found

    def _take(self, lease: Lease, count: int) -> None:
        for _ in range(count):
            block, _nothing = self._free.popitem(last=False)
            key = self._key_of.pop(block, None)
            if key is not None:
                same = self._blocks_of[key]
                del same[block]
                self.evicted += 1
                if not same:
                    del self._blocks_of[key]
                self._note(Removed(key))
            self._holders[block] = 1
            lease.blocks.append(block)

    def _name(self, lease: Lease, written: int) -> None:
        full, named = min(written // self.block_size, len(lease.keys)), lease._named
        if full > named:
            parent = lease.keys[named - 1] if named else None
            self._note(Stored(tuple(lease.keys[named:full]), parent, named))
        for index in range(lease._named, full):
            block, key = lease.blocks[index], lease.keys[index]
            self._key_of[block] = key
            self._blocks_of.setdefault(key, {})[block] = None
        lease._named = max(lease._named, full)

    def _note(self, change: Change) -> None:
        if self._changes is not None:
            self._changes.append(change)
