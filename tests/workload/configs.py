"""Configurations for tests, as a user would write them."""

from __future__ import annotations

from typing import Any

from prefixcache.config import PrefixCacheDatasetConfig, parse_config


def configure(**keys: Any) -> PrefixCacheDatasetConfig:
    """A checked configuration; ``hit_ratio`` is short for the target."""
    raw: dict[str, Any] = {"dataset_id": "test", "seed": 42, **keys}
    if "hit_ratio" in raw:
        raw["target"] = {**raw.get("target", {}), "hit_ratio": raw.pop("hit_ratio")}
    return parse_config(raw)


def explicit(lengths: list[int]) -> dict[str, Any]:
    return {"mode": "explicit", "values": lengths}
