"""What --tokenizer, --source and --set change of a file."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import InputError
from tests.config.writing import BASE, MINIMAL


def test_tokenizer_flag_replaces_the_path_and_keeps_the_rest(load: Any) -> None:
    text = MINIMAL.replace("tokenizer: name", "tokenizer: {path: a, revision: r1, trust_remote_code: true}")
    tokenizer = load(text, tokenizer="/models/qwen").config.tokenizer
    assert (tokenizer.path, tokenizer.revision, tokenizer.trust_remote_code) == ("/models/qwen", "r1", True)
    assert load(MINIMAL, tokenizer="other").config.tokenizer.path == "other"
    loaded = load(MINIMAL.replace("tokenizer: name\n", ""), tokenizer="other")
    assert (loaded.config.tokenizer.path, loaded.warnings) == ("other", ())


def test_source_flag(load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    suffix = load(MINIMAL, sources=["gsm8k=data/train.jsonl"]).config.suffix
    assert (suffix.source, suffix.path) == ("gsm8k", str(tmp_path / "data" / "train.jsonl"))
    suffix = load(MINIMAL + "suffix: {source: gsm8k, path: old, fields: [question]}\n", sources=["gsm8k"]).config.suffix
    assert (suffix.source, suffix.path, suffix.fields) == ("gsm8k", None, ["question"])
    assert load(MINIMAL, sources=["gsm8k=~/x"]).config.suffix.path == str(Path("~/x").expanduser())
    with pytest.raises(InputError, match=r"suffix\.source: 'books' .*'gsm8k'"):
        load(MINIMAL, sources=["books=a"])
    with pytest.raises(InputError, match=r"--source gsm8k: .*path"):
        load(MINIMAL, sources=["gsm8k=a\0b"])


def test_paths_in_the_file_are_relative_to_it_and_flags_to_the_working_folder(load: Any, tmp_path: Path) -> None:
    text = MINIMAL + "suffix: {source: gsm8k, path: data}\n"
    assert load(text).config.suffix.path == str(tmp_path / "data")
    text = MINIMAL.replace("100", "{mode: empirical, file: ../a.csv}")
    assert load(text).config.input_length.file == str(tmp_path.parent / "a.csv")


@pytest.mark.parametrize(
    ("setting", "path", "expected"),
    [
        ("target.hit_ratio=0.6", "target.hit_ratio", Decimal("0.6")),
        ("prefix_cache_dataset.target.hit_ratio=0.29", "target.hit_ratio", Decimal("0.29")),
        ("seed=7", "seed", 7),
        ("input_length=2048", "input_length.value", 2048),
        ("input_length={mode: uniform, min: 3, max: 9}", "input_length.max", 9),
        ("request_order=shuffle", "request_order.mode", "shuffle"),
        ("execution.mode=compare", "execution.mode", "compare"),
        ("suffix.collision_detection.max_retries=9", "suffix.collision_detection.max_retries", 9),
        ("dataset_id=a=b", None, "dataset_id"),
        ("dataset_id=other", "dataset_id", "other"),
        ("max_model_len=", "max_model_len", None),
        ("prefix_mode=single_prefix", "prefix.mode", "single_prefix"),
        ("prefix.groups=[{id: a}, {id: b}]", "prefix.groups.1.id", "b"),
    ],
)
def test_set(load: Any, setting: str, path: str | None, expected: Any) -> None:
    if path is None:
        with pytest.raises(InputError, match=f"{expected}: 'a=b'"):
            load(MINIMAL, settings=[setting])
        return
    value = load(MINIMAL, settings=[setting]).config
    for part in path.split("."):
        value = value[int(part)] if part.isdigit() else getattr(value, part)
    assert value == expected


def test_set_comes_last_and_in_order(load: Any) -> None:
    config = load(
        MINIMAL,
        tokenizer="flag",
        sources=["gsm8k"],
        settings=["tokenizer.path=a", "tokenizer.path=b", "suffix.source=synthetic"],
    ).config
    assert (config.tokenizer.path, config.suffix.source) == ("b", "synthetic")


def test_set_does_not_reach_into_shared_yaml_nodes(load: Any) -> None:
    text = MINIMAL.replace("100", "&n {mode: fixed, value: 90}") + "output_length: *n\n"
    config = load(text, settings=["input_length.value=5"]).config
    assert (config.input_length.value, config.output_length.value) == (5, 90)


def test_set_of_the_shorthand(load: Any) -> None:
    config = load(MINIMAL, settings=["target_prefix_ratio=0.7"]).config
    assert (config.target.hit_ratio, config.semantics, config.mode) == (Decimal("0.7"), "static_prefix_ratio", "warmup")
    text = BASE + "target_prefix_ratio: 0.5\n"
    for setting in ("target_prefix_ratio=0.6", "target.hit_ratio=0.6"):
        config = load(text, settings=[setting]).config
        assert (config.target.hit_ratio, config.semantics) == (Decimal("0.6"), "static_prefix_ratio")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("target.hit_ratio", r"--set: 'target\.hit_ratio' is not key=value"),
        ("=3", "--set: '=3' is not key=value"),
        ("target.hit_rate=0.5", r"target\.hit_rate: unknown key\..*`hit_ratio`"),
        ("input_length.value=5", r"--set input_length\.value: input_length is not a block of keys"),
        ("seed=[1", r"--set: the value of 'seed=\[1' is not YAML"),
        ("seed=!!int x", "--set: .*cannot be read"),
        ("seed={a: 1, a: 2}", "a: stands twice"),
        ("target.hit_ratio=2", r"target\.hit_ratio: 2 .*at most 1"),
        (".=1", "--set: .*empty"),
    ],
)
def test_set_that_is_wrong(load: Any, setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(MINIMAL, settings=[setting])
