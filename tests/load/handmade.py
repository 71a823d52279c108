"""A small dataset directory made by hand: ids are plain numbers, expected hits come from the watermark formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefixcache.dataset.manifest import dataset_digest, order_digest
from prefixcache.files import read_json, sha256_file, write_json, write_jsonl
from tests.load.papers import papers_of

BLOCK = 16
FIRST_ID = 1000


@dataclass(frozen=True)
class Wish:
    """A request as a test wants it: group, planned prefix and own tokens, cache domain."""

    group: str
    prefix: int
    own: int = 24
    domain: int = 0
    output: int = 3


def make_dataset(
    directory: Path,
    wishes: Sequence[Wish],
    *,
    mode: str = "progressive_prefix_fill",
    block_size: int = BLOCK,
    embedded: bool = False,
    routed: bool = False,
    execution: dict[str, Any] | None = None,
    routing: dict[str, Any] | None = None,
    salt: int = 0,
    text: bool = True,
) -> Path:
    """Write the directory of docs/architecture.md and return it.

    ``salt``: moves all tokens, so that the same plan gets other content. ``text``: False for a dataset of ids only.
    """
    directory.mkdir(parents=True, exist_ok=True)
    masters = {g: n for n, g in enumerate(dict.fromkeys(w.group for w in wishes))}
    warm = {}
    for wish in wishes:
        lane = (wish.domain, wish.group)
        warm[lane] = max(warm.get(lane, 0), wish.prefix)
    data, metadata, marks = [], [], {}
    for n, wish in enumerate(wishes):
        lane = (wish.domain, wish.group)
        mark, length = marks.get(lane, 0), wish.prefix + wish.own
        cold, hot = min(wish.prefix, mark), wish.prefix
        replayed = (length - 1) // BLOCK * BLOCK
        expected = {"warmup": hot, "hot": hot, "replay": replayed}.get(mode, cold)
        ids = _ids(masters[wish.group], wish.prefix, wish.own, 100 + n, salt)
        data.append(_row(f"r{n}", ids, wish.output) | ({} if text else {"prompt": None}))
        metadata.append(
            {
                "request_id": f"r{n}",
                "prefix_group_id": wish.group,
                "order_index": n,
                "input_len": length,
                "output_len": wish.output,
                "planned_prefix_len": wish.prefix,
                "cached_watermark_before": mark,
                "expected_hit_len": expected,
                "planned_dp_id": wish.domain,
                "planned_route": wish.domain if routed else None,
            }
            | ({"expected_hit_len_cold": cold, "expected_hit_len_hot": hot} if mode == "compare" else {})
        )
        marks[lane] = max(mark, wish.prefix)
    write_jsonl(directory / "data.jsonl", data)
    write_jsonl(directory / "request_metadata.jsonl", metadata)
    if mode in ("warmup", "hot", "compare"):
        _write_warmup(directory, warm, masters, routed, salt)
    facts = _facts(directory.name, mode, block_size, metadata, list(masters), max(w.domain for w in wishes) + 1)
    size = (routing or {}).get("dp_size", 1)
    scope = "dp_local" if routed else "global"
    routes = {"cache_scope": scope, "dp_size": size, "cache_domains": size, "policy": "bound"}
    run = {"mode": mode, "warmup_rounds": 1, "concurrency": 1, "gating": "watermark"}
    own = {
        "tokenizer": {"name": "numbers", "embedded": embedded, "sha256": "0" * 64, "head": [], "tail": []},
        "routing": routes | (routing or {}),
        "execution": run | (execution or {}),
    }
    report, manifest = papers_of(facts, own, "text" if text else "ids")
    write_json(directory / "validation_report.json", report)
    write_json(directory / "manifest.json", manifest)
    return sign(directory)


def sign(directory: Path, **changes: Any) -> Path:
    """Write the digests of the files as they are into the manifest; ``changes``: other keys of it."""
    names = [p.name for p in sorted(directory.iterdir()) if p.is_file() and p.name != "manifest.json"]
    files = {
        name: {"sha256": sha256_file(path := directory / name), "bytes": path.stat().st_size, "rows": 1}
        for name in names
    }
    manifest = {**read_json(directory / "manifest.json"), "files": files, "dataset_digest": dataset_digest(files)}
    write_json(directory / "manifest.json", manifest | changes)
    return directory


def _facts(
    name: str, mode: str, block: int, metadata: list[dict[str, Any]], groups: list[str], domains: int
) -> dict[str, Any]:
    """What manifest and report both state."""
    tokens = sum(row["input_len"] for row in metadata)
    passes = {"compare": ["cold", "hot"], "warmup": ["hot"], "hot": ["hot"], "replay": ["replay"]}.get(mode, ["cold"])
    stated = []
    for one in passes:
        hits = sum(row.get(f"expected_hit_len_{one}", row["expected_hit_len"]) for row in metadata)
        figures = {"expected_hit_tokens": hits, "designed_hit_ratio": hits / tokens}
        stated.append({"name": one, "input_tokens": tokens, **figures})
    return {
        "dataset_id": name,
        "execution_mode": mode,
        "block_size": block,
        "request_count": len(metadata),
        "input_tokens": tokens,
        "output_tokens": sum(row["output_len"] for row in metadata),
        "passes": stated,
        "group_ids": groups,
        "domain_count": domains,
        "order_digest": order_digest(row["request_id"] for row in metadata),
    }


def expected_hits(directory: Path, name: str) -> int:
    """Designed hit tokens of a pass."""
    from prefixcache.load.dataset import load_dataset

    return sum(r.hits[name] for r in load_dataset(directory).requests)


def _write_warmup(
    directory: Path, warm: dict[tuple[int, str], int], masters: dict[str, int], routed: bool, salt: int
) -> None:
    rows = [
        {
            **_row(f"warmup-{domain}-{group}", _ids(masters[group], prefix, BLOCK, 90 + n, salt), 1),
            "prefix_group_id": group,
            "planned_dp_id": domain,
            "planned_route": domain if routed else None,
            "input_len": prefix + BLOCK,
            "planned_prefix_len": prefix,
        }
        for n, ((domain, group), prefix) in enumerate(warm.items())
    ]
    write_jsonl(directory / "warmup.jsonl", rows)


def _ids(master: int, prefix: int, own: int, number: int, salt: int) -> list[int]:
    """Leading tokens of a group's master, then tokens that no other request has at that place."""
    first = FIRST_ID + salt
    return [first + master * 7 + i % 500 for i in range(prefix)] + [first + 600 + number] * own


def _row(request_id: str, ids: list[int], max_tokens: int) -> dict[str, Any]:
    text = " ".join(map(str, ids))
    return {"request_id": request_id, "prompt": text, "prompt_token_ids": ids, "max_tokens": max_tokens}
