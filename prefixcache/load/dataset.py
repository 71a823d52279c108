"""Reading a dataset directory in order to run it: the plan in memory, the prompts on disk until they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import orjson

from prefixcache.dataset.manifest import order_digest
from prefixcache.dataset.stored import check_prompts_are_here, has_file, rows_with_ids, sent_lines
from prefixcache.errors import InputError
from prefixcache.files import json_place, read_json, read_jsonl
from prefixcache.load.proof import broken, check_claims, check_files, check_sums, check_verdict, no_dataset
from prefixcache.load.sending.gate import GATINGS, Gating, Item
from prefixcache.load.sending.prompts import Prompt, PromptFile
from prefixcache.schemas.passes import PASSES_OF_MODE

REORDER = (
    "Restore the files, and write another send order with `prefixcache reorder --dataset D --order X --output E`, "
    "which simulates and proves it again."
)
EDITED = f"Edited data makes the plan untrue: generate the dataset again. For another send order: {REORDER}"
REQUIRED = (
    "dataset_id",
    "block_size",
    "execution_mode",
    "tokenizer",
    "request_count",
    "order_digest",
    "files",
    "dataset_digest",
)


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
    def planned_requests(self) -> int:
        """Requests of the dataset, whatever limit the run has."""
        return int(self.manifest["request_count"])

    @property
    def block_size(self) -> int:
        return int(self.manifest["block_size"])

    @property
    def mode(self) -> str:
        return str(self.manifest["execution_mode"])

    @property
    def planned_blocks(self) -> int | None:
        """Blocks of each cache that the hits were planned for; None: caches that never evict."""
        planning = self._part("planning")
        return int(planning["num_blocks"]) if planning.get("assume") == "capacity" else None

    @property
    def passes(self) -> tuple[str, ...]:
        """Measured passes in the order they run."""
        return _passes(self.manifest)

    def prepared_by(self, name: str) -> Literal["nothing", "warmup", "replay"]:
        """What is sent unmeasured before a pass: nothing, one warmup prompt per lane, or the whole set."""
        if self.mode == "replay":
            return "replay"
        return "warmup" if name == "hot" else "nothing"

    @property
    def head(self) -> int:
        """K, whole hit units of the tokens with which every request begins (BOS, template head)."""
        return len(self._part("tokenizer").get("head") or ()) // self.hit_unit * self.hit_unit

    @property
    def hit_unit(self) -> int:
        return int(self.manifest.get("hit_unit") or self.block_size)

    @property
    def valid_hit_units(self) -> frozenset[int]:
        """Server block sizes at which the design holds; the planned one is always among them."""
        return frozenset((*(self.manifest.get("valid_hit_units") or ()), self.block_size, self.hit_unit))

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
    def chat(self) -> bool:
        """Prompts are conversations for the chat route."""
        return self._prompt_part.get("format") == "chat"

    @property
    def has_text(self) -> bool:
        """False where the tokenizer allows no exact text, so that prompts are token ids only."""
        return self._prompt_part.get("form") != "ids" and self.manifest.get("prompt_form") != "ids"

    @property
    def without_texts(self) -> bool:
        """Texts were left out on request (``output.prompts: ids``), not because there are no exact ones."""
        output = self._part("config").get("output")
        return isinstance(output, dict) and output.get("prompts") == "ids"

    @property
    def embedded_tokenizer(self) -> bool:
        return bool(self._part("tokenizer").get("embedded"))

    def designed(self, name: str) -> dict[str, Any]:
        """The manifest's figures of a pass."""
        found = [p for p in self.manifest.get("passes") or [] if p.get("name") == name]
        return dict(found[0]) if found else {}

    def first(self, limit: int | None) -> RunDataset:
        """The same dataset up to the first ``limit`` requests of the send order; their designed hits stay true."""
        return self if limit is None else replace(self, requests=self.requests[:limit])

    def with_contents_of(self, other: RunDataset) -> RunDataset:
        """The same plan (and request ids) with another dataset's prompts, row by row."""
        return replace(self, prompts=other.prompts, warmup_prompts=other.warmup_prompts)

    def prompt(self, planned: Planned, warmup: bool = False) -> Prompt:
        """Read a prompt from disk. What a replay sends before it measures is the set itself."""
        file = self.warmup_prompts if warmup and self.mode != "replay" else self.prompts
        assert file is not None
        prompt = file.read(planned.row)
        if self.chat and prompt.messages is None and prompt.text is not None:
            return replace(prompt, messages=self._conversation(prompt.text))
        return prompt

    def _conversation(self, text: str) -> list[dict[str, str]]:
        """The text is the user's message; a common system message goes before it."""
        system = self._prompt_part.get("system")
        opening = [{"role": "system", "content": str(system)}] if system else []
        return [*opening, {"role": "user", "content": text}]

    @property
    def _prompt_part(self) -> dict[str, Any]:
        config = self._part("config").get("prompt")
        return self._part("prompt") or (config if isinstance(config, dict) else {})

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
        VerdictError: its certificate does not hold, it failed, or its generation did.
    """
    manifest = _manifest(directory)
    check_prompts_are_here(directory, field="dataset", stage="run_benchmark")
    rows = _rows(directory, "request_metadata.jsonl", manifest)
    _check_order(rows, manifest)
    check_files(directory, manifest, EDITED)
    check_verdict(directory, manifest)
    check_claims(directory, manifest)
    names = _passes(manifest)
    requests = _plan(directory, "request_metadata.jsonl", rows, names)
    check_sums(directory, manifest, requests)
    prompts = _prompts(directory, manifest, "data.jsonl", requests)
    warmup: tuple[Planned, ...] = ()
    warmup_prompts = None
    if "hot" in names and manifest["execution_mode"] != "replay":
        warm = [_warmup_row(row, n) for n, row in enumerate(_warmup_rows(directory, manifest))]
        warmup = _plan(directory, "warmup.jsonl", warm, ())
        warmup_prompts = _prompts(directory, manifest, "warmup.jsonl", warmup)
    return RunDataset(directory, manifest, requests, warmup, prompts, warmup_prompts)


def _manifest(directory: Path) -> dict[str, Any]:
    if not (directory / "manifest.json").is_file():
        raise no_dataset(directory)
    try:
        manifest = read_json(directory / "manifest.json")
    except orjson.JSONDecodeError as error:
        raise broken(directory, f"manifest.json is not JSON in {json_place(error)}") from None
    if not isinstance(manifest, dict):
        raise broken(directory, "manifest.json is not a JSON object")
    missing = [k for k in REQUIRED if manifest.get(k) is None]
    if missing:
        raise broken(directory, f"manifest.json lacks {', '.join(missing)}")
    if manifest["execution_mode"] not in (*PASSES_OF_MODE,):  # it may be of any kind
        raise InputError(
            f"the execution mode {manifest['execution_mode']!r} cannot be run",
            field="execution.mode",
            remedy=f"Generate the dataset for one of {', '.join(PASSES_OF_MODE)}.",
            dataset_id=str(manifest["dataset_id"]),
        )
    execution = manifest.get("execution")
    gating = execution.get("gating") if isinstance(execution, dict) else None
    if gating is not None and gating not in GATINGS:
        raise broken(directory, f"manifest.json names the gating {gating!r}, known are {', '.join(GATINGS)}")
    return cast(dict[str, Any], manifest)


def _passes(manifest: dict[str, Any]) -> tuple[str, ...]:
    mode = str(manifest["execution_mode"])
    stated = tuple(str(p.get("name")) for p in manifest.get("passes") or ())
    return stated if mode == "replay" and len(stated) == 1 else PASSES_OF_MODE[mode]


def _rows(directory: Path, name: str, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a file; of one that cannot be read it is said first that it was changed, if it was."""
    try:
        rows = list(read_jsonl(_existing(directory, name)))
    except ValueError:  # cut off, or no text at all
        rows = [None]
    if not all(isinstance(row, dict) and isinstance(row.get("request_id"), str) for row in rows):
        check_files(directory, manifest, EDITED)
        raise broken(directory, f"{name} has lines that are no requests")
    return rows


def _plan(directory: Path, name: str, rows: Sequence[dict[str, Any]], passes: Sequence[str]) -> tuple[Planned, ...]:
    planned: list[Planned] = []
    for n, row in enumerate(rows):
        try:
            planned.append(_planned(n, row, passes))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise broken(directory, f"row {n + 1} of {name} is not that of a plan") from None
    return tuple(planned)


def _check_order(rows: Sequence[dict[str, Any]], manifest: dict[str, Any]) -> None:
    """The order of the files is the order of the report (RFC 3.3.9): another order is another dataset."""
    if order_digest(str(row["request_id"]) for row in rows) != manifest["order_digest"]:
        raise InputError(
            "the requests stand in another order than the one that was simulated and validated (order_digest differs), "
            "so the designed hit ratio is not this order's",
            field="order_digest",
            remedy=REORDER,
            stage="run_benchmark",
            dataset_id=str(manifest["dataset_id"]),
        )


def _existing(directory: Path, name: str) -> Path:
    path = directory / name
    if not path.is_file():
        raise broken(directory, f"{name} is missing")
    return path


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


def _warmup_rows(directory: Path, manifest: dict[str, Any]) -> list[dict[str, Any]]:
    if has_file(manifest, "warmup.jsonl"):
        return _rows(directory, "warmup.jsonl", manifest)
    return list(rows_with_ids(directory, manifest, "warmup.jsonl"))


def _prompts(directory: Path, manifest: dict[str, Any], name: str, planned: Sequence[Planned]) -> PromptFile:
    """Index a prompt file, or what the shards hold instead, and check that its rows are the plan's, in their order."""
    if has_file(manifest, name):
        file = PromptFile(_existing(directory, name))
    else:
        file = PromptFile(directory / name, sent_lines(directory, manifest, name))
    count = 0
    for count, line in enumerate(file.scan(), 1):
        if count > len(planned):
            break
        expected = planned[count - 1].request_id
        # Parsing each line would take minutes for large sets; the id is normally the first key.
        if not line.startswith(b'{"request_id":' + orjson.dumps(expected)) and _request_id(line) != expected:
            raise broken(directory, f"row {count} of {name} is not request {expected!r} of the plan")
    if count != len(planned):
        raise broken(directory, f"{name} has {count} rows, the plan {len(planned)}")
    return file


def _request_id(line: bytes) -> str | None:
    try:
        return str(orjson.loads(line)["request_id"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
