"""What the servers of a service do, as a user says it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from prefixcache.engines.quantities import Role
from prefixcache.errors import InputError

ROLES: tuple[Role, ...] = get_args(Role)
STAGE = "scrape_metrics"


def known_roles(roles: Sequence[str]) -> tuple[Role, ...]:
    """The same, known to be roles.

    Raises:
        InputError: one is none.
    """
    known: dict[str, Role] = {role: role for role in ROLES}
    for role in roles:
        if role not in known:
            raise InputError(f"{role!r} is no role", field="role", remedy=f"Write {', '.join(ROLES)}.", stage=STAGE)
    return tuple(known[role] for role in roles)


def roles_of(roles: Sequence[str], pages: Sequence[str]) -> dict[str, Role]:
    """Metrics page → what its server does, by position; all ``mixed`` where nothing is said.

    Raises:
        InputError: another number than pages, or no role.
    """
    found = known_roles(roles)
    if found and len(found) != len(pages):
        raise InputError(
            f"{len(found)} roles and {len(pages)} metrics pages",
            field="role",
            remedy="Give one for each metrics page, in their order.",
            stage=STAGE,
        )
    return dict(zip(pages, found, strict=False))
