"""Request traces: what the command says of them, by its literal definition, and what is wrong with a file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.simulation.request_trace import simulate_trace
from tests.cache.models.slow_lru import SlowLru
from tests.cache.models.workloads import COMPILED
from tests.conftest import SHARED

FIELDS = ["num_blocks", "requests", "blocks", "hit_blocks", "block_hit_ratio", "input_tokens", "hit_tokens",
          "token_hit_ratio"]  # fmt: skip


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def literally(
    rows: Sequence[dict[str, Any]], unit: int, capacity: int | None, *, partial: bool = False, domains: int = 1
) -> dict[str, Any]:
    """The definition, word by word."""
    caches = [SlowLru(1 << 60 if capacity is None else capacity) for _ in range(domains)]
    blocks = found = tokens = hits = 0
    for place, row in enumerate(sorted(rows, key=lambda row: row["timestamp"])):
        length, ids = row["input_length"], row["hash_ids"]
        counted = ids if partial else ids[: length // unit]
        run, _ = caches[place % domains].run(counted)
        blocks += len(counted)
        found += run
        tokens += length
        hits += unit * min(run, max(0, (length - 1) // unit))
    return {
        "num_blocks": "unbounded" if capacity is None else capacity,
        "requests": len(rows),
        "blocks": blocks,
        "hit_blocks": found,
        "block_hit_ratio": found / blocks if blocks else None,
        "input_tokens": tokens,
        "hit_tokens": hits,
        "token_hit_ratio": hits / tokens if tokens else None,
    }


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[dict[str, Any]], int]:
    unit = draw(st.integers(1, 5))
    rows = []
    for _ in range(draw(st.integers(1, 15))):
        length = draw(st.integers(0, 24))
        ids = draw(st.lists(st.integers(0, 6), max_size=-(-length // unit)))  # fewer than blocks, too
        rows.append({"timestamp": draw(st.integers(0, 4)), "input_length": length, "output_length": 1, "hash_ids": ids})
    return rows, unit


@COMPILED
@given(traces(), st.booleans(), st.integers(1, 3))
def test_results_are_those_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    trace: tuple[list[dict[str, Any]], int],
    partial: bool,
    domains: int,
) -> None:
    rows, unit = trace
    path = write(tmp_path_factory.getbasetemp() / "trace.jsonl", rows)
    sizes = [1, 4, None, 4]
    report = simulate_trace(path, block_size=unit, num_blocks=sizes, count_partial=partial, domains=domains)
    expected = [literally(rows, unit, size, partial=partial, domains=domains) for size in sizes]
    assert report["results"] == expected
    assert [list(row) for row in report["results"]] == [FIELDS] * 4


def real(name: str) -> Path:
    path = SHARED / "data" / "traces" / name
    if not path.is_file():
        pytest.skip(f"{name} is not there: it is expected in ../shared/data/traces beside the checkout")
    return path


# Computed with an ordered dictionary by the definition, outside the product.
@pytest.mark.parametrize(
    ("name", "hits"),
    [("conversation_trace.jsonl", (12990, 62005, 105592)), ("synthetic_trace.jsonl", (10370, 52952, 77740))],
)
def test_published_traces(name: str, hits: tuple[int, ...]) -> None:
    report = simulate_trace(real(name), block_size=512, num_blocks=[1000, 10000, None])
    assert tuple(row["hit_blocks"] for row in report["results"]) == hits


def test_a_published_trace_equals_an_ordered_dictionary() -> None:
    rows = [orjson.loads(line) for line in real("synthetic_trace.jsonl").read_bytes().splitlines()]
    kept: dict[int, None] = {}
    found = 0
    for row in rows:
        ids = row["hash_ids"][: row["input_length"] // 512]
        run = 0
        while run < len(ids) and ids[run] in kept:
            run += 1
        found += run
        for block in reversed(ids):
            kept.pop(block, None)
            kept[block] = None
        while len(kept) > 3000:
            del kept[next(iter(kept))]
    report = simulate_trace(real("synthetic_trace.jsonl"), block_size=512, num_blocks=[3000])
    assert report["results"][0]["hit_blocks"] == found


GOOD = {"timestamp": 5, "input_length": 8, "output_length": 2, "hash_ids": [1, 2]}


def test_equal_times_keep_the_order_of_the_file(tmp_path: Path) -> None:
    """In the file's order the third finds what the first left; by the time the second comes it is gone."""
    rows = [
        GOOD | {"timestamp": 9, "hash_ids": [7, 8]},
        GOOD | {"timestamp": 1.5, "hash_ids": [1, 2]},
        GOOD | {"timestamp": 1.5, "hash_ids": [1, 3]},
        GOOD | {"timestamp": 0, "hash_ids": [7, 8]},
    ]
    report = simulate_trace(write(tmp_path / "t.jsonl", rows), block_size=4, num_blocks=[2])
    assert report["results"][0]["hit_blocks"] == 1


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_engines_chain_ids_that_are_not_chained(engine: str, tmp_path: Path) -> None:
    """The same id behind another parent is another block; with the plain LRU it is the same one."""
    rows = [GOOD | {"input_length": 9, "hash_ids": [1, 2, 9]}, GOOD | {"input_length": 9, "hash_ids": [2, 2, 9]}]
    path = write(tmp_path / "t.jsonl", rows)
    assert simulate_trace(path, block_size=4, num_blocks=[50])["results"][0]["hit_blocks"] == 2
    assert simulate_trace(path, block_size=4, num_blocks=[50], engine=engine)["results"][0]["hit_blocks"] == 0


@pytest.mark.parametrize("engine", ["lru", "vllm", "sglang", "unbounded"])
def test_where_there_is_room_all_engines_hit_the_same(engine: str) -> None:
    path = real("synthetic_trace.jsonl")
    report = simulate_trace(path, block_size=512, num_blocks=[None], engine=engine)
    assert report["results"][0]["hit_tokens"] == 39802880


def test_smaller_caches_of_engines_that_store_outputs_hit_less(tmp_path: Path) -> None:
    path = real("synthetic_trace.jsonl")
    hits = {
        engine: simulate_trace(path, block_size=512, num_blocks=[10000], engine=engine)["results"][0]["hit_tokens"]
        for engine in ("lru", "vllm", "sglang")
    }
    assert hits["sglang"] < hits["vllm"] < hits["lru"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'{"timestamp": 1, "input_length": 8', "line 2 is no JSON"),
        (b'{"timestamp": NaN, "input_length": 8, "output_length": 1, "hash_ids": [1, 2]}', "line 2 is no JSON"),
        (b"[1, 2]", "line 2 is no JSON object"),
        (orjson.dumps({k: v for k, v in GOOD.items() if k != "hash_ids"}), "line 2 has no hash_ids"),
        (orjson.dumps({k: v for k, v in GOOD.items() if k != "timestamp"}), "line 2 has no timestamp"),
        (orjson.dumps(GOOD | {"input_length": None}), "line 2 has no input_length"),
        (orjson.dumps(GOOD | {"input_length": -1}), "line 2 has input_length -1"),
        (orjson.dumps(GOOD | {"input_length": 8.5}), "line 2 has input_length 8.5"),
        (orjson.dumps(GOOD | {"input_length": True}), "line 2 has input_length true"),
        (orjson.dumps(GOOD | {"output_length": -3}), "line 2 has output_length -3"),
        (orjson.dumps(GOOD | {"timestamp": -1}), "line 2 has timestamp -1"),
        (orjson.dumps(GOOD | {"timestamp": "now"}), 'line 2 has timestamp "now"'),
        (orjson.dumps(GOOD | {"hash_ids": 5}), "line 2 has hash_ids 5"),
        (orjson.dumps(GOOD | {"hash_ids": [1, "a"]}), 'line 2 has the hash id "a"'),
        (orjson.dumps(GOOD | {"hash_ids": [1, -2]}), "line 2 has the hash id -2"),
        (
            b'{"timestamp": 1, "input_length": 8, "output_length": 1, "hash_ids": [18446744073709551616]}',
            "whole numbers from 0 to 18446744073709551615",
        ),
    ],
)
def test_a_wrong_line_is_named(line: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(orjson.dumps(GOOD) + b"\n" + line + b"\n")
    with pytest.raises(InputError) as caught:
        simulate_trace(path, block_size=4, num_blocks=[4])
    assert said in str(caught.value)
    assert caught.value.field == "--trace"
    assert caught.value.remedy


def test_fewer_ids_than_blocks_count_as_far_as_they_go(tmp_path: Path) -> None:
    short = GOOD | {"input_length": 13, "hash_ids": [1]}
    report = simulate_trace(write(tmp_path / "t.jsonl", [GOOD, short, short]), block_size=4, num_blocks=[None])
    result = report["results"][0]
    assert (result["blocks"], result["hit_blocks"], result["hit_tokens"]) == (4, 2, 8)
    [said] = report["warnings"]
    assert said.startswith("2 lines have fewer hash ids") and "line 2, has 1 for 13 tokens, which are 3 blocks" in said
    assert chinese_of(said).startswith("2 行的 hash id 少于 4 Token")


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
@pytest.mark.parametrize("blocks", [12, 16, 24, None])
def test_blocks_without_ids_take_their_room(engine: str, blocks: int | None, tmp_path: Path) -> None:
    """The same hits as with ids that no other request has; but these are not counted."""
    draw = random.Random(5)
    short, filled = [], []
    for time in range(60):
        length = draw.randrange(31)
        ids = [10 * depth + draw.randrange(2) for depth in range(draw.randint(0, length // 4))]
        row = GOOD | {"timestamp": time, "input_length": length, "hash_ids": ids}
        short.append(row)
        filled.append(row | {"hash_ids": ids + [1000 * (time + 1) + depth for depth in range(length // 4 - len(ids))]})
    paths = write(tmp_path / "short.jsonl", short), write(tmp_path / "filled.jsonl", filled)
    found = [simulate_trace(path, block_size=4, num_blocks=[blocks], engine=engine)["results"][0] for path in paths]
    assert found[0]["hit_tokens"] == found[1]["hit_tokens"] > 0
    assert found[0]["blocks"] == sum(len(row["hash_ids"]) for row in short) < found[1]["blocks"]


def test_a_byte_order_mark_is_read_over_and_utf_16_is_told(tmp_path: Path) -> None:
    path, text = tmp_path / "t.jsonl", orjson.dumps(GOOD).decode() + "\n"
    path.write_bytes(text.encode("utf-8-sig"))
    assert simulate_trace(path, block_size=4, num_blocks=[4])["results"][0]["requests"] == 1
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        path.write_bytes(text.encode(encoding))
        with pytest.raises(InputError, match="the file is UTF-16 text") as caught:
            simulate_trace(path, block_size=4, num_blocks=[4])
        assert "UTF-8" in str(caught.value.remedy)


def test_blank_lines_and_missing_outputs_are_allowed_where_outputs_do_not_matter(tmp_path: Path) -> None:
    row = {key: value for key, value in GOOD.items() if key != "output_length"}
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\n" + orjson.dumps(row) + b"\n\n" + orjson.dumps(row))
    assert simulate_trace(path, block_size=4, num_blocks=[4])["results"][0]["hit_blocks"] == 2
    with pytest.raises(InputError, match="line 2 has no output_length"):
        simulate_trace(path, block_size=4, num_blocks=[4], engine="vllm")


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    for name, said in (("absent.jsonl", "No such file"), ("empty.jsonl", "holds no requests"), ("", "directory")):
        with pytest.raises(InputError, match=said):
            simulate_trace(tmp_path / name, block_size=4, num_blocks=[4])


def test_a_block_size_that_is_too_large_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [GOOD | {"hash_ids": [1, 2, 3, 4]}])
    assert "smaller than --block-size" in simulate_trace(path, block_size=8, num_blocks=[4])["warnings"][0]
    assert simulate_trace(path, block_size=2, num_blocks=[4])["warnings"] == []


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"engine": "independent_block"}, "--engine"),
        ({"engine": "vllm", "count_partial": True}, "--count-partial"),
        ({"routing": "bound", "domains": 2}, "--routing"),
        ({"engine": "unbounded", "num_blocks": [5]}, "--num-blocks"),
        ({"engine": "unbounded", "with_sweep": True, "num_blocks": [None]}, "--sweep"),
        ({"engine": "vllm", "num_blocks": [2]}, "--num-blocks"),
        ({"engine": "sglang", "num_blocks": [1]}, "--num-blocks"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], field: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [GOOD])
    with pytest.raises(InputError) as caught:
        simulate_trace(path, **({"block_size": 4, "num_blocks": [4]} | options))
    assert caught.value.field == field


def test_random_routes_are_those_of_the_seed(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [GOOD] * 30)
    common: dict[str, Any] = {"block_size": 4, "num_blocks": [4], "domains": 5, "routing": "random"}
    hits = [simulate_trace(path, seed=seed, **common)["results"][0]["hit_blocks"] for seed in (1, 1, 2, 3, 4)]
    assert hits[0] == hits[1]
    assert set(hits) <= {50, 52, 54, 56, 58}
