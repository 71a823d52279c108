"""The page: self-contained, escaped, whole in both languages, whatever the run was like."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from prefixcache.report.build import build_prefix_cache_report
from tests.report.handmade import FOUR, Ask, counted, make_run

HOSTILE = '<img src="http://evil/x.png" onerror=alert(1)></script><script>alert(2)</script>'


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.words.append(data)
        elif self._inside == "script":
            self.scripts.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def figures(self) -> dict[str, Any]:
        """The figures' specifications, as the browser will read them."""
        source = self.scripts[-1]
        lines = re.findall(r'^"([\w-]+)": (\{.*\}),$', source, re.MULTILINE)
        return {name: json.loads(spec) for name, spec in lines}


def page(path: Path, *asks: Ask, language: str = "en", **more: Any) -> Page:
    build_prefix_cache_report(make_run(path, asks or FOUR, **more), language)
    return Page((path / "report" / "prefix_cache_report.html").read_text())


@cache
def _plain(language: str, folder: Path) -> Page:
    return page(folder / language, language=language)


@pytest.fixture
def english(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return _plain("en", tmp_path_factory.getbasetemp())


def test_nothing_is_loaded_from_anywhere(english: Page) -> None:
    for _, attributes in english.tags:
        assert not {"src", "srcset", "href", "action", "data", "poster", "background"} & set(attributes)
    assert {tag for tag, _ in english.tags}.isdisjoint({"link", "iframe", "object", "embed", "img", "base", "form"})
    policy = next(a["content"] for t, a in english.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_the_size_stays_small(english: Page, tmp_path: Path) -> None:
    make_run(tmp_path, FOUR * 600)
    build_prefix_cache_report(tmp_path)
    html = (tmp_path / "report" / "prefix_cache_report.html").stat().st_size
    assert html < 6_000_000
    assert sum("Plotly" in s and len(s) > 1_000_000 for s in english.scripts) == 1


def test_the_three_numbers_and_their_deviations(tmp_path: Path) -> None:
    text = page(tmp_path, target=0.49, counters={"cold": counted(190, 400)}).text
    for words in ("49.00 %", "50.00 %", "47.50 %", "+1.00 pp", "−2.50 pp", "200 of 400 tokens", "190 of 400 tokens"):
        assert words in text
    assert "Within range" in text


@pytest.mark.parametrize(
    ("code", "more"),
    [
        ("exact", {}),
        ("within_range", {"counters": {"cold": counted(190, 400)}}),
        ("deviates", {"counters": {"cold": counted(100, 400)}}),
        ("incomplete", {"counters": {"cold": counted(None, None)}}),
        ("polluted", {"asks": (Ask(hit=0, cached=16), *FOUR[1:])}),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_verdict_has_its_banner(tmp_path: Path, code: str, more: dict[str, Any], language: str) -> None:
    asks = more.pop("asks", FOUR) if "asks" in more else FOUR
    found = page(tmp_path, *asks, language=language, **more)
    assert any(attributes.get("class") == f"verdict {code}" for _, attributes in found.tags)
    report = json.loads((tmp_path / "report" / "prefix_cache_report.json").read_text())
    assert report["verdict"][f"text_{language}"] in found.text
    more["asks"] = asks


def test_the_chinese_page_speaks_the_rfcs_words(tmp_path: Path) -> None:
    found = page(tmp_path, language="zh")
    assert ("html", {"lang": "zh-CN"}) in found.tags
    for term in ("目标命中率", "数据集理论命中率", "实测命中率", "数据构造偏差", "运行实现偏差", "个百分点"):
        assert term in found.text
    assert "Target hit ratio" not in found.text


def test_users_words_stay_words(tmp_path: Path) -> None:
    asks = (Ask(HOSTILE, hit=0, name=HOSTILE), Ask(HOSTILE, cached=18, name="b"), Ask("ok"), *[Ask("<b>bold</b>")] * 2)
    run = {"warnings": [{"code": HOSTILE, "message": HOSTILE, "pass": HOSTILE}], "error": {"message": HOSTILE}}
    found = page(tmp_path, *asks, run=run, manifest={"dataset_id": HOSTILE})
    assert {tag for tag, _ in found.tags}.isdisjoint({"img", "b:not(.x)"})
    assert not any("onerror" in attributes for _, attributes in found.tags)
    assert HOSTILE in found.text
    assert len(found.scripts) == len([t for t, _ in found.tags if t == "script"]) == 2
    names = [line["name"] for line in found.figures()["staircase"]["data"]]
    assert all("<" not in name for name in names), "plotly.js would read markup"
    assert "&lt;b&gt;bold&lt;/b&gt;" in names


def test_figures_hold_what_they_promise(tmp_path: Path) -> None:
    asks = (Ask(hit=0), Ask(hit=48, cached=32), Ask("b", hit=0), Ask("b", hit=64), Ask("b", length=600, hit=64))
    figures = page(tmp_path, *asks).figures()
    assert set(figures) == {"growth-cold", "staircase", "ttft-by-hit", "cdf", "kv"}
    designed, measured, target = figures["growth-cold"]["data"]
    assert designed["y"] == [0.0, 24.0, 16.0, 28.0, 17.6]
    assert measured["y"] == [0.0, 16.0, 10.6667, 24.0, 16.0]
    assert target["y"] == [50.0, 50.0]
    assert [line["name"] for line in figures["staircase"]["data"]] == ["b", "math"]
    assert figures["staircase"]["data"][0]["y"] == [0, 64]
    assert [mark["name"] for mark in figures["ttft-by-hit"]["data"]] == ["math", "b"]
    assert [line["y"][-1] for line in figures["cdf"]["data"]] == [100.0] * 3
    assert figures["kv"]["data"][0]["y"] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_compare_has_each_pass_apart(tmp_path: Path) -> None:
    found = page(tmp_path, *(Ask(hit=0, hot_hit=64), Ask(hit=32, hot_hit=64)), mode="compare", target=0.16)
    figures = found.figures()
    assert {"growth-cold", "growth-hot"} <= set(figures)
    assert len(figures["growth-hot"]["data"]) == 2, "the target is the cold pass's"
    assert len(figures["cdf"]["data"]) == 6
    assert sum(line["showlegend"] for line in figures["cdf"]["data"]) == 2
    assert "hot · Target, Construction deviation: not available (the target is the other pass's)" in found.text


def test_a_run_without_anything_is_still_a_page(tmp_path: Path) -> None:
    make_run(tmp_path, tuple(Ask(status=None) for _ in range(3)), run={"status": "failed", "error": {"message": "x"}})
    for file in (tmp_path / "runtime").iterdir():
        if file.name != "run.json":
            file.unlink()
    (tmp_path / "dataset" / "validation_report.json").unlink()
    build_prefix_cache_report(tmp_path)
    found = Page((tmp_path / "report" / "prefix_cache_report.html").read_text())
    assert "No request was answered." in found.text
    assert "No gauge of KV cache usage was read." in found.text
    assert "3 of 3 requests were never sent" in found.text
    assert "n/a" in found.text


def test_incomplete_figures_are_marked(tmp_path: Path) -> None:
    text = page(tmp_path, *FOUR, Ask(status="timeout")).text
    assert "50.00 % *" in text
    assert "* of an incomplete pass" in text


def test_requests_that_differ_are_listed(tmp_path: Path) -> None:
    text = page(tmp_path, *FOUR, Ask(cached=66, name="odd")).text
    assert "1 of 5 requests: 1 hit more, 0 hit less, +16 tokens in all" in text
    assert "odd" in text


def test_many_groups_are_cut_and_counted(tmp_path: Path) -> None:
    text = page(tmp_path, *(Ask(f"g{n}", hit=0) for n in range(230))).text
    assert "… and 30 more rows in the JSON report." in text
    assert "The 8 largest of 230 lanes are drawn." not in text, "no watermark rises here"


def test_every_card_names_the_pass_that_it_tells_of(tmp_path: Path) -> None:
    asks = (Ask(hit=0, hot_hit=64), Ask(hit=32, hot_hit=64))
    page(tmp_path, *asks, mode="compare", target=0.16)
    html = (tmp_path / "report" / "prefix_cache_report.html").read_text()
    cards = html[html.index('<dl class="steps">') : html.index("</dl>", html.index('<dl class="steps">'))]
    assert cards.count('<span class="tag">cold</span>') == 3
    page(tmp_path / "one")
    assert '<span class="tag">cold' not in (tmp_path / "one" / "report" / "prefix_cache_report.html").read_text()


def test_constant_values_have_axes_from_zero_or_a_sentence(tmp_path: Path) -> None:
    make_run(tmp_path, FOUR)
    rows = [json.loads(row) for row in (tmp_path / "runtime" / "request_results.jsonl").read_text().splitlines()]
    constant = [row | {"tpot_s": 0.0, "e2e_s": 0.25} for row in rows]
    (tmp_path / "runtime" / "request_results.jsonl").write_text("\n".join(map(json.dumps, constant)))
    samples = (tmp_path / "runtime" / "metrics_samples.jsonl").read_text().splitlines()
    idle = [json.dumps(json.loads(row) | {"kv_usage": 0.0}) for row in samples]
    (tmp_path / "runtime" / "metrics_samples.jsonl").write_text("\n".join(idle))
    build_prefix_cache_report(tmp_path, "zh")
    found = Page((tmp_path / "report" / "prefix_cache_report.html").read_text())
    axes = found.figures()["cdf"]["layout"]
    assert (axes["xaxis2"]["range"], axes["xaxis3"]["range"]) == ([-0.03, 1], [-15, 500])
    assert "kv" not in found.figures()
    assert "全部 5 个样本的 KV Cache 使用率均为 0 %" in found.text


def test_what_is_needed_to_repeat_a_run_is_readable(tmp_path: Path) -> None:
    sampling = {"temperature": 0, "ignore_eos": True, "min_tokens": "max_tokens"}
    server = {"endpoint": "http://server:1", "block_size": 16, "num_gpu_blocks": 99999}
    server["kv_cache_tokens_per_engine"] = 1599984
    run = {"servers": [server], "options": {"concurrency": 1024, "gating": "none", "send": "ids", "sampling": sampling}}
    text = page(tmp_path, run=run).text
    assert "16 / 99,999 / 1,599,984" in text
    assert "1,024 / none / ids" in text
    assert "temperature = 0, end of text ignored (ignore_eos), output of exactly the planned length" in text
    assert "True" not in text


def test_a_lane_of_several_caches_is_named_in_words(tmp_path: Path) -> None:
    asks = tuple(Ask(hit=hit, domain=domain) for domain in (0, 1) for hit in (0, 48, 64))
    for language, words in (("en", "math · domain 1"), ("zh", "math · 缓存域 1")):
        figures = page(tmp_path / language, *asks, language=language).figures()
        assert words in [line["name"] for line in figures["staircase"]["data"]]
