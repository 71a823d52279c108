"""Drawn lengths: their laws, their determinism, and where they are read from."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixcache.config import load_config
from prefixcache.errors import InputError
from prefixcache.workload import portable
from prefixcache.workload.lengths import _invert, draw_lengths, summarize
from prefixcache.workload.randomness import digest, permutation, words
from prefixcache.workload.shape import draw_shape
from tests.workload import golden
from tests.workload.configs import configure, explicit

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT.parent / "shared" / "data" / "traces"
GOLDEN = {
    "fixed": "7a22f090aeb582a4",
    "fixed out": "7a22f090aeb582a4",
    "explicit": "8abe0a6882f400ca",
    "explicit out": "8abe0a6882f400ca",
    "truncated_normal": "6a262b95845d01f6",
    "truncated_normal out": "3307b00781fa40f2",
    "uniform": "6db631fea1d2cf93",
    "uniform out": "9671d1b101678b46",
    "lognormal": "b7d8b4d0d65ba0d4",
    "lognormal out": "2f8b0bfc4a65e60f",
    "histogram": "2a64448502599ab5",
    "histogram out": "62dcaaef50c1d078",
    "groups": "07d4609a7a6b67c7",
    "order": "45b1659a38bd1e2c",
}


def draw(model: Any, count: int = 2000, seed: int = 42, **keys: Any) -> np.ndarray:
    config = configure(request_count=count, input_length=model, hit_ratio=0.5, **keys)
    return draw_lengths(config.input_length, count, seed)


# Determinism


def test_draws_of_seed_42_never_change() -> None:
    assert golden.digests() == GOLDEN


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_draws_do_not_depend_on_the_hash_seed(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.workload.golden"],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == GOLDEN


@pytest.mark.parametrize("mode", [mode for mode in golden.MODELS if mode not in ("fixed", "explicit")])
def test_more_requests_keep_the_first_ones_and_other_seeds_differ(mode: str) -> None:
    short, long = draw(golden.MODELS[mode], 500), draw(golden.MODELS[mode], 900)
    assert (long[:500] == short).all()
    assert (draw(golden.MODELS[mode], 500, seed=43) != short).any()


def test_lengths_do_not_depend_on_the_target() -> None:
    """50, 60 and 90 % datasets of one configuration are paired."""
    shapes = [
        draw_shape(configure(request_count=300, input_length=golden.MODELS["lognormal"], hit_ratio=ratio))
        for ratio in (0.5, 0.6, 0.9)
    ]
    assert all((shape.lengths == shapes[0].lengths).all() for shape in shapes)
    assert all((shape.groups == shapes[0].groups).all() for shape in shapes)


def test_uniform_from_the_raw_words() -> None:
    raw = words(digest(42, "lengths", "input_length"), 300)
    expected = [7 + ((int(word) >> 32) * 94 >> 32) for word in raw]
    assert draw({"mode": "uniform", "min": 7, "max": 100}, 300).tolist() == expected


def test_digest_tells_its_parts_apart() -> None:
    keys = [digest(1, "a"), digest("1", "a"), digest(1, "b"), digest(1, "a", ""), digest("1a"), digest(2, "a")]
    assert len(set(keys)) == len(keys)


@given(st.integers(0, (1 << 64) - 1), st.integers(0, 200))
@settings(max_examples=50, deadline=None)
def test_permutations_hold_every_index_once(seed: int, count: int) -> None:
    assert sorted(permutation(digest(seed), count).tolist()) == list(range(count))


# exp and log


def test_exp_is_accurate_over_its_range() -> None:
    x = np.concatenate([np.linspace(-700, 700, 20_001), np.linspace(-1, 1, 2001), [0.0, -1e-300, 1e-16]])
    expected = np.array([math.exp(value) for value in x])
    assert (np.abs(portable.exp(x) - expected) <= 1e-14 * expected).all()
    assert portable.exp(np.array([-701.0, -1e9, -np.inf])).tolist() == [0.0, 0.0, 0.0]
    assert portable.exp(np.array([0.0])).tolist() == [1.0]


def test_log_is_accurate_over_its_range() -> None:
    x = np.concatenate([np.logspace(-300, 300, 20_001), np.linspace(0.5, 2, 3001), np.arange(1, 3000)])
    expected = np.array([math.log(value) for value in x])
    assert (np.abs(portable.log(x) - expected) <= 1e-14 * np.abs(expected)).all()
    assert portable.log(np.array([1.0])).tolist() == [0.0]


# Laws


def mass_of(model: dict[str, Any]) -> dict[int, float]:
    """The law on whole numbers, by the mathematics library."""
    low, high = model["min"], model["max"]
    if model["mode"] == "truncated_normal":
        mass = {k: math.exp(-(((k - model["mean"]) / model["std"]) ** 2) / 2) for k in range(low, high + 1)}
    else:
        centre = math.log(model["median"])
        mass = {k: math.exp(-(((math.log(k) - centre) / model["sigma"]) ** 2) / 2) / k for k in range(low, high + 1)}
    whole = sum(mass.values())
    return {k: part / whole for k, part in mass.items()}


@pytest.mark.parametrize(
    "model",
    [
        {"mode": "truncated_normal", "min": 1, "max": 30, "mean": 11.5, "std": 6},
        {"mode": "truncated_normal", "min": 10, "max": 30, "mean": 10, "std": 8},
        {"mode": "truncated_normal", "min": 1, "max": 40, "mean": 20, "std": 500},
        {"mode": "lognormal", "min": 1, "max": 40, "median": 9, "sigma": 0.8},
        {"mode": "lognormal", "min": 1, "max": 40, "median": 1, "sigma": 2},
    ],
)
def test_every_length_has_its_probability_and_nothing_piles_up_at_the_ends(model: dict[str, Any]) -> None:
    count = 100_000
    seen = Counter(draw(model, count).tolist())
    expected = mass_of(model)
    assert set(seen) <= set(expected)
    for length, probability in expected.items():
        spread = math.sqrt(count * probability * (1 - probability))
        assert abs(seen[length] - count * probability) <= 5 * spread + 1, length


def test_truncated_normal_of_the_rfc() -> None:
    lengths = draw(golden.MODELS["truncated_normal"], 100_000)
    law = mass_of(golden.MODELS["truncated_normal"])
    mean = sum(k * p for k, p in law.items())
    std = math.sqrt(sum((k - mean) ** 2 * p for k, p in law.items()))
    assert lengths.min() >= 1024
    assert lengths.max() <= 8192
    assert abs(lengths.mean() - mean) < 5 * std / math.sqrt(100_000)
    assert abs(lengths.std() - std) < 5 * std / math.sqrt(200_000)
    assert (lengths == 1024).sum() + (lengths == 8192).sum() <= 10  # clipping would put about 130 there


@pytest.mark.parametrize(
    ("mean", "std", "expected"),
    [(100.5, 0.001, {100, 101}), (100.3, 1e-12, {100}), (1, 0.01, {1}), (1000, 0.01, {1000}), (77, "1e-30", {77})],
)
def test_a_narrow_law_keeps_its_mass(mean: float, std: Any, expected: set[int]) -> None:
    lengths = draw({"mode": "truncated_normal", "min": 1, "max": 1000, "mean": mean, "std": std}, 500)
    assert set(lengths.tolist()) == expected


def test_a_narrow_lognormal_keeps_its_mass() -> None:
    model = {"mode": "lognormal", "min": 1, "max": 1000, "median": 100.4, "sigma": 1e-9}
    assert set(draw(model, 500).tolist()) == {100}


def test_histogram_bins_have_their_shares() -> None:
    bins = [([0, 1000], 2), ([1000, 2000], 3), ([2000, 4000], 10), ([4000, 8000], 5), ([9000, 9100], 0)]
    model = {"mode": "histogram", "bins": [{"range": edges, "weight": weight} for edges, weight in bins]}
    count = 50_000
    lengths = draw(model, count)
    assert lengths.min() >= 1
    for (low, high), weight in bins:
        share = weight / 20
        found = int(((lengths >= low) & (lengths < high)).sum())
        assert abs(found - share * count) <= 5 * math.sqrt(count * share * (1 - share)), (low, high)
        middle = int(((lengths >= low) & (lengths < (low + high) / 2)).sum())
        assert abs(middle - found / 2) <= 5 * math.sqrt(max(found, 1) / 4) + 1, "uniform inside the bin"


def test_only_the_last_bin_is_closed_and_no_length_is_0() -> None:
    bins = [{"range": [0, 2], "weight": 1}, {"range": [2, 4], "weight": 1}, {"range": [5, 6], "weight": 1}]
    lengths = draw({"mode": "histogram", "bins": bins}, 3000)
    assert set(lengths.tolist()) == {1, 2, 3, 5, 6}
    assert set(draw({"mode": "histogram", "bins": [{"range": [7, 7], "weight": 1}]}, 50).tolist()) == {7}


def test_a_histogram_of_nothing_but_0_is_refused() -> None:
    with pytest.raises(InputError, match=r"input_length\.bins: no bin holds a length of at least 1"):
        draw({"mode": "histogram", "bins": [{"range": [0, 1], "weight": 1}, {"range": [8, 9], "weight": 0}]})


@pytest.mark.parametrize(
    ("mass", "word", "index"),
    [
        ([0, 1, 0], 0, 1),
        ([0, 1, 0], (1 << 64) - 1, 1),
        ([1, 1], (1 << 63) - 1, 0),
        ([1, 1], 1 << 63, 1),
        ([3, 1], (1 << 64) - 1, 1),
        ([5], 0, 0),
    ],
)
def test_no_draw_falls_where_there_is_no_mass(mass: list[float], word: int, index: int) -> None:
    """The extreme words, which no sample of draws would meet."""
    assert _invert(np.array(mass, dtype=np.float64), np.array([word], dtype=np.uint64)).tolist() == [index]


def test_uniform_reaches_both_ends_evenly() -> None:
    seen = Counter(draw({"mode": "uniform", "min": 3, "max": 12}, 50_000).tolist())
    assert set(seen) == set(range(3, 13))
    assert all(abs(n - 5000) < 5 * math.sqrt(5000) for n in seen.values())


# Explicit lists and files

VALUES = [100, 200, 300, 400, 500, 600, 700, 800]


def write_file(folder: Path, kind: str, column: str = "input_length", values: list[int] = VALUES) -> Path:
    path = folder / f"lengths.{kind}"
    if kind == "csv":
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["other", column])
            writer.writerows([[-1, value] for value in values])
    elif kind == "parquet":
        pl.DataFrame({"other": [0] * len(values), column: values}).write_parquet(path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps({"other": "x", column: value}) + "\n" for value in values), encoding="utf-8")
    elif kind == "json":
        path.write_text(json.dumps(values), encoding="utf-8")
    else:
        path.write_text(" ".join(map(str, values)) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "json", "txt"])
def test_explicit_lengths_from_a_file_beside_the_configuration(tmp_path: Path, kind: str) -> None:
    write_file(tmp_path, kind)
    path = tmp_path / "config.yaml"
    path.write_text(f"input_length: {{mode: explicit, file: lengths.{kind}}}\ntarget: {{hit_ratio: 0.1}}\n")
    shape = draw_shape(load_config(path).config)
    assert shape.lengths.tolist() == VALUES
    assert shape.outputs.tolist() == [16] * len(VALUES)


def test_explicit_outputs_from_a_file_give_the_request_count(tmp_path: Path) -> None:
    file = str(write_file(tmp_path, "csv", "tokens"))
    output = {"mode": "explicit", "file": file, "column": "tokens"}
    assert draw_shape(configure(input_length=50, output_length=output, hit_ratio=0)).outputs.tolist() == VALUES


def test_another_request_count_than_the_file_holds(tmp_path: Path) -> None:
    model = {"mode": "explicit", "file": str(write_file(tmp_path, "json"))}
    with pytest.raises(InputError, match=r"input_length\.file: 8 explicit lengths, but request_count is 9.*leave out"):
        draw_shape(configure(request_count=9, input_length=model, hit_ratio=0))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_empirical_with_replacement_draws_every_value_evenly(tmp_path: Path, kind: str) -> None:
    lengths = draw({"mode": "empirical", "file": str(write_file(tmp_path, kind))}, 8000)
    seen = Counter(lengths.tolist())
    assert set(seen) == set(VALUES)
    assert all(abs(n - 1000) < 5 * math.sqrt(1000) for n in seen.values())


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_empirical_without_replacement_uses_each_value_once(tmp_path: Path, kind: str) -> None:
    model = {"mode": "empirical", "file": str(write_file(tmp_path, kind, "n")), "column": "n", "replacement": False}
    assert sorted(draw(model, 8).tolist()) == VALUES
    five = draw(model, 5).tolist()
    assert len(set(five)) == 5
    assert set(five) <= set(VALUES)
    assert draw(model, 8).tolist() != VALUES
    with pytest.raises(InputError, match=r"replacement: the file has 8 .*9 are needed.*replacement: true"):
        draw(model, 9)


@pytest.mark.parametrize("name", ["conversation_trace.jsonl", "synthetic_trace.jsonl"])
def test_empirical_from_a_mooncake_trace(name: str) -> None:
    path = TRACES / name
    if not path.is_file():
        pytest.skip(f"the trace {name} is not beside the repository (../shared/data/traces)")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    model = {"mode": "empirical", "file": str(path)}
    config = configure(request_count=5000, input_length=model, output_length=model, hit_ratio=0.5)
    shape = draw_shape(config)
    for found, column in ((shape.lengths, "input_length"), (shape.outputs, "output_length")):
        real = np.array([row[column] for row in rows])
        assert set(found.tolist()) <= set(real.tolist())
        assert abs(found.mean() - real.mean()) < 5 * real.std() / math.sqrt(5000)
    everything = draw({**model, "replacement": False}, len(rows))
    assert sorted(everything.tolist()) == sorted(row["input_length"] for row in rows)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b"", r"cannot be read as lengths|holds no lengths"),
        ("a.jsonl", b'{"input_length": 5}\n{"input_len', "cannot be read as lengths"),
        ("a.jsonl", b'{"input_length": 5}\n{"input_length": 2.5}\n', "cannot be read as lengths"),
        ("a.jsonl", b'{"input_length": 5}\n{"other": 2}\n', "something else than whole numbers"),
        ("a.jsonl", b'{"length": 5}\n', r"input_length\.column: .*no column 'input_length'; it has: length"),
        ("a.csv", b"input_length\n5\nx\n", "something else than whole numbers"),
        ("a.csv", b"input_length\n5\n\xff\n", "cannot be read as lengths"),
        ("a.csv", b"", "cannot be read as lengths"),
        ("a.csv", b"input_length\n", r"holds no lengths|something else than whole numbers"),
        ("a.parquet", b"PAR1 and then nothing", "cannot be read as lengths"),
        ("a.json", b"[]", "holds no lengths"),
        ("a.json", b"[1, 2", "cannot be read as lengths"),
        ("a.json", b'{"a": 1}', "expected a list of whole numbers"),
        ("a.json", b"[1, true]", "expected a list of whole numbers"),
        ("a.json", b"[1, 18446744073709551615]", "cannot be read as lengths"),
        ("a.txt", b"", "holds no lengths"),
        ("a.txt", b"12 many", "cannot be read as lengths"),
        ("a.txt", b"\xff\xfe", "cannot be read as lengths"),
        ("a.txt", b"1 " + b"9" * 40, "cannot be read as lengths"),
        ("a.txt", b"1 " + b"9" * 5000, "cannot be read as lengths"),
        ("a.txt", b"7 0 7", r"entry 2 is 0, not a length.*1 to 16777216"),
        ("a.txt", b"7 -3", "entry 2 is -3, not a length"),
        ("a.txt", b"99999999", "entry 1 is 99999999, not a length"),
    ],
)
@pytest.mark.parametrize("mode", ["explicit", "empirical"])
def test_files_that_are_no_lengths(tmp_path: Path, mode: str, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as found:
        draw({"mode": mode, "file": str(path)}, 2)
    assert found.value.field in ("input_length.file", "input_length.column")
    assert found.value.remedy


@pytest.mark.parametrize("name", ["gone.jsonl", "gone.csv", "gone.json", "gone.txt", "folder.parquet", "folder.txt"])
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    if name.startswith("folder"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=rf"input_length\.file: cannot read {name}.*check the path"):
        draw({"mode": "empirical", "file": str(tmp_path / name)}, 2)


# Limits and summary


def test_requests_longer_than_the_model_takes() -> None:
    keys: dict[str, Any] = {"input_length": explicit([50, 91, 80]), "output_length": 10, "hit_ratio": 0}
    assert len(draw_shape(configure(max_model_len=101, **keys)).lengths) == 3
    message = r"max_model_len: 1 requests are longer than max_model_len 100; the first, request 1, has 91 input \+ 10"
    with pytest.raises(InputError, match=message):
        draw_shape(configure(max_model_len=100, **keys))


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=60))
@settings(max_examples=100, deadline=None)
def test_the_summary_counts_every_request_once(values: list[int]) -> None:
    summary = summarize(np.array(values))
    assert summary["count"] == len(values) == sum(row["count"] for row in summary["bins"])
    assert (summary["min"], summary["max"], summary["total"]) == (min(values), max(values), sum(values))
    assert summary["mean"] == pytest.approx(sum(values) / len(values))
    ordered = sorted(values)
    for percent in (50, 90, 95, 99):
        place = percent / 100 * (len(values) - 1)
        low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
        assert summary[f"p{percent}"] == pytest.approx(low + (place - math.floor(place)) * (high - low))


def test_the_summary_of_given_bins_closes_the_last() -> None:
    rows = summarize(np.array([1, 5, 9, 10, 20]), [(0, 5), (5, 10), (10, 20)])["bins"]
    assert [row["count"] for row in rows] == [1, 2, 2]


def test_the_summary_of_nothing() -> None:
    assert summarize(np.array([], dtype=np.int64))["min"] is None
