"""Who and where: the cast of a problem and the sentence that opens it. Openings carry no numbers."""

from __future__ import annotations

from typing import NamedTuple

from prefixcache.content.synthetic import modifiers, names, nouns, verbs
from prefixcache.content.synthetic.draw import Draw
from prefixcache.content.synthetic.english import a, gerund, past

_ADJECTIVES_OF_THINGS = modifiers.OF_THINGS + modifiers.COLORS
_PARTS_OF_DAY = ("morning", "afternoon", "evening")
_PASTIMES = tuple(gerund(verb, verb in verbs.DOUBLING or verb in verbs.GERUND_DOUBLES) for verb in verbs.PASTIMES)
_HANDLED = tuple(past(verb) for verb in verbs.HANDLING)
_OBJECTS = nouns.GOODS + nouns.TOOLS + nouns.FURNITURE


class Person(NamedTuple):
    """A name with its pronouns: she, her, her; he, him, his."""

    name: str
    they: str
    them: str
    their: str


PERSONS = tuple(
    [Person(name, "she", "her", "her") for name in names.FEMININE]
    + [Person(name, "he", "him", "his") for name in names.MASCULINE if name not in names.FEMININE]
)


class Scene(NamedTuple):
    """The stream of choices and what a template may refer to; the two people differ."""

    draw: Draw
    who: Person
    other: Person
    place: str


def scene(draw: Draw) -> Scene:
    who, other = draw.two(PERSONS)
    return Scene(draw, who, other, draw.pick(names.PLACES))


def opening(s: Scene) -> str:
    """One sentence about the scene, no numbers, ended by a full stop."""
    draw, who = s.draw, s.who
    return _OPENINGS[draw.below(len(_OPENINGS))](draw, who, s)


def site(draw: Draw) -> str:
    """A place in a town or in the country with its adjective, no article: "quiet harbor"."""
    if draw.below(3):
        return f"{draw.pick(modifiers.OF_BUILDINGS)} {draw.pick(nouns.BUILDINGS)}"
    return f"{draw.pick(modifiers.OF_LANDSCAPES)} {draw.pick(nouns.LANDSCAPES)}"


def _home(draw: Draw, who: Person, s: Scene) -> str:
    return f"{who.name} lives near the {site(draw)} in {s.place}."


def _job(draw: Draw, who: Person, s: Scene) -> str:
    return f"{who.name} is {a(draw.pick(modifiers.OF_PEOPLE))} {draw.pick(nouns.JOBS)} from {s.place}."


def _visit(draw: Draw, who: Person, s: Scene) -> str:
    when = f"{a(draw.pick(modifiers.OF_WEATHER))} {draw.pick(names.WEEKDAYS)} {draw.pick(_PARTS_OF_DAY)}"
    return f"On {when}, {who.name} visits the {site(draw)} near {s.place}."


def _pastimes(draw: Draw, who: Person, s: Scene) -> str:
    first, second = draw.two(_PASTIMES)
    return f"{who.name} enjoys {first} and {second} with {s.other.name} in {s.place}."


def _just_done(draw: Draw, who: Person, s: Scene) -> str:
    thing = f"{draw.pick(_ADJECTIVES_OF_THINGS)} {draw.pick(_OBJECTS)}"
    return f"{who.name} has just {draw.pick(modifiers.MANNER)} {draw.pick(_HANDLED)} the {thing}."


def _reputation(draw: Draw, who: Person, s: Scene) -> str:
    quality = f"{draw.pick(modifiers.DEGREE)} {draw.pick(modifiers.OF_PEOPLE)}"
    return f"Everyone in {s.place} knows that {who.name} is {quality}."


def _meeting(draw: Draw, who: Person, s: Scene) -> str:
    return f"{who.name} and {s.other.name} meet {draw.pick(modifiers.HOW_OFTEN)} near the {site(draw)} in {s.place}."


def _move(draw: Draw, who: Person, s: Scene) -> str:
    start, end = draw.two(names.PLACES)
    return (
        f"In {draw.pick(names.MONTHS)}, {who.name} moved from {start} to {end} and became {a(draw.pick(nouns.JOBS))}."
    )


def _weather(draw: Draw, who: Person, s: Scene) -> str:
    day = f"{draw.pick(names.WEEKDAYS)} {draw.pick(_PARTS_OF_DAY)}"
    return f"It is {a(draw.pick(modifiers.OF_WEATHER))} {day} in {s.place}, and {who.name} waits for {s.other.name}."


def _poster(draw: Draw, who: Person, s: Scene) -> str:
    animal = a(f"{draw.pick(modifiers.OF_ANIMALS)} {draw.pick(nouns.ANIMALS)}")
    return f"{who.name} is {draw.pick(modifiers.MANNER)} drawing {animal} under {a(draw.pick(nouns.TREES))}."


def _present(draw: Draw, who: Person, s: Scene) -> str:
    thing = a(f"{draw.pick(_ADJECTIVES_OF_THINGS)} {draw.pick(nouns.GOODS)}")
    month = draw.pick(names.MONTHS)
    return f"{s.other.name}, {a(draw.pick(nouns.JOBS))} from {s.place}, gave {who.name} {thing} in {month}."


def _reading(draw: Draw, who: Person, s: Scene) -> str:
    work = a(f"{draw.pick(modifiers.OF_WORKS)} {draw.pick(nouns.PAPERS)}")
    return f"{who.name} is reading {work} about {draw.pick(nouns.TOPICS)} to {s.other.name}."


def _clothes(draw: Draw, who: Person, s: Scene) -> str:
    tool = a(f"{draw.pick(_ADJECTIVES_OF_THINGS)} {draw.pick(nouns.GOODS + nouns.TOOLS)}")
    return f"{who.name} wears {a(draw.pick(modifiers.COLORS))} {draw.pick(nouns.CLOTHES)} and is looking for {tool}."


def _plan(draw: Draw, who: Person, s: Scene) -> str:
    thing = f"{draw.pick(_ADJECTIVES_OF_THINGS)} {draw.pick(_OBJECTS)}"
    return f"{who.name} wants to {draw.pick(verbs.HANDLING)} the {thing} before {draw.pick(names.WEEKDAYS)}."


_OPENINGS = (
    _home,
    _job,
    _visit,
    _pastimes,
    _just_done,
    _reputation,
    _meeting,
    _move,
    _weather,
    _poster,
    _present,
    _reading,
    _clothes,
    _plan,
)
