"""A first configuration: few answers in, a commented YAML file out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

import orjson
import yaml

from prefixcache.config.base import MOST_TOKENS
from prefixcache.config.dataset import PrefixCacheDatasetConfig
from prefixcache.config.execution import Mode
from prefixcache.config.load import TOP_KEY, parse_config
from prefixcache.errors import InputError
from prefixcache.help.entries import words_of
from prefixcache.help.messages import say
from prefixcache.help.words import Language

MODES: tuple[str, ...] = tuple(get_args(Mode))
WITHOUT_TARGET = "replay"
MOST_NAMED_GROUPS = 8
"""Up to here groups are listed, so that names and weights can be edited; beyond, their number is written."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What `init` asks. ``length``: tokens, from and to; equal for fixed lengths. ``url``: without credentials."""

    tokenizer: str = "embedded"
    url: str | None = None
    requests: int = 1000
    length: tuple[int, int] = (1024, 8192)
    target: Decimal = Decimal("0.5")
    groups: int = 1
    mode: str = "progressive_prefix_fill"
    block_size: int = 16


def read_length(text: str) -> tuple[int, int]:
    """``4096`` or ``1024..8192``.

    Raises:
        InputError: neither of these.
    """
    found = re.fullmatch(r"\s*(\d+)\s*(?:(?:\.\.|-|–|~)\s*(\d+))?\s*", text)
    low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= low <= high <= MOST_TOKENS:
        raise InputError(
            f"{text!r} is no length", field="--length", remedy="write one number such as 4096, or 1024..8192."
        )
    return low, high


def read_target(text: str) -> Decimal:
    """A ratio; ``60 %`` is 0.6.

    Raises:
        InputError: not a number from 0 to 1.
    """
    try:
        ratio = Decimal(text.replace("%", "").strip()) / (100 if "%" in text else 1)
    except InvalidOperation:
        ratio = Decimal(-1)
    if not (ratio.is_finite() and 0 <= ratio <= 1):
        raise InputError(f"{text!r} is no ratio", field="--target", remedy="write a number from 0 to 1, such as 0.5.")
    return ratio


def read_count(text: str, flag: str) -> int:
    """A whole number from 1.

    Raises:
        InputError: anything else.
    """
    digits = text.replace(",", "").replace("_", "").strip()
    if not re.fullmatch(r"\d{1,9}", digits) or int(digits) < 1:
        raise InputError(f"{text!r} is not allowed", field=flag, remedy="write a whole number of at least 1.")
    return int(digits)


def read_mode(text: str) -> str:
    """An execution mode.

    Raises:
        InputError: an unknown one.
    """
    if text.strip() not in MODES:
        raise InputError(f"{text!r} is no mode", field="--mode", remedy=f"write one of: {', '.join(MODES)}.")
    return text.strip()


def starter_config(answers: Answers, dataset_id: str) -> PrefixCacheDatasetConfig:
    """The configuration that ``starter_yaml`` writes, checked.

    Raises:
        InputError: answers that do not go together.
    """
    return parse_config(_tree(answers, dataset_id))


def starter_yaml(answers: Answers, dataset_id: str, path: Path, language: Language) -> str:
    """The file's text: every key with one line that explains it, and what to do next."""
    lines = [f"# {say('init.header', language)}", f"# {say('init.header_next', language)}"]
    lines += [f"#   {' '.join(command.splitlines())}" for command in next_commands(answers, dataset_id, path)]
    lines += [f"{TOP_KEY}:", *_block(_tree(answers, dataset_id), "", 1, language)]
    return "\n".join(lines) + "\n"


def next_commands(answers: Answers, dataset_id: str, path: Path) -> list[str]:
    """The commands that lead from the file to a report."""
    file, data = shlex.quote(str(path)), shlex.quote(dataset_id)
    url = answers.url or ("http://127.0.0.1:8000" if answers.tokenizer == "embedded" else "http://HOST:PORT")
    commands = [f"prefixcache plan --config {file}", f"prefixcache generate --config {file} --output {data}"]
    if answers.url is None and answers.tokenizer == "embedded":
        commands.append(f"prefixcache serve --port 8000 --block-size {answers.block_size}")
    return [*commands, f"prefixcache run --dataset {data} --url {shlex.quote(url)}"]


def _tree(answers: Answers, dataset_id: str) -> dict[str, Any]:
    """The keys in the order in which they are written."""
    tree: dict[str, Any] = {
        "dataset_id": dataset_id,
        "seed": 0,
        "request_count": answers.requests,
        "block_size": answers.block_size,
        "tokenizer": {"path": answers.tokenizer},
        "input_length": _length(*answers.length),
        "output_length": {"mode": "fixed", "value": 16},
        "target": {"hit_ratio": answers.target},
        "prefix": _groups(answers.groups),
        "suffix": {"source": "synthetic"},
        "request_order": {"across_group": "interleave"},
        "execution": {"mode": answers.mode, "concurrency": 1, "gating": "watermark"},
        "validation": {"on_failure": "error"},
    }
    if answers.mode == WITHOUT_TARGET:
        del tree["target"]
    return tree


def _length(low: int, high: int) -> dict[str, Any]:
    """Fixed, or normal around the middle with three standard deviations to each end."""
    if low == high:
        return {"mode": "fixed", "value": low}
    std = max((high - low) // 6, 1)
    return {"mode": "truncated_normal", "min": low, "max": high, "mean": (low + high) // 2, "std": std}


def _groups(count: int) -> dict[str, Any]:
    if count == 1:
        return {"mode": "single_prefix"}
    if count > MOST_NAMED_GROUPS:
        return {"mode": "multi_prefix", "group_count": count}
    return {
        "mode": "multi_prefix",
        "groups": [{"id": f"group_{number}", "request_weight": 1} for number in range(count)],
    }


def _block(tree: dict[str, Any], above: str, depth: int, language: Language) -> Iterator[str]:
    indent = "  " * depth
    for key, value in tree.items():
        path = f"{above}{key}"
        yield f"{indent}# {words_of(path).text(language)}"
        if isinstance(value, dict):
            yield f"{indent}{key}:"
            yield from _block(value, f"{path}.", depth + 1, language)
        elif isinstance(value, list):
            yield f"{indent}{key}:"
            for name in value[0]:
                yield f"{indent}  # {name}: {words_of(f'{path}[].{name}').text(language)}"
            for entry in value:
                yield f"{indent}  - {{{', '.join(f'{k}: {_scalar(v)}' for k, v in entry.items())}}}"
        else:
            yield f"{indent}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """A value as YAML that reads back as the same value."""
    if not isinstance(value, str):
        return str(value)
    plain = re.fullmatch(r"[A-Za-z0-9_./~-]+", value) and yaml.safe_load(value) == value
    return value if plain else orjson.dumps(value).decode()
