"""The tables of the page, from the report's JSON: rows of ready text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from prefixcache.report.formats import count, decimal, milliseconds, percent, points, signed_count
from prefixcache.report.strings import Language, named, text

MAX_ROWS = 200
LATENCIES = ("ttfb_s", "ttft_s", "time_to_text_s", "tpot_s", "itl_s", "itl_max_s", "e2e_s")
ALWAYS = ("ttft_s", "tpot_s", "e2e_s")
"""Of the latencies those that are shown even where no request has them."""
PERCENTILES = ("mean", "p50", "p90", "p95", "p99")


@dataclass(frozen=True)
class Column:
    """``numeric`` columns stand to the right, digits under digits."""

    title: str
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """``rows`` are texts, one a column; ``more`` rows were left out; ``strong`` are the numbers of rows in bold."""

    columns: list[Column]
    rows: list[list[str]]
    more: int = 0
    strong: set[int] = field(default_factory=set)


class Tables:
    """Builds the tables of one report in one language."""

    def __init__(self, report: dict[str, Any], language: Language) -> None:
        self.report = report
        self.language = language
        self.missing = text("na", language)
        self.several = len(report["passes"]) > 1

    def word(self, key: str, **values: object) -> str:
        return text(key, self.language, **values)

    def pass_name(self, name: str) -> str:
        return named("pass", name, self.language)

    def status(self, code: str | None) -> str:
        """Of a dataset or a run, in words."""
        return self.missing if code is None else named("status", code, self.language)

    def columns(self, *keys: str, texts: int) -> list[Column]:
        """Titled columns, the first ``texts`` of them not numeric; the pass comes first if there are several."""
        keys = ("pass", *keys) if self.several else keys
        texts += self.several
        return [Column(self.word(key), n >= texts) for n, key in enumerate(keys)]

    def led(self, pass_name: str, cells: list[str]) -> list[str]:
        """A row with its pass in front if there are several."""
        return [self.pass_name(pass_name), *cells] if self.several else cells

    def passes(self) -> Table:
        columns = [
            Column(self.word("pass"), False),
            *(Column(self.word(k)) for k in ("column.target", "column.designed", "column.measured")),
            *(Column(self.word(k)) for k in ("column.construction", "column.runtime")),
            *(Column(self.word(k)) for k in ("column.expected", "column.measured_hits", "column.query_tokens")),
            Column(self.word("verdict_column"), False),
        ]
        rows = [
            [
                self.pass_name(p["name"]),
                percent(p["target_hit_ratio"], self.missing),
                percent(p["designed_hit_ratio"], self.missing),
                self.mark(p, percent(p["actual_hit_rate"], self.missing)),
                points(p["construction_deviation"], self.missing),
                self.mark(p, points(p["runtime_deviation"], self.missing)),
                count(p["expected_hit_tokens"], self.missing),
                count(p["measured_hit_tokens"], self.missing),
                count(p["measured_query_tokens"], self.missing),
                self.word(f"verdict.{p['verdict']['code']}"),
            ]
            for p in self.report["passes"]
        ]
        return Table(columns, rows)

    def mark(self, figures: dict[str, Any], shown: str) -> str:
        """A measured figure of a pass that is not whole says so wherever it stands."""
        return f"{shown} *" if figures["incomplete"] and shown != self.missing else shown

    def pp(self, deviation: float | None) -> str:
        shown = points(deviation, self.missing)
        return shown if deviation is None else f"{shown} {self.word('pp')}"

    def missing_notes(self) -> list[str]:
        """Why figures are not available, one line a reason and pass."""
        lines = []
        for figures in self.report["passes"]:
            lead = f"{self.pass_name(figures['name'])} · " if self.several else ""
            names: dict[str, list[str]] = {}
            for figure, reason in figures["missing"].items():
                names.setdefault(reason, []).append(named("figure", figure, self.language))
            for reason, found in names.items():
                which = self.word("comma").join(found)
                why = named("missing", reason, self.language)
                lines.append(lead + self.word("missing_note", figures=which, why=why))
        return lines

    def groups(self) -> Table:
        columns = self.columns(
            "column.group",
            "column.requests",
            "column.failed",
            "column.input_tokens",
            "column.designed",
            "column.expected",
            "column.client",
            "column.differing",
            "column.ttft_p50",
            texts=1,
        )
        return self._capped(
            columns,
            self.report["groups"],
            lambda row: self.led(
                row["pass"],
                [
                    row["group_id"],
                    count(row["requests"], self.missing),
                    count(row["failed"], self.missing),
                    count(row["input_tokens"], self.missing),
                    percent(row["designed_hit_ratio"], self.missing),
                    count(row["expected_hit_tokens"], self.missing),
                    count(row["client_cached_tokens"], self.missing),
                    count(row["differing_requests"], self.missing),
                    milliseconds(row["ttft_p50_s"], self.missing),
                ],
            ),
        )

    def domains(self) -> Table:
        columns = self.columns(
            "column.domain",
            "column.requests",
            "column.failed",
            "column.designed",
            "column.measured",
            "column.runtime",
            "column.expected",
            "column.measured_hits",
            "column.client",
            "column.route",
            texts=1,
        )
        return self._capped(
            columns,
            self.report["domains"],
            lambda row: self.led(
                row["pass"],
                [
                    str(row["domain"]),
                    count(row["requests"], self.missing),
                    count(row["failed"], self.missing),
                    *self._compared(row),
                    count(row["client_cached_tokens"], self.missing),
                    self.answer(row["route_confirmed"]),
                ],
            ),
        )

    def endpoints(self) -> Table:
        columns = self.columns(
            "column.endpoint",
            "column.engine",
            "column.requests",
            "column.designed",
            "column.measured",
            "column.runtime",
            "column.expected",
            "column.measured_hits",
            "column.query_tokens",
            texts=2,
        )
        rows = self.report["endpoints"]
        table = self._capped(
            columns,
            rows,
            lambda row: self.led(
                row["pass"],
                [
                    row["endpoint"],
                    self.word("all") if row["engine"] is None else row["engine"],
                    count(row["requests"], self.missing),
                    *self._compared(row),
                    count(row["measured_query_tokens"], self.missing),
                ],
            ),
        )
        strong = {n for n, row in enumerate(rows[:MAX_ROWS]) if row["engine"] is None}
        return Table(table.columns, table.rows, table.more, strong)

    def _compared(self, row: dict[str, Any]) -> list[str]:
        return [
            percent(row["designed_hit_ratio"], self.missing),
            percent(row["actual_hit_rate"], self.missing),
            points(row["runtime_deviation"], self.missing),
            count(row["expected_hit_tokens"], self.missing),
            count(row["measured_hit_tokens"], self.missing),
        ]

    def latencies(self) -> Table:
        columns = self.columns("column.metric", "column.mean", texts=1)
        columns += [Column(p.upper()) for p in PERCENTILES[1:]]
        rows = []
        for metric in LATENCIES:
            each = [(p["name"], (p["performance"] or {}).get(metric) or {}) for p in self.report["passes"]]
            if metric in ALWAYS or any(found.get("count") for _, found in each):
                for name, found in each:
                    rows.append(self.led(name, [self.word(f"metric.{metric}"), *self._spread(found)]))
        for figures in self.report["passes"]:
            rest = (figures["performance"] or {}).get("without_retried") or {}
            for metric in ALWAYS if rest else ():
                name = self.word("first_attempt", metric=self.word(f"metric.{metric}"))
                rows.append(self.led(figures["name"], [name, *self._spread(rest[metric])]))
        return Table(columns, rows)

    def _spread(self, found: dict[str, Any]) -> list[str]:
        return [milliseconds(found.get(p), self.missing) for p in PERCENTILES]

    def throughput(self) -> Table:
        columns = [Column(self.word("column.metric"), False)]
        columns += [Column(self.pass_name(p["name"])) for p in self.report["passes"]]
        shown: list[tuple[str, Callable[[float | None, str], str]]] = [
            ("request_throughput", decimal),
            ("output_token_throughput", decimal),
            ("input_token_throughput", decimal),
            ("qps_sent", decimal),
            ("success_rate", percent),
            ("timeout_rate", percent),
            ("duration_s", decimal),
        ]
        rows = []
        for metric, form in shown:
            values = [(p["performance"] or {}).get(metric) for p in self.report["passes"]]
            rows.append([self.word(f"metric.{metric}"), *(form(v, self.missing) for v in values)])
        usage = [self._usage(p["kv_usage"] or {}) for p in self.report["passes"]]
        rows.append([self.word("metric.kv_usage"), *usage])
        return Table(columns, rows)

    def _usage(self, usage: dict[str, Any]) -> str:
        if usage.get("max") is None:
            return self.missing
        return f"{percent(usage.get('mean'), self.missing)} / {percent(usage['max'], self.missing)}"

    def differing(self) -> list[tuple[str, Table]]:
        """A note and a table for each pass with requests that hit other than planned."""
        found = []
        for figures in self.report["passes"]:
            own = figures["differing_requests"]
            if not own["count"]:
                continue
            lead = f"{self.pass_name(figures['name'])} · " if self.several else ""
            note = lead + self.word(
                "differing_note",
                count=count(own["count"], ""),
                compared=count(own["compared"], ""),
                more=count(own["more"], ""),
                fewer=count(own["fewer"], ""),
                net=signed_count(own["net_tokens"]),
                shown=len(own["first"]),
            )
            texts, numbers = ("column.request_id", "column.group"), ("order", "planned_tokens", "cached", "difference")
            columns = [Column(self.word(k), False) for k in texts]
            columns += [Column(self.word(f"column.{k}")) for k in numbers]
            rows = [
                [
                    row["request_id"],
                    row["group_id"],
                    count(row["order_index"], ""),
                    count(row["expected_hit_len"], ""),
                    count(row["cached_tokens"], ""),
                    signed_count(row["cached_tokens"] - row["expected_hit_len"]),
                ]
                for row in own["first"]
            ]
            found.append((note, Table(columns, rows)))
        return found

    def answer(self, value: bool | None) -> str:
        return self.word("unknown") if value is None else self.word("yes") if value else self.word("no")

    def _capped(
        self, columns: list[Column], rows: list[dict[str, Any]], cells: Callable[[dict[str, Any]], list[str]]
    ) -> Table:
        return Table(columns, [cells(row) for row in rows[:MAX_ROWS]], max(0, len(rows) - MAX_ROWS))
