"""Stage probe_tokenizer: the head and the tail that every prompt will have, before lengths and prefixes are planned."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from prefixcache.artifact import Artifact
from prefixcache.config.content import TokenizerConfig
from prefixcache.content.tokenizer import Tokenizer, load_tokenizer
from prefixcache.errors import InputError
from prefixcache.files import read_json, write_json
from prefixcache.stages.job import Job
from prefixcache.stages.stage import Stage
from prefixcache.workload.frame import Frame

PATH = ".work/frame.json"


@lru_cache(maxsize=2)
def cached_tokenizer(config: TokenizerConfig | None) -> Tokenizer:
    """Loading takes seconds; stages in one process share it."""
    return load_tokenizer(config)


def probe_tokenizer(root: Path, job: Job) -> Artifact:
    """frame.json: ``head`` and ``tail`` token ids.

    Raises:
        InputError: a tokenizer whose additions this version cannot plan for.
        EnvironmentFailure: a hub that cannot be reached.
    """
    tokenizer = cached_tokenizer(job.config.tokenizer)
    if tokenizer.tail:
        raise _not_yet(f"{tokenizer.name} adds tokens after a text")
    if len(tokenizer.head) >= job.config.unit:
        raise _not_yet(
            f"{tokenizer.name} adds {len(tokenizer.head)} tokens before a text and the hit unit is no longer"
        )
    write_json(root / PATH, {"head": tokenizer.head, "tail": tokenizer.tail})
    return Artifact.of("frame", root, [PATH], 1)


def read_frame(path: Path) -> Frame:
    ids = read_json(path)
    return Frame(len(ids["head"]), len(ids["tail"]))


def _not_yet(what: str) -> InputError:
    return InputError(
        f"{what}; this is not yet supported",
        field="tokenizer.path",
        remedy="use a tokenizer that adds at most a beginning token.",
        stage="probe_tokenizer",
    )


PROBE_TOKENIZER = Stage("probe_tokenizer", 1, probe_tokenizer)
