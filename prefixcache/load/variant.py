"""A second dataset of the same plan with other content: the second pass of ``compare`` then meets a cache in which
nothing of its own is stored, whatever the server can or cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from prefixcache.errors import InputError
from prefixcache.load.dataset import Planned, RunDataset, load_dataset
from prefixcache.load.sending.prompts import Prompt

HOW = (
    "Generate it from the same configuration with another name: `prefixcache generate --config F --output DIR "
    "--set dataset_id=OTHER_NAME` (the name seeds the content, not the lengths)."
)

ONE_PASS = (
    "Leave it and --isolation variant out; a server that cannot empty its cache is restarted and then measured with "
    "--isolation none."
)


def load_variant(directory: Path, dataset: RunDataset) -> RunDataset:
    """Read a variant and check it against the dataset.

    Raises:
        InputError: not two passes to keep apart, another plan, or content that the first pass would leave in the cache.
    """
    if len(dataset.passes) != 2:
        raise _wrong(
            dataset, f"execution mode {dataset.mode} has one pass, so there is nothing to keep apart", ONE_PASS
        )
    variant = load_dataset(directory)
    try:
        _same_plan(dataset, variant)
        _other_content(dataset, variant)
    except InputError:
        variant.close()
        raise
    return variant


def _same_plan(dataset: RunDataset, variant: RunDataset) -> None:
    for name in ("execution_mode", "block_size"):
        mine, theirs = dataset.manifest[name], variant.manifest[name]
        if mine != theirs:
            raise _wrong(dataset, f"the variant's {name} is {theirs}, the dataset's {mine}", HOW)
    if _tokenizer(dataset) != _tokenizer(variant):
        raise _wrong(dataset, "the variant was built with another tokenizer", HOW)
    for what, mine, theirs in (
        ("requests", dataset.requests, variant.requests),
        ("warmup prompts", dataset.warmup, variant.warmup),
    ):
        if len(mine) != len(theirs):
            raise _wrong(dataset, f"the variant has {len(theirs)} {what}, the dataset {len(mine)}", HOW)
        for one, other in zip(mine, theirs, strict=True):
            if _shape(one) != _shape(other):
                how = _difference(one, other)
                text = f"in place {one.row} (counted from 0) of its {what} the variant plans otherwise ({how})"
                raise _wrong(dataset, text, HOW, one)


def _shape(planned: Planned) -> Planned:
    return replace(planned, request_id="")


def _difference(mine: Planned, theirs: Planned) -> str:
    names = ("group", "input_len", "output_len", "prefix", "domain", "route", "hits")
    return ", ".join(
        f"{name} {getattr(theirs, name)} instead of {getattr(mine, name)}"
        for name in names
        if getattr(mine, name) != getattr(theirs, name)
    )


def _tokenizer(dataset: RunDataset) -> object:
    found = dataset.manifest.get("tokenizer")
    return found.get("sha256") if isinstance(found, dict) else found


def _other_content(dataset: RunDataset, variant: RunDataset) -> None:
    """No first unit after the head may be in both, so no chain of blocks of one can begin in the other's cache.

    Only the requests that leave at the head, and one more per group for its master, begin with something of their own.
    """
    seen = {start for _, start in _starts(dataset)}
    for planned, start in _starts(variant):
        if start in seen:
            text = (
                f"the variant's content at request {planned.order_index} (counted from 0) is the dataset's, so it "
                "would be found cached"
            )
            raise _wrong(dataset, text, HOW, dataset.requests[planned.row])


def _starts(dataset: RunDataset) -> Iterator[tuple[Planned, tuple[object, ...]]]:
    groups: set[str] = set()
    for planned in dataset.requests:
        if planned.prefix > dataset.head:
            if planned.group in groups:
                continue
            groups.add(planned.group)
        elif planned.input_len < dataset.head + dataset.hit_unit:
            continue  # no whole unit of its own
        yield planned, _start(dataset.prompt(planned), dataset.head, dataset.hit_unit)


def _start(prompt: Prompt, head: int, unit: int) -> tuple[object, ...]:
    if prompt.ids is not None:
        return tuple(prompt.ids[head : head + unit])
    return (prompt.text, *(m.get("content") for m in prompt.messages or ()))


def _wrong(dataset: RunDataset, message: str, remedy: str, planned: Planned | None = None) -> InputError:
    return InputError(
        message,
        field="variant_dataset",
        remedy=remedy,
        stage="run_benchmark",
        dataset_id=dataset.dataset_id,
        request_id=planned.request_id if planned else None,
        group=planned.group if planned else None,
    )
