"""Small datasets made for real, and the digest of everything in a folder."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from prefixcache.config import PrefixCacheDatasetConfig, parse_config
from prefixcache.pipeline import DatasetGenerationResult, generate_prefix_cache_dataset
from prefixcache.stages.stage import InProcess


def config_of(**changes: Any) -> PrefixCacheDatasetConfig:
    """A small cold dataset of the embedded default; top-level keys can be replaced."""
    raw: dict[str, Any] = {
        "dataset_id": "small",
        "seed": 3,
        "request_count": 40,
        "input_length": {"mode": "uniform", "min": 40, "max": 400},
        "target": {"hit_ratio": 0.5},
    }
    return parse_config({**raw, **changes})


def made(folder: Path, workers: int = 1, **changes: Any) -> DatasetGenerationResult:
    return generate_prefix_cache_dataset(config_of(**changes), folder, InProcess(workers))


def digest_of(folder: Path) -> dict[str, str]:
    """SHA-256 per file of a dataset, the work folder left out."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".work" not in path.parts
    }
