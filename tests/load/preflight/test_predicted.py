"""What the preflight predicts of a contradiction is what the reference engine then counts, token for token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefixcache.errors import InputError
from prefixcache.files import read_json
from prefixcache.load.dataset import load_dataset
from prefixcache.load.options import RunOptions
from prefixcache.load.preflight import predicted
from prefixcache.load.preflight.conditions import Conditions
from prefixcache.load.preflight.contradictions import Contradiction
from prefixcache.load.preflight.forecast import predict_all
from prefixcache.load.preflight.options import PreflightOptions
from prefixcache.load.preflight.predicted import Predictor
from prefixcache.load.preflight.predicted_routes import Routes
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.load.handmade import Wish, make_dataset
from tests.support.datasets import made

THREE = {"groups": [{"id": name, "request_weight": 1} for name in "abc"]}
SYSTEM = "Answer the following question about numbers in one short and friendly sentence for people who ask."


def ran(
    dataset: Path, run: Path, engine: EngineOptions, report: Path | None = None, **more: Any
) -> tuple[dict[str, Any], Any]:
    """(what the preflight foretold, what was measured)."""
    checks = PreflightOptions(allow_misfit=True, probe_report=report)
    with EngineProcess(engine) as process:
        options = RunOptions(urls=(process.url,), poll_interval=0.05, concurrency=1, checks=checks, **more)
        summary = run_benchmark(dataset, run, options)
    return read_json(run / "runtime" / "run.json")["preflight"], summary


def figures(told: dict[str, Any], summary: Any) -> Iterator[tuple[int, int]]:
    """Pass by pass the predicted and the measured hit tokens of all contradictions together."""
    for foretold, measured in zip(told["combined"]["passes"], summary.passes, strict=True):
        yield foretold["predicted_hit_tokens"], measured["measured_hit_tokens"]


def _untargeted(mode: str) -> dict[str, Any]:
    return {"target": None} if mode == "replay" else {}


@pytest.mark.engine
@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "compare", "replay"])
def test_blocks_of_another_size(tmp_path: Path, mode: str) -> None:
    chosen: dict[str, Any] = {"execution": {"mode": mode}, "prefix": THREE, "prompt": {"system": SYSTEM}}
    set_ = made(tmp_path / "set", **{**chosen, **_untargeted(mode)}).root
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", block_size=48))
    assert summary.status == "complete"
    for foretold, measured in figures(told, summary):
        assert foretold == measured
    [found] = [one for one in told["contradictions"] if one["code"] in ("block_size", "block_size_differs")]
    assert found["effect_pp"] == pytest.approx(100 * (found["predicted_hit_ratio"] - found["designed_hit_ratio"]))
    assert found["predicted_hit_ratio"] != found["designed_hit_ratio"]


@pytest.mark.engine
def test_more_ranks_than_planned(tmp_path: Path) -> None:
    set_ = made(tmp_path / "set", prefix=THREE, target={"hit_ratio": 0.6}).root
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", dp=2))
    [(foretold, measured)] = figures(told, summary)
    assert foretold == measured < summary.passes[0]["expected_hit_tokens"]
    assert [one["code"] for one in told["contradictions"]] == ["more_ranks"]


@pytest.mark.engine
def test_a_cache_too_small(tmp_path: Path) -> None:
    set_ = made(tmp_path / "set", prefix=THREE, target={"hit_ratio": 0.6}).root
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", num_blocks=60))
    [(foretold, measured)] = figures(told, summary)
    assert foretold == measured < summary.passes[0]["expected_hit_tokens"]
    [found] = told["contradictions"]
    assert (found["code"], found["predicted_hit_ratio"]) == ("kv_capacity", told["combined"]["predicted_hit_ratio"])
    assert found["requests_affected"] > 0 and len(found["first_affected"]) <= predicted.SHOWN


@pytest.mark.engine
@pytest.mark.parametrize(("size", "blocks"), [(8, 119), (4, 237)])
def test_a_small_cache_evicts_by_its_own_blocks(tmp_path: Path, size: int, blocks: int) -> None:
    """Blocks that divide every planned prefix move no hit; in a cache that evicts they do."""
    set_ = made(tmp_path / "set", prefix=THREE, target={"hit_ratio": 0.6}).root
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", block_size=size, num_blocks=blocks))
    [(foretold, measured)] = figures(told, summary)
    assert foretold == measured < summary.passes[0]["expected_hit_tokens"]


@pytest.mark.engine
def test_a_plan_for_a_pool_in_blocks_of_another_size(tmp_path: Path) -> None:
    """As many blocks as planned for, each half as large."""
    planning = {"assume": "capacity", "num_blocks": 60}
    set_ = made(tmp_path / "set", prefix=THREE, target={"hit_ratio": 0.4}, planning=planning).root
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", block_size=8, num_blocks=60))
    [(foretold, measured)] = figures(told, summary)
    assert foretold == measured != summary.passes[0]["expected_hit_tokens"]
    texts = [one["text"] for one in told["contradictions"] if one["code"] == "capacity_differs"]
    assert len(texts) == 1 and "caches of 60 blocks of 16 tokens" in texts[0] and "has 60 of 8" in texts[0]


@pytest.mark.engine
def test_a_drop_of_units_smaller_than_planned(tmp_path: Path) -> None:
    set_ = made(tmp_path / "set", prefix=THREE).root
    report = tmp_path / "probe.json"
    findings = [{"name": "hit_unit", "value": 4, "source": "measured"}]
    findings.append({"name": "hit_drop", "value": 2, "source": "measured"})
    report.write_text(json.dumps({"findings": findings}))
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", hit_unit=4, hit_drop=2), report=report)
    [(foretold, measured)] = figures(told, summary)
    assert foretold == measured < summary.passes[0]["expected_hit_tokens"]


@pytest.mark.engine
def test_sglang_says_that_its_tree_is_off(tmp_path: Path) -> None:
    set_ = made(tmp_path / "set", prefix=THREE).root
    engine = EngineOptions("embedded", dialect="sglang", block_size=16, prefix_caching=False)
    told, summary = ran(set_, tmp_path / "run", engine)
    assert [one["code"] for one in told["contradictions"]] == ["prefix_caching_off"]
    assert list(figures(told, summary)) == [(0, 0)]


def test_one_that_cannot_be_simulated_leaves_no_sum_of_the_others(tmp_path: Path) -> None:
    """What all together do is not known then, and that is said."""
    dataset = load_dataset(made(tmp_path / "set", prefix=THREE).root)
    changes = (Conditions(unit=32), Conditions(engine="no such engine", pool_tokens=4_000))
    found = [Contradiction("odd", "warning", "odd", change=change) for change in changes]
    each, forecast = predict_all(Predictor(dataset), found)
    assert [one.prediction is None for one in each] == [False, True]
    assert forecast.combined is None and forecast.contradictions == 1
    assert forecast.notes[0].startswith("not all of it was predicted: ")


@pytest.mark.engine
def test_all_of_it_at_once(tmp_path: Path) -> None:
    set_ = made(tmp_path / "set", prefix=THREE, target={"hit_ratio": 0.6}).root
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", dp=2, num_blocks=30, block_size=32))
    [(foretold, measured)] = figures(told, summary)
    assert foretold == measured
    codes = {one["code"] for one in told["contradictions"]}
    assert codes == {"block_size", "more_ranks", "kv_capacity"}
    alone = {one["code"]: one["predicted_hit_ratio"] for one in told["contradictions"]}
    assert told["combined"]["predicted_hit_ratio"] < min(alone.values())
    assert told["prediction"]["contradictions"] == 3 and told["prediction"]["blocks_from"] == "token_ids"


@pytest.mark.engine
@pytest.mark.parametrize(("unit", "drop"), [(32, 0), (48, 1), (16, 1)])
def test_a_server_that_does_not_say_in_which_unit_it_matches(tmp_path: Path, unit: int, drop: int) -> None:
    """Measured by a probe: its block size is the planned one, its hits are not."""
    set_ = made(tmp_path / "set", prefix=THREE).root
    report = tmp_path / "probe.json"
    findings = [{"name": "hit_unit", "value": unit, "source": "measured"}]
    findings.append({"name": "hit_drop", "value": drop, "source": "measured"})
    report.write_text(json.dumps({"findings": findings}))
    told, summary = ran(set_, tmp_path / "run", EngineOptions("embedded", hit_unit=unit, hit_drop=drop), report=report)
    [(foretold, measured)] = figures(told, summary)
    assert foretold == measured < summary.passes[0]["expected_hit_tokens"]
    checks, match = PreflightOptions(probe_report=report), r"predicted: [\d.]+ % instead of 50\.\d+ %"
    with (
        EngineProcess(EngineOptions("embedded", hit_unit=unit, hit_drop=drop)) as engine,
        pytest.raises(InputError, match=match) as caught,
    ):
        run_benchmark(set_, tmp_path / "refused", RunOptions(urls=(engine.url,), checks=checks))
    assert caught.value.field == ("hit_unit" if unit > 16 else "hit_drop")
    assert not (tmp_path / "refused").exists()


@pytest.mark.engine
@pytest.mark.parametrize(("block", "unit"), [(128, 100), (100, 48)])
def test_a_stated_block_size_that_does_not_divide_the_measured_unit_is_not_believed(
    tmp_path: Path, block: int, unit: int
) -> None:
    set_ = made(tmp_path / "set", prefix=THREE).root
    report = tmp_path / "probe.json"
    report.write_text(json.dumps({"findings": [{"name": "hit_unit", "value": unit, "source": "measured"}]}))
    engine = EngineOptions("embedded", block_size=block, hit_unit=unit)
    told, summary = ran(set_, tmp_path / "run", engine, report=report)
    assert told["contradictions"] and told["combined"] is not None
    for foretold, measured in figures(told, summary):
        assert foretold == measured > 0


def slow_hits(dataset: Any, unit: int, name: str) -> list[int]:
    """The oracle: every prompt's whole blocks as tuples of tokens, in a set that never forgets, domain by domain."""
    known: dict[int, set[tuple[int, ...]]] = {}
    hits = []

    def serve(planned: Any, warmup: bool) -> int:
        ids = dataset.prompt(planned, warmup).ids
        seen = known.setdefault(planned.domain, set())
        run = 0
        while (run + 1) * unit < len(ids) and tuple(ids[: (run + 1) * unit]) in seen:
            run += 1
        seen.update(tuple(ids[: n * unit]) for n in range(1, len(ids) // unit + 1))
        return run * unit

    before = {"warmup": dataset.warmup, "replay": dataset.requests}.get(dataset.prepared_by(name), ())
    for planned in before:
        serve(planned, warmup=True)
    for planned in dataset.requests:
        hits.append(serve(planned, warmup=False))
    return hits


@pytest.mark.parametrize("mode", ["progressive_prefix_fill", "warmup", "replay"])
def test_the_oracle_agrees_with_the_ids_and_with_the_plan(
    tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: dict[str, Any] = {"execution": {"mode": mode}, "prefix": THREE, "prompt": {"system": SYSTEM}}
    set_ = made(tmp_path / "set", **chosen, **_untargeted(mode)).root
    dataset = load_dataset(set_)
    [name] = dataset.passes
    wanted = {unit: sum(slow_hits(dataset, unit, name)) for unit in (4, 16, 24, 32, 64, 512)}
    for most, source in ((predicted.MOST_READ, "token_ids"), (0, "plan")):
        monkeypatch.setattr(predicted, "MOST_READ", most)
        predictor = Predictor(dataset)
        found = {unit: predictor.predict(Conditions(unit=unit)).target.hit_tokens for unit in wanted}
        assert (found, predictor.source) == (wanted, source)


def test_what_the_server_refuses_is_not_counted(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", [Wish("a", 16), Wish("a", 160), Wish("a", 32)]))
    found = Predictor(dataset).predict(Conditions(longest=100)).target
    assert (found.hit_tokens, found.input_tokens, found.affected) == (16, 40 + 56, 2)
    assert found.first[0].predicted is None
    assert found.effect_pp == pytest.approx(100 * (16 / 96 - 48 / 280))


def test_what_no_cache_could_hold_is_not_served(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", [Wish("a", 16), Wish("a", 160), Wish("a", 32)]))
    for engine in ("vllm", "sglang", "lru"):
        found = Predictor(dataset).predict(Conditions(pool_tokens=96, engine=engine)).target
        assert (found.input_tokens, found.affected, found.first[0].predicted) == (40 + 56, 2, None)


def test_no_prefix_caching_is_no_hit(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", [Wish("a", 16), Wish("a", 48), Wish("a", 32)]))
    found = Predictor(dataset).predict(Conditions(caching=False))
    assert (found.target.hit_tokens, found.target.affected, found.target.without_hit) == (0, 2, 2)
    assert found.text.endswith("2 of 3 requests hit otherwise than designed, 2 of them nothing: r1 of a, r2 of a")


def test_too_large_to_simulate_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", [Wish("a", 16), Wish("a", 48)]))
    monkeypatch.setattr(predicted, "MOST_BLOCKS", 3)
    with pytest.raises(InputError, match="too long to simulate"):
        Predictor(dataset).predict(Conditions(unit=8))
    assert Predictor(dataset).predict(Conditions(unit=32)).target.hit_tokens == 0


def test_conditions_together_are_the_worse_of_each() -> None:
    one = Conditions(unit=32, pool_tokens=100, engine="vllm", longest=9)
    other = Conditions(unit=64, pool_tokens=200, ranks=(2,), caching=False, folded=3)
    both = Conditions(64, 100, None, "vllm", (2,), 3, False, 9, False)
    assert one.merged(other) == other.merged(one) == both


def test_turns_of_the_ranks_go_on_from_the_warmup(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", [Wish("a", 16)] * 5, mode="replay"))
    routes = Routes(dataset, 1, False, Conditions(ranks=(2,)))
    homes = np.concatenate([routes.of(dataset.requests), routes.of(dataset.requests)])
    assert homes.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    routes = Routes(dataset, 2, False, Conditions(ranks=(1, 2)))
    assert routes.of(dataset.requests).tolist() == [0, 1, 0, 2, 0]
