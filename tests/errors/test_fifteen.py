"""The fifteen errors of RFC 3.4.4, each as a user meets it: its exit code, message, and every place of RFC 3.4.3.

Those of generation here, end to end through the command line; those of a run in
``tests/load/findings/test_troubles.py``. :data:`NUMBERS` keeps count of all fifteen.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.api.objects import RequestPlan
from prefixcache.api.results import simulate_prefix_cache_watermarks
from prefixcache.errors import PLACES, InputError, VerdictError
from prefixcache.help.chinese.text import chinese_of
from tests.load.findings import test_troubles
from tests.stages.test_collision_repairs import ALL_AT_ONE_NODE, collide
from tests.support.datasets import made

BASE: dict[str, Any] = {
    "dataset_id": "fifteen",
    "request_count": 20,
    "block_size": 16,
    "input_length": 256,
    "target": {"hit_ratio": 0.4},
    "suffix": {"source": "synthetic"},
}
SMALL = "small.jsonl"  # one sentence: less than one request needs
TWO_OF_ONE = {"mode": "multi_prefix", "groups": [{"id": "a", "request_count": 10}, {"id": "b", "request_count": 10}]}
UNIFORM = {"mode": "uniform", "min": 300, "max": 200}
NORMAL = {"mode": "truncated_normal", "min": 100, "max": 200, "mean": 300, "std": 10}
IN_GROUP = {
    "mode": "multi_prefix",
    "groups": [{"id": "a", "request_count": 10}, {"id": "b", "request_count": 10, "input_length": UNIFORM}],
}

# number and name in the RFC; changes; exit code; stage; field; group; part of the message; part of the remedy
CASES: list[tuple[int, str, dict[str, Any], int, str, str, str | None, str, str]] = [
    (
        1,
        "length range",
        {"input_length": UNIFORM},
        2,
        "config",
        "input_length.min",
        None,
        "300 is above max 200",
        "swap",
    ),
    (
        *(1, "length range of a group", {"prefix": IN_GROUP}, 2, "config"),
        *("prefix.groups[1].input_length.min", "b", "300 is above max 200", "swap"),
    ),
    (
        *(2, "mean outside of the range", {"input_length": NORMAL}, 2, "config"),
        *("input_length.mean", None, "300 lies outside [100, 200]", "move the mean"),
    ),
    (3, "no requests", {"request_count": 0}, 2, "config", "request_count", None, "0 is not allowed", "at least 1"),
    (
        *(4, "target above 1", {"target": {"hit_ratio": 1.2}}, 2, "config"),
        *("target.hit_ratio", None, "1.2 is not allowed", "1"),
    ),
    (
        *(4, "target below 0", {"target": {"hit_ratio": -0.1}}, 2, "config"),
        *("target.hit_ratio", None, "-0.1 is not allowed", "0"),
    ),
    (
        *(5, "unreachable target", {"target": {"hit_ratio": 0.99}}, 1, "plan_prefixes"),
        *("target.hit_ratio", None, "99.00 % cannot be reached, 89.06 % at most", "lower the target"),
    ),
    (
        *(7, "too short to share", {"input_length": 20, "prefix": {"minimum_non_shared_length": 16}}, 1),
        *("plan_prefixes", "target.hit_ratio", None, "cannot be reached, 0.00 % at most", "use longer requests"),
    ),
    (
        *(8, "tokenizer", {"tokenizer": {"path": "./none"}}, 2, "probe_tokenizer"),
        *("tokenizer.path", None, "the folder ./none does not exist", "name a folder with tokenizer.json"),
    ),
    (
        *(8, "tokenizer of another kind", {"tokenizer": {"path": "./empty"}}, 2, "probe_tokenizer"),
        *("tokenizer.path", None, "cannot load the tokenizer ./empty", "name a folder that holds tokenizer.json"),
    ),
    (
        *(9, "source too small", {"suffix": {"source": "gsm8k", "path": SMALL}}, 3, "build_masters"),
        *("suffix.source", None, "tokens", "use a larger source"),
    ),
    (
        *(9, "source missing", {"suffix": {"source": "gsm8k", "path": "none.jsonl"}}, 3, "config"),
        *("suffix.path", None, "cannot read none.jsonl", "--source gsm8k=PATH"),
    ),
]
IN_TROUBLES = {
    11: "test_a_metrics_page_that_cannot_be_reached",
    12: "test_counters_that_fall",
    13: "test_a_server_that_is_restarted_during_the_run",
    14: "test_part_of_the_requests_failed",
    15: "test_metrics_missing_of_one_instance_of_two",
}


def generate(folder: Path, changes: dict[str, Any]) -> Any:
    (folder / SMALL).write_text(json.dumps({"question": "How many?", "answer": "Two. #### 2"}) + "\n")
    (folder / "empty").mkdir()
    config = folder / "fifteen.yaml"
    config.write_text(yaml.safe_dump(BASE | changes))
    return CliRunner().invoke(
        app, ["generate", "--config", "fifteen.yaml", "--output", "out", "--no-prefect", "--json"]
    )


@pytest.mark.parametrize(("case"), CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_message_places_and_exit_code(case: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, _, changes, code, stage, field, group, message, remedy = case
    ended = generate(tmp_path, changes)
    assert ended.exit_code == code, ended.stdout + ended.stderr
    error = json.loads(ended.stdout)["error"]
    assert set(PLACES) <= set(error)
    assert (error["stage"], error["field"], error["group"]) == (stage, field, group)
    assert error["dataset_id"] == "fifteen"
    assert error["retry_count"] == (None if stage == "config" else 0)
    assert message in error["message"]
    assert remedy in error["remedy"]
    for text in (error["message"], error["remedy"]):
        assert re.search("[一-鿿]", chinese_of(text)), text
    shown = " ".join(ended.stderr.split())
    assert f"stage {stage}" in shown
    assert "dataset_id fifteen" in shown
    assert field in shown
    assert "Traceback" not in ended.stderr


def test_prefix_longer_than_its_request() -> None:
    """Number 6: a configuration plans its prefixes, so only the Python interface can be given one too long."""
    request = RequestPlan(request_id="fifteen-000003", index=3, input_len=256, prefix_group_id="a")
    for prefix in (256, 512, -16):
        request.planned_prefix_len = prefix
        with pytest.raises(
            InputError, match=f"a prefix of {prefix} tokens does not fit into the request's 256"
        ) as found:
            simulate_prefix_cache_watermarks([request], "global")
        error = found.value
        assert (error.request_id, error.group, error.stage) == ("fifteen-000003", "a", "plan_prefixes")
        assert (error.field, error.remedy) == ("planned_prefix_len", "plan 0 to 255 tokens, or a longer request.")


def test_retries_exceeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Number 10: every retry gets equal words and samples, so that requests collide for good."""
    collide(monkeypatch, upto=99)
    words = "2 requests share blocks that must be unique, after up to 2 retries"
    with pytest.raises(VerdictError, match=words) as found:
        made(tmp_path, **ALL_AT_ONE_NODE, suffix={"collision_detection": {"max_retries": 2}})
    error = found.value
    assert (error.stage, error.dataset_id, error.field) == (
        *("check_collisions", "small", "suffix.collision_detection.on_collision"),
    )
    assert (error.request_id, error.group, error.retry_count) == ("small-07", "default", 2)
    assert error.remedy is not None
    assert "accept_with_warning" in error.remedy


def test_all_fifteen_are_here_or_named() -> None:
    assert {case[0] for case in CASES} | {6, 10} | set(IN_TROUBLES) == set(range(1, 16))
    assert all(callable(getattr(test_troubles, name)) for name in IN_TROUBLES.values())
