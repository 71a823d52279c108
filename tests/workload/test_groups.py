"""Groups listed request by request, by a power law, and with lengths of their own; listed and random routes."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from prefixcache.config import load_config
from prefixcache.errors import InputError
from prefixcache.workload.groups import group_counts, zipf_weights
from prefixcache.workload.plan import plan_dataset
from prefixcache.workload.plan_report import plan_report
from prefixcache.workload.shape import draw_shape
from tests.workload import oracle
from tests.workload.configs import configure, explicit

IDS = ["b", "a", "b", "c", "b", "a"]


def shape_of(**keys: Any) -> Any:
    return draw_shape(configure(**{"hit_ratio": 0, "input_length": 100, **keys}))


def test_groups_listed_by_request_come_in_order_of_appearance() -> None:
    config = configure(input_length=100, hit_ratio=0, prefix={"request_groups": {"values": IDS}})
    assert config.prefix.group_ids() == ["b", "a", "c"]
    assert config.prefix_mode == "multi_prefix"
    assert draw_shape(config).groups.tolist() == [0, 1, 0, 2, 0, 1]


def test_listed_groups_keep_the_order_of_the_configuration() -> None:
    groups = [{"id": name} for name in ("a", "b", "c", "d")]
    prefix = {"request_groups": {"values": IDS}, "groups": groups}
    assert shape_of(prefix=prefix).groups.tolist() == [1, 0, 1, 2, 1, 0]
    report = plan_report(config := configure(input_length=100, hit_ratio=0, prefix=prefix), plan_dataset(config))
    assert [row["request_count"] for row in report["groups"]] == [2, 3, 1, 0]


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv", "parquet", "txt"])
def test_groups_and_domains_from_a_file_beside_the_configuration(kind: str, tmp_path: Path) -> None:
    domains = [0, 1, 1, 0, 1, 0]
    frame = pl.DataFrame({"prefix_group_id": IDS, "planned_dp_id": domains})
    names, routes = f"listed.{kind}", f"listed.{kind}"
    if kind == "jsonl":
        frame.write_ndjson(tmp_path / names)
    elif kind in ("csv", "parquet"):
        getattr(frame, f"write_{kind}")(tmp_path / names)
    else:
        names, routes = f"groups.{kind}", f"domains.{kind}"
        for name, values in ((names, IDS), (routes, domains)):
            text = json.dumps(values) if kind == "json" else " ".join(map(str, values))
            (tmp_path / name).write_text(text)
    (tmp_path / "set.yaml").write_text(
        f"input_length: 100\ntarget: {{hit_ratio: 0}}\n"
        f"prefix: {{groups: [{{id: a}}, {{id: b}}, {{id: c}}], request_groups: {{file: {names}}}}}\n"
        f"routing: {{cache_scope: dp_local, dp_size: 2, request_domains: {{file: {routes}}}}}\n"
    )
    config = load_config(tmp_path / "set.yaml").config
    plan = plan_dataset(config)
    assert plan.shape.groups.tolist() == [1, 0, 1, 2, 1, 0]
    assert plan.domains.tolist() == domains
    assert config.policy == "explicit"


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        (
            {"request_groups": {"values": ["a", "bb"]}, "groups": [{"id": "a"}, {"id": "b"}]},
            r"request_groups\.values\[1\]: 'bb' is no prefix group\. Remedy: write `b`",
        ),
        ({"request_groups": {"values": ["a"], "file": "x"}}, "request_groups: both"),
        ({"request_groups": {}}, "request_groups: neither"),
        ({"request_groups": {"values": []}}, r"request_groups\.values: \[\] is empty"),
        ({"request_groups": {"file": "x"}}, r"request_groups\.file: the groups of a file are not listed"),
        (
            {"request_groups": {"values": ["a"]}, "groups": [{"id": "a", "request_count": 1}]},
            r"request_groups: stands beside groups\[\]\.request_count",
        ),
        ({"request_groups": {"values": ["a"]}, "zipf_exponent": 1}, "request_groups: stands beside zipf_exponent"),
        (
            {"zipf_exponent": 1, "groups": [{"id": "a", "request_weight": 1}]},
            r"zipf_exponent: stands beside groups\[\]\.request_weight",
        ),
        ({"zipf_exponent": 1}, "zipf_exponent: has no groups"),
        ({"zipf_exponent": -1, "group_count": 2}, r"zipf_exponent: -1 .*at least 0"),
    ],
)
def test_contradicting_ways_to_group(prefix: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"prefix\.{message}"):
        shape_of(prefix=prefix)


def test_a_list_of_another_length_than_the_dataset(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"request_count: the numbers of requests disagree.*request_groups\.values 6"):
        shape_of(request_count=7, prefix={"request_groups": {"values": IDS}})
    path = tmp_path / "ids.txt"
    path.write_text(" ".join(IDS))
    groups = [{"id": name} for name in "abc"]
    with pytest.raises(InputError, match=r"prefix\.request_groups: 6 requests are assigned.*dataset has 7"):
        shape_of(request_count=7, prefix={"groups": groups, "request_groups": {"file": str(path)}})
    with pytest.raises(
        InputError, match=r"prefix\.request_groups: 'c' is no prefix group\. Remedy: write one of: a, b"
    ):
        shape_of(prefix={"groups": groups[:2], "request_groups": {"file": str(path)}})


@pytest.mark.parametrize("exponent", [0, 1, 2, "0.8", "1.37"])
@pytest.mark.parametrize(("count", "total"), [(1, 10), (7, 100), (100, 12345)])
def test_zipf_counts_are_the_largest_remainder_of_the_power_law(exponent: Any, count: int, total: int) -> None:
    config = configure(
        request_count=total, input_length=9, hit_ratio=0, prefix={"group_count": count, "zipf_exponent": exponent}
    )
    counts = group_counts(config.prefix, total)
    assert sum(counts) == total
    assert counts == sorted(counts, reverse=True)
    law = [float(k) ** -float(exponent) for k in range(1, count + 1)]
    for own, share in zip(counts, law, strict=True):
        assert abs(own - total * share / sum(law)) < 1 + 1e-6
    if exponent in (0, 1, 2):
        exact = oracle.largest_remainder(total, [Fraction(1, k ** int(exponent)) for k in range(1, count + 1)])
        # A tie of exact thirds may fall to another group once the weights have 52 bits.
        assert sum(abs(a - b) for a, b in zip(counts, exact, strict=True)) <= 2


def test_zipf_weights_never_change() -> None:
    assert zipf_weights(4, Decimal(1)) == [1 << 52, 1 << 51, (1 << 52) // 3, 1 << 50]
    assert zipf_weights(3, Decimal("1.1")) == [1 << 52, 2101003516504772, 1345012728626099]


def test_a_group_with_lengths_of_its_own_leaves_the_others_as_they_were() -> None:
    keys: dict[str, Any] = {
        "request_count": 60,
        "input_length": {"mode": "uniform", "min": 100, "max": 900},
        "output_length": {"mode": "uniform", "min": 1, "max": 90},
    }
    plain = shape_of(**keys, prefix={"groups": [{"id": "a"}, {"id": "b"}]})
    own = {"id": "b", "input_length": {"mode": "uniform", "min": 2000, "max": 3000}, "output_length": 7}
    shape = shape_of(**keys, prefix={"groups": [{"id": "a"}, own]})
    first = shape.groups == 0
    assert (shape.groups == plain.groups).all()
    assert (shape.lengths[first] == plain.lengths[first]).all()
    assert (shape.outputs[first] == plain.outputs[first]).all()
    assert shape.lengths[~first].min() >= 2000
    assert set(shape.outputs[~first].tolist()) == {7}
    # The stream is the group's: another group beside it changes nothing.
    other = shape_of(**keys, prefix={"groups": [{"id": "a", "input_length": 50}, own]})
    assert (other.lengths[~first] == shape.lengths[~first]).all()
    again = {"id": "c", "input_length": own["input_length"]}
    assert (shape_of(**keys, prefix={"groups": [{"id": "a"}, again]}).lengths != shape.lengths)[~first].any()


def test_a_groups_explicit_lengths_are_one_per_request_of_it() -> None:
    groups = [
        {"id": "a", "request_count": 2},
        {"id": "b", "request_count": 3, "input_length": explicit([11, 12, 13])},
    ]
    shape = shape_of(prefix={"groups": groups})
    assert shape.lengths[shape.groups == 1].tolist() == [11, 12, 13]
    groups[1]["input_length"] = explicit([11, 12])
    with pytest.raises(InputError, match=r"prefix\.groups\[1\]\.input_length\.values: 2 explicit .* group has 3"):
        shape_of(prefix={"groups": groups})


def test_suggestions_follow_groups_with_lengths_of_their_own() -> None:
    raw: dict[str, Any] = {
        "request_count": 6,
        "input_length": 300,
        "hit_ratio": 0.8,
        "prefix": {"groups": [{"id": "a"}, {"id": "b", "input_length": {"mode": "uniform", "min": 900, "max": 1200}}]},
    }
    config = configure(**raw)
    report = plan_report(config, plan_dataset(config))
    needed = {entry["lever"]: entry["needed"] for entry in report["suggestions"]}["request_count"]
    assert plan_dataset(configure(**{**raw, "request_count": needed})).reachable
    assert not plan_dataset(configure(**{**raw, "request_count": needed - 1})).reachable


# Routes


def test_random_routes_are_seeded_and_belong_to_the_request() -> None:
    keys: dict[str, Any] = {
        "request_count": 3000,
        "input_length": {"mode": "uniform", "min": 100, "max": 900},
        "routing": {"cache_scope": "dp_local", "dp_size": 3, "policy": "random"},
        "prefix": {"group_count": 4},
    }
    one = plan_dataset(configure(**keys, hit_ratio=0.5))
    for changes in ({"hit_ratio": 0.6}, {"hit_ratio": 0.5, "request_order": "shuffle"}):
        assert (plan_dataset(configure(**keys, **changes)).domains == one.domains).all()
    assert (plan_dataset(configure(**{**keys, "seed": 7}, hit_ratio=0.5)).domains != one.domains).any()
    assert np.bincount(one.domains).min() > 850


def test_routes_by_group() -> None:
    groups = {"groups": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}
    routing = {"cache_scope": "dp_local", "dp_size": 4, "group_domains": {"a": 3, "b": 0, "c": 3}}
    plan = plan_dataset(configure(request_count=30, input_length=90, hit_ratio=0.2, prefix=groups, routing=routing))
    assert plan.domains.tolist() == [[3, 0, 3][group] for group in plan.shape.groups]
    assert (
        (
            plan_report(
                configure(request_count=30, input_length=90, hit_ratio=0.2, prefix=groups, routing=routing), plan
            )["domains"]
        )[1]["designed_hit_ratio"]
        is None
    )


@pytest.mark.parametrize(
    ("routing", "message"),
    [
        ({"policy": "explicit"}, r"policy: explicit has no routes"),
        ({"policy": "bound", "group_domains": {"default": 0}}, r"group_domains: stands here, but the policy is bound"),
        ({"sticky_routing": True, "group_domains": {"default": 0}}, r"group_domains: stands here, .* is sticky"),
        ({"group_domains": {"default": 0}, "request_domains": {"values": [0]}}, r"group_domains: stands beside"),
        ({"group_domains": {"default": 2}}, r"group_domains\.default: domain 2 is beyond dp_size 2"),
        ({"group_domains": {"defaut": 1}}, r"group_domains\.defaut: 'defaut' is no prefix group\. .*`default`"),
        ({"group_domains": {}}, r"group_domains: group 'default' has no domain"),
        ({"request_domains": {"values": [0, 2]}}, r"request_domains\.values\[1\]: domain 2 is beyond dp_size 2"),
        ({"request_domains": {"values": [0, -2]}}, r"request_domains\.values\[1\]: -2 .*at least 0"),
        ({"request_domains": {}}, r"request_domains: neither"),
    ],
)
def test_listed_routes_that_do_not_fit(routing: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"routing\.{message}"):
        configure(
            input_length=explicit([90, 90]), hit_ratio=0.2, routing={"cache_scope": "dp_local", "dp_size": 2, **routing}
        )


def test_random_routes_are_refused_with_an_order_that_follows_the_plan() -> None:
    keys: dict[str, Any] = {"request_count": 9, "input_length": 90, "hit_ratio": 0.2, "request_order": "prefix_len_asc"}
    with pytest.raises(InputError, match="policy random over 2 cache domains"):
        configure(**keys, routing={"cache_scope": "dp_local", "dp_size": 2, "policy": "random"})
    configure(**keys, routing={"cache_scope": "global", "dp_size": 2, "policy": "random"})


def test_listed_routes_of_single_requests_are_exact_whatever_the_order() -> None:
    domains = [k % 3 for k in range(60)]
    for order in ("prefix_len_asc", "prefix_len_desc", "shuffle", "interleave"):
        config = configure(
            request_count=60,
            input_length={"mode": "uniform", "min": 100, "max": 900},
            hit_ratio=0.5,
            prefix={"group_count": 2},
            request_order=order,
            routing={"cache_scope": "dp_local", "dp_size": 3, "request_domains": {"values": domains}},
        )
        plan = plan_dataset(config)
        assert plan.domains.tolist() == domains
        assert int(plan.of_pass("cold").hit.sum()) == plan.goal
