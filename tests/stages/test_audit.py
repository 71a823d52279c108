"""What is re-encoded: everything, a stated sample of a large dataset, or everything of it on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from prefixcache.artifact import Artifact
from prefixcache.stages import audit, build_shards
from prefixcache.stages.audit import audit_shards
from prefixcache.stages.job import Job
from tests.support.datasets import config_of, made
from tests.support.tokenizers import qwen_folder

MANY: dict[str, Any] = {"request_count": 400, "input_length": 200, "prefix": {"group_count": 2}}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_shards, "SHARD_TOKENS", 4_000)  # 20 prompts a shard
    monkeypatch.setattr(audit, "FULL_AUDIT_TOKENS", 20_000)
    monkeypatch.setattr(audit, "SAMPLE_TOKENS", 8_000)
    monkeypatch.setattr(audit, "SAMPLE_SHARDS", 10)


def test_a_large_dataset_is_sampled_from_end_to_end(tmp_path: Path) -> None:
    found = made(tmp_path, **MANY).report["audit"]
    assert found["method"] == "every 5th prompt of 10 of 20 shards re-encoded"
    assert (found["prompts"], found["differing_prompts"]) == (40, 0)


@pytest.mark.parametrize("tokenizer", [None, "qwen"])
def test_all_of_it_on_demand(tokenizer: str | None, tmp_path: Path) -> None:
    named = {"tokenizer": str(qwen_folder())} if tokenizer else {}
    found = made(tmp_path, **MANY, **named, validation={"audit": "full"}).report["audit"]
    assert found["method"].startswith("every prompt re-encoded")
    assert (found["prompts"], found["tokens"], found["differing_prompts"]) == (400, 80_000, 0)


@pytest.mark.parametrize("which", ["full", "auto"])
def test_a_changed_text_is_seen_where_it_is_looked_at(which: str, tmp_path: Path) -> None:
    made(tmp_path, **MANY)
    job = Job.of(config_of(**MANY, validation={"audit": which}))
    paths = sorted((tmp_path / "shards").glob("*.parquet"))
    table = pq.read_table(paths[0])
    texts = table["prompt"].to_pylist()
    texts[0] = texts[0].replace(" ", "  ", 1)
    place = table.schema.get_field_index("prompt")
    pq.write_table(table.set_column(place, "prompt", pa.array(texts, type=pa.large_string())), paths[0])
    shards = [Artifact.of("shard", tmp_path, [f"shards/{path.name}"], 20) for path in paths]
    found = audit_shards(tmp_path, job, shards, 80_000)
    assert (found["differing_prompts"], found["first_differing"]) == (1, [table["request_id"][0].as_py()])
