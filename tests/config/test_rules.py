"""Every rule of a configuration: what is refused, and that the message names field, value and remedy."""

from __future__ import annotations

from typing import Any

import pytest

from prefixcache.config import parse_config
from prefixcache.errors import InputError
from tests.config.sample import merged

CASES: list[tuple[dict[str, Any], str, str, str]] = [
    # changes, field, value, remedy
    ({"hit_unit": 24}, "hit_unit", "24 is not a multiple of block_size 16", "write 16 or a multiple"),
    ({"block_size": 0}, "block_size", "0", "at least 1"),
    ({"block_size": "16"}, "block_size", "'16'", "write 16 without quotes"),
    ({"block_size": 16.5}, "block_size", "16.5", "whole number"),
    ({"block_size": True}, "block_size", "True", "whole number"),
    ({"block_size": None}, "block_size", "None", "whole number"),
    ({"seed": -1}, "seed", "-1", "at least 0"),
    ({"seed": 1 << 64}, "seed", "18446744073709551616", "below 18446744073709551616"),
    ({"request_count": 0}, "request_count", "0", "at least 1"),
    ({"request_count": -5}, "request_count", "-5", "at least 1"),
    ({"request_count": 1 << 40}, "request_count", "1099511627776", "at most 50000000"),
    ({"request_count": ...}, "request_count", "is missing", "how many requests"),
    ({"dataset_id": "数据"}, "dataset_id", "'数据'", "letters, digits"),
    ({"dataset_id": ""}, "dataset_id", "''", "letters, digits"),
    ({"dataset_id": "a/b"}, "dataset_id", "'a/b'", "letters, digits"),
    ({"dataset_id": "x" * 101}, "dataset_id", "'xxx", "at most 100"),
    ({"dataset_id": 7}, "dataset_id", "7", "quotes"),
    ({"max_model_len": 0}, "max_model_len", "0", "at least 1"),
    ({"tokenizer": 5}, "tokenizer", "5", "key: value"),
    ({"tokenizer": {"revision": "a"}}, "tokenizer.path", "is missing", "add this key"),
    (
        {"tokenizer": {"path": "a", "trust_remote_code": "maybe"}},
        "tokenizer.trust_remote_code",
        "'maybe'",
        "true or false",
    ),
    ({"tokenizer": {"path": "https://u:PLANTED@hub/x"}}, "tokenizer.path", "is an address", "HF_TOKEN"),
    ({"suffix": {"source": "text", "name": "https://u:PLANTED@hub/x"}}, "suffix.name", "is an address", "HF_TOKEN"),
    ({"suffix": {"source": "text", "path": "s3://u:PLANTED@b/x"}}, "suffix.path", "is an address", "HF_TOKEN"),
    # lengths
    ({"input_length": ...}, "input_length", "is missing", "add this key"),
    ({"input_length": 0}, "input_length", "0", "at least 1"),
    ({"input_length": 10**30}, "input_length", "10000000", "at most 16777216"),
    ({"input_length": True}, "input_length", "True", "key: value"),
    ({"input_length": 4096.5}, "input_length", "4096.5", "key: value"),
    ({"input_length": {"value": 3}}, "input_length.mode", "is missing", "fixed, explicit, truncated_normal"),
    (
        {"input_length": {"mode": "trunkated_normal"}},
        "input_length.mode",
        "'trunkated_normal'",
        "write `truncated_normal`",
    ),
    ({"input_length": {"mode": "zzz"}}, "input_length.mode", "'zzz'", "write one of: 'fixed', 'explicit'"),
    ({"input_length": {"mode": "fixed", "value": -3}}, "input_length.value", "-3", "at least 1"),
    ({"input_length": {"mode": "fixed"}}, "input_length.value", "is missing", "add this key"),
    ({"output_length": {"mode": "fixed", "value": 0}}, "output_length.value", "0", "at least 1"),
    ({"input_length": {"mode": "explicit"}}, "input_length", "neither", "either `values` or `file`"),
    ({"input_length": {"mode": "explicit", "values": [1], "file": "a"}}, "input_length", "both", "either `values` or"),
    (
        {"input_length": {"mode": "explicit", "values": []}},
        "input_length.values",
        "[] is empty",
        "one length per request",
    ),
    ({"input_length": {"mode": "explicit", "values": [5, 0]}}, "input_length.values[1]", "0", "at least 1"),
    ({"input_length": {"mode": "explicit", "values": [5, 2.5]}}, "input_length.values[1]", "2.5", "whole number"),
    ({"input_length": {"mode": "explicit", "values": 5}}, "input_length.values", "5", "write a list"),
    ({"input_length": {"mode": "uniform", "min": 9, "max": 8}}, "input_length.min", "9 is above max 8", "swap them"),
    ({"input_length": {"mode": "uniform", "min": 0, "max": 8}}, "input_length.min", "0", "at least 1"),
    (
        {"input_length": {"mode": "truncated_normal", "min": 10, "max": 20, "mean": 30, "std": 1}},
        "input_length.mean",
        "30 lies outside [10, 20]",
        "move the mean",
    ),
    (
        {"input_length": {"mode": "truncated_normal", "min": 10, "max": 20, "mean": 15, "std": 0}},
        "input_length.std",
        "0",
        "above 0",
    ),
    (
        {"input_length": {"mode": "truncated_normal", "min": 10, "max": 20, "mean": 15, "std": float("inf")}},
        "input_length.std",
        "Infinity",
        "finite",
    ),
    (
        {"input_length": {"mode": "lognormal", "min": 10, "max": 20, "median": 9, "sigma": 1}},
        "input_length.median",
        "9 lies outside [10, 20]",
        "move the median",
    ),
    (
        {"input_length": {"mode": "lognormal", "min": 10, "max": 20, "median": 12, "sigma": -1}},
        "input_length.sigma",
        "-1",
        "above 0",
    ),
    ({"input_length": {"mode": "histogram", "bins": []}}, "input_length.bins", "[]", "at least 1 entry"),
    (
        {
            "input_length": {
                "mode": "histogram",
                "bins": [{"range": [5, 5], "weight": 1}, {"range": [5, 9], "weight": 1}],
            }
        },
        "input_length.bins[0].range",
        "[5, 5] is empty",
        "low < high",
    ),
    (
        {"input_length": {"mode": "histogram", "bins": [{"range": [5, 3], "weight": 1}]}},
        "input_length.bins[0].range",
        "[5, 3] is empty",
        "low < high",
    ),
    (
        {
            "input_length": {
                "mode": "histogram",
                "bins": [{"range": [1, 5], "weight": 1}, {"range": [4, 9], "weight": 1}],
            }
        },
        "input_length.bins[1].range",
        "[4, 9] starts before the end of the bin before it, 5",
        "sort the bins",
    ),
    (
        {"input_length": {"mode": "histogram", "bins": [{"range": [1, 5], "weight": 0}]}},
        "input_length.bins",
        "all weights are 0",
        "positive weight",
    ),
    (
        {"input_length": {"mode": "histogram", "bins": [{"range": [1, 5], "weight": -2}]}},
        "input_length.bins[0].weight",
        "-2",
        "at least 0",
    ),
    (
        {"input_length": {"mode": "histogram", "bins": [{"range": [1, 2, 3], "weight": 1}]}},
        "input_length.bins[0].range",
        "[1, 2, 3]",
        "at most 2",
    ),
    (
        {"input_length": {"mode": "histogram", "bins": [{"range": [-1, 2], "weight": 1}]}},
        "input_length.bins[0].range[0]",
        "-1",
        "at least 0",
    ),
    ({"input_length": {"mode": "empirical"}}, "input_length.file", "is missing", "add this key"),
    (
        {"input_length": {"mode": "explicit", "values": [7, 7, 7]}},
        "request_count",
        "request_count 10, input_length.values 3",
        "leave out request_count",
    ),
    (
        {"output_length": {"mode": "explicit", "values": [7] * 11}},
        "request_count",
        "request_count 10, output_length.values 11",
        "leave out request_count",
    ),
    # target
    ({"target": ...}, "target", "is missing", "add this key"),
    ({"target": 0.5}, "target", "0.5", "key: value"),
    ({"target": {}}, "target.hit_ratio", "is missing", "between 0 and 1"),
    (
        {"target": {"hit_ratio": 50}},
        "target.hit_ratio",
        "50",
        "write 0.5 for 50 %, or another number that is at most 1",
    ),
    ({"target": {"hit_ratio": 12.5}}, "target.hit_ratio", "12.5", "write 0.125 for 12.5 %"),
    ({"target": {"hit_ratio": 101}}, "target.hit_ratio", "101", "write a number that is at most 1"),
    ({"target": {"hit_ratio": "50％"}}, "target.hit_ratio", "'50％'", "write 0.5"),
    ({"request_count": "50%"}, "request_count", "'50%'", "write a whole number"),
    ({"target": {"hit_ratio": -0.1}}, "target.hit_ratio", "-0.1", "at least 0"),
    ({"target": {"hit_ratio": "50%"}}, "target.hit_ratio", "'50%'", "write 0.5"),
    ({"target": {"hit_ratio": True}}, "target.hit_ratio", "True is not a number", "write a number"),
    ({"target": {"hit_ratio": float("nan")}}, "target.hit_ratio", "NaN", "finite"),
    ({"target": {"hit_ratio": float("inf")}}, "target.hit_ratio", "Infinity", "finite"),
    ({"target": {"hit_ratio": "1e400"}}, "target.hit_ratio", "'1e400'", "finite"),
    ({"target": {"hit_ratio": "1e-400"}}, "target.hit_ratio", "'1e-400'", "at most"),
    ({"target": {"hit_ratio": [0.5]}}, "target.hit_ratio", "[0.5]", "write a number"),
    ({"target": {"hit_ratio": 0.5, "scope": "each"}}, "target.scope", "'each'", "'global' or 'per_group'"),
    (
        {"target": {"hit_ratio": 0.5, "groups": [{"id": "a", "hit_ratio": 1}]}},
        "target.groups",
        "global",
        "scope: per_group",
    ),
    ({"target": {"scope": "per_group"}}, "target.groups", "missing or empty", "{id, hit_ratio}"),
    ({"target": {"scope": "per_group", "groups": []}}, "target.groups", "missing or empty", "{id, hit_ratio}"),
    (
        {"target": {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 2}]}},
        "target.groups[0].hit_ratio",
        "2",
        "at most 1",
    ),
    (
        {"target": {"hit_ratio": 0.5, "semantics": "static_prefix_ratio"}, "execution": {"mode": "cold"}},
        "target.semantics",
        "static_prefix_ratio needs a warm cache, but execution.mode cold",
        "execution.mode: warmup",
    ),
    (
        {
            "target": {"hit_ratio": 0.5, "semantics": "static_prefix_ratio"},
            "execution": {"mode": "progressive_prefix_fill"},
        },
        "target.semantics",
        "execution.mode progressive_prefix_fill starts cold",
        "order_aware_global",
    ),
    (
        {"target": {"hit_ratio": 0.5, "semantics": "order_aware_global"}, "execution": {"mode": "warmup"}},
        "target.semantics",
        "order_aware_global needs a cold start, but execution.mode warmup",
        "static_prefix_ratio",
    ),
    (
        {"target": {"hit_ratio": 0.5, "semantics": "order_aware_global"}, "execution": {"mode": "hot"}},
        "target.semantics",
        "execution.mode hot starts warm",
        "progressive_prefix_fill",
    ),
    (
        {"target": {"scope": "per_group", "hit_ratio": 0.5, "groups": [{"id": "default", "hit_ratio": 1}]}},
        "target.hit_ratio",
        "0.5 stands here, but scope is per_group",
        "scope: global",
    ),
    (
        {"target": {"scope": "per_group", "groups": [{"id": "defualt", "hit_ratio": 1}]}},
        "target.groups[0].id",
        "'defualt' is no prefix group",
        "write `default`",
    ),
    (
        {"target": {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 1}, {"id": "a", "hit_ratio": 1}]}},
        "target.groups[1].id",
        "'a' stands twice",
        "keep one",
    ),
    (
        {
            "target": {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 1}]},
            "prefix": {"groups": [{"id": "a"}, {"id": "b"}, {"id": "c"}]},
        },
        "target.groups",
        "group 'b' and 1 more have no target",
        "every group",
    ),
    (
        {
            "target": {"scope": "per_group", "groups": [{"id": "a", "hit_ratio": 1}]},
            "prefix": {"groups": [{"id": "a", "hit_ratio": 0.5}]},
        },
        "target.groups[0].hit_ratio",
        "1 contradicts prefix.groups, which gives 'a' 0.5",
        "keep one",
    ),
    (
        {"prefix": {"groups": [{"id": "a"}, {"id": "b", "hit_ratio": 0.5}]}},
        "prefix.groups[1].hit_ratio",
        "0.5 stands here, but target.scope is not per_group",
        "per_group",
    ),
    ({"execution": {"mode": "replay"}}, "target", "mode replay takes no target", "remove it"),
    ({"hit_drop": -1}, "hit_drop", "-1", "at least 0"),
    # execution
    ({"execution": {"mode": "cold", "warmup_rounds": 2}}, "execution.warmup_rounds", "is 2, but mode cold", "write 0"),
    ({"execution": {"warmup_rounds": 1}}, "execution.warmup_rounds", "mode progressive_prefix_fill", "write 0"),
    ({"execution": {"mode": "warmup", "warmup_rounds": 0}}, "execution.warmup_rounds", "is 0", "at least 1"),
    ({"execution": {"mode": "hot", "warmup_rounds": 0}}, "execution.warmup_rounds", "mode hot", "at least 1"),
    ({"execution": {"mode": "compare", "warmup_rounds": 0}}, "execution.warmup_rounds", "mode compare", "at least 1"),
    ({"execution": {"mode": "warm"}}, "execution.mode", "'warm'", "'warmup'"),
    ({"execution": {"concurrency": 0}}, "execution.concurrency", "0", "at least 1"),
    ({"execution": {"gating": "slow"}}, "execution.gating", "'slow'", "'watermark'"),
    ({"execution": []}, "execution", "[]", "key: value"),
    # groups
    ({"prefix": {"groups": []}}, "prefix.groups", "[] is empty", "at least one group"),
    ({"prefix": {"groups": [{"id": "a"}], "group_count": 2}}, "prefix.group_count", "2", "either"),
    ({"prefix": {"groups": [{"id": "a"}, {"id": "a"}]}}, "prefix.groups[1].id", "'a' stands twice", "differ"),
    ({"prefix": {"groups": [{"id": "ä"}]}}, "prefix.groups[0].id", "'ä'", "letters, digits"),
    ({"prefix": {"groups": [{"request_weight": 1}]}}, "prefix.groups[0].id", "is missing", "add this key"),
    (
        {"prefix": {"groups": [{"id": "a", "request_weight": 1}, {"id": "b", "request_count": 1}]}},
        "prefix.groups",
        "mixed",
        "every group",
    ),
    (
        {"prefix": {"groups": [{"id": "a", "request_weight": 1}, {"id": "b"}]}},
        "prefix.groups",
        "missing",
        "every group",
    ),
    (
        {"prefix": {"groups": [{"id": "a", "request_weight": 1, "request_count": 10}]}},
        "prefix.groups",
        "mixed",
        "every group",
    ),
    (
        {"prefix": {"groups": [{"id": "a", "request_weight": 0}]}},
        "prefix.groups",
        "all request_weight are 0",
        "positive",
    ),
    ({"prefix": {"groups": [{"id": "a", "request_count": 0}]}}, "prefix.groups", "all request_count are 0", "positive"),
    (
        {"prefix": {"groups": [{"id": "a", "request_weight": -1}]}},
        "prefix.groups[0].request_weight",
        "-1",
        "at least 0",
    ),
    (
        {"prefix": {"groups": [{"id": "a", "request_count": 3}, {"id": "b", "request_count": 4}]}},
        "request_count",
        "request_count 10, prefix.groups 7",
        "leave out request_count",
    ),
    ({"prefix": {"group_count": 0}}, "prefix.group_count", "0", "at least 1"),
    ({"prefix": {"group_count": 10**9}}, "prefix.group_count", "1000000000", "at most 1000000"),
    (
        {"prefix": {"mode": "single_prefix", "group_count": 2}},
        "prefix.mode",
        "single_prefix has 2 groups",
        "multi_prefix",
    ),
    ({"prefix": {"mode": "multi_prefix"}}, "prefix.mode", "multi_prefix has no groups", "`groups` or `group_count`"),
    ({"prefix": {"minimum_non_shared_length": -1}}, "prefix.minimum_non_shared_length", "-1", "at least 0"),
    ({"prefix": {"nested_prefix": False}}, "prefix.nested_prefix", "False", "True"),
    # order and routing
    ({"request_order": "interleaved"}, "request_order", "'interleaved'", "'interleave'"),
    ({"request_order": {"mode": "random"}}, "request_order.mode", "'random'", "'shuffle'"),
    ({"request_order": {"within_group": "grouped"}}, "request_order.within_group", "'grouped'", "'generated'"),
    (
        {"request_order": {"mode": "shuffle", "across_group": "grouped"}},
        "request_order.mode",
        "shuffle stands beside",
        "either `mode` or",
    ),
    (
        {
            "request_order": {"within_group": "prefix_len_asc"},
            "routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "round_robin"},
        },
        "request_order",
        "policy round_robin over 2 cache domains",
        "policy bound or sticky",
    ),
    (
        {
            "request_order": "prefix_len_desc",
            "routing": {"cache_scope": "instance_local", "dp_size": 3, "policy": "group_round_robin"},
        },
        "request_order",
        "(prefix_len_desc, prefix_len_desc)",
        "input length",
    ),
    ({"routing": {"cache_scope": "rack"}}, "routing.cache_scope", "'rack'", "'global'"),
    ({"routing": {"dp_size": 0}}, "routing.dp_size", "0", "at least 1"),
    ({"routing": {"dp_size": 10**9}}, "routing.dp_size", "1000000000", "at most 10000"),
    ({"routing": {"policy": "any"}}, "routing.policy", "'any'", "'round_robin'"),
    (
        {"routing": {"policy": "round_robin", "sticky_routing": True}},
        "routing.policy",
        "round_robin contradicts",
        "keep one",
    ),
    (
        {"routing": {"policy": "sticky", "bind_prefix_group_to_dp": True}},
        "routing.policy",
        "which mean bound",
        "keep one",
    ),
    # planning, validation, content
    ({"planning": {"objective": "fast"}}, "planning.objective", "'fast'", "'proportional'"),
    ({"planning": {"max_iterations": 0}}, "planning.max_iterations", "0", "at least 1"),
    ({"planning": {"reachability_check": False}}, "planning.reachability_check", "False", "True"),
    (
        {"validation": {"pass_tolerance": 0.03}},
        "validation.warning_tolerance",
        "0.02 is below pass_tolerance 0.03",
        "swap",
    ),
    ({"validation": {"pass_tolerance": 2}}, "validation.pass_tolerance", "2", "at most 1"),
    ({"validation": {"on_failure": "stop"}}, "validation.on_failure", "'stop'", "'error'"),
    ({"suffix": {"source": "books"}}, "suffix.source", "'books'", "'gsm8k'"),
    (
        {"suffix": {"selection": "fixed", "samples": [1, 999999999]}},
        "suffix.samples",
        "999999999",
        "a source of your own",
    ),
    ({"suffix": {"selection": "index", "start_index": 10**7}}, "suffix.start_index", "10000000", "at most 99999"),
    ({"suffix": {"fields": []}}, "suffix.fields", "[]", "at least 1 entry"),
    (
        {"suffix": {"collision_detection": {"cache_match_semantics": "hash"}}},
        "suffix.collision_detection.cache_match_semantics",
        "'hash'",
        "'chained_prefix'",
    ),
]


@pytest.mark.parametrize(("changes", "field", "value", "remedy"), CASES, ids=lambda item: str(item)[:60])
def test_each_rule_names_field_value_and_remedy(changes: dict[str, Any], field: str, value: str, remedy: str) -> None:
    with pytest.raises(InputError) as found:
        parse_config(merged(changes))
    assert found.value.field == field
    assert value in found.value.message
    assert remedy in (found.value.remedy or "")
    text = str(found.value)
    assert f"{field}: " in text
    assert value in text
    assert f"Remedy: {found.value.remedy}" in text


def test_the_rules_hold_only_for_what_they_name() -> None:
    """The neighbours of what is refused load."""
    for changes in (
        {"hit_unit": 48},
        {"seed": (1 << 64) - 1},
        {"input_length": 1 << 24},
        {
            "input_length": {
                "mode": "histogram",
                "bins": [{"range": [1, 5], "weight": 1}, {"range": [5, 5], "weight": 1}],
            }
        },
        {"target": {"hit_ratio": 1}},
        {"target": {"hit_ratio": "0.333333333333333333333333333333"}},
        {"execution": {"mode": "compare"}},
        {"request_order": "prefix_len_asc", "routing": {"dp_size": 2, "policy": "round_robin"}},
        {"request_order": "prefix_len_asc", "routing": {"cache_scope": "dp_local", "dp_size": 2, "policy": "sticky"}},
        {"routing": {"policy": "bound", "sticky_routing": True, "bind_prefix_group_to_dp": True}},
        {"prefix": {"groups": [{"id": "a", "request_weight": 0}, {"id": "b", "request_weight": 1}]}},
        {"prefix": {"mode": "multi_prefix", "group_count": 1}},
    ):
        parse_config(merged(changes))


def test_a_mode_that_is_half_a_name_is_told_all_it_may_mean() -> None:
    with pytest.raises(InputError, match="'normal' is not allowed") as found:
        parse_config(merged({"input_length": {"mode": "normal", "mean": 300}}))
    assert found.value.remedy == "write `truncated_normal` or `lognormal`."


def test_a_key_one_level_too_high_is_told_where_it_belongs() -> None:
    with pytest.raises(InputError, match="unknown key") as caught:
        parse_config({"dataset_id": "a", "request_count": 4, "input_length": 64, "hit_ratio": 0.5})
    assert caught.value.remedy == "write `target.hit_ratio`."
