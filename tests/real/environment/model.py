"""A tiny Qwen2 with random weights and the real Qwen tokenizer: a prefix cache does not care what a model says.

Written with NumPy alone: a safetensors file is a JSON header and the arrays behind it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.real.environment.venvs import home
from tests.support.tokenizers import qwen_folder

LAYERS, HIDDEN, INNER, HEADS, KV_HEADS = 2, 64, 128, 2, 1
POSITIONS = 32768
KV_BYTES_PER_TOKEN = LAYERS * 2 * KV_HEADS * (HIDDEN // HEADS) * 2
VERSION = 1


def tiny_model() -> Path:
    """The model's folder, made on first use (a second or two) and kept."""
    tokenizer = qwen_folder()
    digest = hashlib.sha256((tokenizer / "tokenizer.json").read_bytes()).hexdigest()[:12]
    folder = home() / f"tiny-qwen2-{VERSION}-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=folder.parent))
        shutil.copytree(tokenizer, aside, dirs_exist_ok=True)
        _write(aside)
        try:
            aside.rename(folder)
        except OSError:  # another process was quicker
            shutil.rmtree(aside)
    return folder


def _write(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    ids = {*tokenizer["model"]["vocab"].values(), *(token["id"] for token in tokenizer["added_tokens"])}
    named = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    vocabulary = -(-(max(ids) + 1) // 128) * 128
    config = {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "dtype": "bfloat16",
        "torch_dtype": "bfloat16",
        "vocab_size": vocabulary,
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "max_position_embeddings": POSITIONS,
        "hidden_act": "silu",
        "initializer_range": 0.02,
        "rms_norm_eps": 1e-6,
        "rope_theta": 10000.0,
        "tie_word_embeddings": True,
        "use_cache": True,
        "bos_token_id": None,
        "eos_token_id": named["<|im_end|>"],
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    _save(folder / "model.safetensors", _weights(vocabulary))


def _weights(vocabulary: int) -> dict[str, NDArray[np.uint16]]:
    """Normal weights, zero biases, norms of one, as the upper halves of float32: bfloat16."""
    random = np.random.default_rng(0)
    width = HIDDEN // HEADS * KV_HEADS
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (vocabulary, HIDDEN)}
    for layer in range(LAYERS):
        name = f"model.layers.{layer}"
        for part, size in (("q", HIDDEN), ("k", width), ("v", width)):
            shapes[f"{name}.self_attn.{part}_proj.weight"] = (size, HIDDEN)
            shapes[f"{name}.self_attn.{part}_proj.bias"] = (size,)
        shapes[f"{name}.self_attn.o_proj.weight"] = (HIDDEN, HIDDEN)
        shapes[f"{name}.mlp.gate_proj.weight"] = shapes[f"{name}.mlp.up_proj.weight"] = (INNER, HIDDEN)
        shapes[f"{name}.mlp.down_proj.weight"] = (HIDDEN, INNER)
        shapes[f"{name}.input_layernorm.weight"] = shapes[f"{name}.post_attention_layernorm.weight"] = (HIDDEN,)
    shapes["model.norm.weight"] = (HIDDEN,)
    weights = {}
    for name, shape in shapes.items():
        if name.endswith("bias"):
            values = np.zeros(shape, dtype=np.float32)
        elif "norm" in name:
            values = np.ones(shape, dtype=np.float32)
        else:
            values = random.normal(scale=0.02, size=shape).astype(np.float32)
        weights[name] = (values.view(np.uint32) >> 16).astype("<u2")
    return weights


def _save(path: Path, weights: dict[str, NDArray[np.uint16]]) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, values in weights.items():
        header[name] = {"dtype": "BF16", "shape": values.shape, "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for values in weights.values():
            file.write(values.tobytes())
