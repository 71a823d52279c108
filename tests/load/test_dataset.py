from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.errors import InputError, VerdictError
from prefixcache.load.dataset import load_dataset
from prefixcache.load.options import RunOptions
from prefixcache.load.preflight.facts import Rates, kv_tokens_needed, plan_facts
from prefixcache.load.sending.routes import Router
from tests.load.handmade import Wish, make_dataset, sign
from tests.support.datasets import made

WISHES = [Wish("a", 16, domain=0), Wish("b", 32, domain=1), Wish("a", 48, domain=0), Wish("b", 16, domain=1)]


def edit(directory: Path, name: str, change: Callable[[str], str]) -> None:
    path = directory / name
    path.write_text(change(path.read_text()))


def test_prompts_are_read_from_disk_in_any_order(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", WISHES, mode="compare"))
    for planned in reversed(dataset.requests):
        prompt = dataset.prompt(planned)
        assert prompt.ids is not None
        assert len(prompt.ids) == planned.input_len == len(prompt.text.split())
        assert prompt.max_tokens == planned.output_len
    assert [dataset.prompt(w, warmup=True).max_tokens for w in dataset.warmup] == [1, 1]
    assert [r.hits for r in dataset.requests] == [
        {"cold": 0, "hot": 16},
        {"cold": 0, "hot": 32},
        {"cold": 16, "hot": 48},
        {"cold": 16, "hot": 16},
    ]
    assert dataset.passes == ("cold", "hot")
    dataset.close()


@pytest.mark.parametrize("name", ["manifest.json", "data.jsonl", "request_metadata.jsonl", "warmup.jsonl"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    directory = make_dataset(tmp_path / "set", WISHES, mode="hot")
    (directory / name).unlink()
    with pytest.raises(InputError, match=f"{name} is missing"):
        load_dataset(directory)


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    directory = make_dataset(tmp_path / "set", WISHES)
    edit(directory, "request_metadata.jsonl", lambda text: text.replace('"output_len":3', '"output_len":4', 1))
    with pytest.raises(InputError, match="was changed after the dataset was written"):
        load_dataset(directory)


@pytest.mark.parametrize("sealed", [True, False])
def test_rows_in_another_order_are_refused_even_where_digests_agree(tmp_path: Path, sealed: bool) -> None:
    directory = make_dataset(tmp_path / "set", WISHES)
    for name in ("data.jsonl", "request_metadata.jsonl"):
        edit(directory, name, lambda text: "".join(reversed(text.splitlines(keepends=True))))
    if not sealed:
        sign(directory)
    with pytest.raises(InputError, match="another order than the one that was simulated") as caught:
        load_dataset(directory)
    assert caught.value.field == "order_digest"
    assert caught.value.remedy is not None and "prefixcache reorder" in caught.value.remedy


def test_rows_that_are_not_the_plans_are_refused(tmp_path: Path) -> None:
    directory = make_dataset(tmp_path / "set", WISHES)
    edit(directory, "data.jsonl", lambda text: "".join(reversed(text.splitlines(keepends=True))))
    sign(directory)
    with pytest.raises(InputError, match=r"row 1 of data\.jsonl is not request 'r0'"):
        load_dataset(directory)
    edit(directory, "data.jsonl", lambda text: "".join(list(reversed(text.splitlines(keepends=True)))[:3]))
    sign(directory)
    with pytest.raises(InputError, match="has 3 rows, the plan 4"):
        load_dataset(directory)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"execution_mode": "sideways"}, "cannot be run"),
        ({"execution": {"gating": "maybe"}}, "names the gating 'maybe'"),
    ],
)
def test_a_manifest_that_cannot_be_run(tmp_path: Path, change: dict[str, object], text: str) -> None:
    directory = make_dataset(tmp_path / "set", WISHES)
    edit(directory, "manifest.json", lambda old: json.dumps(json.loads(old) | change))
    with pytest.raises(InputError, match=text):
        load_dataset(directory)


@pytest.mark.parametrize("key", ["files", "order_digest", "tokenizer", "dataset_digest", "request_count"])
def test_a_manifest_that_lacks_what_proves_it_is_refused(tmp_path: Path, key: str) -> None:
    directory = make_dataset(tmp_path / "set", WISHES)
    edit(directory, "manifest.json", lambda old: json.dumps({k: v for k, v in json.loads(old).items() if k != key}))
    with pytest.raises(InputError, match=f"lacks {key}"):
        load_dataset(directory)


@pytest.mark.parametrize("files", [{}, {"data.jsonl": {}}, [], {"data.jsonl": "x"}])
def test_files_without_digests_are_refused(tmp_path: Path, files: object) -> None:
    directory = sign(make_dataset(tmp_path / "set", WISHES), files=files)
    with pytest.raises(InputError, match=r"manifest\.json (names no files|does not name data)"):
        load_dataset(directory)


def test_the_digest_of_the_dataset_is_that_of_its_files(tmp_path: Path) -> None:
    directory = sign(make_dataset(tmp_path / "set", WISHES), dataset_digest="0" * 64)
    with pytest.raises(InputError, match="dataset_digest is not that of its files"):
        load_dataset(directory)


def report_of(directory: Path, **changes: object) -> Path:
    edit(directory, "validation_report.json", lambda old: json.dumps(json.loads(old) | changes))
    theory = json.loads((directory / "manifest.json").read_text())["theoretical_result"]
    return sign(directory, theoretical_result=theory | {k: v for k, v in changes.items() if k in theory})


def test_a_dataset_without_its_certificate_is_refused(tmp_path: Path) -> None:
    directory = make_dataset(tmp_path / "set", WISHES)
    (directory / "validation_report.json").unlink()
    with pytest.raises(InputError, match=r"validation_report\.json is missing"):
        load_dataset(directory)
    sign(directory)
    with pytest.raises(InputError, match=r"does not name validation_report\.json"):
        load_dataset(directory)
    (directory / "validation_report.json").write_text("{")
    with pytest.raises(InputError, match="is not a JSON object"):
        load_dataset(sign(directory))


@pytest.mark.parametrize("change", [{"certificate": None}, {"certificate": {}}, {"validation_status": None}])
def test_a_report_that_says_nothing_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    directory = report_of(make_dataset(tmp_path / "set", WISHES), **change)
    with pytest.raises(InputError, match="no certificate and status") as caught:
        load_dataset(directory)
    assert "prefixcache validate" in str(caught.value.remedy)


@pytest.mark.parametrize(
    "change",
    [
        {"certificate": {"holds": False}, "validation_status": "PASS"},
        {"validation_status": "FAIL", "on_failure": "error"},
        {"validation_status": "FAIL", "certificate": {"holds": False}, "on_failure": "warn"},
        {"validation_status": "FAIL", "audit": {"differing_prompts": 1}, "on_failure": "warn"},
    ],
)
def test_a_failed_dataset_is_refused_with_its_reason(tmp_path: Path, change: dict[str, object]) -> None:
    directory = report_of(make_dataset(tmp_path / "set", WISHES), reason="the moon was full", **change)
    with pytest.raises(VerdictError, match="the moon was full"):
        load_dataset(directory)


def test_a_best_plan_that_was_asked_for_is_run(tmp_path: Path) -> None:
    directory = make_dataset(tmp_path / "set", WISHES)
    load_dataset(report_of(directory, validation_status="FAIL", on_failure="warn")).close()
    load_dataset(report_of(directory, validation_status="PASS_WITH_WARNING")).close()


def test_a_generation_that_failed_points_to_its_report(tmp_path: Path) -> None:
    with pytest.raises(VerdictError):
        made(tmp_path / "set", request_count=2, target={"hit_ratio": 0.9})
    assert [p.name for p in (tmp_path / "set").iterdir() if p.is_file()] == ["validation_report.json"]
    with pytest.raises(VerdictError, match=r"its generation ended with FAIL: .*can hit at most") as caught:
        load_dataset(tmp_path / "set")
    assert "validation_report.json" in str(caught.value.remedy)


def test_a_real_dataset_is_run_and_not_without_its_shards(tmp_path: Path) -> None:
    made(tmp_path / "set")
    load_dataset(tmp_path / "set").close()
    next((tmp_path / "set" / "shards").iterdir()).unlink()
    with pytest.raises(InputError, match=r"shards/requests-00000\.parquet is missing"):
        load_dataset(tmp_path / "set")


@pytest.mark.parametrize("change", [{"gating": "maybe"}, {"send": "morse"}, {"concurrency": 0}, {"poll_interval": 0}])
def test_options_that_cannot_be_run(change: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        RunOptions(urls=("http://h",), **change)  # type: ignore[arg-type]
    assert caught.value.field == next(iter(change))


def test_kv_need_counts_each_master_once_and_whole_blocks(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", WISHES, mode="compare"))
    # Own tokens: 24 + 3 outputs, rounded up to two blocks each.
    assert kv_tokens_needed(dataset, "cold") == {0: 48 + 2 * 32, 1: 32 + 2 * 32}
    # The warmup prompt's divergence block and its one output token take two more blocks.
    assert kv_tokens_needed(dataset, "hot") == {0: 48 + 2 * 32 + 32, 1: 32 + 2 * 32 + 32}


def test_facts_of_a_plan(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", WISHES, mode="compare"))
    facts = plan_facts(dataset, "watermark", 4, Rates(1000, 100, "assumed"))
    cold, hot = facts["passes"]
    assert (cold["longest_chain"], cold["permitted_mean_concurrency"], hot["longest_chain"]) == (2, 2.0, 1)
    assert (cold["expected_hit_tokens"], hot["expected_hit_tokens"]) == (32, 112)
    assert (hot["warmup_requests"], hot["warmup_tokens"]) == (2, 48 + 32 + 32)
    assert facts["requests"] == 10
    # Cold: 96 tokens computed per domain, 12 outputs at a concurrency of 2; hot: 48 + 64 tokens, concurrency 4.
    assert facts["estimated_time"]["seconds"] == pytest.approx(0.096 + 12 / 100 / 2 + 0.112 + 12 / 100 / 4)


def test_routes(tmp_path: Path) -> None:
    dataset = load_dataset(
        make_dataset(tmp_path / "set", WISHES, routed=True, routing={"cache_scope": "instance_local", "dp_size": 2})
    )
    a, b = parse_endpoint("http://a"), parse_endpoint("http://b")
    two = Router([a, b], dataset)
    assert [two.target(r, n).endpoint.base for n, r in enumerate(dataset.requests)] == ["http://a", "http://b"] * 2
    assert [two.target(r, n).actual_route for n, r in enumerate(dataset.requests)] == [0, 1, 0, 1]
    one = Router([a], dataset)
    assert [dict(one.target(r, n).headers) for n, r in enumerate(dataset.requests)] == [
        {"X-data-parallel-rank": "0"},
        {"X-data-parallel-rank": "1"},
    ] * 2
    assert len(one.warnings) == 1
    shared = load_dataset(make_dataset(tmp_path / "shared", [Wish("a", 16)] * 3))
    spread = Router([a, b], shared)
    assert [spread.target(r, n).actual_route for n, r in enumerate(shared.requests)] == [0, 1, 0]
    assert len(spread.warnings) == 1


def test_an_edited_claim_of_a_manifest_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "set")
    edit(tmp_path / "set", "manifest.json", lambda old: json.dumps(json.loads(old) | {"hit_drop": 1}))
    with pytest.raises(InputError, match="manifest_digest is not its own"):
        load_dataset(tmp_path / "set")
