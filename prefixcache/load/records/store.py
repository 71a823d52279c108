"""The run directory: written so that a killed run keeps its records and never looks whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from prefixcache.errors import EnvironmentFailure
from prefixcache.files import write_json
from prefixcache.load.records.place import (
    KV_EVENTS,
    RESULTS,
    SAMPLES,
    SERIES,
    SERIES_ROWS,
    TOKEN_TIMES,
    WRITTEN,
    check_place,
    hold_place,
    link_dataset,
)
from prefixcache.load.records.series_file import SeriesFile
from prefixcache.load.records.token_times import TokenTimes

REPORTS = ("prefix_cache_report.json", "prefix_cache_report.html")


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
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> EnvironmentFailure:
        return EnvironmentFailure(
            f"{self.partial} cannot be written ({error.strerror or error})",
            remedy="Free some disk space and run again; the rows so far are kept.",
            stage="run_benchmark",
        )

    def close(self, *, complete: bool) -> None:
        """Close; a complete file is synced and renamed, another keeps its partial name.

        Raises:
            EnvironmentFailure: the disk refuses what a complete file still needs; of another the rows there are stay.
        """
        file, self._file = self._file, None
        if file is None:
            return
        try:
            with file:
                os.fsync(file.fileno())
            if complete:
                os.replace(self.partial, self.path)
        except OSError as error:
            if complete:
                raise self._refused(error) from error


class RunStore:
    """``dataset/`` and ``runtime/`` of one run directory.

    Args:
        run_dir: the directory; made if absent.
        dataset_dir: the dataset, linked into it.
        overwrite: take out the results of an earlier run.
        variant_dir: the second content of the same plan, linked as ``dataset_variant``.
        without_prompts: link only what tells of the dataset, not its prompts.
        kv_events: keep a file for the server's KV events.

    Raises:
        InputError: the directory holds a finished run or foreign files, or lies inside the dataset.
        EnvironmentFailure: it cannot be written, or another run is being written there.
    """

    def __init__(
        self,
        run_dir: Path,
        dataset_dir: Path,
        *,
        overwrite: bool = False,
        variant_dir: Path | None = None,
        without_prompts: bool = False,
        kv_events: bool = False,
    ) -> None:
        self.run_dir = run_dir
        self.runtime = run_dir / "runtime"
        check_place(run_dir, dataset_dir, overwrite=overwrite)
        try:
            self._lock = hold_place(run_dir)
        except OSError as error:
            raise _unwritable(run_dir, error) from error
        try:
            check_place(run_dir, dataset_dir, overwrite=overwrite)  # the one who had the lock may have finished
            chosen = {"overwrite": overwrite, "without_prompts": without_prompts}
            link_dataset(dataset_dir, run_dir / "dataset", **chosen)
            if variant_dir is not None:
                link_dataset(variant_dir, run_dir / "dataset_variant", **chosen)
            self.runtime.mkdir(parents=True, exist_ok=True)
            self._make_room()
            self.results = Appender(self.runtime / RESULTS)
            self.samples = Appender(self.runtime / SAMPLES)
            self.token_times = TokenTimes(self.runtime / TOKEN_TIMES)
            self.series = SeriesFile(Appender(self.runtime / SERIES_ROWS), self.runtime / SERIES)
            self.kv_events = Appender(self.runtime / KV_EVENTS) if kv_events else None
        except OSError as error:
            self._lock.release()
            raise _unwritable(run_dir, error) from error
        except BaseException:
            self._lock.release()
            raise

    def write(self, name: str, value: Any) -> None:
        """Write ``runtime/NAME`` as a whole."""
        write_json(self.runtime / name, value)

    def close(self, *, complete: bool) -> None:
        """Close the files; the folder stays this run's until ``release``."""
        for file in (self.results, self.samples, self.token_times, self.series, self.kv_events):
            if file is not None:
                file.close(complete=complete)

    def release(self) -> None:
        """Let others write here."""
        self._lock.release()

    def _make_room(self) -> None:
        """Results of an earlier run go; the records of an interrupted one are put aside, not lost."""
        interrupted = self.runtime / f"{RESULTS}.partial"
        if interrupted.exists() and interrupted.stat().st_size:
            number = 1
            while (aside := self.runtime / f"request_results.interrupted-{number}.jsonl").exists():
                number += 1
            os.replace(interrupted, aside)
        for name in (*WRITTEN, f"{KV_EVENTS}.partial", f"{TOKEN_TIMES}.partial", f"{SERIES_ROWS}.partial"):
            (self.runtime / name).unlink(missing_ok=True)
        for name in REPORTS:
            (self.run_dir / "report" / name).unlink(missing_ok=True)  # it tells of the earlier run


def _unwritable(run_dir: Path, error: OSError) -> EnvironmentFailure:
    return EnvironmentFailure(
        f"the run directory {run_dir} cannot be written ({error.strerror or error})",
        field="run_dir",
        remedy="Give a directory on a disk with free space that you may write.",
        stage="run_benchmark",
    )
