"""Regular English word forms. Exceptions live beside the words they belong to, never in the rules here."""

from __future__ import annotations

from prefixcache.content.synthetic.nouns import IRREGULAR_PLURALS

_SIBILANTS = ("s", "x", "z", "ch", "sh")
# Words whose first letter and first sound disagree.
_AN = frozenset({"honest", "hour", "honor"})
_A = frozenset({"one", "unicycle", "uniform", "unique", "universal", "university", "useful", "used", "usual", "eulogy"})


def _ends_in_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in "aeiou"


def plural(noun: str) -> str:
    """The plural of a countable noun: "box" to "boxes", "berry" to "berries"."""
    if noun in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[noun]
    return third_person(noun)


def third_person(verb: str) -> str:
    """The form after he or she: "carry" to "carries"."""
    if _ends_in_consonant_y(verb):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(_SIBILANTS) else "s")


def past(verb: str, doubling: bool = False) -> str:
    """The past of a regular verb; ``doubling`` repeats its last consonant ("plan" to "planned")."""
    if verb.endswith("e"):
        return verb + "d"
    if _ends_in_consonant_y(verb):
        return verb[:-1] + "ied"
    return verb + (verb[-1] if doubling else "") + "ed"


def gerund(verb: str, doubling: bool = False) -> str:
    """The -ing form: "bake" to "baking", "tie" to "tying", "see" to "seeing"."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + (verb[-1] if doubling else "") + "ing"


def a(word: str) -> str:
    """``word`` with its indefinite article: "an old", "a useful"."""
    vowel = word in _AN or (word[0] in "aeiou" and word not in _A)
    return f"{'an' if vowel else 'a'} {word}"
