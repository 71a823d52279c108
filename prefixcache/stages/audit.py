"""The audit: do the texts of shards encode to their token ids? Every prompt, or a stated sample of a large dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from prefixcache.artifact import Artifact
from prefixcache.content.accelerated import fast_encoder
from prefixcache.content.audit import Audit, audit_prompts
from prefixcache.content.framing import Framing, probe_framing
from prefixcache.content.tokenizer import Tokenizer
from prefixcache.dataset.shards import token_ids
from prefixcache.files import read_json
from prefixcache.stages.job import Job
from prefixcache.stages.probe_tokenizer import cached_tokenizer

NO_TEXT = "none: prompts are token ids only, there is no text to encode"
NOT_KEPT = "none: output.prompts is ids, the texts were not kept"
FULL_AUDIT_TOKENS = 20_000_000  # up to here every prompt is re-encoded unless asked otherwise
SAMPLE_TOKENS, SAMPLE_SHARDS = 4_000_000, 32
PROBES = 64
Served = Callable[[str], str]
Encode = Callable[[list[str]], list[Any]]


def audit_shards(root: Path, job: Job, shards: list[Artifact], tokens: int) -> dict[str, Any]:
    """Re-encode prompts as a server does, through the chat template where there is one, and count those that differ.

    Args:
        tokens: of the whole dataset; beyond FULL_AUDIT_TOKENS a sample is drawn unless `validation.audit` is full.
    """
    whole = tokens <= FULL_AUDIT_TOKENS or job.config.validation.audit == "full"
    chosen, step = (shards, 1) if whole else _sample(shards, tokens)
    first = _table(root, chosen[0])
    if first["prompt"].null_count:
        method = NOT_KEPT if job.config.output.prompts == "ids" else NO_TEXT
        return {"method": method, "prompts": 0, "tokens": 0, "differing_prompts": 0, "first_differing": []}
    encode, by = _encoder(job, first["prompt"].slice(0, PROBES).to_pylist(), fast=tokens > FULL_AUDIT_TOKENS and whole)
    audit = Audit()
    for shard in chosen:
        audit_prompts(encode, _rows(_table(root, shard), step), audit)
    every = "every prompt re-encoded"
    spread = f"every {step}th prompt of {len(chosen)} of {len(shards)} shards re-encoded" if step > 1 else every
    return {
        "method": f"{every}{by}" if whole else spread,
        "prompts": audit.prompts,
        "tokens": audit.tokens,
        "differing_prompts": len(audit.differing),
        "first_differing": audit.differing[:20],
    }


def joints_of(root: Path, shards: list[Artifact]) -> dict[str, Any]:
    """All joints of all prompts, which each shard's build has encoded again (:mod:`prefixcache.content.joints`)."""
    told = [read_json(shard.path(root, ".json")) for shard in shards]
    differing = [name for each in told for name in each["differing"]]
    return {
        "seen": sum(each["seen"] for each in told),
        "encoded": sum(each["distinct"] for each in told),
        "differing_prompts": len(differing),
        "first_differing": differing[:20],
    }


def _sample(shards: list[Artifact], tokens: int) -> tuple[list[Artifact], int]:
    """Shards spread over the dataset, and which prompts of each: every how many-th."""
    count = min(len(shards), SAMPLE_SHARDS)
    chosen = [shards[i] for i in np.unique(np.linspace(0, len(shards) - 1, count).astype(int)).tolist()]
    return chosen, max(1, round(tokens * len(chosen) / len(shards) / SAMPLE_TOKENS))


def _table(root: Path, shard: Artifact) -> pa.Table:
    return pq.read_table(shard.path(root), columns=["request_id", "prompt", "prompt_token_ids"])


def _rows(table: pa.Table, step: int) -> Iterator[tuple[str, str, NDArray[np.int32]]]:
    ids = token_ids(table)
    names, texts = table["request_id"], table["prompt"]
    for row in range(0, len(table), step):
        yield names[row].as_py(), texts[row].as_py(), ids[row]


def _encoder(job: Job, samples: list[str], *, fast: bool) -> tuple[Encode, str]:
    """Prompts to ids as a server has them, and a word on who does it."""
    tokenizer = cached_tokenizer(job.config.tokenizer)
    framing = probe_framing(tokenizer, job.config.prompt)
    served = _served(tokenizer, framing, job)

    def reference(texts: list[str]) -> list[list[int]]:
        rows = tokenizer.backend.encode_batch_fast(texts, add_special_tokens=framing.add_special)
        return [item.ids for item in rows]

    if fast and (quick := fast_encoder(tokenizer.backend.to_str(), reference, [served(text) for text in samples])):
        return (lambda prompts: quick([served(prompt) for prompt in prompts])), " (gigatoken, equal to the tokenizer)"
    return (lambda prompts: reference([served(prompt) for prompt in prompts])), ""


def _served(tokenizer: Tokenizer, framing: Framing, job: Job) -> Served:
    if framing.format != "chat":
        return framing.served
    system = job.config.prompt.system  # through the template itself, as the server does
    return lambda prompt: tokenizer.render_chat(prompt, system)
