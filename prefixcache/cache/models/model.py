"""What every cache model can do."""

from __future__ import annotations

from typing import Protocol

from prefixcache.cache.models.trace import Served, Trace


class CacheModel(Protocol):
    """One cache that serves requests one at a time, each to its end before the next begins.

    It keeps its state from call to call: a warmup trace may be served first, then the measured one. All traces given to
    one model share one numbering of blocks.
    """

    def serve(self, trace: Trace) -> Served:
        """Serve these requests in order."""
        ...

    def reset(self) -> None:
        """What the engine's route for a cache reset does; counters and queues as the engine leaves them."""
        ...
