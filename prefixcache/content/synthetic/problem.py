"""What a template returns, and the spelling of its arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from prefixcache.content.synthetic import nouns
from prefixcache.content.synthetic.english import plural
from prefixcache.content.synthetic.scene import Scene


class Problem(NamedTuple):
    """A story that ends in a question, the worked steps, and the answer the last step computes."""

    story: str
    steps: tuple[str, ...]
    answer: int


Template = Callable[[Scene], Problem]


class Noun(NamedTuple):
    """A countable noun in both numbers."""

    one: str
    many: str

    def counted(self, number: int) -> str:
        return f"{number} {self.one if number == 1 else self.many}"


def _table(*groups: tuple[str, ...]) -> tuple[Noun, ...]:
    return tuple(Noun(word, plural(word)) for word in dict.fromkeys(word for group in groups for word in group))


GOODS = _table(nouns.GOODS, nouns.TOOLS)
HOUSEHOLD = _table(nouns.GOODS, nouns.CLOTHES, nouns.OTHER_CLOTHES, nouns.TOOLS, nouns.FURNITURE)
FOODS = _table(nouns.FOODS)
PLANTS = _table(nouns.PLANTS, nouns.TREES)
FARM_ANIMALS = _table(nouns.FARM_ANIMALS)
CLOTHES = _table(nouns.CLOTHES, nouns.OTHER_CLOTHES)
CONTAINERS = _table(nouns.CONTAINERS)
JOBS = _table(nouns.JOBS)
SMALL_THINGS = _table(nouns.GOODS, nouns.FOODS)


def add(*numbers: int) -> str:
    """ "3 + 4 = 7"."""
    return f"{' + '.join(map(str, numbers))} = {sum(numbers)}"


def sub(left: int, *rest: int) -> str:
    """ "9 - 4 = 5"."""
    return f"{' - '.join(map(str, (left, *rest)))} = {left - sum(rest)}"


def mul(left: int, right: int) -> str:
    """ "3 * 4 = 12"."""
    return f"{left} * {right} = {left * right}"


def div(left: int, right: int) -> str:
    """ "12 / 4 = 3"; the division must be exact."""
    assert left % right == 0
    return f"{left} / {right} = {left // right}"


def percent(share: int, whole: int) -> str:
    """ "20 / 100 * 50 = 10"; the result must be whole."""
    assert share * whole % 100 == 0
    return f"{share} / 100 * {whole} = {share * whole // 100}"
