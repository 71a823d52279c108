"""The cache rules once more, in the most obvious way: lists, and token tuples where the engine has hashes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class Block:
    number: int
    content: tuple[object, ...] | None = None  # salt and all tokens from the first one to this block's last
    since: int = 0
    holders: int = 0


@dataclass(eq=False)
class Held:
    tokens: list[int]
    salt: str | None
    blocks: list[Block]
    hits: int
    promised: int


class SlowPool:
    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.size = block_size
        self.blocks = [Block(number) for number in range(1, num_blocks)]
        self.queue = list(self.blocks)
        self.requests: list[Held] = []
        self.clock = 0

    def admit(self, tokens: list[int], prompt_len: int, salt: str | None) -> Held | None:
        hits: list[Block] = []
        while (len(hits) + 1) * self.size < prompt_len:
            end = (len(hits) + 1) * self.size
            same = [block for block in self.blocks if block.content == (salt, *tokens[:end])]
            if not same:
                break
            hits.append(min(same, key=lambda block: block.since))
        now = -(-prompt_len // self.size) - len(hits)
        later = -(-len(tokens) // self.size) - now - len(hits)
        usable = [block for block in self.queue if block not in hits]
        if now + later + sum(held.promised for held in self.requests) > len(usable):
            return None
        self.queue = usable
        for block in hits:
            block.holders += 1
        held = Held(tokens, salt, hits, len(hits), later)
        self.requests.append(held)
        self._write(held, prompt_len)
        return held

    def grow(self, held: Held, written: int) -> None:
        held.promised -= max(0, -(-written // self.size) - len(held.blocks))
        self._write(held, written)

    def release(self, held: Held) -> None:
        self.requests.remove(held)
        for block in held.blocks:
            block.holders -= 1
        idle = [block for block in reversed(held.blocks) if not block.holders]
        front = [block for block in idle if block.content is None]
        back = [block for block in idle if block.content is not None]
        self.queue = front + self.queue + back

    def reset(self) -> bool:
        if self.requests:
            return False
        for block in self.blocks:
            block.content = None
        return True

    def _write(self, held: Held, written: int) -> None:
        while len(held.blocks) * self.size < written:
            block = self.queue.pop(0)
            block.content, block.holders = None, 1
            held.blocks.append(block)
        for index, block in enumerate(held.blocks[: written // self.size]):
            if block.content is None:
                self.clock += 1
                block.content = (held.salt, *held.tokens[: (index + 1) * self.size])
                block.since = self.clock
