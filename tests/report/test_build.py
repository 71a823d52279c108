"""The report's JSON and its verdict in words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from prefixcache.errors import InputError
from prefixcache.report.build import build_prefix_cache_report
from tests.report.handmade import FOUR, Ask, counted, make_run

TOP = {
    "target_hit_ratio",
    "designed_hit_ratio",
    "actual_hit_rate",
    "expected_hit_tokens",
    "measured_hit_tokens",
    "measured_query_tokens",
    "construction_deviation",
    "runtime_deviation",
    "validation_status",
    "passes",
    "run_status",
    "verdict",
    "warnings",
    "dataset",
    "server",
    "groups",
    "domains",
    "endpoints",
    "performance",
    "residue",
    "first_request_hit",
    "schema_version",
}
PASS = {"name", "performance", "verdict", "missing", "incomplete", "growth"} | {
    "designed_hit_ratio",
    "actual_hit_rate",
    "expected_hit_tokens",
    "measured_hit_tokens",
    "measured_query_tokens",
    "runtime_deviation",
}


def built(path: Path, *asks: Ask, **more: Any) -> dict[str, Any]:
    return build_prefix_cache_report(make_run(path, asks or FOUR, **more))


def verdict(report: dict[str, Any]) -> tuple[str, str, str]:
    return report["verdict"]["code"], report["verdict"]["text_en"], report["verdict"]["text_zh"]


def test_the_keys_that_readers_rely_on(tmp_path: Path) -> None:
    report = built(tmp_path)
    assert set(report) >= TOP
    assert set(report["passes"][0]) >= PASS
    assert json.loads((tmp_path / "report" / "prefix_cache_report.json").read_text()) == report
    assert (report["target_hit_ratio"], report["designed_hit_ratio"], report["actual_hit_rate"]) == (0.5, 0.5, 0.5)
    assert report["performance"]["cold"]["by_group"]["math"]["ok"] == 4
    assert "by_group" not in report["passes"][0]["performance"]
    assert report["dataset"]["digest"] == "d" * 64


def test_the_json_knows_no_language_clock_or_place(tmp_path: Path) -> None:
    make_run(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    build_prefix_cache_report(tmp_path / "a", "en")
    build_prefix_cache_report(tmp_path / "b", "zh")
    json_a, json_b = ((tmp_path / d / "report" / "prefix_cache_report.json").read_bytes() for d in "ab")
    assert json_a == json_b
    html = (tmp_path / "a" / "report" / "prefix_cache_report.html").read_bytes()
    build_prefix_cache_report(tmp_path / "a", "en")
    assert (tmp_path / "a" / "report" / "prefix_cache_report.html").read_bytes() == html


def test_exact(tmp_path: Path) -> None:
    code, en, zh = verdict(built(tmp_path))
    assert code == "exact"
    assert en == "Measured equals designed token for token: 200 of 400 tokens hit the cache."
    assert zh == "实测命中与理论命中逐 Token 一致：400 个 Token 中命中 200 个。"


def test_within_range_cites_the_rfcs_row(tmp_path: Path) -> None:
    code, en, zh = verdict(built(tmp_path, counters={"cold": counted(190, 400)}))
    assert code == "within_range"
    assert "2.50 pp below designed (190 hit tokens measured, 200 designed)" in en
    assert "RFC 3.3.21 suggests at most 5 pp for fixed length, one prefix, one instance." in en
    assert "低 2.50 个百分点" in zh
    assert "“固定长度、单 Prefix、单实例”的建议范围上限为 5 个百分点" in zh


def test_equal_totals_of_differing_requests(tmp_path: Path) -> None:
    report = built(tmp_path, *FOUR, Ask(cached=66), Ask(cached=34))
    code, en, _ = verdict(report)
    assert (code, report["runtime_deviation"]) == ("within_range", 0)
    assert "equal in total, but 2 of 6 requests hit other than planned" in en
    assert [w["code"] for w in report["warnings"]] == ["requests_differ"]


def test_runtime_deviates(tmp_path: Path) -> None:
    run = {"warnings": [{"code": "kv_capacity", "message": "too small"}]}
    code, en, zh = verdict(built(tmp_path, counters={"cold": counted(260, 400)}, target=0.51, run=run))
    assert code == "deviates"
    assert "15.00 pp above designed" in en
    assert "The runtime deviation is the larger one (construction: −1.00 pp)" in en
    assert en.startswith("The plan does not fit this server: its KV cache is smaller than the plan needs.")
    assert "运行实现偏差较大（数据构造偏差 −1.00 个百分点）" in zh


def test_construction_deviates(tmp_path: Path) -> None:
    failed = {"validation_status": "FAIL", "reason": "not reachable"}
    report = built(tmp_path, target=0.9, validation=failed)
    code, en, zh = verdict(report)
    assert code == "deviates"
    assert "designed is −40.00 pp off the target of 90.00 %" in en
    assert "数据构造偏差较大" in zh
    assert report["validation_status"] == "FAIL"
    assert report["warnings"][0]["text_en"] == "the dataset's own check ended with FAIL: not reachable"


def test_a_dataset_with_a_warning_says_so(tmp_path: Path) -> None:
    _, en, zh = verdict(built(tmp_path, target=0.515, validation={"validation_status": "PASS_WITH_WARNING"}))
    assert en.endswith("The dataset itself is −1.50 pp off its target (PASS_WITH_WARNING).")
    assert "数据集本身与目标相差 −1.50 个百分点" in zh


def test_failed_requests_make_a_run_incomplete(tmp_path: Path) -> None:
    report = built(tmp_path, *FOUR, Ask(status="timeout"), Ask(status="http_error"))
    code, en, zh = verdict(report)
    assert (code, report["run_status"]) == ("incomplete", "failed")
    assert "2 of 6 requests failed" in en
    assert "6 条请求中 2 条失败" in zh
    assert report["actual_hit_rate"] == 0.5
    assert report["passes"][0]["requests"]["by_status"] == {"ok": 4, "http_error": 1, "timeout": 1}


def test_without_counters_the_answers_are_heard(tmp_path: Path) -> None:
    report = built(tmp_path, counters={"cold": counted(None, None)})
    code, en, zh = verdict(report)
    assert (code, report["actual_hit_rate"], report["measured_hit_tokens"]) == ("incomplete", None, None)
    assert "the server's counters give no hit ratio" in en
    assert "200 cached tokens in 4 requests, for which 200 are designed" in en
    assert "4 条请求共命中 200 Token" in zh


def test_a_run_that_broke_off_is_never_complete(tmp_path: Path) -> None:
    make_run(tmp_path, FOUR, run={"status": "failed", "error": {"message": "the server went away"}})
    for name in ("prefix_cache_metrics.json", "performance_metrics.json"):
        (tmp_path / "runtime" / name).unlink()
    results = tmp_path / "runtime" / "request_results.jsonl"
    results.rename(results.with_name("request_results.jsonl.partial"))
    report = build_prefix_cache_report(tmp_path)
    code, en, _ = verdict(report)
    assert (code, report["run_status"], report["actual_hit_rate"]) == ("incomplete", "failed", None)
    assert "the run broke off before its end" in en
    assert report["warnings"][0]["text_en"] == "the run broke off: the server went away"
    assert report["performance"]["cold"]["ok"] == 4


def test_polluted(tmp_path: Path) -> None:
    code, en, zh = verdict(built(tmp_path, Ask(hit=0, cached=64), *FOUR[1:]))
    assert code == "polluted"
    assert "the first request of cache domain 0 (r0) hit 64 tokens" in en
    assert "历史缓存残留" in zh


def test_residue_in_the_counters_only(tmp_path: Path) -> None:
    entry = counted(264, 400) | {"residue": {"detected": True, "evidence": ["264 hit tokens"]}}
    report = built(tmp_path, counters={"cold": entry})
    assert "the run found 264 hit tokens where the plan allows 200" in report["verdict"]["text_en"]
    assert report["residue"] == {"detected": True, "evidence": ["264 hit tokens"]}


def test_more_hits_than_queries(tmp_path: Path) -> None:
    report = built(tmp_path, counters={"cold": counted(500, 400)})
    assert (report["actual_hit_rate"], report["runtime_deviation"]) == (1.25, 0.75)
    assert "above 100 %" in report["verdict"]["text_en"]
    assert [w["code"] for w in report["warnings"]] == ["ratio_over_one"]


def test_compare_shows_two_passes_and_never_pools_them(tmp_path: Path) -> None:
    asks = (Ask(hit=0, hot_hit=64), Ask(hit=32, hot_hit=64))
    report = built(tmp_path, *asks, mode="compare", target=0.16)
    assert [p["name"] for p in report["passes"]] == ["cold", "hot"]
    assert [p["designed_hit_ratio"] for p in report["passes"]] == [0.16, 0.64]
    assert (report["designed_hit_ratio"], report["construction_deviation"]) == (0.16, 0)
    assert report["passes"][1]["target_hit_ratio"] is None
    assert [(g["pass"], g["expected_hit_tokens"]) for g in report["groups"]] == [("cold", 32), ("hot", 128)]
    assert verdict(report)[1] == (
        "Measured equals designed token for token in every pass: cold 32 of 200 tokens; hot 128 of 200 tokens."
    )


def test_a_static_target_is_the_hot_passs(tmp_path: Path) -> None:
    asks = (Ask(hit=0, hot_hit=64), Ask(hit=32, hot_hit=64))
    report = built(tmp_path, *asks, mode="compare", semantics="static_prefix_ratio", target=0.64)
    assert (report["target_pass"], report["designed_hit_ratio"]) == ("hot", 0.64)
    assert report["expected_hit_tokens"] == 128


def test_the_worst_pass_is_the_one_spoken_of(tmp_path: Path) -> None:
    report = built(tmp_path, mode="compare", counters={"hot": counted(150, 400)})
    assert (report["verdict"]["code"], report["verdict"]["pass"]) == ("deviates", "hot")
    assert report["verdict"]["text_en"].startswith("Pass hot: Measured is 12.50 pp below")
    assert report["verdict"]["text_zh"].startswith("热缓存轮次：")


def test_every_incomplete_pass_is_named(tmp_path: Path) -> None:
    asks = (*FOUR, Ask(status="timeout"))
    _, en, zh = verdict(built(tmp_path, *asks, mode="compare", counters={"hot": counted(None, None)}))
    assert (
        "incomplete: pass cold (1 of 5 requests failed); pass hot (1 of 5 requests failed, the server's counters give "
        "no hit ratio). They" in en
    )
    assert "冷缓存（5 条请求中 1 条失败）；热缓存（5 条请求中 1 条失败、服务端计数器无法给出命中率）。" in zh


def test_warnings_of_the_run_are_handed_on(tmp_path: Path) -> None:
    messages = ("the server was not idle within 60 s after the pass", "the moon is full")
    run = {"warnings": [{"code": "not_idle", "message": text, "pass": "cold"} for text in messages]}
    first, second = built(tmp_path, run=run)["warnings"]
    assert first["text_zh"] == "服务端不空闲：服务端在 60 s 内未空闲（轮次结束后）"
    assert second["text_zh"] == "服务端不空闲：the moon is full"
    assert (first["pass"], first["source"]) == ("cold", "run")
    build_prefix_cache_report(tmp_path, "zh")
    page = (tmp_path / "report" / "prefix_cache_report.html").read_text()
    assert "<b>服务端不空闲 · 冷缓存</b>服务端在 60 s 内未空闲（轮次结束后）</li>" in page


def test_a_manifest_that_claims_other_hits_is_not_believed(tmp_path: Path) -> None:
    report = built(tmp_path, manifest={"passes": [{"name": "cold", "expected_hit_tokens": 216}]})
    assert report["expected_hit_tokens"] == 200
    assert [w["code"] for w in report["warnings"]] == ["manifest_differs"]


def test_a_set_without_target(tmp_path: Path) -> None:
    report = built(tmp_path, target=None)
    assert (report["target_hit_ratio"], report["construction_deviation"]) == (None, None)
    assert report["verdict"]["code"] == "exact"


def test_wrong_input_writes_nothing(tmp_path: Path) -> None:
    make_run(tmp_path)
    with pytest.raises(InputError):
        build_prefix_cache_report(tmp_path, "fr")
    assert not (tmp_path / "report").exists()
