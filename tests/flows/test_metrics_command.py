"""`prefixcache metrics` as its users type it."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from prefixcache.schemas.catalog import schema_of
from prefixcache.schemas.conformance import misfits
from tests.flows.test_cli import call, json_of

DATA = Path(__file__).parents[1] / "engines" / "data"
BEFORE, AFTER = DATA / "vllm032_bs32_fresh.prom", DATA / "vllm032_bs32_after.prom"
FIGURES = {"queries", "hits", "hit_ratio", "external_queries", "external_hits", "total_hit_ratio", "reset"}


def test_json_has_domains_and_a_global_of_the_same_figures() -> None:
    told = json_of(call("metrics", "--before", BEFORE, "--after", AFTER, "--json"))
    assert list(misfits(told, schema_of("metrics"))) == []
    [domain] = told["domains"]
    assert domain.keys() >= FIGURES | {"endpoint", "engine_label"}
    assert told["global"].keys() >= FIGURES
    assert (told["engine"], told["unit"], domain["engine_label"]) == ("vllm", "token", "0")
    assert (domain["queries"], domain["hits"]) == (836828, 47456)
    assert domain["hit_ratio"] == domain["total_hit_ratio"] == 47456 / 836828


def test_pages_are_paired_by_position_and_summed_before_they_are_divided(tmp_path: Path) -> None:
    zipped = tmp_path / "after.prom.gz"
    zipped.write_bytes(gzip.compress((DATA / "vllm032_bs128_after.prom").read_bytes()))
    pairs = ["--before", BEFORE, "--before", DATA / "vllm032_bs128_fresh.prom", "--after", AFTER, "--after", zipped]
    told = json_of(call("metrics", *pairs, "--json"))
    first, second = told["domains"]
    whole = told["global"]
    assert whole["queries"] == first["queries"] + second["queries"]
    assert whole["hit_ratio"] == (first["hits"] + second["hits"]) / whole["queries"]
    assert second["endpoint"] == "after.prom.gz"


def test_roles(tmp_path: Path) -> None:
    pairs = ["--before", BEFORE, "--before", BEFORE, "--after", AFTER, "--after", DATA / "vllm032_bs32_fresh.prom"]
    told = json_of(call("metrics", *pairs, "--role", "prefill", "--role", "decode", "--json"))
    assert [row["role"] for row in told["endpoints"]] == ["prefill", "decode"]
    assert told["global"]["hits"] == 47456


def test_the_table_names_every_domain_and_what_is_odd() -> None:
    shown = call("metrics", "--before", DATA / "vllm032_dp2_after.prom", "--after", DATA / "vllm032_dp2_after.prom")
    assert shown.exit_code == 0
    assert "vllm032_dp2_after.prom │ 1" in shown.stdout
    chinese = call("metrics", "--before", BEFORE, "--after", AFTER, "--lang", "zh")
    assert "命中率" in chinese.stdout
    assert "部分 Prompt 不经过缓存查询" in chinese.stderr


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((), "--before"),
        (("--before", BEFORE), "--after"),
        (("--before", BEFORE, "--after", "missing.prom"), "--after"),
        (("--before", BEFORE, "--after", AFTER, "--engine", "vlm"), "--engine"),
        (("--before", BEFORE, "--after", AFTER, "--role", "both"), "--role"),
        (("--before", BEFORE, "--after", AFTER, "--role", "mixed", "--role", "mixed"), "--role"),
        (("--before", BEFORE, "--after", DATA / "sglang_after.prom"), "--engine"),
        (("--before", BEFORE, "--prometheus", "http://127.0.0.1:1"), "--before"),
        (("--prometheus", "http://127.0.0.1:1"), "--from"),
        (("--prometheus", "http://127.0.0.1:1", "--from", "then"), "--from"),
        (("--prometheus", "http://127.0.0.1:1", "--from", "5", "--to", "4"), "--to"),
        (("--prometheus", "http://127.0.0.1:1", "--from", "5", "--selector", "job"), "--selector"),
        (("--prometheus", "localhost", "--from", "5"), "--prometheus"),
    ],
)
def test_a_mistake_names_its_flag(arguments: tuple[str | Path, ...], field: str) -> None:
    failed = call("metrics", *arguments, "--json")
    error = json_of(failed)["error"]
    assert (failed.exit_code, error["field"]) == (2, field)
    assert error["remedy"]


def test_neither_prefect_nor_numpy_is_imported() -> None:
    code = (
        "import sys\nfrom flows.cli import app\nfrom typer.testing import CliRunner\n"
        f"r = CliRunner().invoke(app, ['metrics', '--before', {str(BEFORE)!r}, '--after', {str(AFTER)!r}, '--json'])\n"
        "assert r.exit_code == 0, r.output\n"
        "print([m for m in ('prefect', 'numpy', 'polars', 'transformers') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
