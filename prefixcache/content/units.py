"""At which hit units a dataset's design holds: its own, and which divisors of it (domain.md 5).

At a smaller unit every request still leaves its master exactly at its planned prefix, unless the head then fills more
units than planned, or requests that leave at one node share their first word, which then is a unit of its own.
"""

from __future__ import annotations

import numpy as np

from prefixcache.content.assembly import Rows, taken_words
from prefixcache.content.divergence import Alphabet, letters_of
from prefixcache.content.masters import Masters
from prefixcache.errors import InputError


def valid_hit_units(unit: int, head: int, rows: Rows, masters: Masters, alphabet: Alphabet) -> list[int]:
    """Divisors of the unit at which the dataset hits what was planned, ascending.

    Args:
        unit: tokens in which the server matches. head: tokens with which every prompt begins.
        rows: all requests and warmup prompts.

    Raises:
        InputError: more requests leave at one node than its unit can tell apart.
    """
    at_root = rows.prefix <= head
    _, letters = letters_of(alphabet, rows.siblings, at_root, taken_words(alphabet, masters, rows, at_root))
    crowded = rows.siblings > letters
    total = len(alphabet.seams.safe_ids)
    # Where the shared first word stands within its unit; the second has to stand in the same one.
    places = np.unique(np.where(at_root, head, rows.prefix)[crowded])
    valid = [u for u in range(1, unit + 1) if unit % u == 0 and head // u * u == head // unit * unit]
    valid = [u for u in valid if not len(places) or int((places % u).max()) + 2 <= u]
    if unit not in valid or bool((rows.siblings > letters * total).any()):
        worst = int(np.argmax(rows.siblings - letters))
        raise InputError(
            f"{rows.siblings[worst]} requests leave their shared prefix at token {max(int(rows.prefix[worst]), head)}, "
            f"where one hit unit of {unit} tokens tells no more of them apart than the tokenizer has safe words for "
            f"that place, {letters[worst]}",
            field="block_size",
            remedy=f"write block_size: {2 * unit} or more, fewer requests, or more prefix.groups, or use a tokenizer "
            "with a larger vocabulary.",
            stage="build_masters",
        )
    return valid
