"""The vocabulary by part of speech, every word 3 to 12 ASCII letters, and `COMMON_WORDS`, all of it once."""

from __future__ import annotations

from collections.abc import Iterable

from prefixcache.content.synthetic import modifiers, names, nouns, verbs
from prefixcache.content.synthetic.english import gerund, past, plural, third_person
from prefixcache.content.synthetic.function_words import FUNCTION_WORDS, NUMBER_WORDS


def _distinct(*groups: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for group in groups for word in group if 3 <= len(word) <= 12))


NAMES = _distinct(names.NAMES)
PLACES = _distinct(names.PLACES)
CALENDAR = _distinct(names.WEEKDAYS, names.MONTHS)

COUNT_NOUNS = _distinct(
    nouns.GOODS,
    nouns.FOODS,
    nouns.PLANTS,
    nouns.TREES,
    nouns.ANIMALS,
    nouns.CLOTHES,
    nouns.OTHER_CLOTHES,
    nouns.TOOLS,
    nouns.FURNITURE,
    nouns.PARTS_OF_HOUSES,
    nouns.VEHICLES,
    nouns.CONTAINERS,
    nouns.PAPERS,
    nouns.JOBS,
    nouns.PEOPLE,
    nouns.BUILDINGS,
    nouns.LANDSCAPES,
    nouns.GENERAL,
)
PLURAL_NOUNS = _distinct(plural(noun) for noun in COUNT_NOUNS)
MASS_NOUNS = _distinct(nouns.STUFF, nouns.TOPICS)
NOUNS = _distinct(COUNT_NOUNS, PLURAL_NOUNS, MASS_NOUNS)

_REGULAR = _distinct(verbs.REGULAR, verbs.HANDLING, (verb for verb in verbs.PASTIMES if verb not in verbs.IRREGULAR))
_REGULAR = tuple(verb for verb in _REGULAR if verb not in verbs.DOUBLING)
_BASES = _REGULAR + verbs.DOUBLING + tuple(verbs.IRREGULAR)
_DOUBLES = frozenset(verbs.DOUBLING) | verbs.GERUND_DOUBLES

# "have" is the one verb whose third person is irregular.
VERBS_BASE = _distinct(_BASES)
VERBS_PRESENT = _distinct("has" if verb == "have" else third_person(verb) for verb in _BASES)
VERBS_PAST = _distinct(
    (past(verb) for verb in _REGULAR), (past(verb, True) for verb in verbs.DOUBLING), verbs.IRREGULAR.values()
)
VERBS_GERUND = _distinct(gerund(verb, verb in _DOUBLES) for verb in _BASES)

ADJECTIVES = _distinct(
    modifiers.COLORS,
    modifiers.OF_THINGS,
    modifiers.OF_PEOPLE,
    modifiers.OF_BUILDINGS,
    modifiers.OF_LANDSCAPES,
    modifiers.OF_ANIMALS,
    modifiers.OF_WEATHER,
    modifiers.OTHERS,
)
ADVERBS = _distinct(modifiers.MANNER, modifiers.DEGREE, modifiers.OTHER_ADVERBS)

COMMON_WORDS: tuple[str, ...] = _distinct(
    FUNCTION_WORDS,
    NUMBER_WORDS,
    NAMES,
    PLACES,
    CALENDAR,
    NOUNS,
    VERBS_BASE,
    VERBS_PRESENT,
    VERBS_PAST,
    VERBS_GERUND,
    ADJECTIVES,
    ADVERBS,
)
