"""Who runs the mapped stages of a flow: our own process pool behind threads, or a task runner of Prefect's.

Prefect is imported by the functions that start a runner alone, so that the command line can check what it was given.
"""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.stages.pool import end_with_parent

if TYPE_CHECKING:
    from prefect.task_runners import TaskRunner

RunnerName = Literal["threads", "processes", "dask", "ray"]
NAMES: tuple[str, ...] = get_args(RunnerName)
PACKAGES = {"dask": "prefect_dask", "ray": "prefect_ray"}
_ADDRESS = {
    "dask": (re.compile(r"((tcp|tls|ws|wss|ucx)://)?[\w.-]+:\d+|((tcp|tls|ws|wss|ucx)://)?\[[0-9a-fA-F:]+\]:\d+"),
             "tcp://scheduler.example:8786"),
    "ray": (re.compile(r"(ray://)?[\w.-]+:\d+|(ray://)?\[[0-9a-fA-F:]+\]:\d+"), "ray://head.example:10001"),
}  # fmt: skip


@dataclass(frozen=True)
class Engine:
    """A runner by name, and the address of a cluster that is there already; None: one of its own on this machine.

    Raises:
        InputError: an unknown name, an address that does not belong to it, a package that is not installed.
    """

    name: str = "threads"
    address: str | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise InputError(f"{self.name!r} is unknown", field="runner", remedy=f"write one of {', '.join(NAMES)}.")
        if self.address is not None:
            self._check_address(self.address)
        package = PACKAGES.get(self.name)
        if package is not None and importlib.util.find_spec(package) is None:
            raise InputError(
                f"{self.name} needs the package {package.replace('_', '-')}, which is not installed",
                field="runner",
                remedy=f"install prefixcache[{self.name}].",
            )

    def _check_address(self, address: str) -> None:
        if self.name not in _ADDRESS:
            raise InputError(
                f"{self.name} run on this machine and take no address",
                field="runner_address",
                remedy="leave it out, or write runner dask or ray.",
            )
        form, example = _ADDRESS[self.name]
        if not form.fullmatch(address):  # not quoted: it may hold a password
            raise InputError(f"is no address of {self.name}", field="runner_address", remedy=f"write e.g. {example}.")

    @property
    def away(self) -> bool:
        """Mapped stages run in processes that are not this package's own."""
        return self.name != "threads"

    def started(self, workers: int) -> TaskRunner[Any]:
        """The task runner, ready to be entered; with a cluster of its own of so many processes.

        Raises:
            EnvironmentFailure: Prefect's address is not set: each worker would start a server of its own.
        """
        from prefect.settings import get_current_settings

        if not get_current_settings().api.url:
            raise EnvironmentFailure(
                f"PREFECT_API_URL is not set, so every worker of {self.name} would start a Prefect server of its own",
                field="runner",
                remedy="set it to a running server (`prefect server start`).",
            )
        start = {"processes": self._processes, "dask": self._dask, "ray": self._ray}
        return start[self.name](workers)

    def _processes(self, workers: int) -> TaskRunner[Any]:
        from prefect.task_runners import ProcessPoolTaskRunner

        return ProcessPoolTaskRunner(workers, initializer=end_with_parent, initargs=(os.getpid(),))

    def _dask(self, workers: int) -> TaskRunner[Any]:
        from prefect_dask import DaskTaskRunner

        own = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        chosen = {"address": self.address} if self.address is not None else {"cluster_kwargs": own}
        runner: TaskRunner[Any] = DaskTaskRunner(**chosen)
        return runner

    def _ray(self, workers: int) -> TaskRunner[Any]:
        from prefect_ray import RayTaskRunner

        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        own = {} if self.address is not None else {"num_cpus": workers, "include_dashboard": False}
        runner: TaskRunner[Any] = RayTaskRunner(address=self.address, init_kwargs={**quiet, **own})
        return runner
