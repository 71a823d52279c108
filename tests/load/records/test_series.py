"""The samples of a run: against its own report, in both forms of their file, and what they do not pretend to know."""

from __future__ import annotations

import io
import itertools
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from prefixcache.engines.aggregate import aggregate
from prefixcache.engines.frameworks.vllm import VLLM
from prefixcache.engines.page import parse_page
from prefixcache.engines.snapshot import Snapshot
from prefixcache.errors import InputError
from prefixcache.help.words import LANGUAGES
from prefixcache.load.dataset import Planned
from prefixcache.load.options import Progress, RunOptions, RunSummary
from prefixcache.load.records.percentiles import RunningPercentiles
from prefixcache.load.records.sampler import Sampler, counted
from prefixcache.load.records.series import COLUMNS, COUNTS, Sample
from prefixcache.load.records.series_file import SCHEMA, SeriesFile, read_series
from prefixcache.load.records.store import Appender
from prefixcache.load.run import run_benchmark
from prefixcache.load.sending.options import Sending
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.process import EngineProcess
from prefixcache.report.dashboard import frame
from tests.load.handmade import make_dataset
from tests.load.test_run_reference import wishes


def text_of(samples: list[Sample], language: Any) -> str:
    console = Console(width=100, file=io.StringIO(), force_terminal=False)
    console.print(frame(samples, language, 100))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


class Run:
    """A run, and the samples that its progress callback was given."""

    def __init__(self, root: Path, url: str, mode: str, **more: Any) -> None:
        self.live: list[Sample] = []
        self.folder = root / "run"
        dataset = make_dataset(root / "set", wishes(120), mode=mode)
        options = RunOptions(urls=(url,), send="ids", poll_interval=0.05, **more)
        self.summary: RunSummary = run_benchmark(dataset, self.folder, options, self._told)

    def _told(self, event: Progress) -> None:
        if event.sample is not None:
            self.live.append(event.sample)

    def figures(self, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.folder / "runtime" / name).read_text())["passes"]
        return found

    def phases(self) -> list[list[Sample]]:
        return [list(part) for _, part in itertools.groupby(self.live, lambda s: (s.pass_name, s.phase))]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    with EngineProcess(EngineOptions("embedded", prefill_tps=20_000, decode_tps=500)) as engine:
        return Run(tmp_path_factory.mktemp("series"), engine.url, "compare", load="poisson:60")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two answers with status 500, one broken off once and sent again, and counters that fall in between."""
    root = tmp_path_factory.mktemp("faulty")
    plan = root / "plan.yaml"
    plan.write_text(
        json.dumps(
            [{"requests": [20, 30], "status": 500}, {"requests": 40, "reset": {"after_events": 1}},
             {"requests": 110, "reset_counters": True}]
        )
    )  # fmt: skip
    options = EngineOptions("embedded", prefill_tps=20_000, decode_tps=500, faults=str(plan))
    with EngineProcess(options) as engine:
        return Run(root, engine.url, "warmup", load="poisson:60")


@pytest.mark.engine
def test_the_last_sample_of_a_pass_is_what_the_report_says(run: Run) -> None:
    assert run.summary.status == "complete"
    last = {s.pass_name: s for s in run.live if s.mark == "counted"}
    speeds, caches = run.figures("performance_metrics.json"), run.figures("prefix_cache_metrics.json")
    for speed, cache in zip(speeds, caches, strict=True):
        sample = last[speed["pass"]]
        assert (sample.planned, sample.sent, sample.ended, sample.in_flight, sample.failed) == (120, 120, 120, 0, 0)
        for percent in (50, 90, 99):
            found = getattr(sample, f"ttft_p{percent}_s")
            assert found == pytest.approx(speed["ttft_s"][f"p{percent}"], abs=2e-6)
        assert sample.hit_tokens == cache["measured_hit_tokens"] == sample.designed_hit_tokens
        assert sample.query_tokens == cache["measured_query_tokens"] == sample.designed_input_tokens
        assert sample.hit_ratio == cache["actual_hit_rate"]
        assert sample.designed_ratio == pytest.approx(cache["designed_hit_ratio"], abs=1e-12)


@pytest.mark.engine
def test_samples_are_in_order_and_never_count_backwards(run: Run) -> None:
    moments = [s.run_s for s in run.live]
    assert moments == sorted(moments)
    assert [(s.pass_name, s.phase, s.mark) for s in run.live if s.mark] == [
        *(("cold", "measured", mark) for mark in ("begin", "load", "all_sent", "end", "counted")),
        *(("hot", "warmup", mark) for mark in ("begin", "all_sent", "end")),
        *(("hot", "measured", mark) for mark in ("begin", "all_sent", "end", "counted")),
    ]
    for phase in run.phases():
        for name in ("sent", "ended", "query_tokens", "hit_tokens", "designed_input_tokens"):
            values = [v for s in phase if (v := getattr(s, name)) is not None]
            assert values == sorted(values), name
        assert all(s.in_flight == s.sent - s.ended >= 0 for s in phase)
    measured = [s for s in run.live if s.phase == "measured"]
    assert sum(s.mark is None for s in measured) >= 2  # time passed, too
    seen = [s for s in measured if s.mark is None and s.counters_s is not None]
    assert all(s.t_s - (s.counters_s or 0) < 0.5 for s in seen)


@pytest.mark.engine
def test_the_curves_meet_at_every_moment_that_nothing_is_under_way(run: Run) -> None:
    """The server asks its cache before the first token: what it counted is never less than what was designed."""
    for sample in (s for s in run.live if s.mark is None and s.hit_tokens is not None):
        assert sample.query_tokens is not None and sample.designed_input_tokens is not None
        assert sample.query_tokens >= sample.designed_input_tokens - 400 * 4  # a reading is some milliseconds old
    warm = [s for s in run.live if s.phase == "warmup"]
    assert {(s.hit_tokens, s.designed_hit_tokens, s.designed_ratio) for s in warm} == {(None, None, None)}


@pytest.mark.engine
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_replay_shows_the_frames_that_were_live(run: Run, language: str) -> None:
    kept = read_series(run.folder)
    live = [text_of(run.live[:n], language) for n in range(1, len(run.live) + 1)]
    replayed = [text_of(kept[:n], language) for n in range(1, len(kept) + 1)]
    assert live == replayed
    assert len(set(live)) == len(live) > 10


@pytest.mark.engine
def test_the_file_has_the_columns_that_are_documented(run: Run) -> None:
    path = run.folder / "runtime" / "series.parquet"
    assert pq.read_schema(path).names == SCHEMA.names
    page = (Path(__file__).parents[3] / "docs" / "artifacts.md").read_text()
    section = page.split("### runtime/series.parquet")[1].split("###")[0]
    assert [name for name in SCHEMA.names if f"`{name}`" not in section] == []
    assert not (run.folder / "runtime" / "series.jsonl.partial").exists()


@pytest.mark.engine
def test_failures_retries_and_a_fallen_counter(faulty: Run) -> None:
    last = faulty.live[-1]
    assert (last.mark, last.sent, last.ended) == ("counted", 120, 120)
    assert last.failed == faulty.summary.failed_requests > 0
    assert (last.hit_tokens, last.query_tokens, last.hit_ratio) == (None, None, None)
    assert any(s.hit_tokens is not None for s in faulty.live)
    assert "n/a" in text_of(faulty.live, "en")


@pytest.mark.engine
def test_several_processes_tell_the_same(tmp_path: Path) -> None:
    with EngineProcess(EngineOptions("embedded", prefill_tps=50_000, decode_tps=500)) as engine:
        run = Run(tmp_path, engine.url, "progressive_prefix_fill", concurrency=4, sending=Sending(processes=2))
    last = run.live[-1]
    assert last.ended == 120
    assert (last.hit_tokens, last.query_tokens) == (last.designed_hit_tokens, last.designed_input_tokens)


# The file


def sample(number: int) -> Sample:
    luck = random.Random(number)
    row: dict[str, Any] = {name: number if name in COUNTS else luck.random() for name in COLUMNS}
    return Sample.from_row(
        row | {"pass": "cold", "phase": "measured", "mark": None, "hit_tokens": None, "running": None}
    )


def opened(folder: Path) -> SeriesFile:
    (folder / "runtime").mkdir()
    return SeriesFile(Appender(folder / "runtime" / "series.jsonl"), folder / "runtime" / "series.parquet")


@pytest.mark.parametrize("complete", [True, False])
def test_what_was_written_is_read(tmp_path: Path, complete: bool) -> None:
    file, wanted = opened(tmp_path), [sample(n) for n in range(10)]
    for each in wanted:
        file.append(each)
    file.close(complete=complete)
    file.append(sample(11))  # nothing, once closed
    names = {path.name for path in (tmp_path / "runtime").iterdir()}
    assert names == ({"series.parquet"} if complete else {"series.jsonl.partial"})
    assert read_series(tmp_path) == wanted


def test_a_killed_run_keeps_all_whole_lines(tmp_path: Path) -> None:
    file = opened(tmp_path)
    for number in range(3):
        file.append(sample(number))
    partial = tmp_path / "runtime" / "series.jsonl.partial"
    partial.write_bytes(partial.read_bytes()[:-20])
    assert read_series(tmp_path) == [sample(0), sample(1)]


def test_a_run_without_samples_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no runtime/series\.parquet"):
        read_series(tmp_path)
    (tmp_path / "runtime").mkdir()
    (tmp_path / "runtime" / "series.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(InputError, match="cannot be read"):
        read_series(tmp_path)
    (tmp_path / "runtime" / "series.parquet").unlink()
    (tmp_path / "runtime" / "series.jsonl.partial").write_bytes(b'{"pass": "cold"}\n')
    with pytest.raises(InputError, match="cannot be read"):
        read_series(tmp_path)


# Its parts


def test_percentiles_equal_numpy_however_they_come() -> None:
    luck = random.Random(1)
    values: list[float] = []
    found = RunningPercentiles()
    assert found.at((50, 99)) == [None, None]
    for size in (1, 1, 2, 7, 0, 100, 1000):
        for _ in range(size):
            values.append(luck.choice([luck.random(), 0.5, 0.25]))
            found.add(values[-1])
        assert len(found) == len(values)
        assert found.at((0, 50, 90, 99, 100)) == pytest.approx(list(np.percentile(values, (0, 50, 90, 99, 100))))


def pages(**pages_: str) -> Snapshot:
    return Snapshot({name: parse_page(text) for name, text in pages_.items()}, {})


def line(queries: int, hits: int, usage: float = 0.0) -> str:
    return (
        f'vllm:prefix_cache_queries_total{{engine="0"}} {queries}\nvllm:prefix_cache_hits_total{{engine="0"}} {hits}\n'
        f'vllm:kv_cache_usage_perc{{engine="0"}} {usage}\nvllm:num_requests_running{{engine="0"}} 3\n'
    )


def test_counters_of_several_pages_are_summed_and_the_fullest_cache_told() -> None:
    before, now = pages(a=line(100, 50), b=line(10, 0)), pages(a=line(160, 80, 0.2), b=line(50, 20, 0.7))
    found = counted(VLLM, now, aggregate(VLLM, before, now))
    assert (found.query_tokens, found.hit_tokens, found.hit_ratio) == (100, 50, 0.5)
    assert (found.kv_usage, found.running, found.waiting) == (0.7, 6.0, None)


def test_of_a_part_of_the_service_and_after_a_reset_nothing_is_told() -> None:
    before = pages(a=line(100, 50), b=line(10, 0))
    for now in (pages(a=line(160, 80)), pages(a=line(160, 80), b=line(5, 0))):
        found = counted(VLLM, now, aggregate(VLLM, before, now))
        assert (found.query_tokens, found.hit_tokens, found.hit_ratio) == (None, None, None)


def test_a_request_that_was_sent_again_is_designed_once() -> None:
    taken: list[Sample] = []
    sampler = Sampler("cold", 0.0, taken.append)
    sampler.begin("measured", 2, 0.0)
    planned = Planned(1, "r1", "a", 1, 100, 4, 48, 0, None, {"cold": 48})
    sampler.first_token(1, planned)
    sampler.first_token(1, planned)
    sampler.mark("end")
    assert (taken[-1].designed_input_tokens, taken[-1].designed_hit_tokens, taken[-1].designed_ratio) == (100, 48, 0.48)


def test_designed_hits_are_of_the_moment_of_the_counters() -> None:
    taken: list[Sample] = []
    sampler = Sampler("cold", 0.0, taken.append)
    sampler.begin("measured", 3, 0.0)
    planned = Planned(1, "r1", "a", 1, 100, 4, 48, 0, None, {"cold": 48})
    sampler.first_token(0, planned)
    sampler.mark("load")
    sampler.first_token(1, planned)
    now = pages(a=line(200, 96))
    sampler.saw(counted(VLLM, now, aggregate(VLLM, pages(a=line(0, 0)), now)))
    sampler.first_token(2, planned)
    sampler.mark("all_sent")
    assert [s.designed_hit_tokens for s in taken if s.mark] == [0, 48, 96]
    assert (taken[-1].designed_ratio, taken[-1].hit_ratio) == (0.48, 0.48)


def test_nothing_is_sampled_before_a_phase() -> None:
    taken: list[Sample] = []
    sampler = Sampler("cold", 0.0, taken.append)
    sampler.mark("end")
    sampler.sent()
    assert taken == []


@pytest.mark.engine
def test_there_is_a_sample_a_second_and_not_one_a_request(run: Run) -> None:
    assert len(run.live) < 40 < run.live[-1].ended
