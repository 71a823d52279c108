"""Head and tail: what a server's tokenizer and chat template put around a prompt's own text (domain.md 1 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from prefixcache.config.content import PromptConfig
from prefixcache.content.tokenizer import Tokenizer
from prefixcache.errors import InputError

# Openings and endings that share no letter at their edges, so that what all of them share is the frame.
FIRST = ("Today", "Linda", "people", "about", "Some", "water", "every", "When", "never", "green", "Just", "over")
LAST = ("again", "people", "first", "black", "then", "story", "room", "yard", "half", "music", "week", "snow")
MARK = "prefixcachecontent"


@dataclass(frozen=True)
class Framing:
    """How a prompt's own text (its content) becomes the tokens a server sees.

    ``head``, ``tail``: token ids before and after it, the same for all prompts. ``head_text``, ``tail_text``: the text
    around it, without what the tokenizer adds by itself. ``add_special``: whether the server lets the tokenizer add
    its special tokens. ``blank``: content begins with a blank. ``closing``: content has to end with a SAFE word, since
    the tail is plain text that could merge with anything else.
    """

    format: str
    head: list[int]
    tail: list[int]
    head_text: str = ""
    tail_text: str = ""
    add_special: bool = True
    blank: bool = True
    closing: bool = False

    def prompt_of(self, content: str) -> str:
        """What a request carries: the whole text for completions, the user's text for chat."""
        return content if self.format == "chat" else self.head_text + content

    def served(self, prompt: str) -> str:
        """The text that a server encodes for such a prompt."""
        return self.head_text + prompt + self.tail_text if self.format == "chat" else prompt

    def encode(self, backend: Any, prompts: Sequence[str]) -> list[list[int]]:
        """Ids of prompts as the server has them. ``backend``: ``tokenizers.Tokenizer``."""
        texts = [self.served(prompt) for prompt in prompts]
        return [item.ids for item in backend.encode_batch_fast(texts, add_special_tokens=self.add_special)]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Framing:
        return cls(**data)


def probe_framing(tokenizer: Tokenizer, config: PromptConfig | None = None) -> Framing:
    """Find head and tail by encoding contents that differ at both ends.

    Raises:
        InputError: no chat template, or one whose text around the content depends on the content.
    """
    config = config or PromptConfig()
    if config.format == "chat":
        head_text, tail_text = _template(tokenizer, config.system)
    else:
        head_text, tail_text = config.system or "", ""
    chat = config.format == "chat"
    # A text after printable text goes on with a blank; elsewhere what gives the shorter head is right: tokenizers that
    # put a blank before every text would make a token of a second one.
    forced = not chat and head_text and not head_text[-1].isspace()
    forms = (True,) if forced else (False, True) if chat else (True, False)
    found = [
        _measured(tokenizer, config.format, head_text, tail_text, blank)
        for blank in forms
        if not chat or _keeps(tokenizer, config.system, head_text, tail_text, blank)
    ]
    if not found:
        raise _unsteady(tokenizer)
    return min(found, key=lambda framing: len(framing.head))


def _template(tokenizer: Tokenizer, system: str | None) -> tuple[str, str]:
    rendered = tokenizer.render_chat(MARK, system)
    if rendered.count(MARK) != 1:
        raise _unsteady(tokenizer)
    head, _, tail = rendered.partition(MARK)
    if system is not None and system.strip() not in head:
        raise InputError(
            f"the chat template of {tokenizer.name} leaves out or changes the system message",
            field="prompt.system",
            remedy="leave out prompt.system, or use another template.",
            stage="probe_tokenizer",
        )
    return head, tail


def _keeps(tokenizer: Tokenizer, system: str | None, head: str, tail: str, blank: bool) -> bool:
    """The template leaves such contents as they are (some strip blanks)."""
    contents = [_content(number, blank) for number in range(3)]
    return all(tokenizer.render_chat(content, system) == head + content + tail for content in contents)


def _content(number: int, blank: bool) -> str:
    return f"{' ' if blank else ''}{FIRST[number]} also the {LAST[number]}"


def _measured(tokenizer: Tokenizer, kind: str, head_text: str, tail_text: str, blank: bool) -> Framing:
    contents = [_content(number, blank) for number in range(len(FIRST))]
    framing = Framing(kind, [], [], head_text, tail_text, kind != "chat", blank)
    rows = framing.encode(tokenizer.backend, [framing.prompt_of(content) for content in contents])
    if len({tuple(row) for row in rows}) == 1:  # a vocabulary without these letters
        head, tail = _added(tokenizer, contents[0])
        return Framing(kind, head, tail, head_text, tail_text, framing.add_special, blank)
    head = _shared(rows)
    tail = _shared([row[len(head) :][::-1] for row in rows])[::-1]
    closing = bool(tail) and tail[0] not in tokenizer.special_ids
    return Framing(kind, head, tail, head_text, tail_text, framing.add_special, blank, closing)


def _shared(rows: list[list[int]]) -> list[int]:
    """The longest common beginning."""
    shortest = min(len(row) for row in rows)
    length = next((i for i in range(shortest) if len({row[i] for row in rows}) > 1), shortest)
    return rows[0][:length]


def _added(tokenizer: Tokenizer, text: str) -> tuple[list[int], list[int]]:
    """What the tokenizer adds before and after a text."""
    bare = tokenizer.encode(text)
    full: list[int] = tokenizer.backend.encode(text, add_special_tokens=True).ids
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return full[:start], full[start + len(bare) :]
    return [], []


def _unsteady(tokenizer: Tokenizer) -> InputError:
    return InputError(
        f"what the chat template of {tokenizer.name} puts around the user's text depends on that text",
        field="prompt.format",
        remedy="write format: completion, or use another template.",
        stage="probe_tokenizer",
    )
