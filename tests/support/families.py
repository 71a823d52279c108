"""Small tokenizers of the families that servers use, trained here on synthetic problems in a moment.

Folders are made once per user and reused.
"""

from __future__ import annotations

import json
import shutil
import string
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from prefixcache.content.synthetic import COMMON_WORDS, samples

CACHE = Path(tempfile.gettempdir()) / "prefixcache-test-families-1"
SIZE = 3000
# Digits in groups of three, as Llama 3 and tekken have them.
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEKKEN_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
INST_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + ' [/INST]' }}"
    "{% else %}{{ m['content'] + '\n' }}{% endif %}{% endfor %}"
)
TRIMMING_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|head|>{{ m['role'] }}<|end|>\n\n{{ m['content'] | trim }}<|eot|>"
    "{% endfor %}{% if add_generation_prompt %}<|head|>assistant<|end|>\n\n{% endif %}"
)
PLAIN_TEMPLATE = "{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}{{ 'assistant:' }}"


@cache
def _texts() -> tuple[str, ...]:
    rare = "".join(string.printable.split()) + "é€三支笔👍"
    return (*samples(3000, seed=77), " ".join(COMMON_WORDS), *(f" {char}" for char in rare))


def _train(tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    tokenizer.train_from_iterator(_texts(), trainer)
    return tokenizer


def _byte_level(pattern: str | None, special: list[str], *, prefix_space: bool = False, **model: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(**model))
    if pattern is None:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    else:
        split = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [split, pre_tokenizers.ByteLevel(add_prefix_space=prefix_space, use_regex=False)]
        )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    return _train(tokenizer, trainer)


def _with_bos(tokenizer: Tokenizer, bos: str, eos: str | None = None) -> Tokenizer:
    tokens = [(bos, tokenizer.token_to_id(bos)), *([(eos, tokenizer.token_to_id(eos))] if eos else [])]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}" if eos else f"{bos} $A", special_tokens=tokens
    )
    return tokenizer


def llama3() -> tuple[Tokenizer, dict[str, Any]]:
    """Byte-level BPE, digit groups, whole words taken as they are, BOS by a template post-processor."""
    special = ["<|begin|>", "<|head|>", "<|end|>", "<|eot|>"]
    tokenizer = _with_bos(_byte_level(LLAMA3_PATTERN, special, ignore_merges=True), "<|begin|>")
    return tokenizer, {"bos_token": "<|begin|>", "eos_token": "<|eot|>", "chat_template": TRIMMING_TEMPLATE}


def tekken() -> tuple[Tokenizer, dict[str, Any]]:
    special = ["<s>", "</s>", "[INST]", "[/INST]"]
    tokenizer = _with_bos(_byte_level(TEKKEN_PATTERN, special, ignore_merges=True), "<s>")
    template = INST_TEMPLATE.replace("'[INST] '", "'[INST]'").replace("' [/INST]'", "'[/INST]'")
    return tokenizer, {"bos_token": "<s>", "eos_token": "</s>", "chat_template": template}


def roberta() -> tuple[Tokenizer, dict[str, Any]]:
    """Byte-level BPE that puts a blank before every text, trims offsets, adds BOS and EOS."""
    tokenizer = _byte_level(None, ["<s>", "</s>", "<unk>"], prefix_space=True)
    ends = {name: (name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")}
    tokenizer.post_processor = processors.RobertaProcessing(ends["</s>"], ends["<s>"], trim_offsets=True)
    return tokenizer, {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}


def llama2() -> tuple[Tokenizer, dict[str, Any]]:
    """SentencePiece-like BPE over whole texts: dummy prefix by the normaliser, byte fallback, BOS, a plain template."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    special = ["<unk>", "<s>", "</s>"]
    # Trained word by word, so that no token goes over a blank, as SentencePiece does; used without splitting.
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("(?=▁)|\n+"), behavior="isolated")
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=special, show_progress=False, max_token_length=16, limit_alphabet=120
    )
    trained = _train(tokenizer, trainer)
    state = json.loads(trained.to_str())
    vocabulary = state["model"]["vocab"]
    for token in fallback:
        vocabulary.setdefault(token, len(vocabulary))
    state["pre_tokenizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return _with_bos(tokenizer, "<s>"), {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "chat_template": INST_TEMPLATE,
    }


def metaspace() -> tuple[Tokenizer, dict[str, Any]]:
    """SentencePiece-like Unigram with Metaspace and a harmless added token, as Gemma and Mistral have them."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="first")
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZE, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>", show_progress=False
    )
    trained = _train(tokenizer, trainer)
    trained.add_tokens([AddedToken("pencil case", special=False, normalized=False)])
    return _with_bos(trained, "<s>"), {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "chat_template": PLAIN_TEMPLATE,
    }


def t5() -> tuple[Tokenizer, dict[str, Any]]:
    """Unigram behind NFKC and squeezed blanks: newlines are lost, decoding is lossy, EOS at the end."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip(left=False, right=True)]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZE, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    trained = _train(tokenizer, trainer)
    trained.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", trained.token_to_id("</s>"))]
    )
    return trained, {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}


def bert() -> tuple[Tokenizer, dict[str, Any]]:
    """WordPiece that lowers case and strips accents, with CLS and SEP."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=SIZE, special_tokens=special, show_progress=False)
    return _with_bos(_train(tokenizer, trainer), "[CLS]", "[SEP]"), {
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "mask_token": "[MASK]",
    }


def superwords() -> tuple[Tokenizer, dict[str, Any]]:
    """Byte-level BPE without pre-tokenization: tokens go over blanks, so that the seam rules do not hold."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=SIZE, initial_alphabet=alphabet, show_progress=False)
    short = [text[at : at + 60] for text in _texts()[:600] for at in range(0, len(text), 60)]
    tokenizer.train_from_iterator([*short, *(f" {word}" for word in COMMON_WORDS)], trainer)
    return tokenizer, {}


def lookahead() -> tuple[Tokenizer, dict[str, Any]]:
    """Llama 3's, with a normaliser that changes a full stop before a sentence: cutting there changes tokens."""
    tokenizer, settings = llama3()
    tokenizer.normalizer = normalizers.Replace(Regex(r"\.(?= [A-Z])"), "!")
    return tokenizer, settings


def characters() -> tuple[Tokenizer, dict[str, Any]]:
    """One token a character: there are no words to keep apart."""
    vocabulary = {char: i for i, char in enumerate(sorted({*string.printable, *"".join(_texts())}))}
    vocabulary["<unk>"] = len(vocabulary)
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), behavior="isolated")
    return tokenizer, {"unk_token": "<unk>"}


FAMILIES: dict[str, Callable[[], tuple[Tokenizer, dict[str, Any]]]] = {
    make.__name__: make
    for make in (llama3, tekken, roberta, llama2, metaspace, t5, bert, superwords, lookahead, characters)
}


def family_folder(name: str) -> Path:
    """A folder as transformers loads it."""
    folder = CACHE / name
    if not folder.is_dir():
        from transformers import PreTrainedTokenizerFast

        backend, settings = FAMILIES[name]()
        template = settings.pop("chat_template", None)
        fast = PreTrainedTokenizerFast(tokenizer_object=backend, clean_up_tokenization_spaces=False, **settings)
        fast.chat_template = template
        CACHE.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=CACHE))
        fast.save_pretrained(aside)
        try:
            aside.rename(folder)
        except OSError:  # another test process was quicker
            shutil.rmtree(aside)
    return folder
