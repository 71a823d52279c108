"""From a YAML file to a configuration: defaults, shorthands, and what is no configuration."""

from __future__ import annotations

import copy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from prefixcache.config import PrefixCacheDatasetConfig, load_config, parse_config
from prefixcache.config.order import FLAT
from prefixcache.errors import InputError
from prefixcache.workload.shape import draw_shape
from tests.config.sample import full
from tests.config.writing import BASE, MINIMAL

# Defaults


def test_defaults(load: Any) -> None:
    loaded = load("request_count: 10\ninput_length: 100\ntarget: {hit_ratio: 0.29}\n")
    config: PrefixCacheDatasetConfig = loaded.config
    assert config.dataset_id == "my-set"
    assert (config.seed, config.block_size, config.unit, config.non_shared) == (0, 16, 16, 16)
    assert (config.semantics, config.mode, config.warmup_rounds) == ("order_aware_global", "progressive_prefix_fill", 0)
    assert config.order == ("input_len_asc", "interleave")
    assert config.request_order.preserve_group_dependency
    assert config.prefix.group_ids() == ["default"]
    assert (config.policy, config.routing.domains, config.routing.dp_size) == ("bound", 1, 1)
    assert (config.output_length.mode, config.output_length.value) == ("fixed", 16)  # type: ignore[union-attr]
    assert config.max_model_len is None
    assert (config.suffix.source, config.tokenizer) == ("synthetic", None)
    assert (config.execution.concurrency, config.execution.gating) == (1, "watermark")
    assert (config.validation.pass_tolerance, config.validation.warning_tolerance) == (Decimal("0.01"), Decimal("0.02"))
    assert config.validation.on_failure == "error"
    assert config.target.hit_ratio == Decimal("0.29")
    assert len(loaded.warnings) == 2
    assert "block_size is not given: 16 is assumed" in loaded.warnings[0]
    assert "no tokenizer is given: the embedded one" in loaded.warnings[1]


def test_no_warning_where_everything_is_given(load: Any) -> None:
    assert load(MINIMAL).warnings == ()


@pytest.mark.parametrize(
    ("mode", "semantics", "rounds", "within", "passes", "target_pass"),
    [
        (None, "order_aware_global", 0, "input_len_asc", ("cold",), "cold"),
        ("progressive_prefix_fill", "order_aware_global", 0, "input_len_asc", ("cold",), "cold"),
        ("cold", "order_aware_global", 0, "input_len_asc", ("cold",), "cold"),
        ("warmup", "static_prefix_ratio", 1, "generated", ("hot",), "hot"),
        ("hot", "static_prefix_ratio", 1, "generated", ("hot",), "hot"),
        ("compare", "order_aware_global", 1, "generated", ("cold", "hot"), "cold"),
    ],
)
def test_semantics_from_the_mode(
    load: Any, mode: str | None, semantics: str, rounds: int, within: str, passes: tuple[str, ...], target_pass: str
) -> None:
    config = load(MINIMAL + (f"execution: {{mode: {mode}}}\n" if mode else "")).config
    assert config.semantics == semantics
    assert (config.warmup_rounds, config.order[0]) == (rounds, within)
    assert (config.passes, config.target_pass) == (passes, target_pass)


@pytest.mark.parametrize(
    ("semantics", "mode"),
    [("static_prefix_ratio", "warmup"), ("order_aware_global", "progressive_prefix_fill")],
)
def test_mode_from_the_semantics(load: Any, semantics: str, mode: str) -> None:
    config = load(BASE + f"target: {{hit_ratio: 0.5, semantics: {semantics}}}\n").config
    assert (config.mode, config.semantics) == (mode, semantics)


def test_the_target_label_names_every_ratio(load: Any) -> None:
    """It is part of the content seeds: a global target's is its ratio alone, as it always was."""
    assert load(MINIMAL).config.target_label == "0.5"
    groups = "target: {scope: per_group, groups: [{id: b, hit_ratio: 0.25}]}\n"
    config = load(BASE + groups + "prefix: {groups: [{id: a, hit_ratio: 0.50}, {id: b}]}\n").config
    assert config.group_targets == [Decimal("0.50"), Decimal("0.25")]
    assert config.target_label == "a=0.5,b=0.25"
    assert load(BASE + "execution: {mode: replay}\n").config.target_label == "replay"


def test_static_target_of_compare_is_the_hot_pass(load: Any) -> None:
    text = BASE + "target: {hit_ratio: 0.5, semantics: static_prefix_ratio}\nexecution: {mode: compare}\n"
    assert load(text).config.target_pass == "hot"


@pytest.mark.parametrize(("mode", "default"), [("cold", "input_len_asc"), ("warmup", "generated")])
@pytest.mark.parametrize("name", FLAT)
def test_flat_order_names(load: Any, name: str, mode: str, default: str) -> None:
    within, across = FLAT[name]
    for text in (f"request_order: {name}", f"request_order: {{mode: {name}}}"):
        config = load(f"{MINIMAL}{text}\nexecution: {{mode: {mode}}}\n").config
        assert config.order == (within or default, across)
        assert config.order[1] == name


@pytest.mark.parametrize(
    ("name", "dataset_id"), [("数据.yaml", "dataset"), ("a b(1).yml", "a_b_1"), ("v1.2.yaml", "v1.2")]
)
def test_dataset_id_from_the_file_name(load: Any, name: str, dataset_id: str) -> None:
    assert load(MINIMAL, name).config.dataset_id == dataset_id


def test_a_long_file_name_is_cut(load: Any) -> None:
    assert load(MINIMAL, "x" * 180 + ".yaml").config.dataset_id == "x" * 100


@pytest.mark.parametrize(
    ("given_block", "unit", "given_kept", "kept"), [(32, None, None, 32), (32, 64, None, 32), (8, None, 0, 0)]
)
def test_non_shared_length_defaults_to_a_block(
    load: Any, given_block: int, unit: int | None, given_kept: int | None, kept: int
) -> None:
    text = MINIMAL.replace("block_size: 16", f"block_size: {given_block}")
    text += f"hit_unit: {unit}\n" if unit else ""
    text += "" if given_kept is None else f"prefix: {{minimum_non_shared_length: {given_kept}}}\n"
    config = load(text).config
    assert (config.non_shared, config.unit) == (kept, unit or given_block)


def test_equal_groups_are_named_in_order(load: Any) -> None:
    config = load(MINIMAL + "prefix: {group_count: 3}\n").config
    assert config.prefix.group_ids() == ["group_0", "group_1", "group_2"]
    assert config.prefix_mode == "multi_prefix"
    assert load(MINIMAL + "prefix: {group_count: 1}\n").config.prefix.group_ids() == ["default"]


@pytest.mark.parametrize(
    ("routing", "policy", "domains"),
    [
        ("{cache_scope: global, dp_size: 4}", "bound", 1),
        ("{cache_scope: global_shared, dp_size: 4}", "bound", 1),
        ("{cache_scope: dp_local, dp_size: 4}", "bound", 4),
        ("{cache_scope: instance_local, dp_size: 2, sticky_routing: true}", "sticky", 2),
        ("{cache_scope: dp_local, dp_size: 2, sticky_routing: true, bind_prefix_group_to_dp: true}", "bound", 2),
        ("{cache_scope: dp_local, dp_size: 2, sticky_routing: false}", "round_robin", 2),
        ("{cache_scope: dp_local, dp_size: 2, policy: group_round_robin}", "group_round_robin", 2),
    ],
)
def test_routing_flags(load: Any, routing: str, policy: str, domains: int) -> None:
    config = load(MINIMAL + f"routing: {routing}\n").config
    assert (config.policy, config.routing.domains) == (policy, domains)


@pytest.mark.parametrize(
    "text",
    [
        "input_length: {mode: explicit, values: [5, 6, 7]}\n",
        "input_length: 9\noutput_length: {mode: explicit, values: [5, 6, 7]}\n",
        "input_length: 9\nprefix: {groups: [{id: a, request_count: 1}, {id: b, request_count: 2}]}\n",
    ],
)
def test_request_count_may_be_left_out_where_it_is_known(load: Any, text: str) -> None:
    assert len(draw_shape(load(text + "target: {hit_ratio: 0}\n").config).lengths) == 3


# Shape of the file


def test_the_top_key_is_optional(load: Any) -> None:
    nested = "prefix_cache_dataset:\n" + "".join(f"  {line}\n" for line in MINIMAL.splitlines())
    assert load(nested) == load(MINIMAL)


def test_a_key_beside_the_top_key(load: Any) -> None:
    with pytest.raises(InputError, match=r"seed: stands beside prefix_cache_dataset\. Remedy: indent it"):
        load("prefix_cache_dataset: {}\nseed: 3\n")


@pytest.mark.parametrize("value", ["", "[]", "text"])
def test_an_empty_top_key(load: Any, value: str) -> None:
    with pytest.raises(InputError, match="prefix_cache_dataset: holds no `key: value` lines"):
        load(f"prefix_cache_dataset: {value}\n")


def test_the_shorthand_stands_beside_no_target(load: Any) -> None:
    with pytest.raises(InputError, match=r"target_prefix_ratio: stands beside `target`\. Remedy: keep one"):
        load(MINIMAL + "target_prefix_ratio: 0.5\n")
    with pytest.raises(InputError, match=r"target\.hit_ratio: 7 .*at most 1"):
        load(BASE + "target_prefix_ratio: 7\n")


def test_the_shorthand_keeps_the_given_execution(load: Any) -> None:
    config = load(BASE + "target_prefix_ratio: 0.5\nexecution: {mode: compare, concurrency: 4}\n").config
    assert (config.mode, config.semantics, config.execution.concurrency) == ("compare", "static_prefix_ratio", 4)


@pytest.mark.parametrize(("prefix", "good"), [("{mode: single_prefix}", True), ("{mode: multi_prefix}", False)])
def test_prefix_mode_agrees_with_the_prefix_block(load: Any, prefix: str, good: bool) -> None:
    text = MINIMAL + f"prefix_mode: single_prefix\nprefix: {prefix}\n"
    if good:
        assert load(text).config.prefix_mode == "single_prefix"
    else:
        with pytest.raises(InputError, match=r"prefix_mode: contradicts `prefix\.mode`"):
            load(text)


BROKEN: list[tuple[str, str | bytes, str]] = [
    ("empty", "", "holds no `key: value` lines"),
    ("a comment", "# nothing\n", "holds no `key: value` lines"),
    ("a list", "- request_count: 3\n", "holds no `key: value` lines"),
    ("a word", "request_count", "holds no `key: value` lines"),
    ("a tab", "target:\n\thit_ratio: 0.5\n", "is not YAML in line 2, column 1"),
    ("an open bracket", "target: {hit_ratio: 0.5\n", "is not YAML in line"),
    ("two documents", MINIMAL + "---\na: 1\n", "is not YAML"),
    ("not UTF-8", b"request_count: 3\n# \xff\xfe\n", "it is not UTF-8 text"),
    ("a control character", "a: \x01\n", "is not YAML"),
    ("a key twice", MINIMAL + "block_size: 32\n", "block_size: stands twice, again in line 6"),
    ("a nested key twice", "target: {hit_ratio: 0.5, hit_ratio: 0.6}\n", "hit_ratio: stands twice"),
    ("an unknown alias", "a: *b\n", "is not YAML"),
    ("an unhashable key", MINIMAL + "prefix: {[1]: 2}\n", "found unhashable key"),
    ("a number as key", MINIMAL + "prefix: {1: 2}\n", r"prefix\.1: .*write a text as key"),
    ("a number as top key", MINIMAL + "1: 2\n", "1: unknown key"),
    ("no key", MINIMAL + "prefix: {null: 2}\n", "write a text as key"),
    ("a Python object", MINIMAL + "seed: !!python/object:os.system x\n", "is not YAML in line 6"),
    ("an impossible date", MINIMAL + "seed: 2001-99-99\n", r"seed: '2001-99-99' .*whole number"),
    ("a date", MINIMAL + "seed: 2001-01-01\n", r"seed: '2001-01-01' .*whole number"),
    ("a tagged non-number", MINIMAL + "seed: !!int abc\n", "a value that cannot be read"),
    ("a tagged nothing", MINIMAL + "seed: !!int ''\n", "a value that cannot be read"),
    ("a tagged non-boolean", MINIMAL + "seed: !!bool abc\n", "a value that cannot be read"),
    ("a tagged non-date", MINIMAL + "seed: !!timestamp abc\n", "a value that cannot be read"),
    ("bad base64", MINIMAL + "seed: !!binary abc\n", "is not YAML"),
    ("a number of 5,000 digits", MINIMAL + f"seed: {'9' * 5000}\n", "a value that cannot be read: Exceeds the limit"),
    ("a hexadecimal of 5,000 digits", MINIMAL + f"seed: 0x{'f' * 5000}\n", "seed: a whole number of 20000 bits"),
    ("a negative one", BASE.replace("100", f"-0x{'f' * 5000}"), "input_length: a whole number of 20000 bits"),
    ("an infinite length", MINIMAL.replace("100", ".inf"), "input_length: inf"),
    ("1e400", BASE + "target: {hit_ratio: 1e400}\n", r"target\.hit_ratio: '1e400'.*finite"),
    ("1.0e+400", BASE + "target: {hit_ratio: 1.0e+400}\n", r"target\.hit_ratio: Infinity.*finite"),
    ("a tiny exponent", BASE + "target: {hit_ratio: 1e-999999999}\n", r"target\.hit_ratio: '1e-999999999'"),
    ("a signalling NaN", BASE + "target: {hit_ratio: sNaN}\n", r"target\.hit_ratio: 'sNaN'.*finite"),
    (
        "a null byte in a path",
        BASE + 'output_length: {mode: empirical, file: "a\\0"}\n',
        r"output_length\.file: .*path",
    ),
    ("half a character", BASE + 'output_length: {mode: empirical, file: "\\ud800"}\n', r"output_length\.file: .*path"),
    ("half a character as key", MINIMAL + '"\\ud800": 1\n', "is not allowed"),
    (
        "nobody's home",
        BASE + "output_length: {mode: empirical, file: ~no-such-user/a}\n",
        r"output_length\.file: .*path",
    ),
    ("deep brackets", MINIMAL + "x: " + "[" * 4000 + "]" * 4000 + "\n", "nested too deeply"),
    ("a value that holds itself", BASE + "target: &t {hit_ratio: 0.5, groups: [*t]}\n", r"target\.groups\[0\]\.groups"),
    ("a mode that holds itself", MINIMAL.replace("100", "&m {mode: *m}"), r"input_length\.mode"),
    ("a set", MINIMAL + "prefix: !!set {a, b}\n", "prefix: .*key: value"),
    ("pairs", MINIMAL + "prefix: !!omap [a: 1]\n", "prefix: .*key: value"),
    (
        "a billion entries",
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefghi", "bcdefghij", strict=True))
        + MINIMAL.replace("100", "*j"),
        "unknown key",
    ),
    ("a billion as a value", BASE + "target: {hit_ratio: &a [&b [x, x], *b, *b, *b]}\n", r"target\.hit_ratio"),
]


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_what_is_no_configuration_is_refused_in_one_message(load: Any, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as found:
        load(text)
    assert found.value.remedy
    assert len(str(found.value)) < 1500
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["gone.yaml", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"--config: cannot read .*(check the path|not a folder)"):
        load_config(tmp_path / name)


def test_a_byte_order_mark_is_no_obstacle(load: Any) -> None:
    assert load(b"\xef\xbb\xbf" + MINIMAL.encode()).config.request_count == 10


def test_merged_keys_of_yaml_work(load: Any) -> None:
    text = MINIMAL.replace("{hit_ratio: 0.5}", "\n  <<: &t {hit_ratio: 0.25}\n  scope: global")
    assert load(text).config.target.hit_ratio == Decimal("0.25")


def test_flags_leave_the_given_data_alone(load: Any) -> None:
    raw = full()
    before = copy.deepcopy(raw)
    parse_config(raw)
    assert raw == before


@pytest.mark.parametrize(
    "ratio", ["0.29", "0", "1", "0.333333333333333333333333333333", "0.1000000000000000055511151231"]
)
def test_a_configuration_survives_json(ratio: str) -> None:
    """Artifacts and tasks carry configurations as JSON: no digit may be lost on the way."""
    config = parse_config({**full(), "target": {"hit_ratio": ratio}})
    again = PrefixCacheDatasetConfig.model_validate_json(config.model_dump_json())
    assert again == config
    assert again.target.hit_ratio == Decimal(ratio)
    assert isinstance(parse_config(full()).model_dump(mode="json")["target"]["hit_ratio"], float)


def test_a_key_that_is_missing_for_its_misspelling_is_not_named_as_well() -> None:
    """`input_length` is not wrong beside `input_lenght`: mending one mends the other. What else is wrong is said."""
    raw = {"dataset_id": "x", "request_count": 10, "input_lenght": 4096, "target": {"hit_ratio": 0.5}}
    with pytest.raises(InputError) as caught:
        parse_config(raw)
    assert caught.value.message == "unknown key"
    assert "`input_length`" in str(caught.value.remedy)
    with pytest.raises(InputError, match=r"unknown key \(also wrong: block_size\)"):
        parse_config(raw | {"block_size": 0})
