"""Names of flow runs in the UI: the dataset, and for a benchmark the host that it went to.

Prefect calls these before a run begins and stores what they return. A name is no reason to fail, and no credential may
stand in one: of an address only host and port are taken.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from prefect.runtime import flow_run

from prefixcache.config import load_config
from prefixcache.files import read_json


def _or(fallback: str) -> Callable[[Callable[[dict[str, Any]], str]], Callable[[], str]]:
    """A name from the run's parameters, or ``fallback`` where they do not give one (they may be wrong altogether)."""

    def named(name_of: Callable[[dict[str, Any]], str]) -> Callable[[], str]:
        def name() -> str:
            try:
                return name_of(flow_run.get_parameters()) or fallback
            except Exception:
                return fallback

        name.__doc__ = name_of.__doc__
        return name

    return named


@_or("generate")
def name_of_generate(parameters: dict[str, Any]) -> str:
    """``demo``: the dataset id, of the form or of the file."""
    config, file = parameters.get("config"), parameters.get("config_file")
    if config is None and file:
        config = load_config(Path(file).expanduser(), settings=parameters.get("settings") or []).config
    return str(config["dataset_id"] if isinstance(config, dict) else getattr(config, "dataset_id", ""))


@_or("run")
def name_of_run(parameters: dict[str, Any]) -> str:
    """``demo on 127.0.0.1:8000``, of several addresses the first and how many more."""
    hosts = [host for url in parameters["url"] if (host := _host(url))]
    return _on(_dataset_id(Path(parameters["dataset"])), hosts)


@_or("search")
def name_of_search(parameters: dict[str, Any]) -> str:
    """``demo on 127.0.0.1:8000``, as the runs of its points are named."""
    hosts = [host for url in parameters["url"] if (host := _host(url))]
    return _on(_dataset_id(Path(parameters["dataset"])), hosts)


@_or("report")
def name_of_report(parameters: dict[str, Any]) -> str:
    """``demo on 127.0.0.1:8000``, as the run was named."""
    folder = Path(parameters["run_dir"]).expanduser()
    servers = read_json(folder / "runtime" / "run.json").get("servers") or []
    return _on(_dataset_id(folder / "dataset"), [host for s in servers if (host := _host(str(s.get("endpoint"))))])


def _dataset_id(folder: Path) -> str:
    return str(read_json(folder.expanduser() / "manifest.json")["dataset_id"])


def _on(dataset: str, hosts: list[str]) -> str:
    more = f" and {len(hosts) - 1} more" if len(hosts) > 1 else ""
    return f"{dataset} on {hosts[0]}{more}" if hosts else dataset


def _host(url: str) -> str:
    """Host and port; user, password, path and query are left out."""
    parts = urlsplit(url.strip())
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if host and parts.port else host
