"""SGLang's radix tree from its rules, over tokens; every decision looks at the whole tree."""

from __future__ import annotations

from collections.abc import Iterator

from tests.cache.models.workloads import Request, generated

Page = tuple[int, ...]


class Full(Exception):
    """No leaf can be dropped any more."""


class Node:
    def __init__(self, key: list[Page], parent: Node | None, stamp: float) -> None:
        self.key, self.parent, self.stamp = key, parent, stamp
        self.children: list[Node] = []
        self.holders = 0

    def path(self) -> Iterator[Node]:
        """This node and those above it, without the root."""
        node = self
        while node.parent is not None:
            yield node
            node = node.parent


class SlowRadix:
    def __init__(self, tokens: int, unit: int) -> None:
        self.unit = unit
        self.pages = tokens // unit
        self.time = 0
        self.reset()

    def reset(self) -> None:
        self.root = Node([], None, 0)
        self.own = 0  # pages that a running request has and the tree has not

    def nodes(self) -> list[Node]:
        found, todo = [], [*self.root.children]
        while todo:
            node = todo.pop()
            found.append(node)
            todo += node.children
        return found

    @property
    def used(self) -> int:
        return sum(len(node.key) for node in self.nodes())

    def now(self) -> float:
        self.time += 1
        return float(self.time)

    def split(self, node: Node, size: int) -> Node:
        assert node.parent is not None
        upper = Node(node.key[:size], node.parent, self.now())
        upper.holders, upper.children = node.holders, [node]
        node.parent.children.remove(node)
        node.parent.children.append(upper)
        node.parent, node.key, node.stamp = upper, node.key[size:], self.now()
        return upper

    def descend(self, key: list[Page], stamping: bool) -> tuple[Node, int]:
        node, done = self.root, 0
        while True:
            child = next((c for c in node.children if key[done : done + 1] == c.key[:1]), None)
            if child is None:
                return node, done
            if stamping:
                child.stamp = self.now()
            same = 0
            while same < len(child.key) and key[done + same : done + same + 1] == [child.key[same]]:
                same += 1
            done += same
            if same < len(child.key):
                return self.split(child, same), done
            node = child

    def insert(self, key: list[Page]) -> tuple[Node, int]:
        node, done = self.descend(key, True)
        if done == len(key):
            return node, done
        leaf = Node(key[done:], node, self.now())
        node.children.append(leaf)
        return leaf, done

    def room_for(self, pages: int) -> int:
        lost = 0
        while self.pages - self.used - self.own < pages:
            leaves = [node for node in self.nodes() if not node.children and not node.holders]
            if not leaves:
                raise Full
            oldest = min(leaves, key=lambda node: node.stamp)
            assert oldest.parent is not None
            oldest.parent.children.remove(oldest)
            lost += len(oldest.key)
        return lost

    def cut(self, tokens: tuple[int, ...]) -> list[Page]:
        unit = self.unit
        return [tokens[at : at + unit] for at in range(0, len(tokens) // unit * unit, unit)]

    def publish(self, tokens: tuple[int, ...], prompt: tuple[int, ...]) -> Node:
        key, head = self.cut(tokens), self.cut(prompt)
        leaf, _ = self.insert(key)
        if 0 < len(head) < len(key):
            self.insert(head)
        return leaf

    def hold(self, node: Node, change: int) -> None:
        for each in node.path():
            each.holders += change

    def run(self, request: Request) -> tuple[int, int, int]:
        """Hit tokens, evicted pages, pages in the tree afterwards."""
        unit, prompt = self.unit, request.prompt
        node, hit = self.descend(self.cut(prompt[:-1]), False)
        stamp = self.now()
        for level, each in enumerate(node.path()):
            each.stamp = stamp - level * 1e-5
        self.hold(node, 1)
        wanted = -(-(len(prompt) - hit * unit + (unit if unit > 1 else 0)) // unit)
        lost = self.room_for(wanted)
        self.own = -(-len(prompt) // unit) - hit
        sequence = prompt + tuple(generated(request)[:-1])
        if len(sequence) > len(prompt):
            end = self.publish(prompt, prompt)
            self.hold(node, -1)
            self.hold(end, 1)
            node = end
            # What the tree took, or had already, is the request's own no more; the page begun stays its own.
            self.own = 1 if len(prompt) % unit else 0
            for place in range(len(prompt), len(sequence)):
                lost += self.room_for(1)
                if place % unit == 0:
                    self.own += 1
        self.publish(sequence, prompt)
        self.hold(node, -1)
        self.own = 0
        return hit * unit, lost, self.used
