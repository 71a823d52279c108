"""Each function of RFC 3.5.2 with a value that anyone can work out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

import prefixcache as pc
from prefixcache.config.collisions import CollisionConfig
from prefixcache.config.content import SourceConfig, SuffixConfig
from prefixcache.config.lengths import ExplicitLength, FixedLength
from prefixcache.config.prefix import PrefixConfig
from prefixcache.config.target import TargetConfig
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.support.datasets import config_of


def four(prefixes: list[int] | None = None) -> list[pc.RequestPlan]:
    requests = pc.RequestPlanner.create([64] * 4)
    for request, prefix in zip(requests, prefixes or [], strict=False):
        request.prefix_group_id, request.planned_prefix_len = "g", prefix
    return requests


def one_group() -> dict[str, pc.PrefixGroupPlan]:
    return pc.allocate_prefix_groups(four(), PrefixConfig.model_validate({"groups": [{"id": "g"}]}))


def test_lengths() -> None:
    assert pc.generate_request_lengths(FixedLength(value=7), 3, 0) == [7, 7, 7]
    assert pc.generate_request_lengths(ExplicitLength(mode="explicit", values=[5, 2]), 2, 9) == [5, 2]


def test_groups_by_weight() -> None:
    config = PrefixConfig.model_validate(
        {"groups": [{"id": "a", "request_weight": 3}, {"id": "b", "request_weight": 1}]}
    )
    groups = pc.allocate_prefix_groups(four(), config)
    assert {name: group.request_count for name, group in groups.items()} == {"a": 3, "b": 1}
    assert all(r.prefix_group_id == name for name, group in groups.items() for r in group.requests)
    with pytest.raises(InputError, match="no request"):
        pc.allocate_prefix_groups([], config)


def test_reachability_of_four_equal_requests() -> None:
    # Each may share 48 of 64 tokens; the first meets a cold cache: 3 x 48 of 256 at most.
    groups = one_group()
    found = pc.validate_target_reachability(groups, TargetConfig.model_validate({"hit_ratio": 0.5}), 16, 16)
    assert (found.reachable, found.target_hit_tokens, found.max_reachable_hit_tokens) == (True, 128, 144)
    assert groups["g"].max_reachable_hit_ratio == 144 / 256
    above = pc.validate_target_reachability(groups, TargetConfig.model_validate({"hit_ratio": 0.6}), 16, 16)
    assert not above.reachable
    warm = TargetConfig.model_validate({"hit_ratio": 0.6, "semantics": "static_prefix_ratio"})
    assert pc.validate_target_reachability(groups, warm, 16, 16).max_reachable_hit_tokens == 4 * 48


def test_prefixes_hit_exactly_the_target() -> None:
    groups = one_group()
    found = pc.plan_prefix_lengths(groups, TargetConfig.model_validate({"hit_ratio": 0.5}), 16, 16)
    prefixes = [request.planned_prefix_len or 0 for request in groups["g"].requests]
    assert sum(prefixes) - max(prefixes) == 128 == found.expected_hit_tokens == groups["g"].target_hit_tokens
    assert found.designed_hit_ratio == 0.5 and groups["g"].cold_start_loss == max(prefixes)
    both = TargetConfig.model_validate({"scope": "per_group", "groups": [{"id": "g", "hit_ratio": 0.25}]})
    assert pc.plan_prefix_lengths(groups, both, 16, 16).expected_hit_tokens == 64


def test_masters_are_prefixes_of_the_suffix_functions_requests() -> None:
    groups = one_group()
    for request, prefix in zip(groups["g"].requests, (16, 48, 32, 0), strict=True):
        request.planned_prefix_len = prefix
    masters = pc.generate_master_prefixes(groups, SourceConfig(), None)
    assert len(masters["g"]) == 48
    assert pc.generate_master_prefixes(groups, SourceConfig(), None) == masters
    assert pc.generate_master_prefixes(groups, SourceConfig(), None, seed=1) != masters


def test_masters_of_a_configuration_are_its_datasets(tmp_path: Path) -> None:
    config = config_of(request_count=8)
    lengths = pc.generate_request_lengths(config.input_length, 8, config.seed)
    groups = pc.allocate_prefix_groups(pc.RequestPlanner.create(lengths), config.prefix, seed=config.seed)
    assert config.target is not None
    pc.PrefixPlanner.plan(groups, config.target, 16, None, config=config)
    made = pc.MasterPrefixGenerator.generate(groups, config, folder=tmp_path)
    assert pc.generate_master_prefixes(groups, config.suffix, None, config=config) == made


def test_a_suffix_fills_the_request() -> None:
    (request, *_) = four([32])
    found = pc.generate_request_suffix(request, SuffixConfig(), None)
    assert len(found.token_ids) == 64 - 32 == found.divergence_len + found.suffix_len
    assert found.divergence_len == 16
    with pytest.raises(InputError, match="planned_prefix_len: is missing"):
        pc.generate_request_suffix(four()[0], SuffixConfig(), None)


def test_a_block_twice_collides() -> None:
    rules = CollisionConfig()
    with pc.BlockRegistry() as registry:
        assert pc.validate_block_collisions(list(range(40)), registry, rules).passed
        assert pc.validate_block_collisions(list(range(1, 41)), registry, rules).passed
        again = pc.validate_block_collisions([*range(16), 7, 7], registry, rules)
        assert (again.passed, again.colliding, again.checked_blocks) == (False, [0], 1)
    anywhere = CollisionConfig(cache_match_semantics="independent_block")
    with pc.BlockRegistry() as registry:
        pc.validate_block_collisions(list(range(32)), registry, anywhere)
        found = pc.validate_block_collisions([*range(100, 116), *range(16, 32)], registry, anywhere)
        assert found.colliding == [1]


def test_watermarks() -> None:
    requests = four([16, 48, 32, 48])
    cold = pc.simulate_prefix_cache_watermarks(requests, "global")
    assert cold.cached_watermark_before == [0, 16, 48, 48]
    assert cold.expected_hit_len == [0, 16, 32, 48] and cold.hits_of_groups == {"g": 96}
    assert cold.cached_watermark_after == [16, 48, 48, 48]
    assert pc.simulate_prefix_cache_watermarks(requests, "global", pass_name="hot").expected_hit_len == [16, 48, 32, 48]
    assert pc.simulate_prefix_cache_watermarks(requests, "global", pass_name="replay").expected_hit_len == [48] * 4
    for request, domain in zip(requests, (0, 1, 0, 1), strict=True):
        request.planned_dp_id = domain
    assert pc.simulate_prefix_cache_watermarks(requests, "dp_local").expected_hit_len == [0, 0, 16, 48]
    assert pc.simulate_prefix_cache_watermarks(requests, "global").expected_hit_len == cold.expected_hit_len
    with pytest.raises(InputError, match="unknown"):
        pc.simulate_prefix_cache_watermarks(requests, "planet")


@pytest.mark.parametrize(
    ("target", "status"), [(0.375, "PASS"), (0.385, "PASS"), (0.395, "PASS_WITH_WARNING"), (0.396, "FAIL")]
)
def test_theoretical_hit_rate_at_its_limits(target: float, status: str) -> None:
    simulation = pc.simulate_prefix_cache_watermarks(four([16, 48, 32, 48]), "global")  # 96 of 256 = 0.375
    report = pc.validate_theoretical_hit_rate(simulation, target, 0.01, 0.02)
    assert (report.designed_hit_ratio, report.validation_status) == (0.375, status)
    assert report.signed_deviation == pytest.approx(0.375 - target)


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


@pytest.mark.engine
def test_metrics_between_two_snapshots(engine: EngineProcess) -> None:
    def send() -> None:
        body = {"model": "reference", "prompt": list(range(1000, 1040)), "max_tokens": 1}
        httpx.post(f"{engine.url}/v1/completions", json=body, timeout=30).raise_for_status()

    send()
    before = pc.take_metrics_snapshot([engine.url])
    send()
    found = pc.collect_prefix_cache_metrics([engine.url], before, pc.take_metrics_snapshot([engine.url]))
    assert (found.prefix_cache_queries, found.prefix_cache_hits, found.actual_hit_rate) == (40, 32, 0.8)
    assert found.status == "complete" and len(found.endpoints) == 1
    partly = pc.collect_prefix_cache_metrics([engine.url, "http://127.0.0.1:9"], before, before)
    assert partly.status == "partial"
    with pytest.raises(EnvironmentFailure, match="none of the endpoints"):
        pc.collect_prefix_cache_metrics(["http://127.0.0.1:9"], before, before)


def test_a_dataset_its_manifest_and_its_report(tmp_path: Path) -> None:
    result = pc.generate_prefix_cache_dataset(config_of(request_count=8), tmp_path)
    paths = (result.data, result.manifest, result.request_metadata, result.validation_report)
    assert all(path.is_file() for path in paths)
    for place in (tmp_path, tmp_path / "manifest.json"):
        assert pc.DatasetManifest.load(place)["request_count"] == 8
    report = pc.ValidationReport.load(tmp_path)
    assert report.validation_status == result.status and report.designed_hit_ratio == pytest.approx(0.5, abs=0.01)
    with pytest.raises(InputError):
        pc.DatasetManifest.load(tmp_path / "shards")
    with pytest.raises(InputError, match="cannot be read"):
        pc.ValidationReport.load(tmp_path / "shards")


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, prefixcache\n"
        "heavy = {'prefect', 'transformers', 'datasets', 'plotly', 'polars', 'numpy', 'pydantic'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "for name in prefixcache.__all__: getattr(prefixcache, name)\n"
        "heavy = {'prefect', 'transformers', 'datasets', 'plotly'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
    assert set(pc.__all__) <= set(dir(pc)) and np.all([getattr(pc, name) is not None for name in pc.__all__])
    with pytest.raises(AttributeError, match="no attribute"):
        _ = pc.nothing
