"""init, inspect, explain, export, and the two languages of the command line, as a user meets them."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from flows.cli import app
from prefixcache.config import load_config
from prefixcache.files import read_json, read_jsonl, write_json
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.join import COLUMNS
from tests.flows.test_cli import LIGHT
from tests.support.datasets import made

SECRET = "hunter2hunter2"


def call(*arguments: str | Path, env: dict[str, str] | None = None, stdin: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env=env, input=stdin)


def json_of(result: Result) -> dict[str, Any]:
    value = json.loads(result.stdout)
    assert isinstance(value, dict)
    return value


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 12 requests, cold and hot, on the reference engine; its dataset lies beside it as `data`."""
    folder = tmp_path_factory.mktemp("help")
    made(folder / "data", request_count=12, execution={"mode": "compare"}, prefix={"group_count": 2})
    with EngineProcess(EngineOptions("embedded")) as engine:
        run_benchmark(folder / "data", folder / "run", RunOptions(urls=(engine.url,), poll_interval=0.05))
    return folder / "run"


class TestInit:
    def test_yes_writes_a_file_that_loads_and_plans(self, tmp_path: Path) -> None:
        path = tmp_path / "first.yaml"
        result = call("init", "--yes", "--output", path)
        assert result.exit_code == 0, result.stderr
        assert "PASS" in result.stdout
        assert f"prefixcache generate --config {path}" in result.stdout.replace("\n", "")
        assert load_config(path).config.dataset_id == "first"
        assert call("plan", "-c", path).exit_code == 0

    def test_options_alone_need_no_terminal(self, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        options = {"url": "-", "tokenizer": "/models/q", "requests": "40", "length": "128..512", "target": "60%"}
        options |= {"groups": "2", "mode": "compare", "block-size": "32"}
        given = [part for name, value in options.items() for part in (f"--{name}", value)]
        result = call("init", "-o", path, *given, "--json")
        assert result.exit_code == 0, result.stderr
        assert json_of(result)["plan"]["status"] == "PASS"
        config = load_config(path).config
        assert (config.request_count, config.block_size, config.mode) == (40, 32, "compare")
        assert config.tokenizer is not None
        assert config.tokenizer.path == "/models/q"
        assert str(config.target.hit_ratio) == "0.6"  # type: ignore[union-attr]

    def test_without_a_terminal_it_says_what_to_do(self, tmp_path: Path) -> None:
        result = call("init", "-o", tmp_path / "x.yaml", "--url", "-", "--tokenizer", "embedded")
        assert result.exit_code == 2
        assert "no terminal" in result.stderr
        assert "--requests" in result.stderr
        assert "--yes" in result.stderr
        assert not (tmp_path / "x.yaml").exists()

    def test_an_existing_file_is_kept_without_force(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.yaml"
        path.write_text("mine")
        assert call("init", "--yes", "-o", path).exit_code == 2
        assert path.read_text() == "mine"
        assert call("init", "--yes", "-o", path, "--force").exit_code == 0
        assert "prefix_cache_dataset" in path.read_text()
        assert call("init", "--yes", "-o", tmp_path, "--force").exit_code == 2

    def test_a_server_of_another_kind_is_no_address_to_run_against(self, tmp_path: Path) -> None:
        class Nothing(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_error(404)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Nothing)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        try:
            told = call("init", "--yes", "-o", tmp_path / "x.yaml", "--url", url, "--lang", "zh")
        finally:
            server.shutdown()
            server.server_close()
        assert f"无法查询 {url}：服务端 {url} 对 /v1/models 返回 HTTP 404" in told.stderr
        assert url not in told.stdout
        silent = call("init", "--yes", "-o", tmp_path / "y.yaml", "--url", "http://127.0.0.1:9")
        assert "http://127.0.0.1:9" in silent.stdout  # it may be started later

    def test_nothing_is_generated_from_a_target_out_of_reach(self, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        result = call("init", "--yes", "-o", path, "--target", "0.999", "--json")
        assert (result.exit_code, json_of(result)["next"]) == (1, [f"prefixcache plan --config {path}"])

    def test_a_wrong_language_is_told_in_that_of_the_environment(self, tmp_path: Path) -> None:
        wrong = call("plan", "-c", tmp_path / "x.yaml", "--lang", "fr", env={"PREFIXCACHE_LANG": "zh"})
        assert wrong.exit_code == 2
        assert "请填写 en 或 zh" in wrong.stderr

    def test_an_unreachable_target_is_written_and_said(self, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        result = call("init", "--yes", "-o", path, "--requests", "2", "--target", "0.9", "--lang", "zh")
        assert result.exit_code == 1
        assert path.exists()
        assert "FAIL（未通过）" in result.stdout
        assert "request_count" in result.stdout

    @pytest.mark.parametrize(
        ("flag", "value"),
        [("--length", "9..1"), ("--target", "2"), ("--requests", "0"), ("--mode", "x"), ("--url", "ftp://h")],
    )
    def test_a_wrong_answer_leaves_no_file(self, flag: str, value: str, tmp_path: Path) -> None:
        result = call("init", "--yes", "-o", tmp_path / "x.yaml", flag, value)
        assert result.exit_code == 2
        assert "Remedy" in result.stderr
        assert not (tmp_path / "x.yaml").exists()

    @pytest.mark.engine
    def test_a_server_is_asked_and_its_credentials_stay_out(self, tmp_path: Path) -> None:
        path = tmp_path / "x.yaml"
        with EngineProcess(EngineOptions("embedded", block_size=64)) as engine:
            url = engine.url.replace("http://", f"http://user:{SECRET}@")
            result = call("init", "--yes", "-o", path, "--url", url)
        assert result.exit_code == 0, result.stderr
        assert load_config(path).config.block_size == 64
        assert f"--url {engine.url}" in path.read_text()
        for text in (path.read_text(), result.stdout, result.stderr):
            assert SECRET not in text

    def test_a_server_that_is_silent_is_a_remark(self, tmp_path: Path) -> None:
        result = call("init", "--yes", "-o", tmp_path / "x.yaml", "--url", f"http://user:{SECRET}@127.0.0.1:9")
        assert result.exit_code == 0
        assert "could not be asked" in result.stderr
        assert SECRET not in result.stderr + (tmp_path / "x.yaml").read_text()

    def test_a_person_is_asked_on_a_terminal_and_asked_again(self, tmp_path: Path) -> None:
        answers = ["-", "embedded", "many", "50", "100..300", "", "3", "", "16"]
        shown, code = on_a_terminal(["init", "-o", str(tmp_path / "x.yaml")], answers)
        assert code == 0, shown
        assert "'many' is not allowed" in shown
        config = load_config(tmp_path / "x.yaml").config
        assert (config.request_count, len(config.prefix.group_ids())) == (50, 3)
        assert str(config.target.hit_ratio) == "0.5"  # type: ignore[union-attr]


def on_a_terminal(arguments: list[str], answers: list[str]) -> tuple[str, int]:
    """Run the command on a pseudo-terminal and type one line whenever it waits at a prompt; (what it showed, code)."""
    controller, terminal = pty.openpty()
    code = "import sys; from flows.cli import app; app(sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, close_fds=True
    )
    os.close(terminal)
    shown, waiting, until = "", list(answers), time.monotonic() + 120
    asked = 0
    try:
        while time.monotonic() < until:
            if not select.select([controller], [], [], 1)[0]:
                if process.poll() is not None:
                    break
                continue
            try:
                data = os.read(controller, 65536)
            except OSError:  # the other end was closed
                break
            if not data:
                break
            shown += data.decode(errors="replace")
            prompts = len(re.findall(r"\[[^\]\n]*\]: ", shown))
            if prompts > asked and waiting:
                asked += 1
                os.write(controller, f"{waiting.pop(0)}\n".encode())
        return shown, process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
        os.close(controller)


@pytest.mark.engine
class TestInspect:
    def test_one_request_as_json(self, run: Path) -> None:
        plan = list(read_jsonl(run / "dataset" / "request_metadata.jsonl"))
        row = plan[7]
        shown = json_of(call("inspect", "-d", run, "--request", row["request_id"], "--json"))
        assert shown["request"] == row
        assert shown["split"] == "exact"
        text = next(
            r["prompt"] for r in read_jsonl(run / "dataset" / "data.jsonl") if r["request_id"] == row["request_id"]
        )
        assert "".join(region["text"] for region in shown["regions"]) == text
        by_part = {region["part"]: region["tokens"] for region in shown["regions"]}
        assert by_part["divergence"] == row["divergence_len"]
        assert by_part.get("cached", 0) == row["expected_hit_len"]
        cold, hot = shown["results"]
        assert (cold["pass"], hot["pass"]) == ("cold", "hot")
        for result, name in ((cold, "cold"), (hot, "hot")):
            assert result["cached_tokens"] == row[f"expected_hit_len_{name}"]
            assert result["hit_difference"] == 0

    def test_the_dataset_alone_has_no_results(self, run: Path) -> None:
        shown = json_of(call("inspect", "-d", run.parent / "data", "-q", "#0", "--json"))
        assert shown["results"] is None
        assert shown["request"]["order_index"] == 0
        joined = json_of(call("inspect", "-d", run.parent / "data", "-q", "#0", "-r", run, "--json"))
        assert joined["results"][0]["cached_tokens"] == 0

    def test_people_see_parts_figures_and_results(self, run: Path) -> None:
        plain = call("inspect", "-d", run, "-q", "#5")
        assert plain.exit_code == 0
        for words in ("divergence block", "suffix", "watermark", "tokens 0–", "cold", "hot", "… "):
            assert words in plain.stdout
        full = call("inspect", "-d", run, "-q", "#5", "--full", "--blocks")
        prompt = list(read_jsonl(run / "dataset" / "data.jsonl"))[5]["prompt"]
        assert re.sub(r"\s", "", prompt) in re.sub(r"\s|│|■[^\n]*", "", full.stdout)
        length = len(list(read_jsonl(run / "dataset" / "data.jsonl"))[5]["prompt_token_ids"])
        body = full.stdout[full.stdout.index("■") :]
        assert body.count("│") - 1 == -(-length // 16), "one mark per block, and one in the legend"
        chinese = call("inspect", "-d", run, "-q", "#5", "--lang", "zh")
        assert "唯一分叉 Block" in chinese.stdout
        assert "缓存水位" in chinese.stdout

    def test_the_table_of_first_and_last_rows(self, run: Path) -> None:
        shown = json_of(call("inspect", "-d", run, "--limit", "5", "--json"))
        assert [row["order_index"] for row in shown["requests"]] == [0, 1, 2, 10, 11]
        assert shown["rows"] == 12
        group = json_of(call("inspect", "-d", run, "--group", "group_1", "--json"))
        assert {row["prefix_group_id"] for row in group["requests"]} == {"group_1"}
        assert group["rows"] == len(group["requests"])
        table = call("inspect", "-d", run, "--limit", "4")
        assert table.exit_code == 0
        assert "8 rows" in table.stdout
        alone = call("inspect", "-d", run.parent / "data", "--limit", "1")
        assert "cached" not in alone.stdout

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--request", "small-99"], "near ones: small-09"),
            (["--request", "#12"], "#0 to #11"),
            (["--group", "group_7"], "known ones: group_"),
            (["--run-dir", "nowhere"], "--run-dir"),
        ],
    )
    def test_what_is_not_there_is_an_input_error(self, arguments: list[str], message: str, run: Path) -> None:
        result = call("inspect", "-d", run, *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert "Traceback" not in result.stderr

    def test_another_datasets_run_is_refused(self, run: Path, tmp_path: Path) -> None:
        made(tmp_path / "other", request_count=5)
        result = call("inspect", "-d", tmp_path / "other", "-q", "#0", "--run-dir", run)
        assert result.exit_code == 2
        assert "another dataset" in result.stderr

    def test_text_that_cannot_be_cut_is_said_to_be_so(self, run: Path, tmp_path: Path) -> None:
        made(tmp_path / "d", request_count=3)
        manifest = read_json(tmp_path / "d" / "manifest.json")
        write_json(
            tmp_path / "d" / "manifest.json", manifest | {"tokenizer": manifest["tokenizer"] | {"embedded": False}}
        )
        result = call("inspect", "-d", tmp_path / "d", "-q", "#0")
        assert result.exit_code == 0
        assert "boundaries are known in tokens only" in result.stderr
        assert "divergence block" in result.stdout
        shown = json_of(call("inspect", "-d", tmp_path / "d", "-q", "#0", "--json"))
        assert shown["split"] == "none"
        assert all(region["text"] is None for region in shown["regions"])

    def test_a_prompt_cannot_steer_the_terminal(self) -> None:
        from flows.prompt_view import visible

        assert visible("a\x1b[31mb\tc\nd\u202e中") == "a\\x1b[31mb\\tc\nd\\u202e中"


class TestExplain:
    def test_a_key_in_both_languages(self) -> None:
        english = call("explain", "minimum_non_shared_length")
        assert english.exit_code == 0
        assert "RFC: 3.3.12" in english.stdout
        assert "one block" in english.stdout
        chinese = call("explain", "minimum_non_shared_length", "--lang", "zh")
        assert "默认值：一个 Block" in chinese.stdout

    def test_json_is_the_same_in_both_languages(self) -> None:
        outputs = [call("explain", "ttft_s", "--json", "--lang", lang).stdout for lang in ("en", "zh")]
        assert outputs[0] == outputs[1]
        (entry,) = json.loads(outputs[0])["entries"]
        assert entry["formula"] == "first_token_s - sent_s"

    def test_everything_is_listed(self) -> None:
        result = call("explain")
        assert result.exit_code == 0
        for name in ("routing.dp_size", "runtime_deviation", "PASS_WITH_WARNING", "kv_capacity", "130", "seams"):
            assert name in result.stdout

    def test_a_typo(self) -> None:
        assert "execution.concurrency" in call("explain", "concurency").stdout
        result = call("explain", "qqqqqqqqqq")
        assert result.exit_code == 2
        assert "`prefixcache explain` lists everything" in result.stderr


@pytest.mark.engine
class TestExport:
    @pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet", "jsonl"])
    def test_each_format(self, kind: str, run: Path, tmp_path: Path) -> None:
        output = tmp_path / f"out.{kind}"
        result = call("export", "-r", run, "-o", output)
        assert result.exit_code == 0, result.stderr
        assert "24 rows, 45 columns" in result.stdout
        assert output.stat().st_size > 1000

    def test_json_prompts_and_chinese(self, run: Path, tmp_path: Path) -> None:
        output = tmp_path / "rows.parquet"
        result = call("export", "-r", run, "-o", output, "--with-prompts", "--json")
        assert json_of(result)["columns"] == [*COLUMNS, "prompt"]
        frame = pl.read_parquet(output)
        assert frame["hit_difference"].to_list() == [0] * 24
        assert frame["prompt"].null_count() == 0
        assert "24 行" in call("export", "-r", run, "-o", output, "--lang", "zh").stdout

    def test_wrong_input(self, run: Path, tmp_path: Path) -> None:
        assert call("export", "-r", tmp_path, "-o", tmp_path / "x.csv").exit_code == 2
        assert call("export", "-r", run, "-o", tmp_path / "x.doc").exit_code == 2
        result = call("export", "-r", run, "-o", run / "runtime" / "run.json", "-f", "jsonl", "--json")
        assert result.exit_code == 2
        assert json_of(result)["error"]["field"] == "--output"


CONFIG = """
request_count: 20
block_size: 16
tokenizer: embedded
input_length: {mode: uniform, min: 60, max: 200}
target: {hit_ratio: 0.4}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(CONFIG)
    return path


class TestLanguage:
    def test_plan(self, config: Path) -> None:
        chinese = call("plan", "-c", config, "--lang", "zh")
        assert "PASS（通过）" in chinese.stdout
        assert "目标命中率 40.0000 %" in chinese.stdout
        assert "冷启动损失" in chinese.stdout
        assert "假设" in chinese.stderr
        unreachable = call("plan", "-c", config, "--lang", "zh", "--set", "target.hit_ratio=0.99")
        assert unreachable.exit_code == 1
        assert "原因：" in unreachable.stdout
        assert "将 request_count 从 20 增加到" in unreachable.stdout or "仅增加请求数量无法达到" in unreachable.stdout
        assert not re.search(r"Raise|alone|then", unreachable.stdout)

    def test_generate_and_validate(self, config: Path, tmp_path: Path) -> None:
        built = call("generate", "-c", config, "-o", tmp_path / "d", "--no-prefect", "--workers", "1", "--lang", "zh")
        assert built.exit_code == 0, built.stderr
        assert "数据集理论命中率" in built.stdout
        assert "0 条不一致" in built.stdout
        checked = call("validate", "-d", tmp_path / "d", "--lang", "zh")
        assert "：完好，PASS（通过）" in checked.stdout
        assert not re.search(r"^✓ [a-z]", checked.stdout, re.MULTILINE)
        english = call("validate", "-d", tmp_path / "d")
        assert "intact, PASS" in english.stdout
        assert "✓ digests" in english.stdout
        dry = call("run", "-d", tmp_path / "d", "-u", "http://127.0.0.1:9", "--dry-run", "--lang", "zh")
        assert "理论命中" in dry.stdout
        assert "依赖链" in dry.stdout

    @pytest.mark.parametrize("command", ["plan", "generate"])
    def test_json_does_not_depend_on_the_language(self, command: str, config: Path, tmp_path: Path) -> None:
        extra = [] if command == "plan" else ["-o", tmp_path / "d", "--no-prefect", "--workers", "1"]
        unreachable = ["--set", "target.hit_ratio=0.99"]
        texts = [call(command, "-c", config, *extra, *unreachable, "--json", "--lang", x).stdout for x in ("en", "zh")]
        assert texts[0] == texts[1]
        suggestions = json.loads(texts[0])["suggestions"]
        assert suggestions
        assert all(re.search(r"[\u4e00-\u9fff]", entry["text_zh"]) for entry in suggestions)
        assert not any(re.search(r"[\u4e00-\u9fff]", entry["text"]) for entry in suggestions)

    def test_the_environment_names_the_default(self, config: Path) -> None:
        assert "目标命中率" in call("plan", "-c", config, env={"PREFIXCACHE_LANG": "zh"}).stdout
        assert "target" in call("plan", "-c", config, "--lang", "en", env={"PREFIXCACHE_LANG": "zh"}).stdout
        wrong = call("plan", "-c", config, env={"PREFIXCACHE_LANG": "de"})
        assert wrong.exit_code == 2
        assert "PREFIXCACHE_LANG" in wrong.stderr

    @pytest.mark.parametrize(
        "command",
        ["init", "plan", "generate", "validate", "inspect", "reorder", "run", "report", "explain", "export", "demo"],
    )
    def test_every_command_takes_it(self, command: str) -> None:
        result = call(command, "--help")
        assert result.exit_code == 0
        assert "PREFIXCACHE_LANG" in result.stdout


@pytest.mark.engine
@pytest.mark.parametrize("command", ["explain", "inspect", "export", "init"])
def test_help_imports_nothing_heavy(command: str, run: Path, tmp_path: Path) -> None:
    arguments = {
        "explain": ["seed"],
        "inspect": ["-d", str(run), "-q", "#1"],
        "export": ["-r", str(run), "-o", str(tmp_path / "x.csv")],
        "init": ["--yes", "-o", str(tmp_path / "x.yaml")],
    }
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, command, *arguments[command]], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().splitlines()[-1] == "0 []"


class TestErrorsInChinese:
    def test_frame_and_json(self, config: Path) -> None:
        told = call("plan", "-c", config, "--set", "request_count=0", "--lang", "zh", "--json")
        assert told.exit_code == 2
        assert told.stderr.startswith("错误：[阶段 读取配置")
        assert "不允许的值 0" in told.stderr
        assert "处理建议：" in told.stderr
        english = call("plan", "-c", config, "--set", "request_count=0", "--json")
        assert told.stdout == english.stdout
        assert english.stderr.startswith("error: ")
        assert call("plan", "--nope", "--lang=zh").stderr.startswith("错误：")
        assert call("plan", "--nope", env={"PREFIXCACHE_LANG": "zh"}).stderr.startswith("错误：")
        assert call("plan", "--nope").stderr.startswith("error:"), "the language of one call is not that of the next"

    def test_reorder_and_the_problems_of_validate(self, config: Path, tmp_path: Path) -> None:
        made(tmp_path / "d", request_count=5)
        done = call("reorder", "-d", tmp_path / "d", "--order", "shuffle", "-o", tmp_path / "e", "--lang", "zh")
        assert done.exit_code == 0, done.stderr
        assert "数据集理论命中率" in done.stdout
        with (tmp_path / "e" / "data.jsonl").open("ab") as file:
            file.write(b"\n")
        checked = call("validate", "-d", tmp_path / "e", "--lang", "zh")
        assert checked.exit_code == 1
        assert re.search(r"data\.jsonl 为 \d+ 字节，Manifest 记录为 \d+ 字节", checked.stdout)
