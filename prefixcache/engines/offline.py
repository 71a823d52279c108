"""Saved metrics pages → what was counted between them: ``prefixcache metrics``, without any server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import detect_adapter, named_adapter
from prefixcache.engines.frameworks.stores import is_only_a_store
from prefixcache.engines.page import MOST_BYTES, MetricsPage, page_text, parse_page
from prefixcache.engines.snapshot import Snapshot
from prefixcache.errors import InputError

STAGE = "scrape_metrics"


@dataclass(frozen=True, slots=True)
class Pair:
    """One endpoint's page before and after; ``None`` where a page is none, with the reason in ``error``."""

    endpoint: str
    before: MetricsPage | None
    after: MetricsPage | None
    error: str | None = None


def read_pairs(before: Sequence[Path], after: Sequence[Path], model: str | None = None) -> list[Pair]:
    """Pages saved as files (plain or gzip), paired by position; an endpoint is named after its second file.

    Args:
        model: only series of this model, and those that name none.

    Raises:
        InputError: other numbers of files, a file that cannot be read, or not one pair of pages.
    """
    if len(before) != len(after):
        raise InputError(
            f"{len(before)} pages of before and {len(after)} of after",
            field="--after" if len(after) < len(before) else "--before",
            remedy="Give both as often, in the same order of servers.",
            stage=STAGE,
        )
    names = _endpoint_names(after)
    pairs = []
    for name, first, second in zip(names, before, after, strict=True):
        pages, reasons = [], []
        for flag, path in (("--before", first), ("--after", second)):
            found = _read(path, flag)
            if isinstance(found, str):
                reasons.append(f"{path.name} {found}")
            elif model is not None:
                found = found.of_model(model)
            pages.append(None if isinstance(found, str) else found)
        pairs.append(Pair(name, pages[0], pages[1], "; ".join(reasons) or None))
    if all(pair.error for pair in pairs):
        raise InputError(
            pairs[0].error or "", field="--after", remedy="Save the text of the server's /metrics page.", stage=STAGE
        )
    return pairs


def snapshots(pairs: Sequence[Pair]) -> tuple[Snapshot, Snapshot]:
    """The pairs as two snapshots, those without a page among the errors."""

    def side(pages: Mapping[str, MetricsPage | None]) -> Snapshot:
        errors = {pair.endpoint: pair.error for pair in pairs if pair.error and pages[pair.endpoint] is None}
        return Snapshot({name: page for name, page in pages.items() if page is not None}, errors)

    return side({p.endpoint: p.before for p in pairs}), side({p.endpoint: p.after for p in pairs})


def _read(path: Path, flag: str) -> MetricsPage | str:
    """The page, or why the file holds none."""
    try:
        with path.open("rb") as file:
            text = page_text(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or 'cannot be read'}", field=flag, remedy="Give an existing file.", stage=STAGE
        ) from None
    except ValueError as error:
        return f"cannot be read: {error}"
    if text.lstrip()[:1] == "<":
        return "is an HTML page, not Prometheus text"
    page = parse_page(text, to_end=True)
    return page if page.series else "holds no metric"


def _endpoint_names(paths: Sequence[Path]) -> list[str]:
    """The files' names, with their folders where two are equal."""
    short = [path.name for path in paths]
    if len(set(short)) == len(short):
        return short
    full = [str(path) for path in paths]
    return full if len(set(full)) == len(full) else [f"{name}#{n}" for n, name in enumerate(full, 1)]


def adapter_of(engine: str, *sides: Snapshot) -> Adapter:
    """The framework of these pages: as it is named, else what the pages tell.

    Raises:
        InputError: pages of several frameworks, or of none.
    """
    if (named := named_adapter(engine)) is not None:
        return named
    when = ("before", "after") if len(sides) == 2 else ("",) * len(sides)
    pages = [
        (f"{label} ({moment})" if moment else label, page)
        for moment, side in reversed(list(zip(when, sides, strict=True)))
        for label, page in side.pages.items()
    ]
    # A page of before may be empty of all that begins with the first request, so only what is there is compared.
    found = [(label, adapter) for label, page in pages if (adapter := _engine_of(label, page)) is not None]
    if not found:
        return _only_store(*pages[0])
    one, first = found[0]
    other = next(((label, adapter) for label, adapter in found if adapter is not first), None)
    if other is not None:
        raise InputError(
            f"the pages are of different frameworks: {one} of {first.name}, {other[0]} of {other[1].name}",
            field="--engine",
            remedy="Ask for the servers of each framework apart: their counters have no common sum.",
            stage=STAGE,
        )
    return first


def _only_store(label: str, page: MetricsPage) -> Adapter:
    try:
        return detect_adapter(page, label)
    except InputError as error:
        raise InputError(
            error.message,
            field="--after",
            remedy="Give the server's own /metrics page, or describe its framework in a YAML file for --engine.",
            stage=STAGE,
        ) from None


def _engine_of(label: str, page: MetricsPage) -> Adapter | None:
    """The engine whose page it is; None for a store's, and for one that has nothing of any."""
    if is_only_a_store(page):
        return None
    try:
        return detect_adapter(page, label)
    except InputError:
        return None
