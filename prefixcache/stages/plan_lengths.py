"""Stage plan_lengths: input and output lengths and groups, in generated order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from prefixcache.artifact import Artifact
from prefixcache.files import replacing
from prefixcache.stages.job import Job
from prefixcache.stages.probe_tokenizer import read_frame
from prefixcache.stages.stage import Stage
from prefixcache.tables import read_parquet
from prefixcache.workload.shape import Shape, draw_shape

PATH = ".work/lengths.parquet"


def plan_lengths(root: Path, job: Job, frame: Artifact) -> Artifact:
    """lengths.parquet: ``input_len, output_len`` (int64) and ``group`` (int32), one row per request."""
    shape = draw_shape(job.config, read_frame(frame.path(root)))
    table = pl.DataFrame({"input_len": shape.lengths, "output_len": shape.outputs, "group": shape.groups})
    with replacing(root / PATH) as file:
        table.write_parquet(file)
    return Artifact.of("lengths", root, [PATH], len(table))


def read_shape(path: Path) -> Shape:
    frame = read_parquet(path)
    return Shape(
        frame["input_len"].to_numpy().astype(np.int64),
        frame["output_len"].to_numpy().astype(np.int64),
        frame["group"].to_numpy().astype(np.int32),
    )


PLAN_LENGTHS = Stage("plan_lengths", 3, plan_lengths)
