"""Where a run may be written: a new or an empty folder, or that of an earlier run. What others put there stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import orjson

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.files import read_json
from prefixcache.locks import FolderLock, refuse_if_held

LOCK = ".lock"
RESULTS = "request_results.jsonl"
SAMPLES = "metrics_samples.jsonl"
KV_EVENTS = "kv_events.jsonl"
TOKEN_TIMES = "token_times.parquet"
SERIES, SERIES_ROWS = "series.parquet", "series.jsonl"
"""The same rows: of a finished run, and (with ``.partial``) of one that lasts or was broken off."""
FIGURES = ("performance_metrics.json", "prefix_cache_metrics.json", "run.json")
WRITTEN = (RESULTS, SAMPLES, KV_EVENTS, TOKEN_TIMES, SERIES, *FIGURES)
MARK = "prefixcache_version"
LISTED = 5
WITHOUT_PROMPTS = ("manifest.json", "request_metadata.jsonl", "validation_report.json")
"""Files of a dataset that tell everything about it but what its prompts say."""


def check_place(run_dir: Path, dataset_dir: Path, *, overwrite: bool = False) -> None:
    """May a run of this dataset be written there? Nothing is changed.

    Raises:
        InputError: a finished run, foreign files, or a folder inside the dataset.
    """
    if run_dir.exists() and not run_dir.is_dir():
        raise wrong_place(f"{run_dir} is a file")
    if (run_dir / "runtime" / RESULTS).exists() and not overwrite:
        raise wrong_place(f"{run_dir} already holds a finished run", "Choose another --run-dir, or give --overwrite.")
    run, dataset = run_dir.resolve(), dataset_dir.resolve()
    if run == dataset or dataset in run.parents:
        raise wrong_place(f"the run directory {run_dir} lies inside the dataset {dataset_dir}")
    if run / "dataset" in dataset.parents:
        raise wrong_place(f"the dataset {dataset_dir} lies inside the dataset folder of the run directory {run_dir}")
    if not run_dir.is_dir() or _is_a_run(run_dir):
        return
    foreign = sorted(
        path.name
        for path in run_dir.iterdir()
        if not path.name.startswith(".") and not (path.name == "dataset" and path.resolve() == dataset)
    )
    if foreign:
        more = f" and {len(foreign) - LISTED} more" if len(foreign) > LISTED else ""
        raise wrong_place(f"{run_dir} is no run directory and holds other files ({', '.join(foreign[:LISTED])}{more})")


def check_free(run_dir: Path) -> None:
    """Is nobody writing a run there? Asked before the server is; nothing is changed.

    Raises:
        EnvironmentFailure: another run is being written there.
    """
    refuse_if_held(run_dir / LOCK, _busy(run_dir))


def hold_place(run_dir: Path) -> FolderLock:
    """Keep others from writing a run there until the lock is released or the process ends.

    Raises:
        EnvironmentFailure: another run is being written there.
        OSError: the folder cannot be written.
    """
    return FolderLock(run_dir / LOCK, _busy(run_dir))


def _busy(run_dir: Path) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"another run is being written to {run_dir}",
        field="run_dir",
        remedy="Wait for it, or choose another --run-dir.",
        stage="run_benchmark",
    )


def _is_a_run(run_dir: Path) -> bool:
    """An earlier run left its run.json, or was killed before it had one and left empty records."""
    runtime = run_dir / "runtime"
    if (runtime / "run.json").is_file():
        return MARK in _json(runtime / "run.json")
    left = {f"{RESULTS}.partial", f"{SAMPLES}.partial"}
    if not runtime.is_dir():
        return False
    others = {f"{name}.partial" for name in (KV_EVENTS, TOKEN_TIMES, SERIES_ROWS)}
    return {path.name for path in runtime.iterdir()} - others in (left, set())


def wrong_place(message: str, remedy: str = "Choose another --run-dir.") -> InputError:
    return InputError(message, field="run_dir", remedy=remedy, stage="run_benchmark")


def link_dataset(source: Path, target: Path, *, overwrite: bool, without_prompts: bool = False) -> None:
    """Hard links of the files that the manifest names, copies where links are impossible; what else lies there stays.

    Of what is there already only files of the dataset that an earlier run linked are replaced.

    Args:
        without_prompts: only what tells of the dataset (``WITHOUT_PROMPTS``).

    Raises:
        InputError: another dataset, other files of the same names, or a dataset that lies there with its prompts.
    """
    if source.resolve() == target.resolve():
        if without_prompts:
            raise wrong_place(
                f"the dataset {source} is the run directory's own and holds its prompts",
                "Choose another --run-dir, or leave out --without-prompts.",
            )
        return
    names = sorted(name for name in listed_files(source) if not without_prompts or name in WITHOUT_PROMPTS)
    before = listed_files(target)
    if any((target / name).exists() and name not in before for name in names):
        raise wrong_place(f"{target} exists and is not this dataset")
    if before and not overwrite and (target / "manifest.json").read_bytes() != (source / "manifest.json").read_bytes():
        raise wrong_place(f"{target} exists and is not this dataset")
    for name in before:
        (target / name).unlink(missing_ok=True)
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source / name, target / name)
        except OSError:
            shutil.copy2(source / name, target / name)


def listed_files(folder: Path) -> set[str]:
    """The files that a dataset's manifest names, itself included; none without a manifest."""
    if not (folder / "manifest.json").is_file():
        return set()
    files = _json(folder / "manifest.json").get("files")
    inside = folder.resolve()
    names = {"manifest.json", *(files if isinstance(files, dict) else ())}
    return {name for name in names if inside in (folder / name).resolve().parents}


def _json(path: Path) -> dict[str, Any]:
    try:
        value = read_json(path)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
