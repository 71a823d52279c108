"""After a failure the context and a partial manifest are kept; afterwards they are gone. Logs hold no text."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from prefixcache.errors import EnvironmentFailure
from prefixcache.files import read_json, read_jsonl
from prefixcache.help.messages import error_text
from prefixcache.logs import CATEGORIES
from prefixcache.stages.record import PARTIAL_MANIFEST
from tests.support.datasets import made

TINY = '{"question": "How many hamsters?", "answer": "Just a few <<1+1=2>>2 hamsters."}\n'


def test_context_of_a_failure_is_kept(tmp_path: Path) -> None:
    source = tmp_path / "train.jsonl"
    source.write_text(TINY)
    out = tmp_path / "out"
    with pytest.raises(EnvironmentFailure, match=r"partial_manifest\.json in the dataset's folder") as caught:
        made(out, suffix={"source": "gsm8k", "path": str(source)})
    assert "见数据集目录中的 partial_manifest.json" in error_text(caught.value, "zh")
    partial = read_json(out / PARTIAL_MANIFEST)
    assert partial["status"] == "failed"
    assert partial["dataset_id"] == "small"
    assert partial["error"]["remedy"]
    assert partial["failed_stage"]
    assert [row["stage"] for row in partial["finished_stages"]][:2] == ["probe_tokenizer", "plan_lengths"]
    text = (out / PARTIAL_MANIFEST).read_text()
    assert str(tmp_path) not in text
    assert "hamsters" not in text
    assert not (out / "manifest.json").exists()
    made(out)
    assert not (out / PARTIAL_MANIFEST).exists()


def test_an_unforeseen_error_keeps_its_context_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("no")

    monkeypatch.setattr("prefixcache.stages.simulate.certify", broken)
    with pytest.raises(ZeroDivisionError):
        made(tmp_path)
    partial = read_json(tmp_path / PARTIAL_MANIFEST)
    assert partial["failed_stage"] == "simulate"
    assert partial["expected_error"] is False


def test_a_dataset_that_is_replaced_is_no_dataset_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path)

    def broken(*_: object) -> None:
        assert not (tmp_path / "manifest.json").exists()
        raise ZeroDivisionError("no")

    monkeypatch.setattr("prefixcache.stages.simulate.certify", broken)
    with pytest.raises(ZeroDivisionError):
        made(tmp_path, seed=99)


def test_logs_have_categories_and_no_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="prefixcache"):
        result = made(tmp_path)
    names = {record.name.removeprefix("prefixcache.") for record in caplog.records}
    assert names >= {"config", "lengths", "planning", "collisions", "simulation"}
    assert names <= set(CATEGORIES)
    prompt = next(read_jsonl(result.data))["prompt"]
    for piece in (prompt[:40], prompt[-40:], str(tmp_path)):
        assert piece not in caplog.text
