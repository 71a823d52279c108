"""The sequence of RFC 3.5.1, in its order, equal to what the command line's path makes and measures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import prefixcache as pc
from prefixcache.dataset.check import check_dataset
from prefixcache.errors import InputError
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.build import build_prefix_cache_report
from tests.support.datasets import config_of, digest_of

pytestmark = pytest.mark.engine
GROUPS = {"groups": [{"id": "a", "request_weight": 3}, {"id": "b", "request_weight": 2}]}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess(EngineOptions("embedded")) as process:
        yield process


def planned(config: pc.PrefixCacheDatasetConfig) -> tuple[dict[str, pc.PrefixGroupPlan], pc.PrefixPlanningResult]:
    assert config.request_count is not None and config.target is not None
    lengths = pc.LengthGenerator.generate(config.input_length, config.request_count, config.seed)
    requests = pc.RequestPlanner.create(lengths, dataset_id=config.dataset_id)
    groups = pc.PrefixGroupAllocator.allocate(requests, config.prefix, seed=config.seed)
    pc.RequestOrderPlanner.sort_within_groups(groups, config.request_order, seed=config.seed)
    reachability = pc.ReachabilityValidator.validate(groups, config)
    assert reachability.reachable and reachability.max_reachable_hit_tokens > reachability.target_hit_tokens
    least = config.prefix.minimum_non_shared_length
    return groups, pc.PrefixPlanner.plan(groups, config.target, config.block_size, least)


def test_the_sequence_equals_the_command_line(engine: EngineProcess, tmp_path: Path) -> None:
    config = config_of(prefix=GROUPS)
    assert config.target is not None
    groups, planning = planned(config)
    masters = pc.MasterPrefixGenerator.generate(groups, config, folder=tmp_path / "made")
    pc.RequestContentGenerator.generate(groups, config.suffix)
    assert pc.CollisionValidator.validate_and_repair(groups, config.suffix.collision_detection).passed
    ordered = pc.RequestOrderPlanner.merge_groups(groups, config.request_order, seed=config.seed)
    simulation = pc.WatermarkSimulator.simulate(ordered, config.routing.cache_scope)
    validation = pc.TheoreticalHitRateValidator.validate(simulation, config.target, config.validation)
    written = pc.DatasetWriter.write(ordered, groups, simulation, validation, output=tmp_path / "set")
    runtime = pc.PrefixCacheBenchmarkRunner.run(
        ordered, config.execution, dataset=written.root, run_dir=tmp_path / "run", urls=[engine.url], poll_interval=0.05
    )
    report = pc.PrefixCacheReportBuilder.build(
        manifest=pc.DatasetManifest.load(written.root), validation=validation, runtime_result=runtime
    )

    other = pc.generate_prefix_cache_dataset(config, tmp_path / "cli")
    run_benchmark(other.root, tmp_path / "cli_run", RunOptions(urls=(engine.url,), poll_interval=0.05))
    expected = build_prefix_cache_report(tmp_path / "cli_run")
    assert digest_of(written.root) == digest_of(other.root)
    assert check_dataset(written.root)["intact"] is True
    assert planning.expected_hit_tokens == simulation.expected_hit_tokens == expected["expected_hit_tokens"] > 0
    assert runtime.prefix_cache_hits == expected["measured_hit_tokens"] == simulation.expected_hit_tokens
    assert runtime.prefix_cache_queries == simulation.input_tokens == expected["measured_query_tokens"]
    for key in ("target_hit_ratio", "designed_hit_ratio", "actual_hit_rate", "runtime_deviation"):
        assert report[key] == expected[key]
    assert report["verdict"]["code"] == "exact" and report.html.is_file() and report.path.is_file()
    assert validation.validation_status == other.status == "PASS"
    for name, group in groups.items():
        row = next(row for row in other.report["groups"] if row["group_id"] == name)
        for key in ("request_count", "master_prefix_len", "target_hit_tokens", "max_reachable_hit_ratio"):
            assert getattr(group, key) == row[key]
        assert group.cold_start_loss == row["cold_start_loss"] == len(masters[name]) == group.master_prefix_len
        for request in group.requests:
            assert request.prompt_token_ids is not None and request.planned_prefix_len is not None
            assert request.divergence_len is not None and request.suffix_len is not None
            assert request.prompt_token_ids[: request.planned_prefix_len] == masters[name][: request.planned_prefix_len]
            assert request.input_len == len(request.prompt_token_ids)
            assert request.planned_prefix_len + request.divergence_len + request.suffix_len == request.input_len

    # What belongs to something else is refused.
    with pytest.raises(InputError, match="not of a run"):
        pc.PrefixCacheReportBuilder.build(
            manifest=pc.DatasetManifest.load(written.root),
            validation=validation,
            runtime_result=replace(runtime, run_dir=None),
        )
    with pytest.raises(InputError, match="not of the dataset that was run"):
        wrong = replace(validation, expected_hit_tokens=1)
        pc.build_prefix_cache_report(pc.DatasetManifest.load(written.root), wrong, runtime)
    with pytest.raises(InputError, match="not those of the content"):
        pc.DatasetWriter.write(ordered[::-1], groups, simulation, validation, output=tmp_path / "never")
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"prefix": GROUPS, "request_order": {"mode": "shuffle"}},
        {"hit_unit": 32, "hit_drop": 1, "prefix": GROUPS},
        {"planning": {"objective": "trajectory"}},
        {"prefix": {**GROUPS, "groups": [{"id": "a"}, {"id": "b", "input_length": 300}]}},
        {"prefix": GROUPS, "routing": {"cache_scope": "dp_local", "dp_size": 2}, "execution": {"mode": "compare"}},
    ],
)
def test_a_plan_by_the_whole_configuration_is_the_pipelines(changes: dict[str, object]) -> None:
    from prefixcache.workload.plan import plan_dataset

    config = config_of(**changes)
    groups, _ = planned(config)
    assert config.target is not None
    result = pc.PrefixPlanner.plan(groups, config.target, 16, None, config=config)
    plan = plan_dataset(config)
    assert list(result.planned_prefix_len.values()) == plan.prefixes.tolist()
    requests = sorted((r for g in groups.values() for r in g.requests), key=lambda r: r.order_index or 0)
    assert [r.index for r in requests] == plan.order.tolist()
    assert [r.planned_dp_id for r in requests] == plan.domains[plan.order].tolist()


def test_content_needs_the_configurations_own_plan(tmp_path: Path) -> None:
    config = config_of()
    groups, _ = planned(config)
    with pytest.raises(InputError, match="no content"):
        pc.RequestContentGenerator.generate(groups, config.suffix)
    groups[next(iter(groups))].requests[-1].planned_prefix_len = 0
    with pytest.raises(InputError, match="planned otherwise"):
        pc.MasterPrefixGenerator.generate(groups, config, folder=tmp_path)


def test_a_warm_dataset_is_simulated_hot(tmp_path: Path) -> None:
    config = config_of(request_count=12, target={"hit_ratio": 0.5, "semantics": "static_prefix_ratio"}, prefix=GROUPS)
    groups, _ = planned(config)
    assert config.target is not None
    pc.MasterPrefixGenerator.generate(groups, config, folder=tmp_path / "made")
    ordered = pc.RequestOrderPlanner.merge_groups(
        groups, config.request_order, seed=config.seed, default_within="generated"
    )
    hot = pc.WatermarkSimulator.simulate(ordered, "global", pass_name="hot")
    report = pc.TheoreticalHitRateValidator.validate(hot, config.target, config.validation)
    assert pc.DatasetWriter.write(ordered, groups, hot, report, output=tmp_path / "set").status == "PASS"
    assert check_dataset(tmp_path / "set")["intact"] is True
    cold = pc.WatermarkSimulator.simulate(ordered, "global")
    with pytest.raises(InputError, match="not those of the content"):
        pc.DatasetWriter.write(ordered, groups, cold, report, output=tmp_path / "never")
