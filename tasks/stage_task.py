"""A stage as a cached Prefect task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from prefect import Task, task
from prefect.runtime import task_run
from prefect.states import Failed

from prefixcache.artifact import Artifact
from prefixcache.errors import PrefixCacheError
from prefixcache.stages.job import Job
from prefixcache.stages.record import refused_by_disk
from prefixcache.stages.stage import Stage
from tasks.policy import StagePolicy

StageTask = Task[[Path, Job, tuple[Any, ...]], Artifact]


def stage_task(
    stage: Stage, body: Callable[..., Artifact] | None = None, *, retries: int = 0, retry_delay_seconds: float = 2
) -> StageTask:
    """Wrap a stage.

    Args:
        stage: what is run and by what its result is known again.
        body: runs instead of ``stage.run`` with the same arguments, e.g. in a process pool.
        retries: only for stages that depend on the network and may be repeated.
    """
    run = body or stage.run

    @task(
        name=stage.name,
        task_run_name=_run_name(stage),
        description=(stage.run.__doc__ or stage.name).strip(),
        cache_policy=StagePolicy(stage=stage),
        persist_result=True,
        result_serializer="json",
        retries=retries,
        retry_delay_seconds=retry_delay_seconds,
        log_prints=False,
    )
    def stage_body(root: Path, job: Job, inputs: tuple[Any, ...]) -> Any:
        try:
            return run(root, job, *inputs)
        except OSError as error:
            told = refused_by_disk(stage, root, job, error)
            return Failed(message=str(told), data=told)
        except PrefixCacheError as error:
            # A returned state is a failure without a traceback in the log: the message says what the user needs.
            error.located(stage=stage.name, dataset_id=job.config.dataset_id, retry_count=task_run.run_count - 1)
            return Failed(message=str(error), data=error)

    return stage_body


def _run_name(stage: Stage) -> Callable[..., str]:
    """The stage's name, for a mapped stage with its shard: ``build_shards 00003``."""

    def name(parameters: dict[str, Any]) -> str:
        return " ".join([stage.name, *_shard_of(parameters.get("inputs") or ())])

    return name


def _shard_of(inputs: tuple[Any, ...]) -> list[str]:
    """Its number or ``warmup``: what `build_shards` makes is named, what `hash_blocks` reads is a shard's artifact."""
    if inputs and isinstance(inputs[0], str):
        return [inputs[0]]
    shards = [value for value in inputs if isinstance(value, Artifact) and value.kind == "shard"]
    return [Path(shards[0].files[0].path).stem.removeprefix("requests-")] if len(shards) == 1 else []
