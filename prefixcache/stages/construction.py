"""How prompts were made exact, said plainly where it was not by the seam rules alone."""

from __future__ import annotations

from pathlib import Path

from prefixcache.artifact import Artifact
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.errors import InputError
from prefixcache.tables import read_parquet

BY_SEAMS, BY_REPAIR, BY_IDS = "seams", "verified_repair", "token_ids"


def construction_warnings(root: Path, construction: str, shards: list[Artifact]) -> list[str]:
    """What whoever uses the dataset has to know; empty where texts are cut by the seam rules."""
    if construction == BY_IDS:
        return [
            "prompts are token ids only (prompt is null): this dataset can be sent as ids to a completions endpoint, "
            "not as text"
        ]
    if construction != BY_REPAIR:
        return []
    own = [shard.path(root) for shard in shards if shard.path(root).stem != "warmup"]
    columns = [read_parquet(path, columns=["suffix_len", "sample_ids"]) for path in own]
    plain = sum(int(((t["suffix_len"] > 16) & (t["sample_ids"].list.len() == 0)).sum()) for t in columns)
    total = sum(len(table) for table in columns)
    return [
        "the seam rules do not hold for this tokenizer and source: every prompt was encoded and mended one by one, and "
        f"{plain} of {total} prompts have single words in place of source text"
    ]


def check_kept(config: PrefixCacheDatasetConfig, construction: str) -> None:
    """Only ids can be sent of prompts without a text: `output.prompts: text` would leave nothing to send.

    Raises:
        InputError: that is what is asked for.
    """
    if construction == BY_IDS and config.output.prompts == "text":
        raise InputError(
            "no text encodes to exact token ids with this tokenizer: prompts are ids only, and text leaves those out",
            field="output.prompts",
            remedy="write prompts: both or ids, or use another tokenizer.",
            dataset_id=config.dataset_id,
        )
