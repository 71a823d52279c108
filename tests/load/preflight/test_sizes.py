"""`block_size: auto`: who is asked first, what an answer means, and that only the value is in the bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.config import load_config, parse_config
from prefixcache.engines.adapter import CacheFacts
from prefixcache.engines.server import ServerFacts
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.preflight.probe_report import Measured, read_probe_report
from prefixcache.load.preflight.sizes import SizesAsked, sizes_asked, sizes_of
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.support.datasets import digest_of, made

YAML = """
dataset_id: small
request_count: 12
input_length: {mode: uniform, min: 200, max: 600}
target: {hit_ratio: 0.4}
block_size: auto
"""


def facts(
    block: int | None = None, *, adapter: str = "vllm", model: str = "m", at: str = "http://a", **more: Any
) -> ServerFacts:
    info = more.pop("info", {})
    return ServerFacts(at, adapter, None, None, model, None, (), CacheFacts(block_size=block, **more), info=info)


def brief(servers: Sequence[ServerFacts], measured: Measured | None = None, engine: str | None = None) -> Any:
    found = sizes_of(servers, measured, engine)
    return found.block_size, found.block_size_source, found.hit_unit, found.hit_unit_source


@pytest.mark.parametrize(
    ("servers", "measured", "engine", "found"),
    [
        ([facts(32)], None, None, (32, "server_config", None, None)),
        ([facts(32, info={"block_size": 64})], None, None, (32, "server_config", None, None)),
        ([facts(None, info={"page_size": 64})], None, "vllm", (64, "server_start", None, None)),
        ([facts(16, hit_alignment=784)], None, None, (16, "server_config", 784, "server_config")),
        ([facts(16)], Measured(16, 1536, 0), None, (16, "server_config", 1536, "measured")),
        ([facts(16)], Measured(16, 16, 0), None, (16, "server_config", 16, "measured")),
        ([facts(16)], Measured(None, 24, 0), None, (24, "measured", None, None)),
        ([], Measured(32, 64, 1), None, (64, "measured", None, None)),
        ([], Measured(32, None, None), None, (32, "measured", None, None)),
        ([], None, "vllm", (16, "framework_default", None, None)),
        ([], None, "vllm-cpu", (128, "framework_default", None, None)),
        ([], None, "sglang", (1, "framework_default", None, None)),
        ([], None, "mindie", (128, "framework_default", None, None)),
        ([facts(None, adapter="mindie")], None, None, (128, "framework_default", None, None)),
        ([facts(64)], None, "vllm-ascend", (64, "server_config", 128, "model_rule")),
        ([facts(128)], None, "vllm-ascend", (128, "server_config", None, None)),
        ([facts(32, model="DeepSeek-V4-Flash")], None, "vllm-ascend", (32, "server_config", 4096, "model_rule")),
        ([facts(32, model="DeepSeek-V4")], Measured(32, 8192, 1), "vllm-ascend",
         (32, "server_config", 8192, "measured")),
        ([facts(None, adapter="lmdeploy")], None, None, (None, None, None, None)),
    ],
)  # fmt: skip
def test_the_order_of_the_rfc(
    servers: list[ServerFacts], measured: Measured | None, engine: str | None, found: Any
) -> None:
    assert brief(servers, measured, engine) == found


def test_what_is_guessed_is_told() -> None:
    assert "16 is assumed, the default of vllm" in sizes_of([], None, "vllm").warnings[0]
    assert "matches in 24 tokens as measured" in sizes_of([facts(16)], Measured(None, 24, 0), None).warnings[0]
    assert "looks like a hybrid model" in sizes_of([facts(16, model="Qwen3-Next-80B")], None, None).warnings[0]
    assert not sizes_of([facts(16, model="Qwen3-Next-80B")], Measured(16, 784, 0), None).warnings
    assert not sizes_of([facts(16)], None, None).warnings


def test_servers_that_disagree() -> None:
    with pytest.raises(InputError, match="http://a 16, http://b 32"):
        sizes_of([facts(16), facts(32, at="http://b")], None, None)


def write(folder: Path, text: str = YAML) -> Path:
    path = folder / "small.yaml"
    path.write_text(text)
    return path


def test_nobody_can_be_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is auto, and nobody was asked") as caught:
        load_config(write(tmp_path))
    assert caught.value.field == "block_size"
    for option in ("--url", "--probe-report", "--engine"):
        assert option in str(caught.value.remedy)
    with pytest.raises(InputError, match="nobody was asked"):
        parse_config({"dataset_id": "a", "block_size": "auto", "input_length": 64, "request_count": 2})
    with pytest.raises(InputError, match="does not tell its block size"):
        load_config(write(tmp_path), sizes=lambda: sizes_of([facts(None, adapter="lmdeploy")], None, None))


def test_an_explicit_size_is_never_replaced(tmp_path: Path) -> None:
    path = write(tmp_path, YAML.replace("auto", "16"))
    loaded = load_config(path, sizes=lambda: sizes_of([facts(32, hit_alignment=64)], None, None))
    assert (loaded.config.block_size, loaded.config.hit_unit) == (16, None)
    assert "block_size is 16, http://a tells 32" in loaded.warnings[0]
    path = write(tmp_path, YAML.replace("auto", "16\nhit_unit: auto"))
    loaded = load_config(path, sizes=lambda: sizes_of([facts(16)], Measured(16, 48, 1), None))
    assert (loaded.config.block_size, loaded.config.unit, loaded.config.hit_drop) == (16, 48, 1)
    assert loaded.config.size_sources == {"block_size_source": "explicit", "hit_unit_source": "measured"}
    with pytest.raises(InputError, match="784 is not a multiple of block_size 48"):
        path = write(tmp_path, YAML.replace("auto", "48\nhit_unit: auto"))
        load_config(path, sizes=lambda: sizes_of([facts(16, hit_alignment=784)], None, None))


def test_the_bytes_depend_on_the_value_alone(tmp_path: Path) -> None:
    common = {"block_size": 32, "input_length": 256, "request_count": 8}
    made(tmp_path / "a", **common)
    made(tmp_path / "b", **common, block_size_source="server_config")
    one, other = digest_of(tmp_path / "a"), digest_of(tmp_path / "b")
    assert one.pop("manifest.json") != other.pop("manifest.json")
    assert one == other
    sources = [json.loads((tmp_path / x / "manifest.json").read_text())["block_size_source"] for x in "ab"]
    assert sources == ["explicit", "server_config"]
    made(tmp_path / "c", input_length=256, request_count=8)
    assert json.loads((tmp_path / "c" / "manifest.json").read_text())["block_size_source"] == "default"


@pytest.mark.engine
@pytest.mark.parametrize(
    ("dialect", "block", "engine", "found"),
    [
        ("vllm", 32, None, (32, "server_config")),
        ("sglang", 64, None, (64, "server_config")),
        ("vllm-ascend", 16, "vllm-ascend", (128, "server_config")),
        ("vllm-ascend", 16, None, (128, "server_config")),
        ("mindie", 64, None, (128, "framework_default")),
    ],
)
def test_every_dialect_is_asked(dialect: str, block: int, engine: str | None, found: tuple[int, str]) -> None:
    with EngineProcess(EngineOptions("embedded", dialect=dialect, block_size=block)) as server:
        sizes = SizesAsked((server.url,), engine=engine)()
    assert (sizes.block_size, sizes.block_size_source) == found


@pytest.mark.engine
def test_generate_and_plan_ask_the_server(tmp_path: Path) -> None:
    path = write(tmp_path)
    with EngineProcess(EngineOptions("embedded", block_size=32)) as server:
        arguments = ["--config", str(path), "--url", server.url, "--json"]
        planned = CliRunner().invoke(app, ["plan", *arguments])
        generated = CliRunner().invoke(app, ["generate", *arguments, "-o", str(tmp_path / "set"), "--no-prefect"])
    assert (planned.exit_code, json.loads(planned.stdout)["block_size"]) == (0, 32)
    assert generated.exit_code == 0
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text())
    assert (manifest["block_size"], manifest["block_size_source"]) == (32, "server_config")
    assert (manifest["hit_unit"], manifest["hit_unit_source"]) == (32, "block_size")
    with pytest.raises(EnvironmentFailure):
        SizesAsked(("http://127.0.0.1:9",))()


def test_the_options_of_the_command_line(tmp_path: Path) -> None:
    path = write(tmp_path)
    told = CliRunner().invoke(app, ["plan", "-c", str(path), "--engine", "sglang", "--json"])
    assert (told.exit_code, json.loads(told.stdout)["block_size"]) == (0, 1)
    assert "the default of sglang" in json.loads(told.stdout)["warnings"][0]
    for more, field in (
        ((), "block_size"),
        (("--engine", "vlm"), "engine"),
        (("--metrics-url", "http://127.0.0.1:9"), "--metrics-url"),
        (("--probe-report", str(tmp_path / "none.json")), "--probe-report"),
    ):
        refused = CliRunner().invoke(app, ["plan", "-c", str(path), *more, "--json"])
        assert refused.exit_code == 2, more
        assert json.loads(refused.stdout)["error"]["field"] == field
    assert sizes_asked((), (), None, None) is None


@pytest.mark.parametrize(
    ("report", "found"),
    [
        ({"findings": [{"name": "block_size", "value": 16, "source": "stated"},
                       {"name": "hit_unit", "value": 48, "source": "measured"}]}, Measured(16, 48, None)),
        ({"findings": {"hit_unit": {"value": 48, "source": "measured"}, "hit_drop": {"value": 1}}},
         Measured(None, 48, 1)),
        ({"findings": [{"name": "hit_unit", "value": 16, "source": "stated"},
                       {"name": "block_size", "value": 16, "source": "stated"}]}, Measured(16, None, None)),
        ({"block_size": 32, "hit_unit": 64, "hit_drop": 0, "models": ["m"]}, Measured(32, 64, 0)),
    ],
)  # fmt: skip
def test_reports_of_a_probe(tmp_path: Path, report: Any, found: Measured) -> None:
    path = tmp_path / "probe.json"
    path.write_text(json.dumps(report))
    assert read_probe_report(path) == found


def test_a_report_of_another_server_is_told(tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    text = {"endpoint": "http://me:hunter22@other:8000", "findings": [{"name": "hit_unit", "value": 48}]}
    path.write_text(json.dumps(text))
    measured = read_probe_report(path)
    assert measured.endpoint == "http://other:8000"
    assert measured.of_others(["http://other:8000"]) is None
    warning = measured.of_others(["http://here:8000"]) or ""
    assert "is of http://other:8000, not of http://here:8000" in warning
    assert measured.of_others([]) is None, "nobody is asked beside the report"


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"findings": 3}', '{"findings": [{"name": "hit_unit", "value": -1}]}'),
        *('{"hit_unit": 9999999999999}', '{"hit_unit": 16.5}', '{"endpoint": 3, "hit_unit": true}'),
    ],
)
def test_what_is_no_report(tmp_path: Path, text: str) -> None:
    path = tmp_path / "probe.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_probe_report(path)
    assert caught.value.field == "--probe-report" and caught.value.remedy


def test_a_framework_by_half_its_name() -> None:
    with pytest.raises(InputError, match="'ascend' is no known framework") as caught:
        sizes_asked((), (), "ascend", None)
    assert caught.value.remedy == "write `vllm-ascend`."
