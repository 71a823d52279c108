"""Real errors of configurations and plans in Chinese: what is put together from parts keeps no English sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from prefixcache.config.load import load_config
from prefixcache.config.messages import REMEDIES
from prefixcache.errors import PrefixCacheError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.help.messages import error_text, finding_of
from prefixcache.pipeline import generate_prefix_cache_dataset
from tests.help.test_sentences import HAN
from tests.support.datasets import config_of
from tests.workload.test_plan_report import report_of
from tests.workload.test_suggestions import FAILING

CAPACITY = {"assume": "capacity", "num_blocks": 100}
PER_GROUP: dict[str, Any] = {
    "target": {"scope": "per_group"},
    "prefix": {"groups": [{"id": "a", "request_weight": 1, "hit_ratio": 0.99},
                          {"id": "b", "request_weight": 1, "hit_ratio": 0.001}]},
}  # fmt: skip
HEAD = {"prompt": {"system": "you are an assistant " * 20}}


def english_in(text: str) -> list[str]:
    """Three words in a row that are no name, value or piece of code: what a forgotten sentence leaves."""
    return re.findall(r"\b[a-z]+(?:'s)? [a-z]+ [a-z]+\b", re.sub(r"`[^`]*`|\{[^}]*\}", "", text))


def in_chinese(error: PrefixCacheError) -> str:
    """Message and remedy without the places before them."""
    text = error_text(error, "zh").partition("] ")[2]
    assert HAN.search(chinese_of(error.message)), error.message
    assert error.remedy is not None
    assert HAN.search(chinese_of(error.remedy)), error.remedy
    assert not english_in(text), text
    return text


@pytest.mark.parametrize("kind", REMEDIES)
def test_every_remedy_of_a_value_is_chinese(kind: str) -> None:
    class Seven(dict[str, str]):
        def __missing__(self, key: str) -> str:
            return "'a', 'b' or 'c'" if key == "expected" else "7"

    english = REMEDIES[kind].format_map(Seven())
    found = chinese_of(english)
    assert HAN.search(found), english
    assert not english_in(found)
    assert found.count("7") == english.count("7")


@pytest.mark.parametrize(
    ("changes", "chinese"),
    [
        ({"request_count": "٣"}, "request_count：不允许的值 '٣'：数字须为半角 0 至 9。处理建议：请写为 3"),
        ({"request_count": "010"}, "request_count：不允许的值 '010'：以 0 开头，可能被当作八进制。处理建议：请写为 10"),
        ({"request_count": "1e3"}, "request_count：不允许的值 '1e3'：YAML 将其视为文本。处理建议：请写为 1000"),
        ({"request_count": "1e-9"}, "request_count：不允许的值 '1e-9'：YAML 将其视为文本。处理建议：请勿使用指数形式"),
        ({"request_count": "12:30"}, "request_count：不允许的值 '12:30'：形似时间。处理建议：请填写整数"),
        ({"request_count": 2.0}, "request_count：不允许的值 2.0：它是小数。处理建议：请写为 2"),
        ({"request_count": 10**70}, "request_count：不允许的值 233 位的整数。处理建议：请填写不大于 50000000 的数"),
        (
            {"input_length": "100"},
            "input_length：不允许的值 '100'：它是文本。处理建议：请写为 100，不加引号，或写为 `key: value` 块，"
            "如 {mode: uniform, min: 100, max: 4096}",
        ),
        (
            {"input_length": 2.5},
            "input_length：不允许的值 2.5。处理建议：请填写 Token 数，或写为 `key: value` 块，"
            "如 {mode: uniform, min: 100, max: 4096}",
        ),
        ({"dataset_id": 5}, "dataset_id：不允许的值 5：它是数值，此处应为文本。处理建议：请加引号"),
        (
            {"targt": 3, "request_count": 0},
            "targt：未知配置项（另有错误：request_count）。处理建议：请写为 `target`",
        ),
        (
            {"execution": {"zz": 1}},
            "execution.zz：未知配置项。处理建议：请删除该项；此处可用的配置项：concurrency、gating、mode",
        ),
        (
            {"suffix": {"source": "q"}},
            "suffix.source：不允许的值 'q'。处理建议：请填写以下之一：'gsm8k', 'text', 'random_tokens' 或 'synthetic'",
        ),
        # Rules of a plan within a capacity, whose texts stand in a table
        ({"planning": CAPACITY, "hit_unit": 32}, "hit_unit：planning.assume 为 capacity 时须等于 block_size"),
        ({"planning": CAPACITY, **PER_GROUP}, "target.scope：planning.assume 为 capacity 时不支持 per_group"),
        (
            {"planning": {**CAPACITY, "objective": "trajectory"}},
            "planning.objective：planning.assume 为 capacity 时不支持",
        ),
        (
            {"planning": {**CAPACITY, "block_residual_calibration": False}},
            "planning.block_residual_calibration：planning.assume 为 capacity 时不能为 false。处理建议：请省略该项",
        ),
        (
            {"planning": CAPACITY, "suffix": {"collision_detection": {"cache_match_semantics": "independent_block"}}},
            "suffix.collision_detection.cache_match_semantics：planning.assume 为 capacity 时不支持 independent_block",
        ),
        (
            {"planning": CAPACITY, "request_order": "prefix_len_asc"},
            "request_order：planning.assume 为 capacity 时不支持按 Prefix 长度排序。处理建议：请按输入长度排序",
        ),
        # Names
        (
            {**PER_GROUP, "target": {"scope": "per_group", "groups": [{"id": "zzz", "hit_ratio": 0}]}},
            "target.groups[0].id：没有名为 'zzz' 的 Prefix Group。处理建议：请填写以下之一：a、b",
        ),
        (
            {
                "target": {"scope": "per_group", "groups": [{"id": "zzz", "hit_ratio": 0}]},
                "prefix": {"group_count": 13},
            },
            "group_10、group_11 等（共 13 个）",
        ),
    ],
)
def test_a_wrong_value(changes: dict[str, Any], chinese: str) -> None:
    with pytest.raises(PrefixCacheError) as found:
        config_of(**changes)
    assert chinese in in_chinese(found.value)


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("- a", "c.yaml 中没有 `key: value` 行。处理建议：写法参见 examples/"),
        ("a: b: c", "c.yaml 第 1 行第 5 列不是有效的 YAML：此处不能出现 `key: value`（多为缩进有误或冒号多余）"),
        ("a:\n\tb: 1", "c.yaml 第 2 行第 1 列不是有效的 YAML：缩进不能用制表符，须用空格"),
        ("a: [1, 2", "列表缺少 ',' 或 ']'，却出现 '<stream end>'"),
        ("a: {x: 1", "映射缺少 ',' 或 '}'，却出现 '<stream end>'"),
        ("a: 1\nb", "c.yaml 第 2 行第 2 列不是有效的 YAML：缺少 ':'"),
        ("a: b\n- c", "此处应结束当前块，却出现 '-'（多为缩进有误）"),
        ("a: 'x", "内容意外结束（多为引号未闭合）"),
        ("a: @x", "值不能以字符 '@' 开头，须加引号"),
        ("a: *x", "别名 'x' 未定义"),
        ("a: \x07", "c.yaml 不是有效的 YAML：含有非法字符。处理建议：请修正"),
        ("a: " + "[" * 3000, "c.yaml 嵌套过深"),
        ("seed: !!int x", "c.yaml 中有无法解析的值：'x' 不是整数"),
        ("seed: 1\nseed: 2", "seed：重复给出，第 2 行再次出现。处理建议：请只保留一个"),
        ('input_length: {mode: explicit, file: "a\\0b"}', "input_length.file：'a\\x00b' 不是有效路径：含有空字节"),
    ],
)
def test_a_broken_file(text: str, chinese: str, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(text)
    with pytest.raises(PrefixCacheError) as found:
        load_config(tmp_path / "c.yaml")
    assert chinese in in_chinese(found.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x80")
    for name, chinese, remedy in (
        ("b.yaml", "不是 UTF-8 文本", "请检查路径及其权限"),
        ("none.yaml", "文件或目录不存在", "请检查路径及其权限"),
        (".", "是目录", "请指定文件，而非目录"),
    ):
        with pytest.raises(PrefixCacheError) as found:
            load_config(tmp_path / name)
        assert f"：{chinese}。处理建议：{remedy}" in in_chinese(found.value)


def test_warnings_of_a_configuration(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("request_count: 9\ninput_length: 99\ntarget: {hit_ratio: 0}\nrouting: {cache_scope: dp_local}\n")
    found = [finding_of(text, "zh") for text in load_config(path).warnings]
    assert len(found) == 3
    assert all(HAN.search(text) and not english_in(text) for text in found)
    assert "routing.cache_scope 为 dp_local 而 dp_size 为 1" in found[2]


@pytest.mark.parametrize(
    "changes",
    [
        {"target": {"hit_ratio": 0.97}, "hit_drop": 1, "prefix": {"group_count": 4}, "input_length":
            {"mode": "uniform", "min": 10, "max": 400}},
        {"target": {"hit_ratio": 0.97}, **HEAD},
        {"target": {"hit_ratio": 0.001}, **HEAD},
        {**PER_GROUP, **HEAD},
        {"input_length": 12},
        {"target": {"hit_ratio": 0.9}, "planning": {**CAPACITY, "num_blocks": 40}, "prefix": {"group_count": 4}},
        {"max_model_len": 100},
        {"input_length": 2, **HEAD},
    ],
)  # fmt: skip
def test_a_plan_that_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    """The reason is put together from parts, the remedy from a suggestion; both keep their figures."""
    with pytest.raises(PrefixCacheError) as found:
        generate_prefix_cache_dataset(config_of(**changes), tmp_path)
    text = in_chinese(found.value)
    for figure in re.findall(r"[\d.]*\d", f"{found.value.message} {found.value.remedy}"):
        assert figure in text


@pytest.mark.parametrize("name", FAILING)
def test_a_suggestion_says_the_same_in_both_ways(name: str) -> None:
    """In a remedy it is translated from its English text; elsewhere it is made of its figures."""
    for entry in report_of(**FAILING[name][0])["suggestions"]:
        if entry["needed"] is not None and entry["lever"] != "hit_unit":  # whose English also tells the block size
            assert chinese_of(entry["text"]) == entry["text_zh"].rstrip("。")


@pytest.mark.parametrize(
    "text",
    [
        "granularity: half a unit of 16 tokens is 1.23% of 650 input tokens, more than pass_tolerance 1.00%; 800 input "
        "tokens would pass",
        "granularity: half a unit of 16 tokens is 1.23% of 650 input tokens of its smallest group, more than "
        "pass_tolerance 0.00%; no size passes tolerance 0",
        "of 17 plans that were tried with caches of 40 blocks none comes nearer to the target",
        "the target was missed by more than pass_tolerance; planning.block_residual_calibration is off",
        "the dataset is not what was planned: the certificate does not hold: real token ids hit otherwise than "
        "planned; texts do not encode to their token ids",
        "/data/x y.json: Permission denied",
        "group a: 1 of 20 input tokens can hit at most, its target needs 3; and 4 more groups",
        "Use a server whose hit unit is 16 tokens instead of 112 and whose blocks are no larger than that, instead of "
        "48 (then 88.00 % can be reached; the search was cut short, less may do)",
    ],
)
def test_reasons_and_changes_made_of_parts(text: str) -> None:
    found = chinese_of(text)
    assert HAN.search(found)
    assert not english_in(found)
    assert sorted(re.findall(r"[\d.]*\d", found)) == sorted(re.findall(r"[\d.]*\d", text))
