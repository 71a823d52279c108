"""Stage probe_tokenizer: the head and the tail that every prompt will have, before lengths and prefixes are planned."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from prefixcache.artifact import Artifact
from prefixcache.config import PrefixCacheDatasetConfig
from prefixcache.config.content import TokenizerConfig
from prefixcache.content.framing import Framing, probe_framing
from prefixcache.content.tokenizer import Tokenizer, load_tokenizer
from prefixcache.errors import locating
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
    """frame.json: a :class:`Framing`: head and tail ids, and the text around every content.

    Raises:
        InputError: no tokenizer, no chat template, or one that no head and tail can be told of.
        EnvironmentFailure: a hub that cannot be reached.
    """
    framing = probe_framing(cached_tokenizer(job.config.tokenizer), job.config.prompt)
    write_json(root / PATH, framing.to_json())
    return Artifact.of("frame", root, [PATH], 1)


def probe_frame(config: PrefixCacheDatasetConfig) -> Frame:
    """Head and tail of every prompt of a dataset, in tokens: what planners take as ``frame``.

    Raises:
        InputError, EnvironmentFailure: as :func:`probe_tokenizer`.
    """
    with locating(stage="probe_tokenizer", dataset_id=config.dataset_id):
        framing = probe_framing(cached_tokenizer(config.tokenizer), config.prompt)
    return Frame(len(framing.head), len(framing.tail))


def read_frame(path: Path) -> Frame:
    """How many tokens head and tail take."""
    framing = read_framing(path)
    return Frame(len(framing.head), len(framing.tail))


def read_framing(path: Path) -> Framing:
    return Framing.from_json(read_json(path))


PROBE_TOKENIZER = Stage("probe_tokenizer", 2, probe_tokenizer)
