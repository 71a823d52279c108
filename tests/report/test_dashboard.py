"""The live view's frames: what they say, and that they fit any terminal from 80 columns on, in both languages."""

from __future__ import annotations

import io
import string
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from prefixcache.help.words import LANGUAGES, Language
from prefixcache.load.records.series import COLUMNS, MARKS, Sample
from prefixcache.report.dashboard import frame
from prefixcache.report.sparks import LEVELS, UNKNOWN, bar, by_column, spark
from prefixcache.report.words_live import LIVE

BEGIN = Sample.from_row(
    dict.fromkeys(COLUMNS)
    | dict.fromkeys(("sent", "in_flight", "ended", "failed", "retried", "designed_input_tokens"), 0)
    | {"pass": "cold", "phase": "measured", "mark": "begin", "run_s": 0.0, "t_s": 0.0, "planned": 1000}
    | {"designed_hit_tokens": 0}
)
LATER = replace(
    BEGIN, mark=None, run_s=61.5, t_s=61.5, sent=612, in_flight=12, ended=600, failed=3, retried=2,
    requests_per_s=9.96, ttft_p50_s=0.0423, ttft_p90_s=0.25, ttft_p99_s=12.5, ttft_recent_p50_s=0.05, counters_s=61.4,
    query_tokens=2_500_000, hit_tokens=1_250_000, hit_ratio=0.5, designed_input_tokens=2_400_000,
    designed_hit_tokens=1_224_000, designed_ratio=0.51, kv_usage=0.75, running=12.0, waiting=0.0,
)  # fmt: skip


def text_of(samples: list[Sample], language: Language = "en", width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(frame(samples, language, width))
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_it_says_every_figure_of_the_last_sample() -> None:
    lines = text_of([BEGIN, LATER]).splitlines()
    shown = {line[1:13].strip(): line[13:] for line in lines if line[1:13].strip()}
    assert lines[0].startswith("cold pass, measured")
    assert lines[0].endswith("1:01 since it began")
    assert shown["requests"].endswith("░ 600 of 1,000")
    assert shown["sent"] == "612  3 failed  2 retried"
    assert shown["in flight"].endswith("12, most 12")
    assert shown["ended/s"].endswith("10.0/s, most 10.0/s")
    assert shown["TTFT"] == "p50 42.3 ms · p90 0.250 s · p99 12.5 s · last 5 s p50 50.0 ms"
    assert shown["hit ratio"] == "measured 50.00 %, designed 51.00 %, \N{MINUS SIGN}1.00 pp"
    assert shown["measured"].startswith("·▇")
    assert shown["designed"].startswith("·▇")
    assert shown["designed"].endswith("1.25 M of 2.5 M tokens")
    assert shown["difference"].startswith("·−")
    assert shown["KV usage"].endswith("  75.00 %")
    assert shown["server"] == "12 running, 0 waiting; read at 1:01"
    assert lines[-1].strip() == "1 begin 0.0 s"


def test_unknown_is_not_zero() -> None:
    unknown = replace(LATER, hit_ratio=None, hit_tokens=None, query_tokens=None, kv_usage=None, running=None)
    text = text_of([BEGIN, unknown])
    assert "designed 51.00 %; measured: n/a" in text
    assert "0.00 %" not in text
    assert "n/a running, 0 waiting" in text
    assert "n/a" in text_of([BEGIN]).split("KV usage")[1]


def test_more_hits_than_designed_and_above_one_are_shown_as_they_are() -> None:
    text = text_of([replace(LATER, hit_ratio=1.25)])
    assert "measured 125.00 %, designed 51.00 %, +74.00 pp" in text
    assert "0–130 %" in text
    assert "difference  +" in text


def test_a_warmup_has_no_hits_and_what_was_before_stays() -> None:
    warm = replace(BEGIN, pass_name="hot", phase="warmup", planned=3, designed_input_tokens=None)
    text = text_of([BEGIN, LATER, warm])
    assert text.startswith("hot pass, warmup")
    assert "of the measured pass only" in text
    before = " ".join(text.split("before")[1].split())
    assert before == "cold pass, measured: 600 ended, 3 failed, TTFT p50 42.3 ms, hit 50.00 % (designed 51.00 %)"


def test_marks_stand_below_their_moment() -> None:
    samples = [BEGIN, *(replace(LATER, t_s=float(t), mark="load" if t == 5 else None) for t in range(1, 31))]
    row = next(line for line in text_of(samples).splitlines() if line.startswith(" marks"))
    assert (row[13], row[13 + 5]) == ("1", "2")
    assert row[13:].replace(" ", "") == "12"


def crowd(count: int) -> list[Sample]:
    """A long run whose figures are as wide as figures get."""
    big = replace(
        LATER, planned=1_000_000, sent=999_999, ended=987_654, failed=123_456, retried=123_456, in_flight=12_345,
        requests_per_s=12_345.6, query_tokens=999_900_000_000, hit_tokens=999_900_000_000, running=12_345.0,
        waiting=12_345.0, kv_usage=1.0, ttft_p50_s=1234.5, ttft_p90_s=1234.5, ttft_p99_s=1234.5,
        ttft_recent_p50_s=1234.5,
    )  # fmt: skip
    one = [replace(big, t_s=t * 40.0, mark=MARKS[t * 5 // count] if t % (count // 4) == 0 else None)
           for t in range(count)]  # fmt: skip
    return [*one, *(replace(s, pass_name="hot", phase="warmup") for s in one[:1]),
            *(replace(s, pass_name="replay") for s in one)]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [80, 97, 120, 200])
@pytest.mark.parametrize("count", [4, 40, 1000])
def test_every_line_fits(count: int, width: int, language: Language) -> None:
    wide = Console(width=400, file=io.StringIO(), force_terminal=False)
    wide.print(frame(crowd(count), language, width))
    lines = wide.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert [line for line in lines if cell_len(line.rstrip()) > width] == []
    assert len(lines) <= 24  # a terminal's usual height


def places(words: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(words) if name}


@pytest.mark.parametrize("key", LIVE)
def test_both_languages_say_the_same(key: str) -> None:
    english, chinese = LIVE[key]
    assert english
    assert chinese
    assert places(english) == places(chinese)


def test_every_mark_has_words() -> None:
    assert {key for key in LIVE if key.startswith("mark.")} == {f"mark.{mark}" for mark in MARKS}


def test_a_spark_has_a_height_for_each_eighth() -> None:
    assert spark([n / 8 for n in range(9)], 9, 1.0) == LEVELS + LEVELS[-1]
    assert spark([None, 0, 5, 10], 4) == f"{UNKNOWN}▁▅█"
    assert spark([0, 0], 4) == "▁▁"
    assert spark([], 4) == ""


def test_what_does_not_fit_shares_columns_evenly_and_the_last_known_value_counts() -> None:
    assert by_column([1, 2, 3], 5) == [1, 2, 3]
    assert by_column([1, 2, 3, None], 2) == [2, 3]
    assert by_column(list(range(1000)), 10) == [99 + 100 * n for n in range(10)]


def test_a_bar_is_full_only_at_the_end() -> None:
    assert bar(0, 10, 10) == "░" * 10
    assert bar(5, 10, 10) == "█" * 5 + "░" * 5
    assert bar(999, 1000, 10) == "█" * 9 + "▉"
    assert bar(10, 10, 10) == "█" * 10
    assert bar(0, 0, 3) == "░" * 3
