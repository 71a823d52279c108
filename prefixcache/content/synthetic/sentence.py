"""A readable sentence of sixteen slots, one word each, and the neutral words that may stand between other words.

Every word has at least three letters and is one token of the embedded tokenizer when a space precedes it, so that a
sentence of sixteen words is sixteen tokens. With other tokenizers keep the words that pass its own probe.
"""

from __future__ import annotations

from prefixcache.content.synthetic.wordlist import words
from prefixcache.content.synthetic.words import NAMES, PLACES

_OPENERS = words(
    """
    Today Tonight Nowadays Sometimes Often Usually Lately Currently Normally Generally Regularly Frequently Typically
    Occasionally Always Again Once Apparently Perhaps Maybe Naturally Certainly Clearly Evidently Still Meanwhile
    Somewhere Outside Downstairs Upstairs Indoors Outdoors
    """
)
_READS = words(
    """
    reads studies opens copies edits prints shares finds keeps buys borrows brings carries holds lends marks signs
    translates reviews checks completes corrects describes discusses enjoys explains finishes mentions orders
    prepares presents publishes receives recommends remembers returns sells sends starts summarizes writes reveals
    """
)
_DETERMINERS = words("the this that one another each every some")
_QUALITIES = words(
    """
    quiet old new short long famous simple small large modern ancient clever curious funny gentle honest important
    interesting little lovely popular practical precious rare serious special strange unusual useful valuable wonderful
    helpful brief careful cheerful classic complete detailed elegant excellent final friendly
    """
)
_SUBJECTS = words(
    """
    history music science travel poetry physics chemistry biology geography astronomy algebra geometry grammar spelling
    theater cinema dance opera ballet jazz fashion pottery knitting sewing cooking baking gardening farming fishing
    sailing climbing camping cycling swimming chess tennis football hockey medicine health business law
    philosophy language literature architecture engineering railway forest ocean mountain weather nature space art
    craft design photography painting
    """
)
_WORKS = words(
    """
    book story report letter poem guide essay diary journal article manual script chapter pamphlet dictionary magazine
    newspaper notebook textbook novel brochure catalog handbook review summary lesson lecture document workbook album
    paper booklet
    """
)
_SITES = words(
    """
    river lake bridge station library museum market bakery school college university hospital theater stadium airport
    harbor beach forest park garden meadow orchard vineyard farm barn lighthouse castle palace tower cathedral temple
    fountain square plaza avenue street canal pond waterfall valley hill mountain island bay coast shore village
    factory workshop gallery office bank hotel restaurant kitchen pharmacy playground pool zoo laboratory cottage
    """
)

SENTENCE_SLOTS: tuple[tuple[str, ...], ...] = (
    _OPENERS,
    NAMES[0::3],
    ("from", "near", "outside", "around"),
    PLACES,
    _READS,
    _DETERMINERS,
    _QUALITIES,
    _SUBJECTS,
    _WORKS,
    ("with", "for"),
    NAMES[1::3],
    ("and",),
    NAMES[2::3],
    ("near", "beside", "behind", "outside", "beyond"),
    ("the", "this", "that", "another"),
    _SITES,
)

FILLERS: tuple[str, ...] = words(
    """
    also simply then often still just now even really clearly actually usually indeed perhaps certainly again soon quite
    surely maybe mostly generally normally naturally later finally early already together instead once
    """
)
