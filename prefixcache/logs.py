"""Seven log categories (RFC 3.4.3), as children of the logger ``prefixcache``.

What is logged are counts, ratios, names and hashes: never a prompt, a sample's text, an address or a credential, and no
path beyond its last part. Nothing is printed unless the application configures logging (`--verbose`, Prefect).
"""

from __future__ import annotations

import logging
from typing import Literal

Category = Literal["config", "lengths", "planning", "collisions", "simulation", "metrics", "report"]
CATEGORIES: tuple[Category, ...] = ("config", "lengths", "planning", "collisions", "simulation", "metrics", "report")


def log(category: Category) -> logging.Logger:
    """The logger of one category."""
    return logging.getLogger(f"prefixcache.{category}")


def percent(ratio: float | None) -> str:
    return "n/a" if ratio is None else f"{ratio * 100:.4f} %"
