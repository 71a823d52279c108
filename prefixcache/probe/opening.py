"""Finding a form in which a server takes a probe's prompts, with one token a piece, and what it puts around them."""

from __future__ import annotations

from collections.abc import Sequence

from prefixcache.probe.forms import Form, usage_of
from prefixcache.probe.line import Line, Refused, text_of
from prefixcache.probe.prompts import WORDS, Piece, Pieces
from prefixcache.probe.service import Answer

FIRST_LENGTHS = (8, 21)
BASE, POWERS = 8, (1, 8, 64)
"""A prompt of one word once, another 8 and a third 64 times tells the tokens of each: its length's digits to base 8."""
ENOUGH_WORDS, FEWEST_WORDS = 64, 32
NO_ROUTE = (404, 405, 501)


async def open_line(line: Line) -> None:
    """Find a form that the server takes, and how many tokens it adds to every prompt.

    Raises:
        Refused: it takes none; the reason is that of the first route that is there.
    """
    whys: list[tuple[bool, str]] = []
    for form in line.forms:
        pieces = line.pieces if form.ids else Pieces(WORDS, line.pieces.luck)
        answers = list[Answer]()
        for count in FIRST_LENGTHS:
            answers.append(await line.post(pieces.fresh(count), form))
            if not answers[-1].ok:
                break
        if not answers[-1].ok:
            whys.append((answers[-1].status in NO_ROUTE, answers[-1].why))
            continue
        told = [usage_of(answer, form).prompt_tokens for answer in answers]
        added = {tokens - count for count, tokens in zip(FIRST_LENGTHS, told, strict=True) if tokens is not None}
        if form.chat and not added:
            whys.append((False, f"{form.path}: its answers tell no prompt_tokens, so no word is known to be one token"))
            continue
        if len(set(told)) == 1 and told[0] is not None:
            whys.append((False, f"{form.path}: its token counts do not follow its prompts"))
            continue
        before = line.pieces
        line.form, line.pieces, line.placed = form, pieces, not form.chat
        line.head = 0 if not added else min(added) if len(added) == 1 else -1
        exact = line.head >= 0 and (form.ids or not added or await _all_are_single(line))
        if not exact and (form.ids or not await _choose_words(line)):
            line.form, line.pieces = None, before
            whys.append((False, f"{form.path}: it counts the words of a probe in another way than one token each"))
            continue
        if form.chat:
            await _place_by_route(line, form)
        return
    raise Refused(min(whys, default=(True, "no form of a prompt is known"), key=lambda why: why[0])[1])


async def _tokens(line: Line, words: Sequence[str]) -> int:
    """Prompt tokens of these words by usage; -1 where it does not tell."""
    assert line.form is not None
    line.pieces.firsts.update(words[:1])
    answer = await line.post(words, line.form)
    return usage_of(answer, line.form).prompt_tokens or -1


async def _all_are_single(line: Line) -> bool:
    """Two prompts of few words may count alike by chance; one of all words does not."""
    return await _tokens(line, WORDS) == line.head + len(WORDS)


async def _choose_words(line: Line) -> bool:
    """Keep the words that are one token each, by the usage of prompts made of them; are there enough?"""
    few, more = await _tokens(line, WORDS[:1] * BASE), await _tokens(line, WORDS[:1] * 2 * BASE)
    head = few - (more - few)
    good: list[str] = []
    for at in range(0, len(WORDS), len(POWERS)):
        words = WORDS[at : at + len(POWERS)]
        number = (
            await _tokens(line, [word for word, times in zip(words, POWERS, strict=False) for _ in range(times)]) - head
        )
        good += [word for word, times in zip(words, POWERS, strict=False) if number // times % BASE == 1]
        if len(good) >= ENOUGH_WORDS:
            break
    if head < 0 or len(good) < FEWEST_WORDS or await _tokens(line, good) != head + len(good):
        return False
    line.pieces, line.head = Pieces(good, line.pieces.luck, line.pieces.firsts), head
    return True


async def _place_by_route(line: Line, form: Form) -> None:
    """How much of a chat template stands before the words: what two conversations' ids begin with, where a tokenize
    route renders them as the answers' usage counts them."""
    first = line.pieces.fresh(FIRST_LENGTHS[0])
    second = [next(piece for piece in line.pieces.pool if piece != first[0]), *first[1:]]
    found = [await _chat_ids(line, form, words) for words in (first, second)]
    if found[0] is None or found[1] is None or {len(ids) for ids in found if ids} != {len(first) + line.head}:
        return
    pairs = zip(found[0], found[1], strict=True)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), None)
    if same is not None and same <= line.head and found[0][same + 1 :] == found[1][same + 1 :]:
        line.head, line.tail, line.placed = same, line.head - same, True


async def _chat_ids(line: Line, form: Form, words: Sequence[Piece]) -> list[int] | None:
    messages = [{"role": "user", "content": text_of(words, form)}]
    body = {"model": line.model, "messages": messages, "add_generation_prompt": True}
    answer = await line.service.post("/tokenize", body)
    tokens = answer.body.get("tokens")
    return tokens if isinstance(tokens, list) and all(type(each) is int for each in tokens) else None
