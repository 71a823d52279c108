"""A model's tokenizer: ids with byte offsets, its chat template, and a hash that names it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefixcache.config.content import TokenizerConfig
from prefixcache.content.hub import quiet_hub
from prefixcache.errors import EnvironmentFailure, InputError

EMBEDDED = "embedded"
EMBEDDED_FOLDER = Path(__file__).parent / "embedded_tokenizer"
Ids = NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Ids of one text and, per token, the byte offset of its end in the UTF-8 text."""

    ids: Ids
    ends: NDArray[np.int64]


class Tokenizer:
    """A fast transformers tokenizer.

    Args:
        backend: ``tokenizers.Tokenizer``.
        name: as the user wrote it; a folder's last part, so that no path of this machine enters a dataset.
    """

    def __init__(
        self, backend: Any, name: str, special_ids: frozenset[int], special_texts: tuple[str, ...], fast: Any = None
    ) -> None:
        self.backend = backend
        self.name = name
        self.special_ids = special_ids
        self.special_texts = special_texts
        self.fast = fast

    @cached_property
    def sha256(self) -> str:
        """Hash of the whole backend: vocabulary, merges, normaliser, pre-tokenizer, post-processor."""
        return hashlib.sha256(self.backend.to_str().encode()).hexdigest()

    @property
    def embedded(self) -> bool:
        return self.name == EMBEDDED

    def encode(self, text: str) -> list[int]:
        """Ids without anything added."""
        ids: list[int] = self.backend.encode(text, add_special_tokens=False).ids
        return ids

    def encode_batch(self, texts: list[str]) -> list[list[int]]:
        return [item.ids for item in self.backend.encode_batch_fast(texts, add_special_tokens=False)]

    def encode_with_ends(self, texts: list[str], left: str = "") -> list[Encoded | None]:
        """Ids and byte ends of each text as it stands behind ``left``, in one parallel batch.

        Ends count from the text's own start. None where the tokens of ``left`` do not stay apart from the text's.
        """
        before = self.encode(left)
        results = self._offsets.encode_batch([left + text for text in texts], add_special_tokens=False)
        return [_behind(before, left, text, item) for text, item in zip(texts, results, strict=True)]

    @cached_property
    def _offsets(self) -> Any:
        """The backend without post-processor: some of those trim blanks from the offsets, none changes the ids."""
        from tokenizers import Tokenizer as Backend

        backend = Backend.from_str(self.backend.to_str())
        backend.post_processor = None
        return backend

    def render_chat(self, content: str, system: str | None = None) -> str:
        """The text of a conversation's first turn, up to where the assistant answers.

        Raises:
            InputError: there is no template, or it refuses these messages.
        """
        if self.fast is None or not self.fast.chat_template:
            raise InputError(
                f"{self.name} has no chat template",
                field="prompt.format",
                remedy="write format: completion, or add chat_template.jinja to the tokenizer's folder.",
                stage="probe_tokenizer",
            )
        messages = chat_messages(content, system)
        try:
            return str(self.fast.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        except Exception as error:  # templates raise what they like
            raise InputError(
                f"the chat template of {self.name} refuses the messages: {str(error)[:200]}",
                field="prompt.system" if system is not None else "prompt.format",
                remedy="leave out prompt.system if the template knows no system role, or write format: completion.",
                stage="probe_tokenizer",
            ) from None


def chat_messages(content: str, system: str | None = None) -> list[dict[str, str]]:
    """The messages that a chat request carries."""
    before = [] if system is None else [{"role": "system", "content": system}]
    return [*before, {"role": "user", "content": content}]


def _behind(before: list[int], left: str, text: str, item: Any) -> Encoded | None:
    ids, skip = item.ids, len(before)
    if ids[:skip] != before:
        return None
    ends = np.array([end for _, end in item.offsets[skip:]], dtype=np.int64) - len(left)
    if not text.isascii():  # offsets count characters
        widths = np.array([len(char.encode()) for char in text], dtype=np.int64)
        ends = np.concatenate(([0], np.cumsum(widths)))[np.maximum(ends, 0)]
    if len(ends) and (ends[0] <= 0 or (np.diff(ends) < 0).any()):
        return None
    return Encoded(np.array(ids[skip:], dtype=np.int32), ends)


def load_tokenizer(config: TokenizerConfig | None) -> Tokenizer:
    """Load by folder or hub name; None is the embedded one.

    Raises:
        InputError: the folder is missing or holds no usable tokenizer.
        EnvironmentFailure: a hub name that cannot be reached.
    """
    config = config or TokenizerConfig(path=EMBEDDED)
    embedded = config.path == EMBEDDED
    where = str(EMBEDDED_FOLDER) if embedded else str(Path(config.path).expanduser())
    local = Path(where).is_dir()
    if not local and (config.path.startswith((".", "/", "~")) or where.count("/") > 1):
        raise InputError(
            f"the folder {config.path} does not exist",
            field="tokenizer.path",
            remedy="name a folder with tokenizer.json, or a hub name.",
        )
    fast = _load(config, where, local)
    backend = getattr(fast, "backend_tokenizer", None)
    if backend is None:
        raise InputError(
            f"{config.path} is a slow (pure Python) tokenizer, which gives no offsets",
            field="tokenizer.path",
            remedy="name a folder with a tokenizer.json.",
        )
    backend.no_padding()
    backend.no_truncation()
    special = {int(i) for i, token in fast.added_tokens_decoder.items() if token.special} | set(fast.all_special_ids)
    texts = tuple(sorted(str(t) for t in fast.added_tokens_decoder.values() if t.special))
    name = EMBEDDED if embedded else (Path(where).resolve().name if local else config.path)
    return Tokenizer(backend, name, frozenset(special), texts, fast)


def _load(config: TokenizerConfig, where: str, local: bool) -> Any:
    quiet_hub()
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(
            where, revision=config.revision, trust_remote_code=config.trust_remote_code, local_files_only=local
        )
    except Exception as error:  # transformers raises many kinds for one cause
        reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        kind = InputError if local else EnvironmentFailure
        if not local:
            unreached = "couldn't connect" in reason or "offline" in reason.lower()
            answer = "the hub cannot be reached" if unreached else f"the hub says: {reason}"
            reason = f"there is no such folder, and {answer}"
        raise kind(
            f"cannot load the tokenizer {config.path}: {reason}",
            field="tokenizer.path",
            remedy=_missing_package(Path(where))
            if local
            else "check the hub's name and the network, or name a folder.",
        ) from None


def _missing_package(folder: Path) -> str:
    """Remedy for a folder that does not load; some formats need packages of their own, which few users need."""
    if not (folder / "tokenizer.json").is_file():
        for file, packages in (
            ("tokenizer.model", ("sentencepiece", "protobuf")),
            ("tekken.json", ("mistral-common",)),
        ):
            if (folder / file).is_file():
                return f"{file} alone needs the package {' and '.join(packages)}: install it, or add a tokenizer.json."
    return "name a folder that holds tokenizer.json and tokenizer_config.json."
