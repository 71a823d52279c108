"""The live view of a run: one frame of text made of the samples so far, the same while it lasts and in a replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

from rich.cells import cell_len
from rich.console import Group
from rich.text import Text

from prefixcache.help.words import LANGUAGES, Language
from prefixcache.load.records.sampler import WINDOW_S
from prefixcache.load.records.series import Sample
from prefixcache.report.formats import signed
from prefixcache.report.sparks import bar, by_column, columns_of, spark
from prefixcache.report.words_live import LIVE

LEAST_WIDTH = 80
NEAR_PP = 0.5
TAIL = 27
"""Columns for the figures behind a curve."""
ROWS_BEFORE = 4
LABELS = (
    "requests",
    "sent",
    "in_flight",
    "rate",
    "ttft",
    "ttft.curve",
    "hit",
    "measured",
    "designed",
    "difference",
    "kv",
    "server",
    "marks",
    "before",
)


def frame(samples: Sequence[Sample], language: Language = "en", width: int = LEAST_WIDTH) -> Group:
    """What is shown when the last of the samples was taken.

    Args:
        samples: of a run from its beginning on, at least one.
        language: of the words.
        width: columns of the terminal; fewer than 80 count as 80.
    """
    return Group(*_Frame(samples, language, max(width, LEAST_WIDTH)).lines())


class _Frame:
    def __init__(self, samples: Sequence[Sample], language: Language, width: int) -> None:
        self.at = LANGUAGES.index(language)
        self.now = samples[-1]
        self.parts = [list(part) for _, part in groupby(samples, lambda s: (s.pass_name, s.phase))]
        self.shown = self.parts[-1]
        self.label = max(cell_len(self.say(name)) for name in LABELS) + 2
        self.curve = width - self.label - TAIL - 1
        self.width = width

    def say(self, key: str, **values: object) -> str:
        return LIVE[key][self.at].format(**values) if values else LIVE[key][self.at]

    def lines(self) -> Iterator[Text]:
        yield self._title()
        yield self._requests()
        yield self._sent()
        yield self._spark("in_flight", [s.in_flight for s in self.shown], "cyan", self.whole)
        yield self._spark("rate", [s.requests_per_s for s in self.shown], "cyan", self._rate)
        yield self._ttft()
        yield self._spark("ttft.curve", [s.ttft_recent_p50_s for s in self.shown], "magenta", self.time)
        yield from self._hits()
        yield self._curve("kv", spark([s.kv_usage for s in self.shown], self.curve, 1.0), "cyan",
                          self.percent(self.now.kv_usage))  # fmt: skip
        yield self._server()
        yield from self._marks()
        yield from self._before()

    # Heads

    def _title(self) -> Text:
        now = self.now
        left = self.name(now)
        right = self.say("clock", time=_clock(now.t_s))
        gap = max(1, self.width - 1 - cell_len(left) - cell_len(right))
        return _line((left, "bold"), " " * gap, (right, "dim"))

    def _requests(self) -> Text:
        now = self.now
        done = self.say("counts", ended=_whole(now.ended), planned=_whole(now.planned))
        return self._curve("requests", bar(now.ended, now.planned, self.curve), "green", done)

    def _sent(self) -> Text:
        now = self.now
        more = [("  " + self.say("failed", count=_whole(now.failed)), "bold red" if now.failed else "dim")]
        if now.retried:
            more.append(("  " + self.say("retried", count=_whole(now.retried)), "yellow"))
        return self._row("sent", _whole(now.sent), *more)

    def _ttft(self) -> Text:
        now = self.now
        figures = {"p50": now.ttft_p50_s, "p90": now.ttft_p90_s, "p99": now.ttft_p99_s, "recent": now.ttft_recent_p50_s}
        shown = {name: self.time(value) for name, value in figures.items()}
        return self._row("ttft", self.say("ttft.figures", window=f"{WINDOW_S:g}", **shown))

    # The measured curve beside the designed one

    def _hits(self) -> Iterator[Text]:
        now, real, plan = self.now, [s.hit_ratio for s in self.shown], [s.designed_ratio for s in self.shown]
        if now.phase == "warmup":
            yield self._row("hit", (self.say("hit.none"), "dim"))
            return
        yield self._row("hit", *self._hit_figures())
        known = [v for v in (*real, *plan) if v is not None]
        top = max(10, ceil(max(known, default=0.0) * 10 - 1e-9) * 10)
        yield self._curve("measured", spark(real, self.curve, top / 100), "green", self.say("scale", top=top))
        yield self._curve("designed", spark(plan, self.curve, top / 100), "bright_blue", self._tokens(now))
        signs = _signs(by_column(real, self.curve), by_column(plan, self.curve))
        yield self._curve("difference", signs, "yellow", self.say("difference.key"))

    def _hit_figures(self) -> Iterator[str | tuple[str, str]]:
        now = self.now
        designed = self.percent(now.designed_ratio)
        if now.hit_ratio is None:
            yield self.say("hit.designed", designed=designed, na=self.say("na"))
            return
        if now.designed_ratio is None:
            difference = self.say("na")
        else:
            size = (now.hit_ratio - now.designed_ratio) * 100
            difference = self.say("pp", size=signed(round(size, 2) + 0.0, 2))
        yield self.say("hit.both", measured=self.percent(now.hit_ratio), designed=designed, difference=difference)

    def _tokens(self, now: Sample) -> str:
        if now.hit_tokens is None or now.query_tokens is None:
            return ""
        return self.say("hit.tokens", hits=_short(now.hit_tokens), queries=_short(now.query_tokens))

    def _server(self) -> Text:
        now = self.now
        if now.counters_s is None:
            return self._row("server", self.say("unread"))
        queue = {"running": self.whole(now.running), "waiting": self.whole(now.waiting)}
        return self._row("server", self.say("queue", time=_clock(now.counters_s), **queue))

    # What happened when

    def _marks(self) -> Iterator[Text]:
        columns = columns_of(len(self.shown), self.curve)
        row = [" "] * min(len(self.shown), self.curve)
        told = []
        for number, (column, sample) in enumerate(
            ((c, s) for c, s in zip(columns, self.shown, strict=True) if s.mark is not None), start=1
        ):
            row[column] = str(number)
            told.append(f"{number} {self.say(f'mark.{sample.mark}')} {_clock(sample.t_s)}")
        yield self._row("marks", ("".join(row), "bold"))
        yield from self._packed(told, " · ")

    def _before(self) -> Iterator[Text]:
        label = "before"
        for part in self.parts[:-1][-ROWS_BEFORE:]:
            last = part[-1]
            name = self.name(last)
            told = [self.say("before.counts", name=name, ended=_whole(last.ended), failed=_whole(last.failed))]
            if last.phase == "measured":
                told.append(self.say("before.ttft", p50=self.time(last.ttft_p50_s)))
                measured, designed = self.percent(last.hit_ratio), self.percent(last.designed_ratio)
                told.append(self.say("before.hits", measured=measured, designed=designed))
            yield from self._packed(told, self.say("comma"), label)
            label = ""

    # Pieces

    def name(self, sample: Sample) -> str:
        key = f"pass.{sample.pass_name}"
        pass_name = self.say(key) if key in LIVE else sample.pass_name
        return self.say("name", pass_name=pass_name, phase=self.say(f"phase.{sample.phase}"))

    def time(self, seconds: float | None) -> str:
        if seconds is None:
            return self.say("na")
        if seconds < 0.1:
            return f"{seconds * 1000:.1f} ms"
        return f"{seconds:.3f} s" if seconds < 10 else f"{seconds:.1f} s"

    def percent(self, ratio: float | None) -> str:
        return self.say("na") if ratio is None else f"{ratio * 100:.2f} %"

    def whole(self, value: float | None) -> str:
        return self.say("na") if value is None else f"{value:,.0f}"

    def _rate(self, value: float | None) -> str:
        if value is None:
            return self.say("na")
        return self.say("per_second", count=f"{value:,.1f}" if value < 1000 else f"{value:,.0f}")

    def _spark(self, key: str, values: list[float | None] | list[int], style: str, told: object) -> Text:
        assert callable(told)
        most = max((v for v in values if v is not None), default=None)
        tail = self.say("now_most", now=told(values[-1]), most=told(most)) if most is not None else self.say("na")
        return self._curve(key, spark(values, self.curve), style, tail)

    def _curve(self, key: str, curve: str, style: str, tail: str) -> Text:
        return self._row(key, (curve.ljust(self.curve), style), f" {tail}")

    def _packed(self, told: list[str], between: str, key: str = "") -> Iterator[Text]:
        """As many on a line as fit, the next lines below the first."""
        lines = [""]
        for text in told:
            longer = f"{lines[-1]}{between}{text}" if lines[-1] else text
            if lines[-1] and self.label + cell_len(longer) > self.width - 1:
                lines[-1] += between.rstrip()
                lines.append(text)
            else:
                lines[-1] = longer
        for number, line in enumerate(lines):
            yield self._row(key, (line, "dim")) if key and not number else _line(" " * self.label, (line, "dim"))

    def _row(self, key: str, *parts: str | tuple[str, str]) -> Text:
        label = self.say(key)
        return _line(" " + label + " " * (self.label - 1 - cell_len(label)), *parts)


def _line(*parts: str | tuple[str, str]) -> Text:
    return Text.assemble(*parts, no_wrap=True, overflow="crop")


def _signs(real: Sequence[float | None], plan: Sequence[float | None]) -> str:
    def sign(measured: float | None, designed: float | None) -> str:
        if measured is None or designed is None:
            return "·"
        difference = (measured - designed) * 100
        return "=" if abs(difference) <= NEAR_PP else "+" if difference > 0 else "−"

    return "".join(sign(m, d) for m, d in zip(real, plan, strict=True))


def _whole(value: int) -> str:
    return f"{value:,}"


def _short(tokens: int) -> str:
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if tokens >= size:
            return f"{tokens / (1e3 if unit == ' k' else size):.4g}{unit}"
    return f"{tokens:,}"


def _clock(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
