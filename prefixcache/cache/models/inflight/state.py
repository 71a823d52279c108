"""Arrays that the compiled loops of the model of requests in flight work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefixcache.cache.models.trace import Counts, Numbers

Flags = NDArray[np.uint8]
Times = NDArray[np.float64]
NONE, WATERMARK, FIRST_TOKEN, COMPLETION = 0, 1, 2, 3


class Pool(NamedTuple):
    """Blocks of all domains, numbered on; the first of each domain is the null block and the end of its free queue."""

    after: Numbers  # the free queue, a ring per domain
    before: Numbers
    holders: Numbers  # running requests that hold a block
    key: Numbers  # content that a later request could hit, -1: none
    twin_after: Numbers  # blocks of equal content, a ring in the order they were stored
    twin_before: Numbers
    first: Numbers  # (domain, key) → the twin that is served, -1: none
    free: Counts  # per domain
    holding: Counts  # per domain: blocks with content


class Requests(NamedTuple):
    """Requests of one call; of equal length but for ``keys``."""

    keys: Numbers  # of all complete prompt blocks, one request after the other
    start: Counts
    size: Counts  # complete prompt blocks
    own: Counts  # number of the first block that outputs fill
    tokens: Counts  # of the prompt
    outputs: Counts
    domain: Numbers
    slot: Numbers  # of the client, which is also its row of blocks
    done: Counts  # tokens computed
    made: Counts  # outputs sampled
    blocks: Counts  # held
    stored: Counts  # of these, with content
    hits: Counts  # blocks, at the first admission; -1 before
    runs: Counts  # leading cached blocks then, those included that are computed again
    evicted: Counts
    holding: Counts  # blocks with content when it ended
    preempted: Counts
    admitted_at: Counts  # step of its domain
    ended_at: Counts  # -1 before
    order: Counts  # requests as they were admitted for the first time
    admitted: Counts  # shape (1,): how many
    sent_time: Times  # by the client; NaN before
    first_time: Times  # of the first token
    last_time: Times  # of the last one


class Engines(NamedTuple):
    """Queues of all domains and the step that each is in."""

    running: Numbers  # (domain, place)
    running_count: Counts
    waiting: Numbers  # (domain, place in a ring)
    waiting_first: Counts
    waiting_count: Counts
    coming: Numbers  # sent, not yet seen: (domain, place in a ring)
    coming_time: Times
    coming_first: Counts
    coming_count: Counts
    batch: Numbers  # the step's requests, (domain, place)
    batch_new: Counts  # and their tokens
    batch_count: Counts
    ends: Times  # of the step, infinite while idle
    steps: Counts
    rows: Numbers  # (slot, place): blocks of a request


class Limits(NamedTuple):
    unit: int
    budget: int
    seats: int
    threshold: int  # 0: none
    reserve: bool
    margin: int  # blocks that an admission beside running requests leaves free
    drop: int  # leading blocks found that are computed again
    crowd: int  # of a record: requests that wait too, but are not in the queue
    early: int  # of a record: the request that may be let in only with less than a block; -1: none


class Line(NamedTuple):
    """Lanes, or domains, as lists of their requests in send order."""

    of: Numbers  # per request: which one
    place: Counts  # per request: where in it
    members: Counts  # all of the first, all of the second …
    start: Counts
    gone: Counts  # that many leading members have ended
    covered: Counts  # tokens whose first token has returned


class Gates(NamedTuple):
    rule: int
    head: int
    need: Counts
    prefix: Counts
    before: Counts  # the request before in its lane, -1: none
    lanes: Line
    domains: Line
    started: Flags
    ended: Flags


class Pace(NamedTuple):
    step: float
    token: float
    delay: float
    spacing: float


class Samples(NamedTuple):
    """Every ``stride``-th step; when the rows are full every second one goes."""

    time: Times
    held: Numbers  # (row, domain)
    running: Numbers
    waiting: Numbers
    filled: Counts  # shape (2,): rows, stride
