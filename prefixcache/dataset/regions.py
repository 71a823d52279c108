"""The parts of one prompt, exact to the token: head, shared prefix, divergence block, suffix, tail (domain.md 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prefixcache.content.framing import Framing

Part = Literal["head", "cached", "prefix", "divergence", "suffix", "tail"]
Split = Literal["exact", "decoded", "none"]


@dataclass(frozen=True, slots=True)
class Region:
    """Tokens [start, end) of a prompt. ``cached``: the shared prefix that hits according to the model; ``prefix``: the
    rest of the shared prefix, which this request computes."""

    part: Part
    start: int
    end: int

    @property
    def tokens(self) -> int:
        return self.end - self.start


def regions_of(row: dict[str, Any], head: int) -> list[Region]:
    """The parts of a request that are not empty, in order; together they are all its tokens.

    Args:
        row: of request_metadata.jsonl.
        head: tokens with which every prompt of the dataset begins.
    """
    length = int(row["input_len"])
    prefix = max(int(row["planned_prefix_len"]), head)
    hit = min(max(int(row["expected_hit_len"]), head), prefix)
    divergence = prefix + int(row["divergence_len"])
    suffix = divergence + int(row["suffix_len"])
    marks = [0, head, hit, prefix, divergence, suffix, length]
    parts: tuple[Part, ...] = ("head", "cached", "prefix", "divergence", "suffix", "tail")
    pairs = zip(parts, marks, marks[1:], strict=False)
    return [Region(part, start, end) for part, start, end in pairs if end > start]


@dataclass(frozen=True)
class PromptText:
    """The text behind any run of a prompt's tokens.

    Args:
        split: ``exact``: slices of the text itself; ``decoded``: the tokenizer's decoding of the ids, where there is no
            text or it does not encode to the ids; ``none``: there is no tokenizer, so nothing can be cut.
        text: the whole text that a server encodes; None where the dataset has none.
    """

    split: Split
    text: str | None
    ids: Sequence[int]
    backend: Any | None
    marks: Sequence[int] = ()
    inside: frozenset[int] = frozenset()

    def piece(self, start: int, end: int) -> str:
        """Text of the tokens [start, end); tokens that the tokenizer adds by itself are shown by their names."""
        if self.split == "none" or self.backend is None:
            return ""
        if self.split == "exact":
            text = (self.text or "")[self.marks[start] : self.marks[end]]
            if text:
                return text
        return str(self.backend.decode(list(self.ids[start:end]), skip_special_tokens=False))

    def is_inside_a_character(self, boundary: int) -> bool:
        """Whether the token boundary lies within one character of the text, which then stands before it."""
        return boundary in self.inside


def prompt_text(prompt: str | None, ids: Sequence[int], framing: Framing | None, backend: Any | None) -> PromptText:
    """Find the place in the text of every token boundary.

    Args:
        prompt: as the dataset holds it; None where it holds ids only.
        framing: how a server frames it.
        backend: ``tokenizers.Tokenizer``; None where there is none.
    """
    text = None if prompt is None or framing is None else framing.served(prompt)
    if backend is None:
        return PromptText("none", text, ids, None)
    if text is None or framing is None:
        return PromptText("decoded", None, ids, backend)
    encoded = _untrimmed(backend).encode(text, add_special_tokens=framing.add_special)
    if list(encoded.ids) != list(ids):
        return PromptText("decoded", text, ids, backend)
    marks, inside = [0], set()
    for number, (start, end) in enumerate(encoded.offsets):
        if end > start and start < marks[-1]:
            inside.add(number)
        marks.append(max(marks[-1], end))
    marks[-1] = len(text)
    return PromptText("exact", text, ids, backend, marks, frozenset(inside))


def _untrimmed(backend: Any) -> Any:
    """The tokenizer with offsets that count blanks: a byte-level post-processor leaves them out of its tokens."""
    from tokenizers import Tokenizer

    text = backend.to_str()
    trimmed = '"trim_offsets":true'
    return Tokenizer.from_str(text.replace(trimmed, '"trim_offsets":false')) if trimmed in text else backend
