"""Was the order sent the planned one? Proven from the records' ``sent_s``, the moments the first bytes were written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from prefixcache.analysis.conduct import LISTED, inversions
from prefixcache.load.dataset import Planned
from prefixcache.load.records.rows import RequestRecord
from prefixcache.load.sending.gate import Lane


def order_proof(requests: Sequence[Planned], records: Sequence[RequestRecord]) -> dict[str, Any]:
    """Compare the order in which requests were sent with their plan.

    Args:
        requests: in send order.
        records: of those that were sent, in any order.

    Returns:
        ``compared`` requests; ``as_planned``: none was overtaken (null where fewer than two were sent); ``inversions``:
        pairs sent the other way round; ``inversions_within_lanes``: those of one cache domain and group, where they
        can cost hits; ``first``: the first 20 overtaken requests, each with the last one that overtook it and by how
        many seconds. A request sent again counts where its last attempt stands.
    """
    sent_s = {r.request_id: r.sent_s for r in records if r.sent_s is not None}
    sent = [r for r in requests if r.request_id in sent_s]
    moments = np.array([sent_s[r.request_id] for r in sent], dtype=np.float64)
    lanes: dict[Lane, list[float]] = defaultdict(list)
    for request in sent:
        lanes[request.item.lane].append(sent_s[request.request_id])
    pairs = inversions(moments)
    return {
        "compared": len(sent),
        "as_planned": pairs == 0 if len(sent) > 1 else None,
        "inversions": pairs,
        "inversions_within_lanes": sum(inversions(np.array(lane)) for lane in lanes.values()),
        "first": _overtaken(sent, moments),
    }


def _overtaken(sent: Sequence[Planned], moments: np.ndarray[Any, np.dtype[np.float64]]) -> list[dict[str, Any]]:
    """Requests before whose sending a later one of the plan was sent already."""
    if not len(sent):
        return []
    # From the end: the earliest moment of all later requests of the plan.
    earliest = np.minimum.accumulate(moments[::-1])[::-1]
    overtaken = np.flatnonzero(moments[:-1] > earliest[1:])[:LISTED]
    found = []
    for at in overtaken:
        by = int(at) + 1 + int(np.flatnonzero(moments[at + 1 :] < moments[at])[-1])
        found.append(
            {
                "request_id": sent[at].request_id,
                "sent_s": round(float(moments[at]), 6),
                "overtaken_by": sent[by].request_id,
                "by_s": round(float(moments[at] - moments[by]), 6),
            }
        )
    return found
