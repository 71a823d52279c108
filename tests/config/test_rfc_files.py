"""The RFC's own configurations load unchanged and plan to PASS."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from prefixcache.config import PrefixCacheDatasetConfig, load_config, parse_config
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report

DATA = Path(__file__).parent / "data"
RFC = Path(__file__).resolve().parents[3] / "shared" / "rfc" / "aisbench-rfc-432.zh.txt"
FILES = ["fixed_single_prefix_50", "progressive_single_prefix_50", "progressive_multi_prefix_50"]


def rfc_file(name: str) -> Path:
    return DATA / f"rfc_{name}.yaml"


def fragment(name: str) -> dict[str, object]:
    """A fragment of the RFC as a whole configuration."""
    return {
        "dataset_id": "fragment",
        "request_count": 50,
        "input_length": 4096,
        "target": {"hit_ratio": 0.5},
        **yaml.safe_load(rfc_file(name).read_text(encoding="utf-8")),
    }


@pytest.mark.parametrize("path", sorted(DATA.glob("rfc_*.yaml")), ids=lambda path: path.stem)
def test_the_copies_are_the_rfcs_own_words(path: Path) -> None:
    if not RFC.is_file():
        pytest.skip("the RFC is not beside the repository (../shared/rfc)")
    blocks = re.findall(r"```yaml\n(.*?)```", RFC.read_text(encoding="utf-8"), re.DOTALL)
    assert path.read_text(encoding="utf-8") in blocks


@pytest.mark.parametrize("name", FILES)
def test_the_three_files_load_and_plan_to_pass(name: str) -> None:
    loaded = load_config(rfc_file(name))
    config = loaded.config
    assert config.dataset_id == name
    assert (config.seed, config.request_count, config.block_size, config.unit, config.non_shared) == (
        42,
        1000,
        16,
        16,
        16,
    )
    assert config.target.hit_ratio == Decimal("0.50")
    assert config.suffix.source == ("synthetic" if "multi" in name else "gsm8k")  # the third file names none
    assert config.validation.pass_tolerance == Decimal("0.01")
    # The third file speaks of DP-local caches without saying how many there are.
    assert len(loaded.warnings) == (2 if "multi" in name else 1)
    assert "--tokenizer" in loaded.warnings[0]
    plan = plan_dataset(config)
    report = plan_report(config, plan)
    total = int(plan.shape.lengths.sum())
    assert report["status"] == "PASS"
    assert abs(Fraction(report["expected_hit_tokens"], total) - Fraction(1, 2)) <= Fraction(16, 2 * total)


def test_fixed_single_prefix() -> None:
    config = load_config(rfc_file("fixed_single_prefix_50")).config
    assert (config.mode, config.semantics, config.warmup_rounds) == ("compare", "static_prefix_ratio", 1)
    assert (config.passes, config.target_pass) == (("cold", "hot"), "hot")
    assert config.order == ("generated", "sequential")
    assert config.prefix_mode == "single_prefix"
    assert (plan_dataset(config).prefixes == 2048).all()


def test_progressive_single_prefix() -> None:
    config = load_config(rfc_file("progressive_single_prefix_50")).config
    assert (config.mode, config.semantics) == ("progressive_prefix_fill", "order_aware_global")
    assert (config.passes, config.target_pass, config.warmup_rounds) == (("cold",), "cold", 0)
    assert config.order == ("input_len_asc", "interleave")
    assert config.suffix.collision_detection.window_blocks == 2
    assert config.planning.max_iterations == 1000


def test_progressive_multi_prefix() -> None:
    config = load_config(rfc_file("progressive_multi_prefix_50")).config
    assert config.order == ("input_len_asc", "weighted_interleave")
    assert config.prefix.group_ids() == ["customer_a", "customer_b", "customer_c"]
    assert (config.policy, config.routing.cache_scope, config.routing.domains) == ("bound", "dp_local", 1)
    counts = [row["request_count"] for row in plan_report(config, plan_dataset(config))["groups"]]
    assert counts == [500, 300, 200]


def test_shorthand_is_static_and_warm() -> None:
    config = load_config(rfc_file("shorthand")).config
    assert config.dataset_id == "rfc_shorthand"
    assert (config.semantics, config.mode, config.warmup_rounds) == ("static_prefix_ratio", "warmup", 1)
    assert (config.target.hit_ratio, config.target.scope) == (Decimal("0.5"), "global")
    assert (config.prefix_mode, config.prefix.group_ids()) == ("single_prefix", ["default"])
    plan = plan_dataset(config)
    assert (plan.prefixes == 2048).all()
    assert plan_report(config, plan)["status"] == "PASS"


@pytest.mark.parametrize(
    ("name", "mode"), [("input_length_truncated_normal", "truncated_normal"), ("input_length_histogram", "histogram")]
)
def test_length_fragments(name: str, mode: str) -> None:
    config = parse_config(fragment(name))
    assert config.input_length.mode == mode
    assert plan_report(config, plan_dataset(config))["status"] == "PASS"


def test_target_fragments() -> None:
    config = parse_config(fragment("target_global"))
    assert (config.target.scope, config.target.hit_ratio) == ("global", Decimal("0.50"))
    groups = {"groups": [{"id": "group_a"}, {"id": "group_b"}]}
    config = parse_config({**fragment("target_per_group"), "prefix": groups})
    assert [(group.id, group.hit_ratio) for group in config.target.groups or []] == [
        ("group_a", Decimal("0.50")),
        ("group_b", Decimal("0.60")),
    ]
    report = plan_report(config, plan_dataset(config))
    assert report["status"] == "PASS"
    for row, ratio in zip(report["groups"], (0.5, 0.6), strict=True):
        assert abs(row["designed_hit_ratio"] - ratio) <= 8 / row["input_tokens"]


def test_load_of_the_rfcs_interface() -> None:
    path = rfc_file("progressive_single_prefix_50")
    assert PrefixCacheDatasetConfig.load(path) == load_config(path).config
