"""Isolation on every engine the reference engine poses as: what is chosen, whether it holds, what residue is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.load.handmade import Wish, make_dataset

WISHES = [Wish("a", 128), Wish("b", 256), Wish("a", 256), Wish("b", 128), Wish("a", 384)]
pytestmark = pytest.mark.engine


def options(url: str, **more: Any) -> RunOptions:
    return RunOptions(urls=(url,), send="ids", poll_interval=0.05, quiesce_timeout=3.0, **more)


@pytest.mark.parametrize("dialect", ["vllm", "vllm-ascend", "sglang"])
def test_a_second_cold_run_is_as_cold_as_the_first(tmp_path: Path, dialect: str) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, block_size=128)
    with EngineProcess(EngineOptions("embedded", dialect=dialect, block_size=128)) as engine:
        for name in ("one", "two"):
            summary = run_benchmark(dataset, tmp_path / name, options(engine.url))
            [figures] = summary.passes
            assert (figures["isolation"]["method"], figures["isolation"]["verified"]) == ("reset", True)
            assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"] > 0


@pytest.mark.parametrize("dialect", ["vllm", "sglang"])
def test_a_reset_that_only_pretends(tmp_path: Path, dialect: str) -> None:
    """It answers success: the first request finds out, and the message says what it hit."""
    dataset = make_dataset(tmp_path / "set", WISHES, block_size=128)
    with EngineProcess(EngineOptions("embedded", dialect=dialect, block_size=128, reset="pretends")) as engine:
        run_benchmark(dataset, tmp_path / "one", options(engine.url))
        with pytest.raises(EnvironmentFailure, match=r"was not empty when the pass cold began: .* 128 ") as caught:
            run_benchmark(dataset, tmp_path / "two", options(engine.url))
        assert "--isolation salt" in str(caught.value.remedy)
        summary = run_benchmark(dataset, tmp_path / "salted", options(engine.url, isolation="salt"))
    [figures] = summary.passes
    assert figures["measured_hit_tokens"] == figures["expected_hit_tokens"]
    assert (figures["isolation"]["method"], figures["isolation"]["verified"]) == ("salt", True)


@pytest.mark.parametrize("dialect", ["vllm", "sglang"])
def test_neither_a_reset_nor_a_salt(tmp_path: Path, dialect: str) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, block_size=128)
    pose = EngineOptions("embedded", dialect=dialect, block_size=128, reset="absent", salt="ignored")
    with EngineProcess(pose) as engine:
        with pytest.raises(
            InputError, match=r"cannot be proven empty: it has no route .* does not keep caches apart by"
        ):
            run_benchmark(dataset, tmp_path / "run", options(engine.url))
        with pytest.raises(InputError, match="does not keep caches apart by"):
            run_benchmark(dataset, tmp_path / "salt", options(engine.url, isolation="salt"))


def test_an_engine_that_has_neither(tmp_path: Path) -> None:
    """MindIE has no route that empties its cache: the user vouches for a fresh server, and the run checks."""
    dataset = make_dataset(tmp_path / "set", WISHES, block_size=128)
    with EngineProcess(EngineOptions("embedded", dialect="mindie", block_size=128)) as engine:
        for isolation in ("auto", "reset", "salt"):
            with pytest.raises(InputError, match=r"MindIE has no (route that empties its cache|salt)") as caught:
                run_benchmark(dataset, tmp_path / isolation, options(engine.url, isolation=isolation))
            remedy = caught.value.remedy or ""
            assert remedy.startswith("Restart MindIE") and "--isolation none" in remedy
            assert "variant" not in remedy and "--isolation reset" not in remedy
            assert "HTTP 404" not in caught.value.message
            assert "刚重启的服务端可用 --isolation none 测量" in chinese_of(remedy)
            assert "没有清空缓存的接口" in chinese_of(caught.value.message) or isolation == "salt"
        summary = run_benchmark(dataset, tmp_path / "fresh", options(engine.url, isolation="none"))
        assert summary.passes[0]["isolation"]["verified"] is True
        with pytest.raises(EnvironmentFailure, match="was not empty when the pass cold began"):
            run_benchmark(dataset, tmp_path / "used", options(engine.url, isolation="none"))


def test_a_used_server_without_isolation_is_foretold(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path / "set", WISHES, block_size=128)
    with EngineProcess(EngineOptions("embedded", block_size=128)) as engine:
        run_benchmark(dataset, tmp_path / "one", options(engine.url))
        notes: list[str] = []
        chosen = options(engine.url, isolation="none", allow_residue=True)
        summary = run_benchmark(dataset, tmp_path / "two", chosen, lambda event: notes.append(event.note))
    assert "cache_used" in {warning["code"] for warning in summary.warnings}
    [told] = [note for note in notes if "has served" in note]
    measured = 100 * summary.passes[0]["actual_hit_rate"]
    assert f"predicted: {measured:.2f} % instead of" in told
