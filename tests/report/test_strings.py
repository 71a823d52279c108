"""One table of words, complete in both languages."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from prefixcache.analysis import comparison, verdict
from prefixcache.errors import InputError
from prefixcache.report import strings
from prefixcache.report.strings import STRINGS, language_of, named, text
from prefixcache.report.words_page import PAGE
from prefixcache.report.words_verdict import VERDICT

PACKAGE = Path(strings.__file__).parent


def places(words: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(words) if name}


@pytest.mark.parametrize("key", STRINGS)
def test_both_languages_say_the_same_with_the_same_places(key: str) -> None:
    english, chinese = STRINGS[key]
    assert english.strip()
    assert chinese.strip()
    assert places(english) == places(chinese)


def test_the_rfcs_terms_are_used() -> None:
    terms = {"target": "目标命中率", "designed": "数据集理论命中率", "measured": "实测命中率"}
    terms |= {"construction": "数据构造偏差", "runtime": "运行实现偏差", "pp": "个百分点"}
    assert {key: text(key, "zh") for key in terms} == terms
    assert "服务端实际命中率" in text("term.measured", "zh"), "the RFC's own word, once, where the term is explained"
    assert [key for key, (_, chinese) in STRINGS.items() if "实际" in chinese] == ["term.measured"]


def test_chinese_is_not_left_in_english() -> None:
    latin = {key for key, (_, chinese) in STRINGS.items() if not re.search(r"[\u4e00-\u9fff]", chinese)}
    assert latin == {
        "colon",
        "comma",
        "kind_of_deviation",
        "kinds_of",
        "tokens",
        "of_tokens",
        "say.pass_items",
        "section.groups",
        "column.group",
        "column.ttft_p50",
        "column.ttft_p99",
        "column.tpot_p50",
        "metric.ttft_s",
        "metric.tpot_s",
        "repro.tokenizer",
        "repro.tokenizer_sha256",
    }


def test_every_code_has_words() -> None:
    reasons = [v for k, v in vars(comparison).items() if k.isupper() and isinstance(v, str)]
    for code in reasons:
        assert f"missing.{code}" in STRINGS or f"incomplete.{code}" in STRINGS
    for code in verdict.CODES:
        assert f"verdict.{code}" in STRINGS
    for row in verdict.LIMITS:
        assert f"range.{row}" in STRINGS


def test_every_warning_of_a_run_has_a_name() -> None:
    load = PACKAGE.parent / "load"
    source = "".join(path.read_text() for path in sorted(load.rglob("*.py")))
    listing = "".join(
        (load / name).read_text()
        for name in ("isolation.py", "passes.py", "preflight/checks.py", "preflight/fit.py", "findings/troubles.py")
    )
    codes = set(re.findall(r'warn\(\s*"(\w+)"', source)) | set(re.findall(r'\(\s*"(\w+)",\s*(?:text|f")', listing))
    assert "kv_capacity" in codes
    assert {code for code in codes if f"code.{code}" not in STRINGS} == set()


def test_no_word_is_left_over() -> None:
    source = "".join(
        p.read_text()
        for p in PACKAGE.rglob("*")
        if p.suffix in (".py", ".j2") and p.stem not in ("words_page", "words_verdict")
    )
    whole = {
        key
        for key in STRINGS
        if re.search(f"[\"']{re.escape(key)}[\"']", source) or f"t.{key}" in source or f"{key}." in source
    }
    rest = set(STRINGS) - whole
    built = ("verdict.", "range.", "incomplete.", "missing.", "figure.", "evidence.", "column.", "metric.", "conduct.")
    built += ("status.", "reset.", "repro.", "term.", "warn.", "code.", "pass.", "construction.", "runtime.", "stored.")
    assert {key for key in rest if not key.startswith(built)} == set()


def test_no_key_stands_twice() -> None:
    assert len(STRINGS) == len(PAGE) + len(VERDICT)


def test_unknown_codes_stand_for_themselves() -> None:
    assert named("code", "something_new", "zh") == "something_new"


def test_an_unknown_language_is_an_input_error() -> None:
    assert language_of("zh") == "zh"
    with pytest.raises(InputError, match="'fr' is not a language"):
        language_of("fr")
