"""Errors and findings in Chinese: names and figures of the English ones, and the English where a form is unknown."""

from __future__ import annotations

import re

import pytest

from prefixcache.errors import InputError
from prefixcache.help.chinese.forms_run import RUN_FORMS
from prefixcache.help.chinese.text import FORMS, chinese_of
from prefixcache.help.messages import error_text, finding_of

HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    "text",
    [
        # RFC 3.4.4, in its order; 11 to 15 beside the warnings of a run, which the report has in both languages
        "300 is above max 200",
        "300 lies outside [100, 200]",
        "0 is not allowed",
        "1.2 is not allowed",
        "a hit ratio of 99.00 % cannot be reached, 89.06 % at most: 4560 of 5120 input tokens can hit at most, the "
        "target needs 5072; 320 tokens stay unshared (own tokens and alignment to 16)",
        "the folder ./none does not exist",
        "cannot load the tokenizer ./empty: no tokenizer.json",
        "group a: the source gsm8k has 12 tokens, too few for a stretch of 240 without repeating text",
        "cannot read none.jsonl: No such file or directory",
        "3 requests share blocks that must be unique, after up to 3 retries",
        "the metrics page of http://127.0.0.1:9/metrics cannot be read (connection refused)",
        # usage
        "is missing",
        "unknown key",
        "'x' is not allowed: it is text",
        # validate
        "data.jsonl is missing",
        "data.jsonl has 12 bytes, the manifest says 13",
        "data.jsonl was changed: its SHA-256 is not the manifest's",
        "shards/requests-00000.parquet: column prompt differs from request_metadata.jsonl",
        "demo-3: its text does not encode to its token ids",
        "the figures deserve FAIL, the manifest says PASS",
        "manifest.json theoretical_result: designed_hit_ratio is 0.7, it should be 0.6",
        # warnings of a configuration
        "block_size is not given: 16 is assumed. If the server's differs, the hit rate will too.",
    ],
)
def test_known_forms_keep_names_and_figures(text: str) -> None:
    chinese = chinese_of(text)
    assert HAN.search(chinese)
    spoken = text.partition("; ")[0]  # the parts of a reason are told by `plan`
    figures = set(re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", spoken)) - {"16"}
    assert figures <= set(re.findall(r"\d+(?:\.\d+)?", chinese)), chinese


def test_every_template_uses_every_group() -> None:
    """A figure of the English sentence that the Chinese one dropped would be lost; reasons are the exception."""
    for pattern, template in (*FORMS, *RUN_FORMS):
        groups = re.compile(pattern).groups
        assert set(re.findall(r"\{(\d)\}", template)) == {str(n) for n in range(groups)}, pattern


def test_unknown_forms_stay() -> None:
    assert chinese_of("the moon is full.") == "the moon is full."
    assert finding_of("data.jsonl is missing", "en") == "data.jsonl is missing"


def test_an_error_with_its_frame() -> None:
    error = InputError(
        "0 is not allowed",
        field="request_count",
        remedy="write a number that is at least 1.",
        stage="config",
        group="a",
    )
    assert error_text(error, "en") == str(error)
    chinese = error_text(error, "zh")
    assert chinese == "[阶段 读取配置，Prefix Group a] request_count：不允许的值 0。处理建议：请填写不小于 1 的数"
    assert error_text(InputError("the moon is full."), "zh") == "the moon is full."
