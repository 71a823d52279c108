"""Fault plans on an engine that poses as another one."""

from __future__ import annotations

import pytest

from prefixcache.errors import InputError
from prefixcache.reference.faults.front import front_of
from prefixcache.reference.faults.plan import parse_plan
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.server import build_app
from tests.reference.faults.conftest import StartFaulty

pytestmark = pytest.mark.engine

HITS = {
    "vllm-early-v1": "vllm:gpu_prefix_cache_hits_total",
    "sglang": "sglang:cached_tokens_total",
    "mindie": "npu_radix_match_hit_num",
    "mindie-gauge": "npu_prefix_cache_hit_rate",
}


@pytest.mark.parametrize("dialect", HITS)
def test_its_series_can_be_dropped(start_faulty: StartFaulty, dialect: str) -> None:
    name = HITS[dialect]
    engine = start_faulty({"requests": 3, "drop_series": [name]}, dialect=dialect)
    engine.complete()
    engine.complete()
    assert any(series.startswith(name) for series in engine.series())
    before = set(engine.series())
    engine.complete()
    gone = {series for series in before if series.startswith(name.removesuffix("_total"))}  # `_created` goes with it
    assert set(engine.series()) == before - gone


@pytest.mark.parametrize("dialect", ["vllm-v0", *HITS])
@pytest.mark.parametrize("what", ["restart", "reset_counters"])
def test_its_counters_begin_again(start_faulty: StartFaulty, dialect: str, what: str) -> None:
    engine = start_faulty({"path": "/metrics", "requests": 3, what: True}, dialect=dialect)
    fresh = engine.series()
    for _ in range(3):
        engine.complete()
    busy = engine.series()
    counted = {name for name in busy if "process" not in name and "_created" not in name}
    assert any(fresh.get(name) != busy[name] for name in counted)
    again = engine.series()
    moved = {name for name in counted & set(fresh) if not _same(fresh[name], again[name])}
    # The gauge of the last prompt is no counter: it stays what it was as long as the process lives.
    kept = "sglang:cache_hit_rate" if what == "reset_counters" else "nothing"
    assert {name for name in moved if kept not in name} == set()


def test_names_of_another_dialect_are_refused(toy: str) -> None:
    app = build_app(EngineOptions(toy, dialect="sglang"))
    with pytest.raises(InputError, match=r"drop_series.*write sglang:cached_tokens"):
        front_of(app, parse_plan([{"drop_series": ["sglang:cached_token"]}]))
    with pytest.raises(InputError, match="no series"):
        front_of(app, parse_plan([{"drop_series": ["vllm:prefix_cache_hits"]}]))


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)
