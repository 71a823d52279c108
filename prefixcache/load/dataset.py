"""Reading a dataset directory in order to run it: the plan in memory, the prompts on disk until they are sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import orjson

from prefixcache.errors import InputError
from prefixcache.files import read_json, read_jsonl, sha256_file
from prefixcache.load.gate import GATINGS, Gating, Item

PASSES = {
    "progressive_prefix_fill": ("cold",),
    "cold": ("cold",),
    "warmup": ("hot",),
    "hot": ("hot",),
    "compare": ("cold", "hot"),
}


@dataclass(frozen=True, slots=True)
class Planned:
    """One request (or warmup prompt) of the plan; lengths in tokens.

    ``row`` is its line in the prompt file. ``hits`` are the designed hits by pass name.
    """

    row: int
    request_id: str
    group: str
    order_index: int
    input_len: int
    output_len: int
    prefix: int
    domain: int
    route: int | None
    hits: dict[str, int] = field(default_factory=dict)

    @property
    def item(self) -> Item:
        return Item(self.domain, self.group, self.prefix)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: text, token ids (None if the dataset has none), tokens to generate."""

    text: str
    ids: Sequence[int] | None
    max_tokens: int


class PromptFile:
    """Random access to the prompts of a JSONL file: only line offsets are held in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offsets = [0]
        self._file: int | None = None

    def scan(self) -> Iterator[bytes]:
        """Every line once, remembering where it stands."""
        with open(self.path, "rb") as file:
            for line in file:
                if line.strip():
                    yield line
                    self._offsets.append(self._offsets[-1] + len(line))
                else:
                    raise InputError(f"{self.path.name} has an empty line", field="dataset", remedy=REGENERATE)

    def read(self, row: int) -> Prompt:
        if self._file is None:
            self._file = os.open(self.path, os.O_RDONLY)
        start, end = self._offsets[row], self._offsets[row + 1]
        data = orjson.loads(os.pread(self._file, end - start, start))
        return Prompt(data["prompt"], data.get("prompt_token_ids"), data["max_tokens"])

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


REGENERATE = "Generate the dataset again, or give the directory that `prefixcache generate` wrote."


@dataclass(frozen=True, slots=True)
class RunDataset:
    """A dataset ready to run; requests in send order."""

    directory: Path
    manifest: dict[str, Any]
    requests: tuple[Planned, ...]
    warmup: tuple[Planned, ...]
    prompts: PromptFile
    warmup_prompts: PromptFile | None

    @property
    def dataset_id(self) -> str:
        return str(self.manifest["dataset_id"])

    @property
    def block_size(self) -> int:
        return int(self.manifest["block_size"])

    @property
    def mode(self) -> str:
        return str(self.manifest["execution_mode"])

    @property
    def passes(self) -> tuple[str, ...]:
        return PASSES[self.mode]

    @property
    def head(self) -> int:
        """K, whole hit units of the tokens with which every request begins (BOS, template head)."""
        return len(self._part("tokenizer").get("head") or ()) // self.hit_unit * self.hit_unit

    @property
    def hit_unit(self) -> int:
        return int(self.manifest.get("hit_unit") or self.block_size)

    @property
    def domains(self) -> int:
        """Cache domains of the plan, used or not."""
        used = max((r.domain for r in self.requests), default=0) + 1
        routing = self._part("routing")
        planned = int(routing.get("cache_domains") or routing.get("dp_size") or 1)
        return used if self.cache_scope == "global" else max(used, planned)

    @property
    def cache_scope(self) -> str:
        return str(self._part("routing").get("cache_scope") or "global")

    @property
    def concurrency(self) -> int:
        return int(self._part("execution").get("concurrency") or 1)

    @property
    def gating(self) -> Gating:
        return cast(Gating, self._part("execution").get("gating") or "watermark")

    @property
    def warmup_rounds(self) -> int:
        return int(self._part("execution").get("warmup_rounds") or 1)

    @property
    def tokenizer_name(self) -> str:
        tokenizer = self.manifest.get("tokenizer")
        return str(tokenizer.get("name") if isinstance(tokenizer, dict) else tokenizer)

    @property
    def embedded_tokenizer(self) -> bool:
        return bool(self._part("tokenizer").get("embedded"))

    def designed(self, name: str) -> dict[str, Any]:
        """The manifest's figures of a pass."""
        found = [p for p in self.manifest.get("passes") or [] if p.get("name") == name]
        return dict(found[0]) if found else {}

    def prompt(self, planned: Planned, warmup: bool = False) -> Prompt:
        """Read a prompt from disk."""
        file = self.warmup_prompts if warmup else self.prompts
        assert file is not None
        return file.read(planned.row)

    def close(self) -> None:
        self.prompts.close()
        if self.warmup_prompts is not None:
            self.warmup_prompts.close()

    def _part(self, name: str) -> dict[str, Any]:
        part = self.manifest.get(name)
        return part if isinstance(part, dict) else {}


def load_dataset(directory: Path) -> RunDataset:
    """Read a dataset directory and check that its files are the ones its manifest names.

    Raises:
        InputError: not a dataset, an unknown mode, files changed since they were written, or files that disagree.
    """
    manifest = _manifest(directory)
    for name in ("data.jsonl", "request_metadata.jsonl", "warmup.jsonl"):
        _check_digest(directory, name, manifest)
    names = PASSES[manifest["execution_mode"]]
    rows = list(read_jsonl(_existing(directory, "request_metadata.jsonl")))
    requests = tuple(_planned(n, row, names) for n, row in enumerate(rows))
    prompts = _prompts(directory, "data.jsonl", requests)
    warmup: tuple[Planned, ...] = ()
    warmup_prompts = None
    if "hot" in names:
        path = _existing(directory, "warmup.jsonl")
        warmup = tuple(_planned(n, _warmup_row(row, n), ()) for n, row in enumerate(read_jsonl(path)))
        warmup_prompts = _prompts(directory, "warmup.jsonl", warmup)
    if not requests:
        raise _broken(directory, "request_metadata.jsonl has no request")
    return RunDataset(directory, manifest, requests, warmup, prompts, warmup_prompts)


def _manifest(directory: Path) -> dict[str, Any]:
    try:
        manifest = read_json(_existing(directory, "manifest.json"))
    except orjson.JSONDecodeError:
        raise _broken(directory, "manifest.json is not JSON") from None
    missing = [k for k in ("dataset_id", "block_size", "execution_mode") if k not in manifest]
    if missing:
        raise _broken(directory, f"manifest.json lacks {', '.join(missing)}")
    if manifest["execution_mode"] not in PASSES:
        raise InputError(
            f"the execution mode {manifest['execution_mode']!r} cannot be run",
            field="execution.mode",
            remedy=f"Generate the dataset for one of {', '.join(PASSES)}.",
            dataset_id=str(manifest["dataset_id"]),
        )
    gating = (manifest.get("execution") or {}).get("gating")
    if gating is not None and gating not in GATINGS:
        raise _broken(directory, f"manifest.json names the gating {gating!r}, known are {', '.join(GATINGS)}")
    return cast(dict[str, Any], manifest)


def _existing(directory: Path, name: str) -> Path:
    path = directory / name
    if not path.is_file():
        raise _broken(directory, f"{name} is missing")
    return path


def _broken(directory: Path, what: str) -> InputError:
    return InputError(f"{directory} is not a complete dataset: {what}", field="dataset", remedy=REGENERATE)


def _check_digest(directory: Path, name: str, manifest: dict[str, Any]) -> None:
    entry = (manifest.get("files") or {}).get(name)
    path = directory / name
    if entry and path.is_file() and entry.get("sha256") != sha256_file(path):
        raise InputError(
            f"{name} was changed after the dataset was written (its sha256 differs from the manifest's)",
            field="dataset",
            remedy="Re-ordered or edited data makes the plan untrue: generate the dataset again.",
            dataset_id=str(manifest["dataset_id"]),
        )


def _planned(n: int, row: dict[str, Any], passes: Sequence[str]) -> Planned:
    hits = {}
    for name in passes:
        value = row.get(f"expected_hit_len_{name}")
        value = row.get("expected_hit_len") if value is None else value
        if value is not None:
            hits[name] = int(value)
    return Planned(
        row=n,
        request_id=str(row["request_id"]),
        group=str(row["prefix_group_id"]),
        order_index=int(row["order_index"]),
        input_len=int(row["input_len"]),
        output_len=int(row["output_len"]),
        prefix=int(row["planned_prefix_len"]),
        domain=int(row.get("planned_dp_id") or 0),
        route=row.get("planned_route"),
        hits=hits,
    )


def _warmup_row(row: dict[str, Any], n: int) -> dict[str, Any]:
    return {**row, "order_index": n, "output_len": row.get("max_tokens", 1)}


def _prompts(directory: Path, name: str, planned: Sequence[Planned]) -> PromptFile:
    """Index a prompt file and check that its rows are the plan's, in the plan's order."""
    file = PromptFile(_existing(directory, name))
    count = 0
    for count, line in enumerate(file.scan(), 1):
        if count > len(planned):
            break
        expected = planned[count - 1].request_id
        # Parsing each line would take minutes for large sets; the id is normally the first key.
        if not line.startswith(b'{"request_id":' + orjson.dumps(expected)) and _request_id(line) != expected:
            raise _broken(directory, f"row {count} of {name} is not request {expected!r} of the plan")
    if count != len(planned):
        raise _broken(directory, f"{name} has {count} rows, the plan {len(planned)}")
    return file


def _request_id(line: bytes) -> str | None:
    try:
        return str(orjson.loads(line)["request_id"])
    except (orjson.JSONDecodeError, KeyError):
        return None
