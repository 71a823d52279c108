"""The commented first configuration: it loads as it was asked for and explains every key it has."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path

import pytest
import yaml

from prefixcache.config import load_config
from prefixcache.errors import InputError
from prefixcache.help.starter import (
    MODES,
    Answers,
    read_count,
    read_length,
    read_mode,
    read_target,
    starter_config,
    starter_yaml,
)
from prefixcache.help.words import LANGUAGES, Language

CASES = [
    Answers(groups=groups, mode=mode, length=length)
    for groups, mode, length in product((1, 3, 20), MODES, ((4096, 4096), (100, 2000), (7, 8)))
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_file_loads_as_what_was_asked(language: Language, tmp_path: Path) -> None:
    path = tmp_path / "first one.yaml"
    for answers in CASES:
        path.write_text(starter_yaml(answers, "first", path, language), encoding="utf-8")
        loaded = load_config(path)
        config = loaded.config
        assert config == starter_config(answers, "first")
        assert (config.request_count, config.block_size, config.mode) == (1000, 16, answers.mode)
        assert len(config.prefix.group_ids()) == answers.groups
        assert (config.target is None) == (answers.mode == "replay")
        if answers.length[0] == answers.length[1]:
            assert config.input_length.mode == "fixed"
        assert loaded.warnings == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_stands_below_a_comment_of_its_own(language: Language, tmp_path: Path) -> None:
    lines = starter_yaml(Answers(groups=3), "x", tmp_path / "x.yaml", language).splitlines()
    body = lines[lines.index("prefix_cache_dataset:") + 1 :]
    keys = [n for n, line in enumerate(body) if not line.lstrip().startswith(("#", "-"))]
    assert len(keys) > 20
    for n in keys:
        indent = body[n][: len(body[n]) - len(body[n].lstrip())]
        assert body[n - 1].startswith(f"{indent}# "), body[n]
    entries = next(n for n, line in enumerate(body) if line.lstrip().startswith("- {id: group_0"))
    assert [line.split(":")[0].strip() for line in body[entries - 2 : entries]] == ["# id", "# request_weight"]


def test_awkward_names_survive(tmp_path: Path) -> None:
    for name in ("a: b", "# x", "true", "1.5", "C:\\models", "模型/路径", "it's", '"', "~", "null", " lead"):
        text = starter_yaml(replace(Answers(), tokenizer=name), "x", tmp_path / "x.yaml", "en")
        assert yaml.safe_load(text)["prefix_cache_dataset"]["tokenizer"]["path"] == name


def test_credentials_are_not_asked_for_and_commands_are_quoted(tmp_path: Path) -> None:
    text = starter_yaml(Answers(url="http://h:1"), "x", tmp_path / "a b.yaml", "en")
    assert f"--config '{tmp_path}/a b.yaml'" in text
    assert "--url http://h:1" in text
    assert "prefixcache serve" not in text


def test_reading_lengths() -> None:
    assert read_length("4096") == (4096, 4096)
    assert read_length(" 10..20 ") == read_length("10-20") == (10, 20)
    for wrong in ("", "0", "20..10", "a", "1..2..3", "-5", "99999999999", "1.5"):
        with pytest.raises(InputError, match="no length"):
            read_length(wrong)


def test_reading_targets() -> None:
    assert read_target("0.29") == Decimal("0.29")
    assert read_target("60 %") == Decimal("0.6")
    for wrong in ("", "x", "1.2", "-0.1", "nan", "inf", "120%"):
        with pytest.raises(InputError, match="no ratio"):
            read_target(wrong)


def test_reading_counts_and_modes() -> None:
    assert read_count("1,000", "--requests") == 1000
    for wrong in ("0", "-1", "1.5", "", "x"):
        with pytest.raises(InputError) as caught:
            read_count(wrong, "--groups")
        assert caught.value.field == "--groups"
    assert read_mode("compare") == "compare"
    with pytest.raises(InputError, match="no mode"):
        read_mode("lukewarm")
