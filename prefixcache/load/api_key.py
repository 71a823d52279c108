"""The key of an API: given, or in the environment. It is never written."""

from __future__ import annotations

import os

from prefixcache.errors import InputError

API_KEY_VARIABLE = "PREFIXCACHE_API_KEY"


def api_key_of(given: str | None = None) -> str | None:
    """The key that requests carry; None: there is none.

    Raises:
        InputError: it holds what no HTTP header can carry.
    """
    key = (given or os.environ.get(API_KEY_VARIABLE, "")).strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            "it holds characters that no HTTP header can carry",
            field=API_KEY_VARIABLE,
            remedy="Set the variable to the key alone.",
        )
    return key or None
