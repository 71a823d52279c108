"""Passes kept apart: by reset, by salt, by other content; and what happens where none of it works."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import InputError
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.load.fake_server import FakeServer
from tests.load.handmade import Wish, expected_hits, make_dataset
from tests.support.datasets import made
from tests.support.reading import warned_of

WISHES = [Wish("a", 32), Wish("b", 16), Wish("a", 48), Wish("b", 64), Wish("a", 16), Wish("b", 48), Wish("a", 0)]


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


@pytest.fixture(scope="module")
def without_reset() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded", reset="absent")) as process:
        yield process


def options(url: str, **more: Any) -> RunOptions:
    return RunOptions(urls=(url,), send="ids", poll_interval=0.05, quiesce_timeout=3.0, **more)


def run_json(run: Path) -> Any:
    return json.loads((run / "runtime" / "run.json").read_text())


def hits_as_designed(dataset: Path, summary: Any) -> bool:
    return all(p["measured_hit_tokens"] == expected_hits(dataset, p["name"]) for p in summary.passes)


@pytest.mark.engine
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_fresh_salt_for_each_pass(engine: EngineProcess, tmp_path: Path, concurrency: int) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, mode="compare")
    before = {p.name: p.read_bytes() for p in dataset.iterdir()}
    # The cache is full of this very content when the measured run begins, and nothing empties it.
    run_benchmark(dataset, tmp_path / "fill", options(engine.url))
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, isolation="salt", concurrency=concurrency))
    assert summary.status == "complete"
    assert hits_as_designed(dataset, summary)
    assert summary.passes[0]["isolation"]["verified"] is True
    isolation = run_json(tmp_path / "run")["isolation"]
    salts = [p["salt"] for p in isolation["passes"]]
    assert [p["method"] for p in isolation["passes"]] == ["salt", "salt"]
    assert len(set(salts)) == 2 and all(len(s) >= 32 for s in salts)
    [probe] = isolation["salt_probe"]
    assert (probe["finding"], probe["hits"]) == ("separates", [0, 32, 0])
    assert {p.name: p.read_bytes() for p in dataset.iterdir()} == before
    again = run_benchmark(dataset, tmp_path / "again", options(engine.url, isolation="salt"))
    assert not set(salts) & {p["isolation"]["salt"] for p in again.passes}


@pytest.mark.engine
def test_auto_takes_the_salt_where_the_reset_is_missing(without_reset: EngineProcess, tmp_path: Path) -> None:
    engine = without_reset
    dataset = make_dataset(tmp_path / "set", WISHES, mode="compare")
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url))
    assert summary.status == "complete" and hits_as_designed(dataset, summary)
    assert set(warned_of(summary.warnings)) == {"isolated_by_salt"}
    assert [p["isolation"]["method"] for p in summary.passes] == ["salt", "salt"]
    with pytest.raises(InputError, match="has no route /reset_prefix_cache") as caught:
        run_benchmark(dataset, tmp_path / "reset", options(engine.url, isolation="reset"))
    assert (caught.value.field, caught.value.stage) == ("isolation", "run_benchmark")
    assert caught.value.remedy is not None and "--isolation variant" in caught.value.remedy


@pytest.mark.engine
def test_a_variant_needs_nothing_of_the_server(without_reset: EngineProcess, tmp_path: Path) -> None:
    """The salts of handmade content stand in for other content seeds: the same plan, no common token at any place."""
    dataset = make_dataset(tmp_path / "set", WISHES, mode="compare", salt=900)
    other = make_dataset(tmp_path / "other", WISHES, mode="compare", salt=2300)
    summary = run_benchmark(dataset, tmp_path / "run", options(without_reset.url, variant_dataset=other))
    assert summary.status == "complete" and hits_as_designed(dataset, summary)
    assert [p["isolation"]["method"] for p in summary.passes] == ["variant", "variant"]
    assert summary.passes[0]["isolation"]["verified"] is True
    assert run_json(tmp_path / "run")["isolation"]["variant"]["dataset_id"] == "other"
    assert (tmp_path / "run" / "dataset_variant" / "data.jsonl").samefile(other / "data.jsonl")
    rows = [json.loads(x) for x in (tmp_path / "run" / "runtime" / "request_results.jsonl").read_text().splitlines()]
    measured = [r for r in rows if r["phase"] == "measured"]
    assert {r["request_id"] for r in measured if r["pass"] == "hot"} == {f"r{n}" for n in range(len(WISHES))}
    assert all(r["cached_tokens"] == r["expected_hit_len"] for r in measured)


@pytest.mark.engine
def test_a_variant_sent_before_is_found_out(engine: EngineProcess, tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, mode="compare", salt=3400)
    other = make_dataset(tmp_path / "other", WISHES, mode="compare", salt=4600)
    run_benchmark(dataset, tmp_path / "fill", options(engine.url))
    chosen = {"variant_dataset": other, "isolation": "variant", "concurrency": 3, "allow_residue": True}
    summary = run_benchmark(dataset, tmp_path / "run", options(engine.url, **chosen))
    cold = summary.passes[0]
    assert cold["residue"]["detected"] is True
    assert cold["isolation"]["verified"] is False
    assert "the first of cache domain 0, hit 48 tokens" in cold["residue"]["evidence"][0]
    assert "the counters show 48 hit tokens after the first request" in cold["residue"]["evidence"][1]
    [warning] = [w for w in summary.warnings if w["code"] == "residue"]
    assert (warning["stage"], warning["field"]) == ("run_benchmark", "isolation")
    assert "empty its cache" in warning["remedy"]


@pytest.mark.parametrize(
    ("wishes", "salt", "text"),
    [
        (WISHES, 0, "is the dataset's, so it would be found cached"),
        ([*WISHES[:2], Wish("a", 32), *WISHES[3:]], 900, "prefix 32 instead of 48"),
        (WISHES[:-1], 900, "6 requests, the dataset 7"),
        ([Wish("c", 32), *WISHES[1:]], 900, "group c instead of a"),
    ],
)
def test_variants_that_are_none(tmp_path: Path, wishes: list[Wish], salt: int, text: str) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, mode="compare")
    other = make_dataset(tmp_path / "other", wishes, mode="compare", salt=salt)
    with pytest.raises(InputError, match=text) as caught:
        run_benchmark(dataset, tmp_path / "run", options("http://127.0.0.1:9", variant_dataset=other))
    assert (caught.value.field, caught.value.stage) == ("variant_dataset", "run_benchmark")
    assert caught.value.remedy is not None and "--set dataset_id" in caught.value.remedy
    assert not (tmp_path / "run").exists()


def test_one_pass_needs_no_variant(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES)
    with pytest.raises(InputError, match="has one pass"):
        run_benchmark(dataset, tmp_path / "run", options("http://127.0.0.1:9", variant_dataset=dataset))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"isolation": "variant"}, "isolation"),
        ({"isolation": "salt", "variant_dataset": Path("x")}, "variant_dataset"),
        ({"isolation": "hope"}, "isolation"),
    ],
)
def test_choices_that_contradict(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        RunOptions(urls=("http://h",), **change)
    assert caught.value.field == field
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("cached", "text"),
    [(lambda n: 0, "sent twice under one salt hit nothing"), (lambda n: 32 if n else 0, "hit 32 tokens of the first")],
)
def test_a_salt_that_does_not_separate_is_not_believed(tmp_path: Path, cached: Any, text: str) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES)
    with FakeServer(cached=cached) as server:
        with pytest.raises(InputError, match=text) as caught:
            run_benchmark(dataset, tmp_path / "run", options(server.url, isolation="salt"))
        assert caught.value.field == "isolation"
        assert run_json(tmp_path / "run")["status"] == "failed"
        assert server.completions == 3
        summary = run_benchmark(dataset, tmp_path / "run", options(server.url, isolation="salt", allow_residue=True))
    assert "cache_not_reset" in {w["code"] for w in summary.warnings}
    assert summary.passes[0]["isolation"]["method"] == "none"


@pytest.mark.engine
def test_nothing_done_is_trusted_once_and_measured(engine: EngineProcess, tmp_path: Path) -> None:
    fresh = make_dataset(tmp_path / "fresh", WISHES, salt=5700)
    summary = run_benchmark(fresh, tmp_path / "run", options(engine.url, isolation="none"))
    assert summary.passes[0]["isolation"] | {"salt": None} == {
        "pass": "cold",
        "method": "none",
        "salt": None,
        "salt_field": None,
        "reset": [],
        "verified": True,
    }
    assert "not_isolated" in {w["code"] for w in summary.warnings}
    both = make_dataset(tmp_path / "both", WISHES, mode="compare", salt=6300)
    with pytest.raises(InputError, match="meets the cache that the pass before it has filled"):
        run_benchmark(both, tmp_path / "two", options(engine.url, isolation="none"))
    summary = run_benchmark(both, tmp_path / "two", options(engine.url, isolation="none", allow_residue=True))
    assert [p["residue"]["detected"] for p in summary.passes] == [True, True]


@pytest.mark.engine
def test_a_generated_variant_is_one(engine: EngineProcess, tmp_path: Path) -> None:
    """Another dataset_id is another content of the same plan; a common head is shared and planned for."""
    common: dict[str, Any] = {
        "request_count": 24,
        "execution": {"mode": "compare"},
        "prefix": {"group_count": 2},
        "prompt": {
            "system": "Answer the following question about numbers in one short and friendly sentence for people."
        },
    }
    made(tmp_path / "a", dataset_id="a", **common)
    made(tmp_path / "b", dataset_id="b", **common)
    summary = run_benchmark(
        tmp_path / "a",
        tmp_path / "run",
        RunOptions(urls=(engine.url,), poll_interval=0.05, variant_dataset=tmp_path / "b", concurrency=3),
    )
    assert summary.status == "complete"
    assert all(p["measured_hit_tokens"] == p["expected_hit_tokens"] > 0 for p in summary.passes)
    with pytest.raises(InputError, match="would be found cached"):
        run_benchmark(tmp_path / "a", tmp_path / "same", options(engine.url, variant_dataset=tmp_path / "a"))
