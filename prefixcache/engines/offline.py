"""Saved metrics pages → what was counted between them: ``prefixcache metrics``, without any server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from prefixcache.engines.adapter import Adapter
from prefixcache.engines.detect import detect_adapter, known_adapter, named_adapter, some_names
from prefixcache.engines.frameworks.stores import has_no_engine, is_only_a_store
from prefixcache.engines.page import MOST_BYTES, MetricsPage, page_text, parse_page
from prefixcache.engines.snapshot import Snapshot
from prefixcache.errors import InputError

STAGE = "scrape_metrics"


BEFORE, AFTER = "--before", "--after"


@dataclass(frozen=True, slots=True)
class Saved:
    """One file: its page, or in ``error`` why it holds none."""

    file: str
    page: MetricsPage | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """One endpoint's files of before and after."""

    endpoint: str
    before: Saved
    after: Saved

    @property
    def broken(self) -> tuple[str, str] | None:
        """The flag and the error of the first of the two that holds no page."""
        ends = ((BEFORE, self.before.error), (AFTER, self.after.error))
        return next(((flag, error) for flag, error in ends if error is not None), None)


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
            field=AFTER if len(after) < len(before) else BEFORE,
            remedy="Give both as often, in the same order of servers.",
            stage=STAGE,
        )
    sides = [
        [_saved(path, name, flag, model) for path, name in zip(paths, _told_apart(paths), strict=True)]
        for flag, paths in ((BEFORE, before), (AFTER, after))
    ]
    pairs = [Pair(second.file, first, second) for first, second in zip(*sides, strict=True)]
    if pairs and all(pair.broken for pair in pairs):
        flag, error = pairs[0].broken or ("", "")
        raise InputError(error, field=flag, remedy="Save the text of the server's /metrics page.", stage=STAGE)
    return pairs


def snapshots(pairs: Sequence[Pair]) -> tuple[Snapshot, Snapshot]:
    """The pairs as two snapshots, those without a page among the errors."""

    def side(flag: str, found: Mapping[str, Saved]) -> Snapshot:
        return Snapshot(
            {name: saved.page for name, saved in found.items() if saved.page is not None},
            {name: saved.error for name, saved in found.items() if saved.error is not None},
            files={name: saved.file for name, saved in found.items()},
            flag=flag,
        )

    return side(BEFORE, {p.endpoint: p.before for p in pairs}), side(AFTER, {p.endpoint: p.after for p in pairs})


def _saved(path: Path, name: str, flag: str, model: str | None) -> Saved:
    found = _read(path, flag)
    if isinstance(found, str):
        return Saved(name, None, f"{name} {found}")
    return Saved(name, found if model is None else found.of_model(model))


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


def _told_apart(paths: Sequence[Path]) -> list[str]:
    """The files' names, with their folders where two are equal."""
    short = [path.name for path in paths]
    if len(set(short)) == len(short):
        return short
    full = [str(path) for path in paths]
    return full if len(set(full)) == len(full) else [f"{name}#{n}" for n, name in enumerate(full, 1)]


def adapter_of(engine: str, *sides: Snapshot) -> Adapter:
    """The framework of these pages: as it is named, else what the pages tell.

    Raises:
        InputError: pages of several frameworks, of none, or a page with nothing of the others' framework: what counted
            elsewhere would be taken for what was counted from 0.
    """
    adapter = named_adapter(engine)
    for_all = adapter or _common(sides)
    for side in sides:
        for label, page in side.pages.items():
            _check_owned(for_all, side, label, page, sides, named=adapter is not None)
    return for_all


def _check_owned(
    adapter: Adapter, side: Snapshot, label: str, page: MetricsPage, sides: Sequence[Snapshot], *, named: bool
) -> None:
    if adapter.owns(page):
        return
    of_server = [other.pages[label] for other in sides if label in other.pages]
    # A store's page stands beside the engines' and is not counted with them.
    if not adapter.store and all(has_no_engine(one) for one in of_server) and any(map(is_only_a_store, of_server)):
        return
    title, other = adapter.traits.title, known_adapter(page)
    what = f"; it has {some_names(page)}" if other is None else f": it is a page of {other.traits.title}"
    remedy = "Give the server's own /metrics page of that moment."
    if named and other is not None:
        remedy = "Leave --engine out, or give the server's own /metrics page of that moment."
    elif adapter.described:
        remedy = "Give the server's own /metrics page, saved after its first request, with the names of the YAML file."
    raise InputError(
        f"{side.called(label)} holds no series of {title}{what}", field=side.flag or AFTER, remedy=remedy, stage=STAGE
    )


def _common(sides: Sequence[Snapshot]) -> Adapter:
    """The framework that the pages tell.

    Raises:
        InputError: pages of several frameworks, or of none.
    """
    when = ("before", "after") if len(sides) == 2 else ("",) * len(sides)
    pages = [
        (f"{side.called(label)} ({moment})" if moment else label, page)
        for moment, side in reversed(list(zip(when, sides, strict=True)))
        for label, page in side.pages.items()
    ]
    # A page of before may be empty of all that begins with the first request, so only what is there is compared.
    found = [(label, adapter) for label, page in pages if (adapter := _engine_of(label, page)) is not None]
    if not found:
        return _of_none(sides)
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


def _of_none(sides: Sequence[Snapshot]) -> Adapter:
    """The store whose pages they are, where they are no engine's.

    Raises:
        InputError: they are nobody's, the first one to begin with.
    """
    pages = [(side, label, page) for side in sides for label, page in side.pages.items()]
    if (store := next((own for *_, page in pages if (own := known_adapter(page)) is not None), None)) is not None:
        return store
    side, label, page = pages[0]
    try:
        return detect_adapter(page, side.called(label))
    except InputError as error:
        raise InputError(
            error.message,
            field=side.flag or AFTER,
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
