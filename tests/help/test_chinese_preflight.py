"""What the preflight and `block_size: auto` say, in Chinese with all figures; who says it makes the sentences."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prefixcache.config.sizes import REMEDY, FoundSizes, resolve_sizes
from prefixcache.engines.adapter import CacheFacts
from prefixcache.errors import InputError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.dataset import load_dataset
from prefixcache.load.preflight.fit import Fit
from prefixcache.load.preflight.forecast import predict_all
from prefixcache.load.preflight.predicted import Predictor
from prefixcache.load.preflight.probe_report import Measured
from prefixcache.load.preflight.sizes import sizes_of
from tests.load.handmade import Wish, make_dataset

URL = "http://127.0.0.1:8000"
ENGLISH = re.compile(r"\b(?:the|is|are|was|has|than|planned|hit|requests|predicted)\b")


def figures(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\d,.]*\d|\d", text.replace(URL, "")))


def in_chinese(text: str) -> str:
    found = chinese_of(text)
    assert re.search(r"[\u4e00-\u9fff]", found), text
    assert not ENGLISH.search(found), found
    assert figures(found) == figures(text), found
    return found


def test_requests_are_named_with_their_groups_in_chinese() -> None:
    """What a prediction lists, one or several, cut or not."""
    said = "3 of 40 requests hit otherwise than designed, 1 of them nothing: {}"
    assert in_chinese(said.format("small-58 of group_0")).endswith("：small-58（group_0）")
    listed = in_chinese(said.format("small-58 of group_0, small-59 of a, small-60 of b, …"))
    assert listed.endswith("：small-58（group_0）、small-59（a）、small-60（b）、…")


def test_every_finding_with_its_prediction(tmp_path: Path) -> None:
    dataset = load_dataset(make_dataset(tmp_path / "set", [Wish("a", 16), Wish("a", 48), Wish("a", 80), Wish("a", 96)]))
    fit = Fit(dataset)
    fit.cache(URL, CacheFacts(block_size=32, kv_tokens=100, prefix_caching=False))
    fit.cache(URL, CacheFacts(block_size=16, hit_alignment=48), Measured(None, 48, 1))
    fit.cache(URL, CacheFacts(block_size=8, hit_alignment=4))
    fit.cache(URL, CacheFacts())
    fit.caches([URL], {URL: 2}, by_rank=False)
    fit.caches([URL], {URL: 3}, by_rank=True)
    fit.filled(URL, 1234)
    fit.counters(URL, {"hits": "the page has no vllm:prefix_cache_hits"})
    told, forecast = predict_all(Predictor(dataset), fit.found)
    assert {one.code for one in told} == {
        *("block_size", "kv_capacity", "prefix_caching_off", "hit_alignment", "hit_drop_differs", "block_size_differs"),
        *("hit_unit_differs", "block_size_unknown", "more_ranks", "idle_ranks", "cache_used", "counters_missing"),
    }
    for one in told:
        chinese = in_chinese(one.told)
        assert ("预测命中率" in chinese) == (one.prediction is not None), chinese
    [combined] = forecast.notes[:1]
    assert "矛盾合计" in in_chinese(combined)


@pytest.mark.parametrize(
    "text",
    [
        *sizes_of([], None, "vllm-cpu").warnings,
        *sizes_of([], Measured(16, 24, 0), None).warnings,
        "is auto, and nobody was asked",
        REMEDY,
        f"is auto, but {URL} does not tell its block size",
        "hit_drop 1 is taken from the probe's report",
        f"block_size is 16, {URL} tells 32: the dataset is planned for 16, and a run there will be refused",
    ],
)
def test_what_the_sizes_say(text: str) -> None:
    assert re.search(r"[\u4e00-\u9fff]", chinese_of(text))


def test_warnings_of_an_explicit_size() -> None:
    found = FoundSizes(32, "server_config", server=URL)
    [warning] = resolve_sizes({"block_size": 16}, lambda: found)
    in_chinese(warning)
    with pytest.raises(InputError) as caught:
        resolve_sizes({"block_size": "auto"}, lambda: FoundSizes(server=URL))
    assert re.search(r"[\u4e00-\u9fff]", chinese_of(caught.value.message))
