"""Chat prompts on a server: what it counts and what it finds cached are what was designed, request by request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from prefixcache.content.tokenizer import EMBEDDED_FOLDER
from prefixcache.files import read_json, read_jsonl
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.support.datasets import made
from tests.support.families import family_folder

pytestmark = pytest.mark.engine
SYSTEM = "You are a patient teacher who answers every question in a few short and careful steps."


def ask(client: httpx.Client, route: str, prompt: dict[str, Any]) -> tuple[int, int]:
    """Prompt tokens and cached tokens as the server tells them."""
    body = {"max_tokens": 1, "temperature": 0, **prompt}
    answer = client.post(route, json=body, timeout=60)
    assert answer.status_code == 200, answer.text
    usage = answer.json()["usage"]
    return usage["prompt_tokens"], (usage["prompt_tokens_details"] or {}).get("cached_tokens") or 0


@pytest.mark.parametrize("family", ["embedded", "llama3", "llama2"])
def test_chat_counts_and_hits_are_the_designed_ones(family: str, tmp_path: Path) -> None:
    folder = EMBEDDED_FOLDER if family == "embedded" else family_folder(family)
    result = made(
        tmp_path / "set",
        tokenizer="embedded" if family == "embedded" else str(folder),
        prompt={"format": "chat", "system": SYSTEM},
        request_count=40,
        input_length={"mode": "uniform", "min": 100, "max": 300},
        prefix={"group_count": 2},
        target={"hit_ratio": 0.5},
    )
    manifest = read_json(result.manifest)
    assert len(manifest["tokenizer"]["head"]) >= 16  # the system text fills a block, so groups share it
    plan = list(read_jsonl(result.request_metadata))
    options = EngineOptions(str(folder), block_size=16)
    with EngineProcess(options) as engine, httpx.Client(base_url=engine.url) as client:
        for planned, row in zip(plan, read_jsonl(result.data), strict=True):
            chat = {"messages": row["messages"]}
            counted, cached = ask(client, "/v1/chat/completions", chat)
            assert (counted, cached) == (planned["input_len"], planned["expected_hit_len"]), planned["request_id"]
        # The same ids sent to the completions route are the same prompts.
        for planned, row in zip(plan, read_jsonl(result.data), strict=True):
            counted, cached = ask(client, "/v1/completions", {"prompt": row["prompt_token_ids"]})
            assert counted == planned["input_len"]
            assert cached == (planned["input_len"] - 1) // 16 * 16


def test_token_id_prompts_hit_what_was_designed(tmp_path: Path) -> None:
    folder = family_folder("characters")
    result = made(tmp_path / "set", tokenizer=str(folder), request_count=30, prefix={"group_count": 2})
    plan = list(read_jsonl(result.request_metadata))
    options = EngineOptions(str(folder), block_size=16)
    with EngineProcess(options) as engine, httpx.Client(base_url=engine.url) as client:
        for planned, row in zip(plan, read_jsonl(result.data), strict=True):
            found = ask(client, "/v1/completions", {"prompt": row["prompt_token_ids"]})
            assert found == (planned["input_len"], planned["expected_hit_len"])
