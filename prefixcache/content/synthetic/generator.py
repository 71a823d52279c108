"""Samples: an opening, a problem, its worked answer. Sample i of a seed depends on the seed and i alone."""

from __future__ import annotations

from prefixcache.content.synthetic import amounts, measures, money
from prefixcache.content.synthetic.draw import Draw
from prefixcache.content.synthetic.problem import Template
from prefixcache.content.synthetic.scene import opening, scene

TEMPLATES: tuple[Template, ...] = money.TEMPLATES + amounts.TEMPLATES + measures.TEMPLATES


def sample(seed: int, index: int) -> str:
    """Sample ``index`` of ``seed``: the question, a newline, one step a line, and last ``#### N``.

    Printable ASCII and newlines; starts with a letter, ends with a digit, no blank line, no two spaces in a row.
    """
    draw = Draw(seed, index)
    template = draw.pick(TEMPLATES)
    setting = scene(draw)
    first = opening(setting)
    problem = template(setting)
    return "\n".join((f"{first} {problem.story}", *problem.steps, f"#### {problem.answer}"))


def samples(count: int, seed: int, start: int = 0) -> list[str]:
    """Samples ``start`` to ``start + count - 1`` of ``seed``; any slice equals the same slice of a longer run."""
    return [sample(seed, index) for index in range(start, start + count)]
