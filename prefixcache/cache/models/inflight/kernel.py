"""The compiled heart of the model of requests in flight: vLLM's scheduler over its block pool, and the client that
keeps a number of requests outstanding.

All in one file: numba knows a cached function again by its own file only. Imported where it is used, because importing
numba takes half a second. The rules and where they stand in vLLM are told in :mod:`.settings` and docs/cache-models.md.
"""

from __future__ import annotations

import numpy as np

from prefixcache.cache.models.compiled import compiled
from prefixcache.cache.models.inflight.state import (
    FIRST_TOKEN,
    NONE,
    WATERMARK,
    Engines,
    Flags,
    Gates,
    Limits,
    Line,
    Pace,
    Pool,
    Requests,
    Samples,
)
from prefixcache.cache.models.trace import Numbers


@compiled
def _key(requests: Requests, r: int, place: int) -> int:
    size = requests.size[r]
    return int(requests.keys[requests.start[r] + place] if place < size else requests.own[r] + place - size)


@compiled
def _unlink(pool: Pool, block: int) -> None:
    pool.after[pool.before[block]] = pool.after[block]
    pool.before[pool.after[block]] = pool.before[block]


@compiled
def _link(pool: Pool, block: int, behind: int) -> None:
    follower = pool.after[behind]
    pool.after[behind], pool.before[block] = block, behind
    pool.after[block], pool.before[follower] = follower, block


@compiled
def _forget(pool: Pool, domain: int, block: int) -> None:
    key = pool.key[block]
    if key < 0:
        return
    pool.key[block] = -1
    pool.holding[domain] -= 1
    other = pool.twin_after[block]
    if other == block:
        pool.first[domain, key] = -1
        return
    pool.twin_after[pool.twin_before[block]] = other
    pool.twin_before[other] = pool.twin_before[block]
    if pool.first[domain, key] == block:
        pool.first[domain, key] = other


@compiled
def _store(pool: Pool, domain: int, block: int, key: int) -> None:
    pool.key[block] = key
    pool.holding[domain] += 1
    first = pool.first[domain, key]
    if first < 0:
        pool.first[domain, key] = block
        pool.twin_after[block] = pool.twin_before[block] = block
        return
    last = pool.twin_before[first]
    pool.twin_after[last], pool.twin_before[block] = block, last
    pool.twin_after[block], pool.twin_before[first] = first, block


@compiled
def _release(pool: Pool, null: int, domain: int, row: Numbers, count: int) -> None:
    """Last block first; those without content to the front of the free queue, the others to its end."""
    front = null
    for place in range(count - 1, -1, -1):
        block = row[place]
        pool.holders[block] -= 1
        if pool.holders[block] == 0:
            pool.free[domain] += 1
            if pool.key[block] < 0:
                _link(pool, block, front)
                front = block
            else:
                _link(pool, block, pool.before[null])


@compiled
def _extend(pool: Pool, requests: Requests, limits: Limits, r: int, row: Numbers, null: int, upto: int) -> None:
    """Blocks for the first ``upto`` tokens, and content for those that are full."""
    domain = requests.domain[r]
    wanted = -(-upto // limits.unit)
    for place in range(requests.blocks[r], wanted):
        block = pool.after[null]
        _unlink(pool, block)
        pool.free[domain] -= 1
        if pool.key[block] >= 0:
            _forget(pool, domain, block)
            requests.evicted[r] += 1
        pool.holders[block] = 1
        row[place] = block
    requests.blocks[r] = max(requests.blocks[r], wanted)
    full = upto // limits.unit
    for place in range(requests.stored[r], full):
        _store(pool, domain, row[place], _key(requests, r, place))
    requests.stored[r] = max(requests.stored[r], full)


@compiled
def _admit(pool: Pool, requests: Requests, engines: Engines, limits: Limits, r: int, null: int, budget: int) -> int:
    """Tokens that the head of the waiting queue gets in this step; 0: it does not fit."""
    domain, unit = requests.domain[r], limits.unit
    row = engines.rows[requests.slot[r]]
    total = requests.tokens[r] + requests.made[r]
    run, full = 0, total // unit
    while run < full:
        block = pool.first[domain, _key(requests, r, run)]
        if block < 0:
            break
        row[run] = block
        run += 1
    hit, unheld = max(min(run, (total - 1) // unit) - limits.drop, 0), 0
    for place in range(hit):
        unheld += pool.holders[row[place]] == 0
    room = pool.free[domain] - unheld - (limits.margin if engines.running_count[domain] else 0)
    new = min(total - hit * unit, budget)
    last = total if limits.reserve else hit * unit + new
    if -(-last // unit) - hit > room:
        return 0
    for place in range(hit):
        block = row[place]
        if pool.holders[block] == 0:
            _unlink(pool, block)
            pool.free[domain] -= 1
        pool.holders[block] += 1
    requests.done[r] = hit * unit
    requests.blocks[r] = requests.stored[r] = hit
    _extend(pool, requests, limits, r, row, null, hit * unit + new)
    if requests.hits[r] < 0:
        requests.hits[r], requests.runs[r] = hit, run
        requests.admitted_at[r] = engines.steps[domain]
        requests.order[requests.admitted[0]] = r
        requests.admitted[0] += 1
    return int(new)


@compiled
def _preempt(pool: Pool, requests: Requests, engines: Engines, domain: int, null: int) -> int:
    """The last running request loses its blocks and goes to the front of the waiting ones."""
    engines.running_count[domain] -= 1
    r = engines.running[domain, engines.running_count[domain]]
    _release(pool, null, domain, engines.rows[requests.slot[r]], requests.blocks[r])
    requests.done[r] = requests.blocks[r] = requests.stored[r] = 0
    requests.preempted[r] += 1
    ring = engines.waiting.shape[1]
    engines.waiting_first[domain] = (engines.waiting_first[domain] - 1) % ring
    engines.waiting[domain, engines.waiting_first[domain]] = r
    engines.waiting_count[domain] += 1
    return int(r)


@compiled
def schedule(pool: Pool, requests: Requests, engines: Engines, limits: Limits, domain: int) -> int:
    """One step of a domain's scheduler: the tokens of its batch. Running requests first, then waiting ones."""
    null = domain * (len(pool.after) // len(pool.free))
    budget, count, preempted = limits.budget, 0, False
    largest = limits.budget
    if limits.threshold and engines.running_count[domain] + engines.waiting_count[domain] + limits.crowd > 1:
        largest = limits.threshold
    place = 0
    while place < engines.running_count[domain] and budget > 0:
        r = engines.running[domain, place]
        new = min(requests.tokens[r] + requests.made[r] - requests.done[r], budget, largest)
        upto = requests.done[r] + new
        fits = True
        while -(-upto // limits.unit) - requests.blocks[r] > pool.free[domain]:
            preempted = True
            if _preempt(pool, requests, engines, domain, null) == r:
                fits = False
                break
        if not fits:
            break
        _extend(pool, requests, limits, r, engines.rows[requests.slot[r]], null, upto)
        engines.batch[domain, count], engines.batch_new[domain, count] = r, new
        count, place, budget = count + 1, place + 1, budget - new
    ring = engines.waiting.shape[1]
    while not preempted and budget > 0 and engines.waiting_count[domain]:
        if engines.running_count[domain] >= limits.seats:
            break
        r = engines.waiting[domain, engines.waiting_first[domain]]
        if r == limits.early and min(budget, largest) >= limits.unit:
            break
        new = _admit(pool, requests, engines, limits, r, null, min(budget, largest))
        if not new:
            break
        engines.waiting_first[domain] = (engines.waiting_first[domain] + 1) % ring
        engines.waiting_count[domain] -= 1
        engines.running[domain, engines.running_count[domain]] = r
        engines.running_count[domain] += 1
        engines.batch[domain, count], engines.batch_new[domain, count] = r, new
        count, budget = count + 1, budget - new
    engines.batch_count[domain] = count
    engines.steps[domain] += 1
    return limits.budget - budget


@compiled
def complete(pool: Pool, requests: Requests, engines: Engines, domain: int) -> int:
    """The step is computed: tokens are sampled, those that made their last one leave. How many left; ``batch`` then
    begins with the requests that have a new token, in order."""
    null = domain * (len(pool.after) // len(pool.free))
    left = sampled = 0
    for place in range(engines.batch_count[domain]):
        r = engines.batch[domain, place]
        requests.done[r] += engines.batch_new[domain, place]
        if requests.done[r] < requests.tokens[r] + requests.made[r]:
            continue
        requests.made[r] += 1
        engines.batch[domain, sampled] = r
        sampled += 1
        if requests.made[r] >= requests.outputs[r]:
            _release(pool, null, domain, engines.rows[requests.slot[r]], requests.blocks[r])
            requests.blocks[r] = 0
            requests.holding[r] = pool.holding[domain]
            requests.ended_at[r] = engines.steps[domain] - 1
            left += 1
    engines.batch_count[domain] = sampled
    if left:
        kept = 0
        for place in range(engines.running_count[domain]):
            r = engines.running[domain, place]
            if requests.ended_at[r] < 0:
                engines.running[domain, kept] = r
                kept += 1
        engines.running_count[domain] = kept
    return left


@compiled
def enqueue(engines: Engines, domain: int, r: int) -> None:
    """A request is seen by the scheduler."""
    ring = engines.waiting.shape[1]
    engines.waiting[domain, (engines.waiting_first[domain] + engines.waiting_count[domain]) % ring] = r
    engines.waiting_count[domain] += 1


@compiled
def _open(gates: Gates, r: int) -> bool:
    """May this request be sent? As :mod:`prefixcache.load.sending.gate` decides."""
    if gates.rule == NONE:
        return True
    if gates.rule != WATERMARK:
        before = gates.before[r]
        past = before < 0 or gates.ended[before] != 0
        return bool(past or (gates.rule == FIRST_TOKEN and gates.started[before] != 0))
    lane, domain = gates.lanes.of[r], gates.domains.of[r]
    need = gates.need[r]
    if max(gates.lanes.covered[lane], gates.domains.covered[domain]) >= need:
        return True
    if need <= gates.head:
        return bool(gates.domains.gone[domain] >= gates.domains.place[r])
    return bool(gates.lanes.gone[lane] >= gates.lanes.place[r])


@compiled
def _advance(line: Line, which: int, ended: Flags) -> None:
    last = line.start[which + 1] - line.start[which]
    while line.gone[which] < last and ended[line.members[line.start[which] + line.gone[which]]]:
        line.gone[which] += 1


@compiled
def _tell(gates: Gates, r: int, ended: bool) -> None:
    """The client has a first token, or the end, of a request."""
    if gates.rule == NONE:
        return
    lane, domain = gates.lanes.of[r], gates.domains.of[r]
    gates.started[r] = 1
    gates.lanes.covered[lane] = max(gates.lanes.covered[lane], gates.prefix[r])
    gates.domains.covered[domain] = max(gates.domains.covered[domain], min(gates.head, gates.prefix[r]))
    if ended:
        gates.ended[r] = 1
        _advance(gates.lanes, lane, gates.ended)
        _advance(gates.domains, domain, gates.ended)


@compiled
def _send(requests: Requests, engines: Engines, pace: Pace, r: int, now: float, last: float) -> float:
    """On its way to its domain; when it arrives there."""
    domain = requests.domain[r]
    requests.sent_time[r] = now
    arrival = max(now + pace.delay, last + pace.spacing)
    ring = engines.coming.shape[1]
    place = (engines.coming_first[domain] + engines.coming_count[domain]) % ring
    engines.coming[domain, place], engines.coming_time[domain, place] = r, arrival
    engines.coming_count[domain] += 1
    return arrival


@compiled
def _next_time(engines: Engines, domain: int) -> float:
    """When a domain does something: its step ends, or, idle, the first request arrives."""
    if engines.ends[domain] < np.inf or not engines.coming_count[domain]:
        return float(engines.ends[domain])
    return float(engines.coming_time[domain, engines.coming_first[domain]])


@compiled
def _sample(samples: Samples, pool: Pool, engines: Engines, now: float, step: int) -> None:
    if step % samples.filled[1]:
        return
    rows = len(samples.time)
    if samples.filled[0] == rows:
        for row in range(rows // 2):
            samples.time[row], samples.held[row] = samples.time[2 * row], samples.held[2 * row]
            samples.running[row], samples.waiting[row] = samples.running[2 * row], samples.waiting[2 * row]
        samples.filled[0], samples.filled[1] = rows // 2, 2 * samples.filled[1]
        if step % samples.filled[1]:
            return
    row = samples.filled[0]
    samples.time[row] = now
    samples.held[row] = len(pool.after) // len(pool.free) - 1 - pool.free
    samples.running[row], samples.waiting[row] = engines.running_count.sum(), engines.waiting_count.sum()
    samples.filled[0] += 1


@compiled
def run(
    pool: Pool,
    requests: Requests,
    engines: Engines,
    limits: Limits,
    gates: Gates,
    pace: Pace,
    samples: Samples,
    slots: int,
    first_alone: bool,
) -> int:
    """Send all requests in order through ``slots`` slots; the steps of all domains together, -1 if it got stuck."""
    total, domains = len(requests.tokens), len(pool.free)
    held = np.empty(slots, dtype=np.int64)  # requests in a slot that wait for their gate, in send order
    holding = taken = ended = steps = 0
    now, arrived = 0.0, -np.inf
    for r in range(min(1 if first_alone else slots, total)):
        requests.slot[r] = r
        if _open(gates, r):
            arrived = _send(requests, engines, pace, r, now, arrived)
        else:
            held[holding] = r
            holding += 1
        taken += 1
    while ended < total:
        domain = 0
        for other in range(1, domains):
            if _next_time(engines, other) < _next_time(engines, domain):
                domain = other
        now = _next_time(engines, domain)
        if now == np.inf:
            return -1
        if engines.ends[domain] < np.inf:
            complete(pool, requests, engines, domain)
            for place in range(engines.batch_count[domain]):
                r = engines.batch[domain, place]
                over = requests.ended_at[r] >= 0
                if requests.made[r] == 1:
                    requests.first_time[r] = now
                if over or requests.made[r] == 1:
                    _tell(gates, r, over)
                if not over:
                    continue
                requests.last_time[r] = now
                ended += 1
                opened = slots if ended == 1 and first_alone else 1
                for slot in range(opened):
                    if taken == total:
                        break
                    requests.slot[taken] = slot if opened > 1 else requests.slot[r]
                    if _open(gates, taken):
                        arrived = _send(requests, engines, pace, taken, now, arrived)
                    else:
                        held[holding] = taken
                        holding += 1
                    taken += 1
            kept = 0
            for place in range(holding):
                if _open(gates, held[place]):
                    arrived = _send(requests, engines, pace, held[place], now, arrived)
                else:
                    held[kept] = held[place]
                    kept += 1
            holding = kept
        while engines.coming_count[domain]:
            first = engines.coming_first[domain]
            if engines.coming_time[domain, first] > now:
                break
            enqueue(engines, domain, engines.coming[domain, first])
            engines.coming_first[domain] = (first + 1) % engines.coming.shape[1]
            engines.coming_count[domain] -= 1
        engines.ends[domain] = np.inf
        if engines.running_count[domain] + engines.waiting_count[domain]:
            tokens = schedule(pool, requests, engines, limits, domain)
            if not tokens and not engines.running_count[domain]:
                return -1
            engines.ends[domain] = now + pace.step + pace.token * tokens
            _sample(samples, pool, engines, now, steps)
            steps += 1
    return steps
