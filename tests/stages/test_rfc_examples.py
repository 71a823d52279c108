"""The RFC's three configurations, unchanged, at 1,000 requests with real tokenizers and GSM8K."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixcache.config import load_config
from prefixcache.dataset.check import check_dataset
from prefixcache.files import read_jsonl
from prefixcache.pipeline import generate_prefix_cache_dataset
from prefixcache.stages.stage import InProcess

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["rfc_fixed_single_prefix", "rfc_progressive_single_prefix", "rfc_progressive_multi_prefix"]


@pytest.mark.parametrize("tokenizer", ["qwen", "deepseek"])
@pytest.mark.parametrize("name", NAMES)
def test_rfc_example(name: str, tokenizer: str, tmp_path: Path, gsm8k: Path, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(tokenizer)
    config = load_config(EXAMPLES / f"{name}.yaml", tokenizer=str(folder), sources=[f"gsm8k={gsm8k}"]).config
    result = generate_prefix_cache_dataset(config, tmp_path, InProcess(2))
    report = result.report
    assert result.status == "PASS"
    assert report["request_count"] == 1000
    assert report["absolute_deviation"] <= 16 / (2 * report["input_tokens"])
    assert report["certificate"]["holds"]
    # Every prompt was re-encoded by the real tokenizer.
    assert report["audit"]["prompts"] >= 1000
    assert report["audit"]["differing_prompts"] == 0
    first = next(read_jsonl(result.data))
    assert set(first) == {"request_id", "prompt", "prompt_token_ids", "max_tokens"}
    if tokenizer == "qwen":
        found = check_dataset(tmp_path)
        assert found["intact"], found["checks"]
        assert found["validation_status"] == "PASS"
