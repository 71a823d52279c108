"""Tests of one ``xdist_group`` in one process.

pytest-xdist 3.8 notes a test's group in its id, in a place that pytest no longer reads since 9.2, so that
``--dist loadgroup`` spreads the tests of a group over all processes. The groups here are those of whole modules, so a
module's own text tells them.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadGroupScheduling

ROOT = Path(__file__).parents[2]


class ModuleGroups(LoadGroupScheduling):  # type: ignore[misc]
    """``--dist loadgroup`` by the groups that modules name."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0]) or nodeid


@cache
def group_of(path: str) -> str | None:
    """The group in a module's ``pytestmark``; ``path`` relative to the repository."""
    found = re.search(r'pytest\.mark\.xdist_group\("(\w+)"\)', (ROOT / path).read_text(encoding="utf-8"))
    return found[1] if found else None
