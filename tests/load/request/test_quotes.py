"""Quotes of a prompt in a server's error text."""

from __future__ import annotations

import json

import pytest

from prefixcache.load.request.quotes import without_quotes
from prefixcache.load.sending.prompts import Prompt

TEXT = 'Please tell me "why" the tall farmer,\nwho owns 42 grey geese, went to the märket before the sun was up.'
MIDDLE = TEXT[30:75]


@pytest.mark.parametrize(
    "quote", [MIDDLE, json.dumps(MIDDLE), json.dumps(TEXT), repr(MIDDLE), TEXT[-16:], json.dumps(TEXT[60:], indent=1)]
)
def test_any_part_of_a_prompt_is_masked_in_each_spelling(quote: str) -> None:
    found = without_quotes(f"bad input: {quote} (code 5)", Prompt(TEXT, None, 1), 300)
    assert found.startswith("bad input: ") and "[prompt]" in found
    assert "geese" not in found and "before" not in found


def test_words_of_both_stay() -> None:
    text = "the tall tower, the sun was up"  # 15 characters in a row at most
    assert without_quotes(text, Prompt(TEXT, None, 1), 300) == text


def test_ids_and_messages_are_prompts_too() -> None:
    ids = list(range(5000, 5040))
    for spelled in (str(ids[9:14])[1:-1], json.dumps(ids[9:14], separators=(",", ":"))[1:-1]):
        assert without_quotes(f"no token {spelled}!", Prompt(None, ids, 1), 300) == "no token [prompt]!"
    messages = [{"role": "user", "content": TEXT}]
    assert without_quotes(f"no: {MIDDLE}", Prompt(None, None, 1, messages), 300) == "no: [prompt]"


def test_it_is_short_and_masks_before_it_cuts() -> None:
    found = without_quotes("x" * 290 + MIDDLE, Prompt(TEXT, None, 1), 300)
    assert found == "x" * 290 + "[prompt]"
    assert len(without_quotes("y" * 5000, Prompt(TEXT, None, 1), 300)) == 300
