"""Train the embedded tokenizer from the synthetic texts and the word list, and write it where the package reads it.

    python scripts/train_embedded_tokenizer.py            write prefixcache/content/embedded_tokenizer/
    python scripts/train_embedded_tokenizer.py --check    train again, compare byte for byte, exit 1 on a difference

A byte-level BPE with the pre-tokenisation and the chat markup of Qwen2, so that what holds for it at seams holds for
the larger family; small enough to ship. The input is a table of counted words made here, in sorted order: the result
then rests on the counts alone (it was also the same for shuffled input, any thread count and any hash seed).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from prefixcache.content.synthetic import COMMON_WORDS, FILLERS, SENTENCE_SLOTS, samples

FOLDER = Path(__file__).resolve().parent.parent / "prefixcache" / "content" / "embedded_tokenizer"
FILES = ("tokenizer.json", "tokenizer_config.json")

VOCABULARY = 8192
SAMPLES = 4000
SEED = 20
# A word of the list counts as often as a middling word of the samples; a word a sentence is built from must not be
# left out, so it counts as often as a common one.
LIST_WEIGHT = 6
SENTENCE_WEIGHT = 60

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def untrained() -> Tokenizer:
    """The tokenizer's fixed parts: NFC, the Qwen2 split, bytes; no token is ever put in front."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    return tokenizer


def counted_words(tokenizer: Tokenizer) -> Counter[str]:
    """How often each pre-token occurs: in the samples joined as prompts join them, and by the lists' weights."""
    counts: Counter[str] = Counter()
    split = tokenizer.pre_tokenizer.pre_tokenize_str
    for text in samples(SAMPLES, SEED):
        counts.update(piece for piece, _ in split(text + "\n\n"))
    for word in COMMON_WORDS:
        counts[split(" " + word)[0][0]] += LIST_WEIGHT
    for word in sorted({word for slot in (*SENTENCE_SLOTS, FILLERS) for word in slot}):
        counts[split(" " + word)[0][0]] += SENTENCE_WEIGHT
    return counts


def trained() -> Tokenizer:
    tokenizer = untrained()
    counts = counted_words(tokenizer)
    # The pieces are already in the byte alphabet: a bare tokenizer learns from them as they are, one word a line.
    learner = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    learner.train_from_iterator((piece for piece in sorted(counts) for _ in range(counts[piece])), trainer)
    model = json.loads(learner.to_str())["model"]
    merges = [(left, right) for left, right in model["merges"]]
    tokenizer.model = models.BPE(vocab=model["vocab"], merges=merges)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in SPECIALS])
    return tokenizer


def config() -> dict[str, object]:
    return {
        "add_bos_token": False,
        "add_prefix_space": False,
        "bos_token": None,
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": 131072,
        "pad_token": "<|endoftext|>",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": None,
    }


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_bytes(trained().to_str(pretty=False).encode() + b"\n")
    (folder / "tokenizer_config.json").write_bytes(json.dumps(config(), indent=2, sort_keys=True).encode() + b"\n")


def differing() -> list[str]:
    """Names of the shipped files that a new training would write differently."""
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        return [file for file in FILES if (Path(name) / file).read_bytes() != (FOLDER / file).read_bytes()]


def main() -> int:
    parser = argparse.ArgumentParser(description="Train the embedded tokenizer.")
    parser.add_argument("--check", action="store_true", help="compare a new training with the shipped files")
    if not parser.parse_args().check:
        write(FOLDER)
        return 0
    changed = differing()
    print("differs: " + ", ".join(changed) if changed else "identical: " + ", ".join(FILES))
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
