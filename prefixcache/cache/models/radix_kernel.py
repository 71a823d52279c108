"""The loop of :class:`prefixcache.cache.models.radix.RadixCache`."""

from __future__ import annotations

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.trace import Counts, Numbers

# Columns of a node. A node with generated pages begins and ends with page -1 and is found by nobody.
FIRST, LAST, SIZE, PARENT, CHILDREN, LOCKS = range(6)
BEGINS, BEFORE = range(2)  # columns of a page
AVAILABLE, TIME, NODES, HEAPED = range(4)  # the state
LEVELS = 1 << 20
"""Stamps are whole times this; the ancestors of a match take the numbers just below it."""


@compiled
def _now(state: Counts) -> int:
    state[TIME] += 1
    return int(state[TIME]) * LEVELS


@compiled
def _before(heap: Counts, one: int, other: int) -> bool:
    return bool(heap[one, 0] < heap[other, 0])


@compiled
def _swap(heap: Counts, one: int, other: int) -> None:
    for column in range(2):
        heap[one, column], heap[other, column] = heap[other, column], heap[one, column]


@compiled
def _offer(node: int, nodes: Numbers, stamps: Counts, heap: Counts, state: Counts) -> None:
    """An unheld leaf may be evicted; an entry of a node that is stamped again later is void."""
    if node == 0 or nodes[node, CHILDREN] > 0 or nodes[node, LOCKS] > 0:
        return
    place = state[HEAPED]
    heap[place, 0], heap[place, 1] = stamps[node], node
    state[HEAPED] += 1
    while place > 0 and _before(heap, place, (place - 1) // 2):
        _swap(heap, place, (place - 1) // 2)
        place = (place - 1) // 2


@compiled
def _pop(heap: Counts, state: Counts) -> None:
    state[HEAPED] -= 1
    size = state[HEAPED]
    _swap(heap, 0, size)
    place = 0
    while True:
        least = place
        for child in (2 * place + 1, 2 * place + 2):
            if child < size and _before(heap, child, least):
                least = child
        if least == place:
            return
        _swap(heap, place, least)
        place = least


@compiled
def _make_room(
    tokens: int, unit: int, nodes: Numbers, stamps: Counts, pages: Numbers, heap: Counts, state: Counts
) -> int:
    """Evict leaves until so many tokens are free; returns the evicted pages, -1 if there are not enough."""
    lost = 0
    while state[AVAILABLE] < tokens:
        if state[HEAPED] == 0:
            return -1
        stamp, node = heap[0, 0], heap[0, 1]
        _pop(heap, state)
        if nodes[node, SIZE] <= 0 or stamps[node] != stamp or nodes[node, CHILDREN] > 0 or nodes[node, LOCKS] > 0:
            continue
        size, parent = nodes[node, SIZE], nodes[node, PARENT]
        if nodes[node, FIRST] >= 0:
            pages[nodes[node, FIRST], BEGINS] = -1
        nodes[node, SIZE] = 0
        nodes[parent, CHILDREN] -= 1
        state[AVAILABLE] += size * unit
        lost += size
        _offer(parent, nodes, stamps, heap, state)
    return lost


@compiled
def _new_node(
    first: int, last: int, size: int, parent: int, locks: int, nodes: Numbers, stamps: Counts, state: Counts
) -> int:
    node = int(state[NODES])
    state[NODES] += 1
    nodes[node, FIRST], nodes[node, LAST], nodes[node, SIZE] = first, last, size
    nodes[node, PARENT], nodes[node, CHILDREN], nodes[node, LOCKS] = parent, 0, locks
    stamps[node] = _now(state)
    return node


@compiled
def _split(
    child: int,
    size: int,
    last: int,
    follower: int,
    nodes: Numbers,
    stamps: Counts,
    pages: Numbers,
    heap: Counts,
    state: Counts,
) -> int:
    """Part the node after its first ``size`` pages, between the pages ``last`` and ``follower``; returns the upper."""
    first = nodes[child, FIRST]
    upper = _new_node(first, last, size, nodes[child, PARENT], nodes[child, LOCKS], nodes, stamps, state)
    nodes[upper, CHILDREN] = 1
    nodes[child, FIRST], nodes[child, PARENT] = follower, upper
    nodes[child, SIZE] -= size
    pages[first, BEGINS], pages[follower, BEGINS] = upper, child
    stamps[child] = _now(state)
    _offer(child, nodes, stamps, heap, state)
    return upper


@compiled
def _walk(
    key: Numbers, touch: bool, nodes: Numbers, stamps: Counts, pages: Numbers, heap: Counts, state: Counts
) -> tuple[int, int]:
    """The node at which the longest known run of these pages ends, after a split if need be, and the run's pages."""
    node, done = 0, 0
    while done < len(key) and pages[key[done], BEGINS] >= 0:
        child = int(pages[key[done], BEGINS])
        if touch:
            stamps[child] = _now(state)
        size = int(nodes[child, SIZE])
        if done + size <= len(key) and key[done + size - 1] == nodes[child, LAST]:
            node, done = child, done + size
            continue
        # Up the node from its end to the deepest page that the request has too.
        page, follower, known = nodes[child, LAST], nodes[child, LAST], size
        while done + known > len(key) or key[done + known - 1] != page:
            follower, page, known = page, pages[page, BEFORE], known - 1
        return _split(child, known, page, follower, nodes, stamps, pages, heap, state), done + known
    return node, done


@compiled
def _insert(
    key: Numbers, nodes: Numbers, stamps: Counts, pages: Numbers, heap: Counts, state: Counts
) -> tuple[int, int]:
    """Put these pages into the tree; the node they end at, and how many were there."""
    node, done = _walk(key, True, nodes, stamps, pages, heap, state)
    if done == len(key):
        return node, done
    leaf = _new_node(key[done], key[len(key) - 1], len(key) - done, node, 0, nodes, stamps, state)
    nodes[node, CHILDREN] += 1
    pages[key[done], BEGINS] = leaf
    for place in range(max(done, 1), len(key)):
        pages[key[place], BEFORE] = key[place - 1]
    return leaf, done


@compiled
def _hold(node: int, change: int, nodes: Numbers) -> None:
    while node != 0:
        nodes[node, LOCKS] += change
        node = int(nodes[node, PARENT])


@compiled
def _stamp_match(node: int, nodes: Numbers, stamps: Counts, state: Counts) -> None:
    stamp = _now(state)
    while node != 0:
        stamps[node] = stamp
        stamp -= 1
        node = int(nodes[node, PARENT])


@compiled
def _decode(
    prompt: int,
    written: int,
    unit: int,
    nodes: Numbers,
    stamps: Counts,
    pages: Numbers,
    heap: Counts,
    state: Counts,
) -> int:
    """Take a page where a generated token begins one; returns the evicted pages, -1 if there is no room."""
    lost = 0
    for token in range(prompt, prompt + written):
        found = _make_room(unit, unit, nodes, stamps, pages, heap, state)
        if found < 0:
            return -1
        lost += found
        if token % unit == 0:
            state[AVAILABLE] -= unit
    return lost


@compiled
def serve_radix(
    blocks: Numbers,
    ends: Counts,
    lengths: Counts,
    written: Counts,
    unit: int,
    nodes: Numbers,
    stamps: Counts,
    pages: Numbers,
    heap: Counts,
    state: Counts,
    hit_pages: Counts,
    runs: Counts,
    evicted: Counts,
    free: Counts,
) -> int:
    """Serve all requests; returns the number of the first one that does not fit, else -1.

    Args:
        written: generated tokens that are stored, per request.
        free: filled with the free pages after each request.
    """
    if state[NODES] == 0:
        nodes[0] = -1
        nodes[0, CHILDREN] = 0
        state[NODES] = 1
    start = 0
    for request in range(len(ends)):
        prompt, length = blocks[start : ends[request]], int(lengths[request])
        start = ends[request]
        most = max(length - 1, 0) // unit
        matched, known = _walk(prompt[:most], False, nodes, stamps, pages, heap, state)
        _stamp_match(matched, nodes, stamps, state)
        hit_pages[request] = runs[request] = known
        if known == most and most < len(prompt) and pages[prompt[most], BEGINS] >= 0:
            runs[request] += 1
        _hold(matched, 1, nodes)
        # The page that the rest of the prompt may begin in is asked for, too.
        wanted = length - known * unit + (unit if unit > 1 else 0)
        lost = _make_room(wanted, unit, nodes, stamps, pages, heap, state)
        if lost < 0:
            return request
        state[AVAILABLE] -= -(-length // unit) * unit - known * unit
        end, doubled = _insert(prompt, nodes, stamps, pages, heap, state)
        _hold(matched, -1, nodes)
        _hold(end, 1, nodes)
        state[AVAILABLE] += max(0, doubled - known) * unit  # pages that were computed again and are dropped
        if written[request] > 0:
            more = _decode(length, written[request], unit, nodes, stamps, pages, heap, state)
            if more < 0:
                return request
            lost += more
            whole = (length + written[request]) // unit - len(prompt)
            _walk(prompt, True, nodes, stamps, pages, heap, state)
            _hold(end, -1, nodes)
            if whole > 0:
                leaf = _new_node(-1, -1, whole, end, 0, nodes, stamps, state)
                nodes[end, CHILDREN] += 1
                _walk(prompt, True, nodes, stamps, pages, heap, state)  # the split at the prompt's end
                end = leaf
            _hold(end, 1, nodes)
        state[AVAILABLE] += unit if (length + written[request]) % unit else 0  # the page that is not full
        _hold(end, -1, nodes)
        _offer(end, nodes, stamps, heap, state)
        evicted[request], free[request] = lost, state[AVAILABLE] // unit
    return -1
