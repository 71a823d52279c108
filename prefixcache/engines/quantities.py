"""The logical quantities that every framework is asked for, whatever it calls them (RFC 3.3.18, 4.9, 6.3)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class Quantity(StrEnum):
    """Logical quantities; the frameworks' names for them are the adapters' business.

    ``QUERIES`` and ``HITS`` are those of the cache in the device's memory, ``EXTERNAL_*`` those of every tier behind
    it (host memory, disk, another machine), which is asked only for what missed before.
    """

    QUERIES = "queries"
    HITS = "hits"
    EXTERNAL_QUERIES = "external_queries"
    EXTERNAL_HITS = "external_hits"
    HIT_RATIO = "hit_ratio"
    PROMPT_TOKENS = "prompt_tokens"
    PROMPT_COMPUTED = "prompt_tokens_computed"
    PROMPT_LOCAL_HIT = "prompt_tokens_local_hit"
    PROMPT_EXTERNAL = "prompt_tokens_external"
    GENERATION_TOKENS = "generation_tokens"
    PREEMPTIONS = "preemptions"
    EVICTED = "evicted_tokens"
    KV_USAGE = "kv_usage"
    RUNNING = "running"
    WAITING = "waiting"


MOMENTARY = (Quantity.HIT_RATIO, Quantity.KV_USAGE, Quantity.RUNNING, Quantity.WAITING)
"""Of one moment by their nature: never differenced, and their fall is no reset."""

Unit = Literal["token", "block", "request", "ratio", "event", "object"]
"""Of what a figure counts. ``ratio`` is 0-1; ``object`` is an entry of a store, of whatever size it is."""

Kind = Literal["cumulative", "window", "gauge"]
"""``cumulative`` since the process began, and differenced over an interval; ``window``: of the last batch or requests,
never a figure of an interval; ``gauge``: of this moment."""

Scope = Literal["engine", "endpoint"]
"""Whether each engine (DP rank) of a page has a series of its own, or the page one for all."""

Role = Literal["prefill", "decode", "mixed"]
"""What an endpoint does. Where prefill and decode are apart, the hit rate is that of the prefill endpoints: a decode
endpoint is sent prompts that were computed elsewhere."""
