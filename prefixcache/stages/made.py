"""What each call of a mapped stage made, noted beside it by the process that made it.

A shard takes seconds. Whoever gathers the results may be gone, or may have given up because another worker was killed,
when this one ends; then its file lies there whole and nobody else says what it was made of. The note has the stage's
key: name, version and all inputs by content. A file without one is built again, since a whole file alone does not tell
whether it belongs to this configuration; between a file and its note lie milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from prefixcache.artifact import Artifact
from prefixcache.files import replacing
from prefixcache.stages.job import Job
from prefixcache.stages.workspace import WORK

if TYPE_CHECKING:
    from prefixcache.stages.stage import Stage

MADE = f"{WORK}/made"


class Note(BaseModel):
    """The key of a call and what it gave."""

    key: str
    artifact: Artifact


def part_of(inputs: Sequence[Any]) -> str | None:
    """A call's part, ``00003`` or ``warmup``; None for a call that is not made per shard.

    What `build_shards` makes is named, what `hash_blocks` reads is a shard's artifact.
    """
    if inputs and isinstance(inputs[0], str):
        return inputs[0]
    shards = [value for value in inputs if isinstance(value, Artifact) and value.kind == "shard"]
    return Path(shards[0].files[0].path).stem.removeprefix("requests-") if len(shards) == 1 else None


def run_noted(stage: Stage, root: Path, job: Job, *inputs: Any) -> Artifact:
    """``stage.run``, and a note of what it made."""
    artifact = stage.run(root, job, *inputs)
    note(stage, root, job, inputs, artifact)
    return artifact


def note(stage: Stage, root: Path, job: Job, inputs: Sequence[Any], artifact: Artifact) -> None:
    """Keep what a call of a mapped stage made; of other stages nothing."""
    part = part_of(inputs)
    if part is None:
        return
    content = Note(key=stage.key(job, inputs), artifact=artifact).model_dump_json().encode()
    with replacing(_path(root, stage, part), sync=False) as file:  # the files are synced; a lost note costs one call
        file.write(content)


def noted(stage: Stage, root: Path, job: Job, inputs: Sequence[Any]) -> Artifact | None:
    """What a call with these very inputs made, if its files are whole."""
    part = part_of(inputs)
    if part is None:
        return None
    try:
        found = Note.model_validate_json(_path(root, stage, part).read_bytes())
    except (OSError, ValidationError):  # none, or half of one
        return None
    return found.artifact if found.key == stage.key(job, inputs) and found.artifact.intact(root) else None


def _path(root: Path, stage: Stage, part: str) -> Path:
    return root / MADE / f"{stage.name}-{part}.json"
