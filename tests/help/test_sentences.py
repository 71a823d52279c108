"""Every error, remedy and warning in the source has a Chinese sentence that keeps all its values."""

from __future__ import annotations

import re

import pytest

from prefixcache.help.chinese.sentences import SENTENCES, TABLES
from prefixcache.help.chinese.sentences.form import Form, forms_of
from prefixcache.help.chinese.text import chinese_of
from tests.support.sentences import spoken_in

HAN = re.compile(r"[\u4e00-\u9fff]")
ROOMS = (
    "flows",
    "tasks",
    "prefixcache/analysis",
    "prefixcache/api",
    "prefixcache/cache",
    "prefixcache/config",
    "prefixcache/content",
    "prefixcache/dataset",
    "prefixcache/engines",
    "prefixcache/help",
    "prefixcache/load",
    "prefixcache/pipeline.py",
    "prefixcache/probe",
    "prefixcache/reference",
    "prefixcache/report",
    "prefixcache/schemas",
    "prefixcache/simulation",
    "prefixcache/stages",
    "prefixcache/storage",
    "prefixcache/workload",
)
# What a server answers to its clients is English as any server's.
ENGLISH = (
    "prefixcache/reference/protocol.py",
    "prefixcache/reference/native.py",
    "prefixcache/reference/routes.py",
)


@pytest.mark.parametrize("room", ROOMS)
def test_every_sentence_has_its_chinese(room: str) -> None:
    said = [one for one in spoken_in(room) if not one.where.startswith(ENGLISH)]
    english = [f"{one.where}  {one.text}" for one in said if not HAN.search(chinese_of(one.text))]
    assert not english, f"{len(english)} of {len(said)} stay English:\n" + "\n".join(english)


def test_the_source_is_read() -> None:
    """Else the test above would pass on nothing."""
    texts = {one.text for room in ROOMS for one in spoken_in(room)}
    assert len(texts) > 800
    assert "7 is not a multiple of block_size 7" in texts


@pytest.mark.parametrize(("english", "chinese"), SENTENCES.items())
def test_a_sentence_keeps_its_values(english: str, chinese: str) -> None:
    """With another value in each place; none is lost, none changes places."""
    form = Form.of(english.removesuffix("."), chinese)
    names = list(dict.fromkeys(re.findall(r"(?<!{){(\w+)}", english)))
    values = {name: f"v{number}" for number, name in enumerate(names, 11)}
    assert chinese_of(english.format(**values)) == chinese.format(**values)
    assert form.read(english.removesuffix(".").format(**values)) == values


def test_a_sentence_stands_in_one_table() -> None:
    assert len(SENTENCES) == sum(map(len, TABLES))


def test_the_heavier_of_two_forms_is_taken() -> None:
    forms = forms_of({"{what} is wrong": "{what} 有误", "the size {size} is wrong": "大小 {size} 有误"})
    assert next(form.read("the size 5 is wrong") for form in forms if form.read("the size 5 is wrong")) == {"size": "5"}


def test_places_are_checked() -> None:
    with pytest.raises(ValueError, match="places"):
        Form.of("{a} is {b}", "{a} 是")
    with pytest.raises(ValueError, match="places"):
        Form.of("{} is wrong", "{} 有误")


def test_braces_and_repeated_places_are_taken_literally() -> None:
    form = Form.of("write {{}} for {name}, {name} alone", "{name} 请写为 {{}}")
    assert form.read("write {} for x, x alone") == {"name": "x"}
    assert form.read("write {} for x, y alone") is None
