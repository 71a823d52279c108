"""When a stage need not run again: same stage, same version, same inputs by content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prefect.cache_policies import CachePolicy
from prefect.context import TaskRunContext

from prefixcache.stages.stage import Stage


@dataclass
class StagePolicy(CachePolicy):
    """Prefect's INPUTS policy knows no task identity and hashes paths as strings; this one is the stage's own key.

    It holds no run id, so that a killed run resumes, and no output folder: whether the artifact is still there is asked
    after a hit (see :mod:`tasks.runner`).
    """

    stage: Stage | None = None

    def compute_key(
        self,
        task_ctx: TaskRunContext,
        inputs: dict[str, Any],
        flow_parameters: dict[str, Any],
        **kwargs: Any,
    ) -> str | None:
        assert self.stage is not None
        return self.stage.key(inputs["job"], inputs["inputs"])
