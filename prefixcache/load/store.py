"""The run directory: written so that a killed run keeps its records and never looks whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.files import write_json

RESULTS = "request_results.jsonl"
SAMPLES = "metrics_samples.jsonl"


class Appender:
    """A JSONL file that grows row by row beside its name (``.partial``) and takes it when closed as complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.with_name(f"{path.name}.partial")
        self._file: BinaryIO | None = open(self.partial, "wb")  # noqa: SIM115

    def append(self, row: Any) -> None:
        """Write a row through to the kernel, so that it outlives a killed process.

        Raises:
            EnvironmentFailure: the disk is full or gone.
        """
        if self._file is None:
            return
        try:
            self._file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            self._file.flush()
        except OSError as error:
            raise EnvironmentFailure(
                f"{self.partial} cannot be written ({error.strerror or error})",
                remedy="Free some disk space and run again; the rows so far are kept.",
                stage="run_benchmark",
            ) from error

    def close(self, *, complete: bool) -> None:
        """Close; a complete file is synced and renamed, another keeps its partial name."""
        file, self._file = self._file, None
        if file is None:
            return
        with file:
            os.fsync(file.fileno())
        if complete:
            os.replace(self.partial, self.path)


class RunStore:
    """``dataset/`` and ``runtime/`` of one run directory.

    Args:
        run_dir: the directory; made if absent.
        dataset_dir: the dataset, linked into it.
        overwrite: take out the results of an earlier run.
        variant_dir: the second content of the same plan, linked as ``dataset_variant``.

    Raises:
        InputError: the directory holds a finished run, or lies inside the dataset.
        EnvironmentFailure: it cannot be written.
    """

    def __init__(
        self, run_dir: Path, dataset_dir: Path, *, overwrite: bool = False, variant_dir: Path | None = None
    ) -> None:
        self.run_dir = run_dir
        self.runtime = run_dir / "runtime"
        _refuse(run_dir, dataset_dir, overwrite)
        try:
            _link_dataset(dataset_dir, run_dir / "dataset", overwrite)
            if variant_dir is not None:
                _link_dataset(variant_dir, run_dir / "dataset_variant", overwrite)
            self.runtime.mkdir(parents=True, exist_ok=True)
            self._make_room()
            self.results = Appender(self.runtime / RESULTS)
            self.samples = Appender(self.runtime / SAMPLES)
        except OSError as error:
            raise EnvironmentFailure(
                f"the run directory {run_dir} cannot be written ({error.strerror or error})",
                field="run_dir",
                remedy="Give a directory on a disk with free space that you may write.",
                stage="run_benchmark",
            ) from error

    def write(self, name: str, value: Any) -> None:
        """Write ``runtime/NAME`` as a whole."""
        write_json(self.runtime / name, value)

    def close(self, *, complete: bool) -> None:
        self.results.close(complete=complete)
        self.samples.close(complete=complete)

    def _make_room(self) -> None:
        """Results of an earlier run go; the records of an interrupted one are put aside, not lost."""
        interrupted = self.runtime / f"{RESULTS}.partial"
        if interrupted.exists() and interrupted.stat().st_size:
            number = 1
            while (aside := self.runtime / f"request_results.interrupted-{number}.jsonl").exists():
                number += 1
            os.replace(interrupted, aside)
        for name in (RESULTS, SAMPLES, "performance_metrics.json", "prefix_cache_metrics.json", "run.json"):
            (self.runtime / name).unlink(missing_ok=True)
        for report in (self.run_dir / "report").glob("prefix_cache_report.*"):
            report.unlink()  # it tells of the earlier run


def _refuse(run_dir: Path, dataset_dir: Path, overwrite: bool) -> None:
    if (run_dir / "runtime" / RESULTS).exists() and not overwrite:
        raise _wrong_place(f"{run_dir} already holds a finished run")
    run, dataset = run_dir.resolve(), dataset_dir.resolve()
    if run == dataset or dataset in run.parents:
        raise _wrong_place(f"the run directory {run_dir} lies inside the dataset {dataset_dir}")
    if run / "dataset" in dataset.parents:
        raise _wrong_place(f"the dataset {dataset_dir} lies inside the dataset folder of the run directory {run_dir}")


def _wrong_place(message: str) -> InputError:
    return InputError(message, field="run_dir", remedy="Choose another --run-dir.", stage="run_benchmark")


def _link_dataset(source: Path, target: Path, overwrite: bool) -> None:
    """Hard links of all files, copies where links are impossible; folders that begin with a dot stay behind."""
    if source.resolve() == target.resolve():
        return
    if target.exists():
        mine, theirs = target / "manifest.json", source / "manifest.json"
        same = mine.is_file() and mine.read_bytes() == theirs.read_bytes()
        # It may be the only copy of something else: only what a run put there is ever replaced.
        if not same and not (overwrite and (target.parent / "runtime").is_dir()):
            raise _wrong_place(f"{target} exists and is not this dataset")
        shutil.rmtree(target)
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        here = target / Path(folder).relative_to(source)
        here.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = Path(folder) / name
            try:
                os.link(path, here / name)
            except OSError:
                shutil.copy2(path, here / name)
