"""What looks right to the one who wrote it and is not: YAML 1.1, other scripts' digits, empty flags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.config import load_config
from prefixcache.config.dataset import PrefixCacheDatasetConfig
from prefixcache.errors import InputError

TEXT = """
dataset_id: traps
request_count: 10
block_size: 16
tokenizer: embedded
input_length: 100
target: {hit_ratio: 0.4}
"""


def loaded(folder: Path, *settings: str, text: str = TEXT, **options: Any) -> PrefixCacheDatasetConfig:
    path = folder / "traps.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(path, settings=settings, **options).config


def refused(folder: Path, *settings: str, **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        loaded(folder, *settings, **options)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("setting", "field", "why", "remedy"),
    [
        ("input_length=x", "input_length", "text", "write a number, or a block of `key: value` lines"),
        ("input_length='12'", "input_length", "text", "write 12 without quotes, or a block"),
        ("input_length=[1]", "input_length", "[1]", "write a number of tokens, or a block"),
        ("output_length='１６'", "output_length", "digits are not 0 to 9", "write 16, or a block"),
        ("request_count=１６", "request_count", "digits are not 0 to 9", "write 16"),
        ("request_count=٣", "request_count", "digits are not 0 to 9", "write 3"),
        ("target.hit_ratio=０.５", "target.hit_ratio", "digits are not 0 to 9", "write 0.5"),
        ("target.hit_ratio='٠.٥'", "target.hit_ratio", "digits are not 0 to 9", "write 0.5"),
        ("request_count=010", "request_count", "octal", "write 10"),
        ("request_count=12:30", "request_count", "looks like a time", "whole number"),
        ("request_count=1e3", "request_count", "as text", "write 1000"),
        ("request_count='10'", "request_count", "text", "write 10 without quotes"),
        ("request_count=10.0", "request_count", "decimal", "write 10"),
        ("request_count=yes", "request_count", "'yes'", "whole number"),
        ("prefix.groups=[{id: 1}]", "prefix.groups[0].id", "a number", "quotes"),
        ("prefix.groups=[{id: true}]", "prefix.groups[0].id", "True", "quotes"),
        ("dataset_id=123", "dataset_id", "a number", "quotes"),
        (".=1", "--set", "empty", "dotted names"),
        ("a..b=1", "--set", "empty", "dotted names"),
        ("target.=1", "--set", "empty", "dotted names"),
        ("=", "--set", "not key=value", "target.hit_ratio=0.6"),
        ("a", "--set", "not key=value", "target.hit_ratio=0.6"),
        ("tokenizer=''", "tokenizer.path", "blank", "embedded"),
        ("suffix={source: text, path: x, fields: [a, a]}", "suffix.fields[1]", "twice", "once"),
        ("suffix={source: text, path: x, fields: [a, ' ']}", "suffix.fields[1]", "blank", "column"),
        ("suffix={source: text, path: x, fields: []}", "suffix.fields", "[]", "at least 1"),
    ],
)
def test_refused_with_a_word_on_why(setting: str, field: str, why: str, remedy: str, tmp_path: Path) -> None:
    error = refused(tmp_path, setting)
    assert error.field == field
    assert why in error.message
    assert remedy in (error.remedy or "")


@pytest.mark.parametrize("options", [{"tokenizer": ""}, {"tokenizer": "  "}])
def test_an_empty_tokenizer(options: dict[str, str], tmp_path: Path) -> None:
    assert refused(tmp_path, **options).field == "--tokenizer"


@pytest.mark.parametrize("source", ["=", "gsm8k=", "=/data"])
def test_half_a_source(source: str, tmp_path: Path) -> None:
    """`gsm8k=` of an unset shell variable must not fall back to the hub."""
    assert refused(tmp_path, sources=[source]).field == "--source"


def test_words_of_yaml_1_1_are_text(tmp_path: Path) -> None:
    config = loaded(tmp_path, "prefix.groups=[{id: no}, {id: yes}, {id: on}, {id: off}, {id: 2026-01-01}]")
    assert config.prefix.group_ids() == ["no", "yes", "on", "off", "2026-01-01"]
    config = loaded(tmp_path, "dataset_id=no", "prefix.request_groups={values: [no, no, no, n, n, n, y, y, y, y]}")
    assert config.dataset_id == "no"
    assert config.prefix.group_ids() == ["no", "n", "y"]


@pytest.mark.parametrize(("text", "value"), [("1_000", 1000), ("0x10", 16), ("7", 7), ("+7", 7)])
def test_whole_numbers_that_are_meant(text: str, value: int, tmp_path: Path) -> None:
    assert loaded(tmp_path, f"request_count={text}").request_count == value


@pytest.mark.parametrize("text", [".5", "0.5", "5.0e-1", "5e-1", "'0.5'"])
def test_decimals_that_are_meant(text: str, tmp_path: Path) -> None:
    target = loaded(tmp_path, f"target.hit_ratio={text}").target
    assert target is not None
    assert target.hit_ratio == loaded(tmp_path, "target.hit_ratio=0.5").target.hit_ratio  # type: ignore[union-attr]


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("true", True), ("off", False), ("False", False)])
def test_switches(text: str, value: bool, tmp_path: Path) -> None:
    assert loaded(tmp_path, f"suffix.allow_repeat={text}").suffix.allow_repeat is value


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    assert loaded(tmp_path, text=f"\ufeff{TEXT}") == loaded(tmp_path)


@pytest.mark.parametrize("text", ["a: [", "- a", ""])
def test_a_file_is_named_as_the_user_named_it(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    for name in ("sub/x.yaml", str(tmp_path / "sub" / "x.yaml"), "sub/none.yaml"):
        with pytest.raises(InputError) as caught:
            load_config(name)
        assert name in caught.value.message
