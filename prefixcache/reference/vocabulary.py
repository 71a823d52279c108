"""The tokenizer as a server uses it: text in, ids out, and plain words to answer with."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from prefixcache.errors import InputError
from prefixcache.reference.options import EngineOptions

T = TypeVar("T")

ANSWER_WORDS = 1024
ANCHOR = "also the"
INLINE_CHARS = 2000
"""Texts up to this length are encoded in the event loop's thread: about a millisecond."""

_WORD = re.compile(r"^[^\x00-\x7f]?[a-z]{3,}$")  # byte-level and Metaspace vocabularies mark the space by one letter


class Vocabulary:
    """A loaded tokenizer.

    Args:
        options: names the folder to load.

    Raises:
        InputError: no tokenizer can be loaded from there, or it is not one of the ``tokenizers`` library.

    Attributes:
        sha256: of the backend's canonical dump, ``tokenizer.backend_tokenizer.to_str()``.
        max_token_id: largest id of the vocabulary, added tokens included.
        words: ids the engine answers with: ordinary words, none of them special.
        word_texts: the text each of them adds to an answer.
    """

    def __init__(self, options: EngineOptions) -> None:
        self.tokenizer = _load(options.tokenizer_folder)
        self._backend = self.tokenizer.backend_tokenizer
        self.sha256 = hashlib.sha256(self._backend.to_str().encode()).hexdigest()
        self._backend.no_truncation()  # files may ask for either; a server takes prompts as they come
        self._backend.no_padding()
        vocabulary: dict[str, int] = self._backend.get_vocab(with_added_tokens=True)
        self.max_token_id = max(vocabulary.values())
        self.words, self.word_texts = _answer_words(self._backend, vocabulary)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encode")
        self._queued = 0

    def encode(self, text: str, add_special_tokens: bool = True) -> array[int]:
        return array("I", self._backend.encode(text, add_special_tokens=add_special_tokens).ids)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._backend.decode(list(ids), skip_special_tokens=False))

    def token_strings(self, ids: Sequence[int]) -> list[str]:
        return [str(self._backend.id_to_token(token)) for token in ids]

    def render_chat(self, messages: Sequence[Mapping[str, Any]], **settings: Any) -> str:
        """The prompt text of a conversation, by the tokenizer's chat template.

        A tokenizer without a template gets the plainest one: a line ``role: content`` for each message and, with
        ``add_generation_prompt``, a last line ``assistant:`` without newline.

        Raises:
            Exception: whatever the template raises on messages it does not like.
        """
        if self.tokenizer.chat_template:
            return str(self.tokenizer.apply_chat_template(list(messages), tokenize=False, **settings))
        lines = [f"{message['role']}: {message.get('content') or ''}\n" for message in messages]
        return "".join(lines) + ("assistant:" if settings.get("add_generation_prompt") else "")

    async def off_loop(self, chars: int, work: Callable[[], T]) -> T:
        """Run ``work`` on ``chars`` characters of text without holding up the event loop.

        Long texts go to ONE thread and short ones queue behind them, so that requests with text prompts reach the
        cache in the order they came in.
        """
        if chars <= INLINE_CHARS and not self._queued:
            return work()
        self._queued += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        finally:
            self._queued -= 1

    def answer(self, prompt: array[int], index: int, seed: int, length: int) -> list[int]:
        """Positions in ``words`` of an answer of ``length`` tokens, a function of prompt, choice index and seed."""
        digest = hashlib.blake2b(prompt.tobytes(), digest_size=16, key=f"{seed}:{index}".encode()).digest()
        count = len(self.words)
        start = int.from_bytes(digest[:8], "little") % count
        stride = 1 + int.from_bytes(digest[8:], "little") % max(1, count - 1)
        return [(start + stride * step) % count for step in range(length)]


def _load(folder: str) -> Any:
    if not Path(folder).is_dir():
        raise InputError(
            f"no tokenizer folder at {folder}",
            field="tokenizer",
            stage="reference engine",
            remedy="give a folder with tokenizer.json, or embedded.",
        )
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it would report that no deep-learning library is there
    from transformers import AutoTokenizer  # seconds of import time, not to be paid by whoever imports the package

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except Exception as error:  # the loaders raise anything from KeyError to Rust's own
        raise InputError(
            f"{folder}: {error}",
            field="tokenizer",
            stage="reference engine",
            remedy="give a folder with tokenizer.json",
        ) from error
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise InputError(
            f"{folder} holds no fast tokenizer",
            field="tokenizer",
            stage="reference engine",
            remedy="give a folder with tokenizer.json.",
        )
    return tokenizer


def _answer_words(backend: Any, vocabulary: Mapping[str, int]) -> tuple[array[int], list[str]]:
    """Ids of words that survive decoding and encoding again after other text, at most ``ANSWER_WORDS`` of them.

    A vocabulary without any (a toy) answers with whatever ordinary tokens it has.
    """
    special = {token for token, added in backend.get_added_tokens_decoder().items() if added.special}
    ordered = sorted((token, text) for text, token in vocabulary.items() if token not in special)
    anchor = backend.encode(ANCHOR, add_special_tokens=False).ids
    base = backend.decode(anchor, skip_special_tokens=False)
    words: array[int] = array("I")
    texts: list[str] = []
    for token, name in ordered:
        if not _WORD.match(name):
            continue
        whole = backend.decode([*anchor, token], skip_special_tokens=False)
        text = whole[len(base) :]
        if text[:1] != " " or not text[1:].isascii() or not text[1:].isalpha():
            continue
        if backend.encode(ANCHOR + text, add_special_tokens=False).ids == [*anchor, token]:
            words.append(token)
            texts.append(text)
            if len(words) == ANSWER_WORDS:
                break
    if not words:
        words = array("I", [token for token, _name in ordered[:ANSWER_WORDS]])
        texts = [backend.decode([token], skip_special_tokens=False) for token in words]
    return words, texts
