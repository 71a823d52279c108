"""Before the load: is each metrics page one of the framework that it is read as, and is the server of that one too?"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import known_adapter, owner_of, some_names
from prefixcache.engines.endpoint import redact
from prefixcache.engines.frameworks.stores import is_only_a_store
from prefixcache.engines.page import MetricsPage
from prefixcache.engines.server import ServerFacts
from prefixcache.load.preflight.contradictions import Contradiction, Severity

CODE = "other_framework"
RIGHT_PAGE = "Name the right metrics page with --metrics-url."
LEAVE_OUT = "Leave --engine out, or name the right metrics page with --metrics-url."
UNKNOWN = "it moves no hit, but how much is hit will not be known from the counters"


def pages_of_others(
    adapter: Adapter,
    pages: Mapping[str, MetricsPage],
    *,
    named: bool,
    urls: Collection[str] = (),
    secrets: tuple[str, ...] = (),
) -> dict[str, Contradiction]:
    """Metrics page → what is wrong with it, for those that are not the adapter's.

    Args:
        adapter: what all of them are read with.
        pages: by label.
        named: the user named the adapter.
        urls: base URLs of the servers, whose own pages need no address of their own.
        secrets: what is taken out of a metric's name.

    Returns:
        An error for a page of another framework; a warning for one of none that is known, and where only a user's
        description says what the framework's pages have.
    """
    title, found = adapter.traits.title, {}
    first = next((label for label, page in pages.items() if adapter.owns(page)), None)
    for label, page in pages.items():
        if adapter.owns(page) or (is_only_a_store(page) and not adapter.store):
            continue
        other, field = known_adapter(page), "--url" if label in urls else "--metrics-url"
        if other is None:
            if not adapter.described:  # of one that is, all series may begin with the first request
                names = some_names(page, lambda text: redact(text, secrets))
                text = f"the metrics page of {label} has no series of {title}; it has {names}"
                found[label] = Contradiction(CODE, "warning", text, RIGHT_PAGE, field, unknown=UNKNOWN)
        elif named:
            text = f"the metrics page of {label} is one of {other.traits.title}, not of {title} as --engine says"
            severity: Severity = "warning" if adapter.described else "error"
            found[label] = Contradiction(CODE, severity, text, LEAVE_OUT, "--engine", unknown=UNKNOWN)
        else:
            text = f"the metrics pages are of different frameworks: {first} of {title}, {label} of {other.traits.title}"
            remedy = "Run the servers of each framework apart, each with its own metrics page."
            found[label] = Contradiction(CODE, "error", text, remedy, field, unknown=UNKNOWN)
    return found


def server_of_another(adapter: Adapter, server: ServerFacts, label: str, *, named: bool) -> Contradiction | None:
    """A warning where the server's list of models names another framework than the metrics page is of."""
    owner = owner_of(server.owner)
    if owner is None or not adapter.owner or owner.owner == adapter.owner:
        return None
    return Contradiction(
        CODE,
        "warning",
        f"{server.endpoint} says that it is {owner.traits.title}, but {label} is read as a metrics page of "
        f"{adapter.traits.title}",
        LEAVE_OUT if named else RIGHT_PAGE,
        "--engine" if named else "--metrics-url",
        unknown=UNKNOWN,
    )
