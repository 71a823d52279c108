"""A dataset in another send order: contents stay byte for byte, figures are the new order's, `validate` agrees."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from prefixcache.dataset.check import check_dataset
from prefixcache.dataset.reorder import parse_order, reorder_dataset
from prefixcache.errors import InputError, VerdictError
from prefixcache.load.dataset import load_dataset
from prefixcache.load.options import RunOptions
from prefixcache.load.run import run_benchmark
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from tests.dataset.test_check import edit_rows
from tests.support.datasets import digest_of, made

ROUTES = {"cache_scope": "dp_local", "dp_size": 2}
ORDERS = ("shuffle", "grouped", "sequential", "input_len_desc", "input_len_asc/weighted_interleave")


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """cold: one cache; compare: two domains, routes by place; warmup: two domains, groups at home."""
    root = tmp_path_factory.mktemp("sets")
    made(root / "cold", prefix={"group_count": 3})
    made(
        root / "compare",
        prefix={"group_count": 3},
        execution={"mode": "compare"},
        routing={**ROUTES, "policy": "round_robin"},
    )
    made(
        root / "warmup",
        prefix={"group_count": 3},
        execution={"mode": "warmup"},
        routing={**ROUTES, "policy": "sticky"},
    )
    return {path.name: path for path in root.iterdir()}


def rows(folder: Path, name: str = "request_metadata.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def slow_cold(metadata: list[dict[str, Any]]) -> list[int]:
    """The watermark model, one request after the other."""
    marks: dict[tuple[int, str], int] = defaultdict(int)
    hits = []
    for row in metadata:
        lane = (row["planned_dp_id"], row["prefix_group_id"])
        hits.append(min(row["planned_prefix_len"], marks[lane]))
        marks[lane] = max(marks[lane], row["planned_prefix_len"])
    return hits


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["cold", "compare", "warmup"])
def test_figures_are_the_new_orders_and_contents_the_old_ones(
    sets: dict[str, Path], tmp_path: Path, name: str, order: str
) -> None:
    old, new = sets[name], tmp_path / "new"
    report = reorder_dataset(old, new, order, seed=7)
    checked = check_dataset(new)
    assert checked["intact"], [check for check in checked["checks"] if not check["ok"]]
    assert checked["validation_status"] == report["validation_status"]
    assert checked["expected_hit_tokens"] == report["expected_hit_tokens"]
    before, after = rows(old), rows(new)
    assert {r["request_id"] for r in before} == {r["request_id"] for r in after}
    assert [r["order_index"] for r in after] == list(range(len(after)))
    assert sorted((old / "data.jsonl").read_bytes().splitlines()) == sorted(
        (new / "data.jsonl").read_bytes().splitlines()
    )
    column = {"cold": "expected_hit_len", "compare": "expected_hit_len_cold"}.get(name)
    if column is not None:
        assert [r[column] for r in after] == slow_cold(after)
    if name != "cold":
        hot = [r.get("expected_hit_len_hot", r["expected_hit_len"]) for r in after]
        assert hot == [r["planned_prefix_len"] for r in after]
        old_prompts = {r["prompt"] for r in rows(old, "warmup.jsonl")}
        warm = rows(new, "warmup.jsonl")
        assert {r["prompt"] for r in warm} <= old_prompts
        assert len({r["request_id"] for r in warm}) == len(warm)
    assert sum(g["expected_hit_tokens"] for g in report["groups"]) == report["expected_hit_tokens"]
    assert sum(d["expected_hit_tokens"] for d in report["domains"]) == report["expected_hit_tokens"]


def test_routes_by_place_move_hits_between_domains(sets: dict[str, Path], tmp_path: Path) -> None:
    reorder_dataset(sets["compare"], tmp_path / "new", "shuffle", seed=1)
    after = rows(tmp_path / "new")
    assert [r["planned_dp_id"] for r in after] == [n % 2 for n in range(len(after))]
    assert [r["planned_route"] for r in after] == [n % 2 for n in range(len(after))]


@pytest.mark.parametrize("name", ["cold", "compare", "warmup"])
def test_the_same_order_gives_the_same_bytes(sets: dict[str, Path], tmp_path: Path, name: str) -> None:
    """Only the manifest and the report tell that a new order was asked for."""
    order = {"cold": "interleave", "compare": "input_len_asc/interleave", "warmup": "interleave"}[name]
    if name == "compare":
        order = "generated/interleave"
    reorder_dataset(sets[name], tmp_path / "new", order)
    old, new = digest_of(sets[name]), digest_of(tmp_path / "new")
    differing = {path for path in old if old[path] != new.get(path)}
    assert set(old) == set(new)
    assert differing == {"manifest.json", "validation_report.json"}
    twice = tmp_path / "twice"
    reorder_dataset(sets[name], twice, order)
    assert digest_of(twice) == new


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "head",
            {"prompt": {"system": "You are a careful assistant who answers short questions about numbers and words."}},
        ),
        ("drop", {"hit_drop": 1, "prefix": {"group_count": 2}, "target": {"hit_ratio": 0.3}}),
        ("replay", {"execution": {"mode": "replay"}, "target": None}),
        (
            "per_group",
            {
                "prefix": {"groups": [{"id": "a", "request_weight": 2}, {"id": "b", "request_weight": 1}]},
                "target": {
                    "scope": "per_group",
                    "groups": [{"id": "a", "hit_ratio": 0.4}, {"id": "b", "hit_ratio": 0.6}],
                },
            },
        ),
    ],
)
def test_heads_drops_replays_and_group_targets(tmp_path: Path, name: str, changes: dict[str, Any]) -> None:
    config: dict[str, Any] = {"prefix": {"group_count": 2}, **changes}
    made(tmp_path / "set", **{key: value for key, value in config.items() if value is not None}, **_no_target(config))
    old = json.loads((tmp_path / "set" / "validation_report.json").read_text())
    report = reorder_dataset(tmp_path / "set", tmp_path / "new", "shuffle", seed=9)
    checked = check_dataset(tmp_path / "new")
    assert checked["intact"], [check for check in checked["checks"] if not check["ok"]]
    assert checked["validation_status"] == report["validation_status"] == "PASS"
    if name != "head":  # with a head and several groups the first one of a domain pays for it
        assert report["expected_hit_tokens"] == old["expected_hit_tokens"]
        assert [g["max_reachable_hit_tokens"] for g in report["groups"]] == [
            g["max_reachable_hit_tokens"] for g in old["groups"]
        ]


def _no_target(config: dict[str, Any]) -> dict[str, Any]:
    return {"target": None} if config.get("target", ...) is None else {}


def test_an_order_can_be_undone(sets: dict[str, Path], tmp_path: Path) -> None:
    reorder_dataset(sets["cold"], tmp_path / "a", "shuffle", seed=11)
    reorder_dataset(tmp_path / "a", tmp_path / "b", "interleave")
    manifests = [json.loads((p / "manifest.json").read_text()) for p in (sets["cold"], tmp_path / "a", tmp_path / "b")]
    digests = [m["order_digest"] for m in manifests]
    assert digests[0] == digests[2] != digests[1]
    assert manifests[2]["reordered_from"]["order_digest"] == digests[1]
    assert manifests[1]["request_order"]["within_group"] == "shuffle"
    assert manifests[1]["request_order"]["seed"] == 11


@pytest.mark.engine
def test_a_reordered_dataset_measures_what_it_designs(sets: dict[str, Path], tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded", dp=2)) as engine:
        for number, order in enumerate(("shuffle", "input_len_desc")):
            new = tmp_path / f"set{number}"
            report = reorder_dataset(sets["compare"], new, order, seed=3)
            options = RunOptions(urls=(engine.url,), poll_interval=0.05, concurrency=4)
            summary = run_benchmark(new, tmp_path / f"run{number}", options)
            assert summary.status == "complete"
            measured = [p["measured_hit_tokens"] for p in summary.passes]
            assert measured == [p["expected_hit_tokens"] for p in report["passes"]]


@pytest.mark.parametrize("policy", ["round_robin", "group_round_robin"])
def test_orders_by_prefix_are_refused_where_routes_go_by_place(tmp_path: Path, policy: str) -> None:
    made(tmp_path / "set", prefix={"group_count": 2}, routing={**ROUTES, "policy": policy})
    for order in ("prefix_len_asc", "prefix_len_desc/interleave"):
        with pytest.raises(InputError, match=f"with {policy} routes over 2 cache domains") as caught:
            reorder_dataset(tmp_path / "set", tmp_path / "new", order)
        assert (caught.value.field, caught.value.stage, caught.value.dataset_id) == ("--order", "reorder", "small")
    assert not (tmp_path / "new").exists()


def test_files_sorted_by_hand_are_refused_by_run_and_mended_by_reorder(sets: dict[str, Path], tmp_path: Path) -> None:
    """RFC 3.3.9: a new order makes the old report void."""
    folder = Path(shutil.copytree(sets["cold"], tmp_path / "set"))
    for name in ("data.jsonl", "request_metadata.jsonl"):
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        (folder / name).write_bytes(b"".join(reversed(lines)))
    with pytest.raises(InputError, match="another order than the one that was simulated") as caught:
        load_dataset(folder)
    assert (caught.value.field, caught.value.stage) == ("order_digest", "run_benchmark")
    assert caught.value.remedy is not None and "prefixcache reorder" in caught.value.remedy
    assert "order" in {check["name"] for check in check_dataset(folder)["checks"] if not check["ok"]}
    reorder_dataset(folder, tmp_path / "new", "shuffle", seed=2)
    assert check_dataset(tmp_path / "new")["intact"]
    assert len(load_dataset(tmp_path / "new").requests) == 40


@pytest.mark.parametrize("name", ["data.jsonl", "request_metadata.jsonl", "shards/requests-00000.parquet"])
def test_an_edited_dataset_is_not_moved(sets: dict[str, Path], tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(sets["cold"], tmp_path / "set"))
    if name.endswith(".jsonl"):
        field = "max_tokens" if name == "data.jsonl" else "expected_hit_len"

        def change(lines: list[dict[str, Any]]) -> None:
            lines[3][field] += 1

        edit_rows(folder / name, change)
    else:
        (folder / name).write_bytes((folder / name).read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match=r"was edited|was changed") as caught:
        reorder_dataset(folder, tmp_path / "new", "shuffle")
    assert caught.value.field == "--dataset"
    assert list(tmp_path.iterdir()) == [folder]


def test_a_target_missed_in_the_new_order_is_fail(sets: dict[str, Path], tmp_path: Path) -> None:
    """Tolerances of nothing: the plan hit its order's total, another order's total is another."""
    folder = Path(shutil.copytree(sets["compare"], tmp_path / "set"))
    report = json.loads((folder / "validation_report.json").read_text())
    (folder / "validation_report.json").write_text(json.dumps(report | {"warning_tolerance": 0, "pass_tolerance": 0}))
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"]["validation_report.json"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    result = reorder_dataset(folder, tmp_path / "new", "shuffle", seed=4)
    assert result["validation_status"] == "FAIL"
    assert "in this order" in result["reason"]


def test_what_cannot_be_proven_is_not_written(
    sets: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that says other hits than the tokens give must not get through."""
    from prefixcache.dataset import simulated

    real = simulated.simulate_cold

    def wrong(*given: Any, **more: Any) -> Any:
        result = real(*given, **more)
        result.hit[5] += 16
        return result

    monkeypatch.setattr(simulated, "simulate_cold", wrong)
    with pytest.raises(VerdictError, match="certificate does not hold"):
        reorder_dataset(sets["cold"], tmp_path / "new", "shuffle")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [("shufle", "is no send order"), ("up/interleave", "no order within a group"), ("shuffle/", "no order across")],
)
def test_unknown_orders(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_order(text, "cold")
    assert caught.value.field == "--order" and caught.value.remedy


def test_flat_names_follow_the_mode() -> None:
    assert parse_order("grouped", "cold") == ("input_len_asc", "grouped")
    assert parse_order("grouped", "warmup") == ("generated", "grouped")
    assert parse_order("shuffle", "cold") == ("shuffle", "shuffle")
    assert parse_order("prefix_len_desc/sequential", "hot") == ("prefix_len_desc", "sequential")


def test_the_output_must_be_new(sets: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    with pytest.raises(InputError, match="not empty"):
        reorder_dataset(sets["cold"], tmp_path / "full", "shuffle")
    with pytest.raises(InputError, match="lies inside the dataset"):
        reorder_dataset(sets["cold"], sets["cold"] / "new", "shuffle")


def test_on_the_command_line(sets: dict[str, Path], tmp_path: Path) -> None:
    def call(*arguments: Any) -> Any:
        return CliRunner().invoke(app, ["reorder", "--dataset", str(sets["cold"]), *map(str, arguments)])

    done = call("--order", "shuffle", "--output", tmp_path / "new", "--seed", 5, "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert (report["reordered"]["seed"], report["validation_status"]) == (5, "PASS")
    wrong = call("--order", "shufle", "--output", tmp_path / "other", "--json")
    assert wrong.exit_code == 2
    assert json.loads(wrong.stdout)["error"]["field"] == "--order"
    again = call("--order", "grouped", "--output", tmp_path / "new")
    assert again.exit_code == 2
