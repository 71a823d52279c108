"""A faster tokenizer for full audits, where one is installed and proves equal to the reference at load.

gigatoken encodes two orders of magnitude faster than the tokenizers library. It is never a silent change of result: it
must give the reference's ids for strings chosen to be hard and for prompts of the dataset itself, else it is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGE = "gigatoken"
Encode = Callable[[list[str]], list[list[int]]]
Arrays = list[NDArray[np.int64]]
FastEncode = Callable[[list[str]], Arrays]
HARD = (
    "",
    " ",
    "\n\n \t x\r\n",
    "It's we'LL they've I'd 'tis don't",
    "0 00 000 1234567890 3.14159 1,000,000",
    "naïve café Ünïcödé ﬁ ½ ²",
    "中文、日本語 한국어 ไทย العربية हिन्दी",
    "👍🏽 👨‍👩‍👧‍👦 🇫🇷 ✈️",
    "a" * 300 + " " * 300 + "!" * 300,
    "def f(x):\n    return {'a': [1, 2], \"b\": x**2}  # ok\n",
    "https://example.org/a?b=c&d=%20 user@example.org",
    "\u200b\u00a0\u3000 zero width",
    "<|endoftext|> <s> [INST] </s> <|im_start|>",
)


def fast_encoder(
    tokenizer_json: str, reference: Encode, samples: Sequence[str]
) -> Callable[[list[str]], Arrays] | None:
    """The accelerator, or None if it is not installed, cannot load this tokenizer, or differs anywhere.

    Args:
        tokenizer_json: the tokenizer, as its own library writes it.
        reference: texts to the ids they must give.
        samples: texts of the kind that is to be encoded.
    """
    if find_spec(PACKAGE) is None:
        return None
    try:
        encode = _encoder(tokenizer_json)
        texts = [*HARD, *samples]
        same = all(
            np.array_equal(own, np.array(ids, dtype=np.int64))
            for own, ids in zip(encode(texts), reference(texts), strict=True)
        )
    except Exception:  # a tokenizer it does not know; whatever it says, the reference is there
        return None
    return encode if same else None


def _encoder(tokenizer_json: str) -> FastEncode:
    import awkward  # comes with it
    import gigatoken

    backend: Any = gigatoken.Tokenizer.from_json(tokenizer_json)

    def encode(texts: list[str]) -> Arrays:
        rows = backend.encode_batch(texts)
        flat, counts = awkward.flatten(rows).to_numpy(), awkward.num(rows).to_numpy()
        return np.split(flat.astype(np.int64), np.cumsum(counts)[:-1])

    return encode
