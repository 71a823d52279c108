"""What a user may choose for a probe."""

from __future__ import annotations

from dataclasses import dataclass, field

from prefixcache.engines.detect import AUTO
from prefixcache.engines.http import Connection
from prefixcache.errors import InputError
from prefixcache.load.sending.options import Sending

STAGE = "probe"
SHORTEST_S, LONGEST_S = 1.0, 86_400.0
REQUEST_S = 30.0


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """Options of ``probe_server``.

    Args:
        url: base URL or full path of the API of one server.
        metrics_urls: its metrics pages; ``/metrics`` of the URL if empty.
        model: model name of the requests; the server's first if None.
        tokenizer: folder or hub name of the tokenizer to compare with; None: nothing is compared.
        capacity: also fill the cache to see how much it holds.
        reset: the cache may be emptied: to see whether the route works, and at the end.
        time_limit: seconds for everything; what was not reached is unknown.
        request_timeout: seconds for one answer.
        connection: TLS and proxy.
        engine: framework that the metrics pages are read as, or a YAML file that describes one; ``auto``: they tell.
        sending: its ``api``, ``headers`` and ``rank_field`` are used.
        seed: of the checked points and prompts; None: the system's randomness, so that no prompt is ever sent twice.

    ``api_key`` is never written; without one that of ``PREFIXCACHE_API_KEY`` is used.

    Raises:
        InputError: a value that cannot be probed with.
    """

    url: str = field(repr=False)
    metrics_urls: tuple[str, ...] = field(default=(), repr=False)
    model: str | None = None
    tokenizer: str | None = None
    capacity: bool = False
    reset: bool = True
    time_limit: float = 60.0
    request_timeout: float = REQUEST_S
    connection: Connection = field(default_factory=Connection)
    engine: str = AUTO
    sending: Sending = field(default_factory=Sending)
    api_key: str | None = field(default=None, repr=False)
    seed: int | None = None

    def __post_init__(self) -> None:
        if not SHORTEST_S <= self.time_limit <= LONGEST_S:
            raise InputError(
                f"{self.time_limit:g} s is not {SHORTEST_S:g} to {LONGEST_S:g} s",
                field="--time-limit",
                remedy="Give seconds; a whole probe takes some ten of them on an idle server.",
                stage=STAGE,
            )
        if self.model is not None and not self.model.strip():
            raise InputError("is empty", field="--model", remedy="Write a name, or leave it out.", stage=STAGE)
