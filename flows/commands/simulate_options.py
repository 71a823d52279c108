"""Flags of `prefixcache simulate`, and which go together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from flows.options import named_file, named_folder, named_place
from prefixcache.errors import InputError

MOST = 1 << 24
TRACE, DATASET, RECORD = "a trace", "a dataset", "a recorded run"
PLACES = "--trace, --dataset"
OF_TRACE = ("--count-partial", "--seed")
OF_SERVER = ("--max-num-batched-tokens", "--max-num-seqs", "--long-prefill-token-threshold")
OF_RECORD = (*OF_SERVER, "--pass", "--num-blocks", "--block-size")

Trace = Annotated[
    Path | None,
    typer.Option("--trace", help="Request trace with block hashes, JSON lines (Mooncake's format).", parser=named_file,
                 metavar="PATH"),
]  # fmt: skip
Dataset = Annotated[
    Any,
    typer.Option("--dataset", "-d", help="Folder or address that `generate` wrote; with --like by default the run's.",
                 parser=named_place, metavar="PATH"),
]  # fmt: skip
Like = Annotated[
    Path | None,
    typer.Option("--like", help="Folder of a run: sizes, limits, ranks, concurrency and gating of a dataset's "
                 "simulation come from it; flags win.", parser=named_folder, metavar="PATH"),
]  # fmt: skip
ClockedBy = Annotated[
    Path | None,
    typer.Option("--clocked-by", help="Folder of a run with KV events: hits as they tell, and of the model that "
                 "their steps lead, beside the measured ones.", parser=named_folder, metavar="PATH"),
]  # fmt: skip
Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help="lru, vllm, sglang, unbounded; of a dataset also independent_block, content_defined_chunk. "
        "Default lru for a trace, vllm for a dataset.",
    ),
]
BlockSize = Annotated[
    int | None,
    typer.Option("--block-size", "-b", min=1, max=MOST, help="Tokens per block (SGLang: page). Default 512 for a "
                 "trace, the hit unit for a dataset."),
]  # fmt: skip
NumBlocks = Annotated[
    str | None,
    typer.Option(
        "--num-blocks", "-n", help="Blocks of each domain's cache, or unbounded; of a trace several, with commas."
    ),
]
HostBlocks = Annotated[
    str | None,
    typer.Option("--host-blocks", help="Blocks of a slower tier in host memory behind each domain's cache, or "
                 "unbounded."),
]  # fmt: skip
ExternalBlocks = Annotated[
    str | None,
    typer.Option("--external-blocks", help="Blocks of an external store behind that, or unbounded."),
]
TierWrite = Annotated[
    str | None,
    typer.Option("--tier-write", help="What slower tiers get: through (all that is served; default) or evicted (what "
                 "the faster one evicts)."),
]  # fmt: skip
Domains = Annotated[
    int | None, typer.Option("--domains", "--dp", min=1, max=1024, help="Caches that share nothing (DP ranks).")
]
Routing = Annotated[
    str | None,
    typer.Option(
        "--routing",
        help="round_robin, group_round_robin, bound, sticky, random, explicit; of a trace round_robin or random.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, max=100_000, help="Requests in flight; 1: one at a time. Default 1."),
]
Gating = Annotated[
    str | None, typer.Option("--gating", help="With requests in flight: watermark, first_token, completion, none.")
]
BatchedTokens = Annotated[
    int | None, typer.Option("--max-num-batched-tokens", min=1, help="With requests in flight: tokens of a step.")
]
Seqs = Annotated[
    int | None, typer.Option("--max-num-seqs", min=1, help="With requests in flight: requests that run at once.")
]
LongPrefill = Annotated[
    int | None,
    typer.Option("--long-prefill-token-threshold", min=0, help="With requests in flight: most tokens of one in a "
                 "step beside others; 0: no such limit."),
]  # fmt: skip
Calibrate = Annotated[
    bool, typer.Option("--calibrate", help="With --like: fit the pace of requests in flight to the run's times.")
]
OnlyPass = Annotated[
    str | None, typer.Option("--pass", help="Of a dataset: cold, hot or replay; default its own passes.")
]


def kind_of(trace: Path | None, dataset: Any, clocked_by: Path | None, like: Path | None) -> str:
    """What is simulated.

    Raises:
        InputError: nothing is named, or several things.
    """
    given = [
        name
        for name, place in ((TRACE, trace), (DATASET, dataset), (RECORD, clocked_by))
        if place is not None
    ]  # fmt: skip
    if not given and like is not None:
        return DATASET
    if len(given) != 1:
        raise InputError(
            " and ".join(given) + " are given" if given else "neither a trace nor a dataset is given",
            field=PLACES if RECORD not in given else "--clocked-by",
            remedy="give one of them." if RECORD not in given else "give --clocked-by alone: the run has its dataset.",
        )
    return given[0]


def check_flags(kind: str, flags: Mapping[str, Any]) -> None:
    """Are only flags given that mean something?

    Args:
        flags: flag → value, None where it was not given.

    Raises:
        InputError: one does not.
    """
    for name in sorted(name for name, value in flags.items() if value is not None):
        if kind == RECORD and name not in OF_RECORD:
            raise InputError(
                f"does not go with {kind}", field=name, remedy="leave it out, or use --like in place of --clocked-by."
            )
        if kind != RECORD and name not in _BOTH and (name in OF_TRACE) == (kind == DATASET):
            other = "--dataset" if kind == TRACE else "--trace"
            raise InputError(f"does not go with {kind}", field=name, remedy=f"leave it out, or give {other}.")
    if flags["--calibrate"] is not None and flags["--like"] is None:
        raise InputError(
            "there is no run to calibrate from", field="--calibrate", remedy="name one with --like, or leave it out."
        )


_BOTH = ("--engine", "--num-blocks", "--block-size", "--domains", "--routing", "--sweep")


def sizes_of(sizes: list[int | None] | None, engine: str, sweep: bool) -> list[int | None]:
    """As given; what needs none may leave them out.

    Raises:
        InputError: they are needed and missing.
    """
    if sizes is not None:
        return sizes
    if sweep or engine == "unbounded":
        return [None]
    raise InputError(
        "is missing",
        field="--num-blocks",
        remedy="write the blocks of each domain's cache, or unbounded; --sweep and --like need none.",
    )


def one_size(sizes: list[int | None], field: str = "--num-blocks") -> int | None:
    """The only one.

    Raises:
        InputError: there are several.
    """
    if len(sizes) > 1:
        raise InputError(
            f"{len(sizes)} sizes are given, a dataset is simulated at one",
            field=field,
            remedy="write one, or use --sweep for hits against capacity.",
        )
    return sizes[0]
