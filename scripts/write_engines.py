"""Writes docs/engines.md from the adapters; with --check says whether it is what they describe (exit code 1 if not)."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from textwrap import dedent

from prefixcache.engines.adapter import Absent, Adapter
from prefixcache.engines.detect import ENGINES
from prefixcache.engines.frameworks.custom import __doc__ as custom_text
from prefixcache.engines.frameworks.stores import STORES
from prefixcache.engines.frameworks.vllm_ascend import VLLM_ASCEND
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.series import Series, Share, Source, Sum

PAGE = Path(__file__).parents[1] / "docs" / "engines.md"
OVERVIEW = (
    Quantity.QUERIES,
    Quantity.HITS,
    Quantity.EXTERNAL_QUERIES,
    Quantity.EXTERNAL_HITS,
    Quantity.PROMPT_TOKENS,
    Quantity.KV_USAGE,
    Quantity.EVICTED,
    Quantity.PREEMPTIONS,
)
TIERS = {
    "counted": "counted apart",
    "none": "none",
    "in_hits": "among the hits",
    "uncounted": "not counted, so no total",
}


def engines_page() -> str:
    """The whole page."""
    parts = [_head(), _overview("Engines", ENGINES), _overview("Stores behind engines", STORES)]
    parts += [_engine(adapter) for adapter in (*ENGINES, *STORES)]
    parts.append(_custom())
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _head() -> str:
    return dedent(
        """
        # Engines

        <!-- Written by scripts/write_engines.py from prefixcache/engines/frameworks: do not edit by hand. -->

        What each framework counts, under which name, in which unit. `run`, `probe` and `metrics` read all of them
        through one logical model; `--engine auto` recognises a page by its names, `--engine NAME` chooses an adapter.

        - **queries, hits**: looked up and found in the device's memory. **external**: the tiers behind it, which are
          asked only for what missed before. Total hit ratio = (hits + external hits) / queries.
        - **cumulative** figures grow since the start of the process and are differenced over an interval; a **window**
          or **gauge** ratio is never the figure of an interval and is only shown.
        - A series that is absent before and present after counts from 0. Absent at both ends while prompts moved it is
          0 only where the page proves that this version exports it; else it is not known. A series that is there
          without a number (NaN, infinite, negative, a broken line, a page that ends within a line) is not known either.
        - A page without one name of the framework is another exporter's, whose silence is no 0: `metrics` refuses it
          and names the file, a run takes that endpoint's figures as missing.
        - Counters that fall, another process start time, another time of creation or other names after than before are
          a reset of the whole endpoint: its figures are null, and what was counted since is their least.
        - Blocks before and tokens after have no difference.
        - Where prefill and decode are apart (`--role`), the hit rate is that of the prefill endpoints.
        - Names are written without `_total`; both spellings are read.
        """
    )


def _overview(title: str, adapters: tuple[Adapter, ...]) -> str:
    head = ["framework", *(q.value.replace("_", " ") for q in OVERVIEW), "tiers behind the device"]
    rows = [
        [f"[{a.traits.title}](#{_anchor(a.traits.title)})", *(_brief(a, q) for q in OVERVIEW), TIERS[a.tiers]]
        for a in adapters
    ]
    return f"## {title}\n\n{_table(head, rows)}"


def _brief(adapter: Adapter, quantity: Quantity) -> str:
    found = adapter.metrics.get(quantity)
    if found is None or isinstance(found, Absent):
        return "–"
    units = list(dict.fromkeys(source.unit for source in found))
    estimated = any(isinstance(s, Share) for s in found)
    return " or ".join(units) + (" (older: estimate)" if estimated else "")


def _engine(adapter: Adapter) -> str:
    traits = adapter.traits
    lines = [f"## {traits.title}", "", f"`--engine {adapter.name}`" + _recognised(adapter), ""]
    rows = [row for quantity in adapter.metrics for row in _rows(adapter, quantity)]
    lines.append(_table(["quantity", "series", "kind", "unit", "of", "versions", "note"], rows))
    facts = [
        (
            "Block size",
            traits.block_size + (f"; default {traits.default_block_size}" if traits.default_block_size else ""),
        ),
        ("Hits of a request", traits.hit_rule),
        (
            "Empty the cache",
            f"`POST {adapter.reset.path}`" if adapter.reset.path else f"no route: {adapter.reset.remedy}",
        ),
        ("Pin a DP rank", f"header `{adapter.rank_header}`" if adapter.rank_header else "no known way"),
        ("Separate caches", f"field `{adapter.salt_field}` of the body" if adapter.salt_field else "no salt"),
        ("To be switched on", adapter.needs.removeprefix(f"{traits.title}: ")),
    ]
    if adapter.store:
        facts = facts[:1]
    lines += ["", *(f"- {name}: {text}." for name, text in facts if text)]
    if traits.units:
        lines += [
            "",
            "Hit units that are not the block size:",
            "",
            *(f"- {family}: {rule}." for family, rule in traits.units),
        ]
    if traits.traps:
        lines += ["", "Traps:", "", *(f"- {trap}." for trap in traits.traps)]
    if traits.sources:
        lines += ["", f"Source: {'; '.join(traits.sources)}."]
    return "\n".join(lines)


def _recognised(adapter: Adapter) -> str:
    if adapter is VLLM_ASCEND:
        return (
            "; its pages cannot be told from vLLM's. It is recognised where `/server_info` (vLLM with "
            "`VLLM_SERVER_DEV_MODE=1`) tells that the device is an NPU; else name it."
        )
    return ", recognised by " + ", ".join(f"`{mark}`" for mark in adapter.marks) + "."


def _rows(adapter: Adapter, quantity: Quantity) -> list[list[str]]:
    found = adapter.metrics[quantity]
    if isinstance(found, Absent):
        return [[quantity.value, "–", "", "", "", "", found.why]]
    return [[quantity.value if number == 0 else "", *_source(source)] for number, source in enumerate(found)]


def _source(source: Source) -> list[str]:
    match source:
        case Series():
            unit = "block or token" if source.help_names_unit else source.unit
            return [_named(source), source.kind, unit, source.scope, source.versions, source.note]
        case Sum():
            text = " ".join(f"{'+' if sign > 0 else '−'} {_named(s)}" for sign, s in source.terms).removeprefix("+ ")
            return [text, "cumulative", source.unit, source.scope, source.versions, source.note]
        case Share():
            text = f"{_named(source.ratio)} × {_named(source.total)}"
            return [text, "cumulative", f"{source.unit}, estimated", source.scope, source.versions, source.note]


def _named(series: Series) -> str:
    labels = ",".join(f"{k}={'/'.join(x or 'none' for x in v)}" for k, v in series.labels.items())
    return " or ".join(f"`{name}{{{labels}}}`" if labels else f"`{name}`" for name in series.names)


def _custom() -> str:
    text = (custom_text or "").strip()
    return (
        f"## A framework of your own\n\n{text}\n\n"
        + dedent(
            """
        Quantities are those of the tables above; `kind` is `cumulative` (default), `window` or `gauge`, `unit` `token`
        (default), `block`, `request`, `ratio`, `event` or `object`. A list of sources is tried in its order. What a
        reset route answers is not believed: the run verifies that the cache is empty.
        """
        ).strip()
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def main(arguments: list[str] | None = None, page: Path = PAGE) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    only_check = parser.parse_args(arguments).check
    wanted = engines_page()
    differs = not page.is_file() or page.read_text(encoding="utf-8") != wanted
    if differs and not only_check:
        page.write_text(wanted, encoding="utf-8")
    print(f"{page.name}: {'in order' if not differs else 'differs' if only_check else 'written'}")
    return 1 if differs and only_check else 0


if __name__ == "__main__":
    sys.exit(main())
