"""What a user chooses: framework, interface, headers, the rank's field, the key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from flows.cli import app
from prefixcache.errors import InputError
from prefixcache.load.sending.options import Sending
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.run import probe_server
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.server import build_app
from tests.probe.serving import engine, served

KEY, TENANT = "sk-0123456789abcdef", "tenant-0123456789"
YAML = """
name: mine
salt_field: cache_salt
metrics:
  queries: {name: vllm:prefix_cache_queries_total}
  hits: {name: vllm:prefix_cache_hits_total}
"""


def call(*arguments: str | Path, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(app, ["probe", *(str(argument) for argument in arguments)], env=env)


def value(result: Result, name: str) -> Any:
    return next(row["value"] for row in json.loads(result.stdout)["findings"] if row["name"] == name)


@contextmanager
def guarded(seen: list[tuple[str, dict[str, str]]], **options: Any) -> Iterator[str]:
    """An engine that nobody reaches without the key, and no prompt without the tenant's header; it repeats both."""
    inner = build_app(EngineOptions("embedded", **options))

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        seen.append((scope["path"], headers))
        prompt = scope["path"].endswith(("completions", "/generate"))
        if headers.get("authorization") == f"Bearer {KEY}" and (not prompt or headers.get("x-tenant") == TENANT):
            await inner(scope, receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        body = json.dumps({"error": f"{headers}"}).encode()
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": body})

    with served(guard) as url:
        yield url


@pytest.mark.engine
class TestWithEngine:
    def test_key_and_headers_are_sent_and_never_shown(self) -> None:
        seen: list[tuple[str, dict[str, str]]] = []
        env = {"PREFIXCACHE_API_KEY": KEY}
        with guarded(seen) as url:
            for flags in (["--json"], ["--lang", "zh"]):
                result = call("--url", url, "--header", f"X-Tenant: {TENANT}", *flags, env=env)
                assert result.exit_code == 0, result.output
                assert KEY not in result.output and TENANT not in result.output
            other = call("--url", url, "--header", f"X-Tenant: {TENANT}no", "--json", env=env)
            assert json.loads(other.stdout)["status"] == "partial"
            assert KEY not in other.output and TENANT not in other.output
            refused = call("--url", url, "--json", env={"PREFIXCACHE_API_KEY": f"{KEY}x"})
            assert refused.exit_code == 3
            assert KEY not in refused.output
        asked = {path for path, headers in seen if headers.get("x-tenant") == TENANT}
        assert {"/v1/completions", "/tokenize", "/reset_prefix_cache"} <= asked
        assert "/metrics" not in asked  # it may be another host's

    def test_a_header_of_the_users_replaces_the_keys(self) -> None:
        seen: list[tuple[str, dict[str, str]]] = []
        with guarded(seen) as url:
            sending = Sending(headers={"authorization": f"Bearer {KEY}", "x-tenant": TENANT})
            report = probe_server(ProbeOptions(url, api_key=KEY, sending=sending, time_limit=300))
        assert report.value("hit_unit") == 16

    def test_a_framework_whose_pages_look_like_anothers(self) -> None:
        with engine(dialect="vllm-ascend") as url:
            result = call("--url", url, "--engine", "vllm-ascend", "--json")
        assert result.exit_code == 0
        assert value(result, "hit_unit") == 128

    def test_a_description_of_the_users(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.yaml"
        path.write_text(YAML)
        with engine(hit_unit=32) as url:
            report = probe_server(ProbeOptions(url, engine=str(path), time_limit=300))
        assert report.value("hit_unit") == 32
        assert "By the counters" in report.findings["hit_unit"].text("en")
        assert report.value("salt") == "cache_salt"

    def test_another_frameworks_page_tells_nothing(self) -> None:
        with engine(block_size=32) as url:
            report = probe_server(ProbeOptions(url, engine="lmdeploy", time_limit=300))
        assert report.value("hit_unit") == 32
        assert "By the answers' usage" in report.findings["hit_unit"].text("en")
        assert any("is one of vLLM, not of lmdeploy: leave --engine out" in w.text("en") for w in report.warnings)
        assert any("属于 vLLM，而非 lmdeploy" in w.text("zh") for w in report.warnings)

    def test_the_native_route(self) -> None:
        seen: list[str] = []
        inner = build_app(EngineOptions("embedded", dialect="sglang", block_size=32))

        async def watched(scope: Any, receive: Any, send: Any) -> None:
            seen.append(scope["path"])
            await inner(scope, receive, send)

        with served(watched) as url:
            result = call("--url", url, "--api", "generate", "--json")
        assert (result.exit_code, value(result, "hit_unit")) == (0, 32)
        assert "/generate" in seen
        assert "/v1/completions" not in seen

    def test_the_ranks_field(self) -> None:
        with engine(dialect="sglang", dp=2, block_size=32) as url:
            named = call("--url", url, "--rank-field", "routed_dp_rank", "--json")
            wrong = call("--url", url, "--rank-field", "no_such_field", "--json")
        assert value(named, "rank_route") == "body routed_dp_rank"
        assert value(wrong, "rank_route") is None


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        (["--engine", "vlm"], "--engine"),
        (["--engine", "none.yaml"], "engine"),
        (["--header", f"X-Tenant {TENANT}"], "--header"),
        (["--header", f"X-Tenant: {TENANT}", "--header", f"x-tenant: {TENANT}"], "--header"),
        (["--header", f"Host: {TENANT}"], "--header"),
        (["--header", "X-Tenant: secret:block"], "--header"),
        (["--rank-field", "prompt"], "--rank-field"),
        (["--api", "grpc"], None),
    ],
)
def test_wrong_choices_are_exit_2_and_show_no_value(flags: list[str], field: str | None) -> None:
    result = call("--url", "http://127.0.0.1:9", *flags, "--json")
    assert result.exit_code == 2
    assert TENANT not in result.output
    if field is not None:
        assert field in str(json.loads(result.stdout)["error"]["field"])


def test_an_unknown_framework_is_told_before_anybody_is_asked() -> None:
    with pytest.raises(InputError, match="no known framework"):
        probe_server(ProbeOptions("http://127.0.0.1:9", engine="vlm"))
