"""Errors that functions put together from parts: what a user of the Chinese terminal reads of real ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import ADAPTERS
from prefixcache.engines.endpoint import parse_endpoint
from prefixcache.engines.frameworks.custom import load_adapter
from prefixcache.engines.kv_events import events_endpoint
from prefixcache.engines.roles import known_roles
from prefixcache.errors import PrefixCacheError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.load.options import RunOptions
from prefixcache.load.sending.options import Sending, parse_extra_body, parse_headers
from prefixcache.load.shapes.grammar import parse_load
from prefixcache.load.shapes.schedule import arrival_offsets
from prefixcache.reference.faults.plan import parse_plan
from prefixcache.reference.options import EngineOptions

HAN = re.compile(r"[\u4e00-\u9fff]")
ENGLISH = re.compile(r"\b[a-z']{2,} [a-z']{2,} [a-z']{2,}\b")
"""Three words in a row that are no names."""
URL = ("http://127.0.0.1:8000",)


def check(text: str | None) -> None:
    if text:
        found = chinese_of(text)
        assert HAN.search(found) and not ENGLISH.search(found), found


def told(mistake: Callable[[], object]) -> None:
    with pytest.raises(PrefixCacheError) as caught:
        mistake()
    check(caught.value.message)
    check(caught.value.remedy)


@pytest.mark.parametrize(
    "text",
    (
        *("", "16", "closed:", "closed:0", "closed:1.5", "closed:4x30s,,8", "closed:4,8", "closed:4x30,8"),
        *("constant:fast", "constant:0", "constant:5,seed=1", "poisson:5,seed=x", "poisson:5,seed=1,seed=2"),
        *("poisson:5,seed=", "gamma:5", "gamma:5,burstiness=0", "rates:0", "rates:0x1s", "rates:1x0s"),
        *("ramp:5", "ramp:1..5", "ramp:1..5,seconds=2,curve=steep", "ramp:0..0,seconds=2"),
        *("ramp:0..5,seconds=2,curve=exponential", "trace:,unit=min", "trace:,scale=1", "trace:a,scale=0"),
    ),
)
def test_loads(text: str) -> None:
    told(lambda: parse_load(text))


@pytest.mark.parametrize(
    "mistake",
    (
        lambda: RunOptions(urls=()),
        lambda: RunOptions(urls=URL, gating="maybe"),  # type: ignore[arg-type]
        lambda: RunOptions(urls=URL, send="morse"),  # type: ignore[arg-type]
        lambda: RunOptions(urls=URL, load="closed:4", concurrency=4),
        lambda: RunOptions(urls=URL, load="poisson:4", concurrency=4),
        lambda: RunOptions(urls=URL, max_in_flight=4),
        lambda: RunOptions(urls=URL, duration=0),
        lambda: RunOptions(urls=URL, limit=0),
        lambda: RunOptions(urls=URL, poll_interval=0),
        lambda: RunOptions(urls=URL, kv_events=("tcp://a:1", "tcp://a:2")),
        lambda: RunOptions(urls=URL, kv_events_replay=("tcp://a:1",)),
        lambda: RunOptions(urls=URL, isolation="variant"),
        lambda: RunOptions(urls=URL, isolation="salt", variant_dataset=Path("d")),
        lambda: Sending(processes=0),
        lambda: Sending(api="soap"),  # type: ignore[arg-type]
        lambda: Sending(engine_warmup=-1),
        lambda: Sending(headers={"Host": "a"}),
        lambda: Sending(extra_body={"prompt": "a"}),
        lambda: Sending(extra_body={"n": 2}),
        lambda: parse_headers(["a"]),
        lambda: parse_extra_body("[]"),
        lambda: parse_endpoint("localhost:8000"),
        lambda: parse_endpoint(f"http://{'a' * 70}"),
        lambda: events_endpoint("tcp://*:5557"),
        lambda: known_roles(["chef"]),
        lambda: EngineOptions("embedded", prefill_tps=-1),
        lambda: EngineOptions("embedded", dialect="tgi"),
        lambda: EngineOptions("embedded", matching="loose"),
        lambda: EngineOptions("embedded", tls_cert="a.pem"),
        lambda: EngineOptions("embedded", dialect="mindie", claims_block_size=8),
        lambda: EngineOptions("embedded", matching="independent", kv_events="tcp://*:1"),
    ),
)
def test_options(mistake: Callable[[], object]) -> None:
    told(mistake)


@pytest.mark.parametrize(
    "rule",
    (
        *({"requests": 0, "status": 503}, {"requests": "7-4", "status": 503}, {"path": "x", "status": 503}),
        *({"requests": 1}, {"content_type": "a"}, {"headers": 3}, {"headers": {"a b": 1}}, {"headers": {"a": None}}),
        *({"status_line": "a\nb"}, {"stall": {}}, {"reset": {}}, {"reset": "now"}),
        {"stream": {"insert": [{"after_events": 1}]}},
    ),
)
def test_fault_plans(rule: dict[str, object]) -> None:
    told(lambda: parse_plan([rule]))


@pytest.mark.parametrize(
    "text",
    (
        *("[", "- a", "name: a", "name: a\nname: b", "name: a\nmetrics: {queries: {name: a}}"),
        "name: a\nmetrics: {queries: {name: a}, hits: {name: b, unit: block}}",
        "name: a\nmetrics: {queries: {name: a, kind: gauge}, hits: {name: b}}",
        "name: a\nmetrics: {queries: {name: a}, hits: {name: b}}\nsalt_field: prompt",
        "name: a\nmetrics: {queries: {name: a}, hits: {name: b}}\nreset: {path: a b}",
    ),
)
def test_descriptions_of_frameworks(text: str, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(text)
    told(lambda: load_adapter(tmp_path / "own.yaml"))


@pytest.mark.parametrize(
    ("name", "text", "load"),
    (
        ("a.jsonl", "", "trace:{}"),
        ("a.jsonl", "{", "trace:{}"),
        ("a.jsonl", '{"b": 1}', "trace:{}"),
        ("a.csv", "b\n1\n", "trace:{}"),
        ("a.csv", "b\nx\n", "trace:{},column=b"),
        ("a.csv", "b,c\n1,\n2,3\n", "trace:{},column=c"),
    ),
)
def test_traces(name: str, text: str, load: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    told(lambda: arrival_offsets(parse_load(load.format(tmp_path / name)), 1))  # type: ignore[arg-type]


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_remedies_of_frameworks(adapter: Adapter) -> None:
    """As a run says them: a sentence begins with a capital."""
    check(adapter.reset.remedy[0].upper() + adapter.reset.remedy[1:])
    check(adapter.needs)
