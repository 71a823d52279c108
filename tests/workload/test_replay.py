"""Mode replay: the same set already sent once, no target (domain.md 4)."""

from __future__ import annotations

import pytest

from prefixcache.config import PrefixCacheDatasetConfig, parse_config
from prefixcache.errors import InputError
from prefixcache.workload.frame import Frame
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report
from tests.workload.configs import configure, explicit

LENGTHS = [100, 16, 17, 33, 500]


def replayed(**keys: object) -> PrefixCacheDatasetConfig:
    return configure(input_length=explicit(LENGTHS), execution={"mode": "replay"}, **keys)


@pytest.mark.parametrize("drop", [0, 1, 3])
def test_every_request_hits_all_of_itself_but_the_last_token(drop: int) -> None:
    config = replayed(hit_drop=drop)
    assert (config.passes, config.target_pass, config.semantics, config.warmup_rounds) == (
        ("replay",),
        "replay",
        None,
        1,
    )
    plan = plan_dataset(config, frame=Frame(9, 2))
    hits = [max(0, (length - 1) // 16 - drop) * 16 for length in LENGTHS]
    assert plan.of_pass("replay").hit.tolist() == hits
    assert plan.prefixes.tolist() == [0] * 5
    report = plan_report(config, plan)
    assert report["status"] == "PASS"
    assert report["expected_hit_tokens"] == sum(hits)
    for key in (
        "target_hit_ratio",
        "target_hit_tokens",
        "signed_deviation",
        "absolute_deviation",
        "semantics",
        "reason",
    ):
        assert report[key] is None, key
    assert report["passes"] == [
        {
            "name": "replay",
            "input_tokens": sum(LENGTHS),
            "expected_hit_tokens": sum(hits),
            "designed_hit_ratio": sum(hits) / sum(LENGTHS),
        }
    ]
    assert report["groups"][0]["target_hit_tokens"] is None


def test_replay_takes_no_target_and_all_other_modes_need_one() -> None:
    with pytest.raises(InputError, match=r"target: stands here, but mode replay takes no target"):
        replayed(hit_ratio=0.5)
    for mode in (None, "cold", "hot", "compare"):
        with pytest.raises(InputError, match=r"target: is missing"):
            parse_config(
                {"dataset_id": "x", "request_count": 3, "input_length": 9, "execution": {"mode": mode} if mode else {}}
            )
    with pytest.raises(InputError, match=r"execution\.warmup_rounds: is 0, but mode replay"):
        configure(input_length=explicit(LENGTHS), execution={"mode": "replay", "warmup_rounds": 0})
