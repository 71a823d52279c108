"""The one place that makes a run's options, and an SLO search, of the parameters that commands and flows share.

``given`` is always a command's or a flow's parameters by name; what is left out has the library's default, what is no
option of a run (a folder, the language) is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefixcache.analysis.slo_search import Bounds, Loads
    from prefixcache.load.counters.metering import Metering
    from prefixcache.load.options import ProgressCallback, RunOptions
    from prefixcache.load.preflight.options import PreflightOptions
    from prefixcache.load.sending.options import Sending
    from prefixcache.load.slo_points import SloPoints

AS_GIVEN = (
    "model", "concurrency", "load", "max_in_flight", "duration", "limit", "gating", "send", "isolation",
    "variant_dataset", "allow_residue", "overwrite", "without_prompts", "slo", "api_key",
)  # fmt: skip
DEADLINES = ("connect_timeout", "first_byte_timeout", "total_timeout")
OF_THE_RANGE = ("low", "high", "resolution", "confirm")
RATES = {"prefill_tps": "assumed_prefill_tps", "decode_tps": "assumed_decode_tps"}


def options_of(given: Mapping[str, Any]) -> RunOptions:
    """A run's options, checked.

    Raises:
        InputError: a value that cannot be run with; ``field`` is its name.
    """
    from prefixcache.engines.endpoint import parse_endpoint
    from prefixcache.engines.http import IDLE_S, Connection, Timeouts
    from prefixcache.load.options import RunOptions

    for name in ("url", "metrics_url"):
        for address in given.get(name) or ():
            parse_endpoint(address, field_name=name)
    ca_file = given.get("ca_file")
    return RunOptions(
        urls=tuple(given["url"]),
        metrics_urls=tuple(given.get("metrics_url") or ()),
        timeouts=Timeouts.of(given.get("timeout", IDLE_S), *(given.get(name) for name in DEADLINES)),
        connection=Connection(bool(given.get("insecure")), Path(ca_file) if ca_file else None, given.get("proxy")),
        sending=_sending_of(given),
        metering=_metering_of(given),
        checks=_checks_of(given),
        kv_events=tuple(given.get("kv_events") or ()),
        kv_events_replay=tuple(given.get("kv_events_replay") or ()),
        **{name: given[name] for name in AS_GIVEN if name in given},
        **{field: given[name] for name, field in RATES.items() if name in given},
    )


def _metering_of(given: Mapping[str, Any]) -> Metering:
    from prefixcache.load.counters.metering import Metering

    plain = {"engine": "engine", "metrics_model": "model", "prometheus": "prometheus", "selector": "selector"}
    found = {field: given[name] for name, field in plain.items() if given.get(name)}
    return Metering(roles=tuple(given.get("role") or ()), **found)


def _checks_of(given: Mapping[str, Any]) -> PreflightOptions:
    from prefixcache.load.preflight.options import PreflightOptions

    report = given.get("probe_report")
    return PreflightOptions(
        allow_misfit=bool(given.get("allow_misfit")),
        probe_report=Path(report) if report else None,
        predict=not given.get("no_predict"),
    )


def _sending_of(given: Mapping[str, Any]) -> Sending:
    from prefixcache.load.request.retries import Retries
    from prefixcache.load.sending.options import Sending, parse_extra_body, parse_headers

    plain = ("processes", "api", "engine_warmup", "rank_field")
    plan = {"retries": "most", "retry_wait": "first_wait"}
    return Sending(
        headers=parse_headers(tuple(given.get("header") or ())),
        extra_body=parse_extra_body(given.get("extra_body")),
        retries=Retries(**{field: given[name] for name, field in plan.items() if name in given}),
        **{name: given[name] for name in plain if name in given},
    )


def search_of(
    given: Mapping[str, Any], dataset: Path, folder: Path, progress: ProgressCallback | None
) -> tuple[SloPoints, Bounds | Loads]:
    """An SLO search, checked: what measures its points, and where is searched or which loads are measured.

    Args:
        given: parameters; its ``slo`` and ``max_in_flight`` are the search's, not those of each run.
        dataset: its folder on this machine.
        folder: of the search.
        progress: told of every step.

    Raises:
        InputError: as :func:`options_of`.
    """
    from prefixcache.analysis.slo import parse_slo
    from prefixcache.load.slo_points import SloPoints, check_loads

    options = options_of({name: value for name, value in given.items() if name not in ("slo", "max_in_flight")})
    bounds = _loads_of(given)
    check_loads(given["over"], bounds)
    slo = parse_slo(given["slo"])
    points = SloPoints(
        dataset, folder, options, given["over"], slo, given["pass_name"], given["max_in_flight"], progress
    )
    return points, bounds


def _loads_of(given: Mapping[str, Any]) -> Bounds | Loads:
    from flows import search_options
    from prefixcache.analysis.slo_search import Bounds, Loads, bound, parse_loads
    from prefixcache.errors import InputError

    if given.get("points") is None:
        low, high, step = (bound(given[name]) for name in OF_THE_RANGE[:3])
        return Bounds(low, high, step, given["attainment"], given["confirm"])
    for name in OF_THE_RANGE:
        default = getattr(search_options, name.upper())
        if given.get(name, default) != default:
            raise InputError(
                f"{name} {given[name]} belongs to a search, and --points names the loads",
                field=name,
                remedy="Leave out one of the two.",
            )
    return Loads(parse_loads(given["points"]), given["attainment"])


def finish_search(points: SloPoints, bounds: Bounds | Loads, measure: Any, language: Any) -> dict[str, Any]:
    """Search, and draw the curve; returns the report.

    Args:
        measure: measures a point and returns its figures: ``points.measure``, or a task that calls it. Whoever watches
            is told before each one: ``Progress(OVER VALUE, "point", 0, 1)``.
        language: of the page.
    """
    from prefixcache.load.options import Progress
    from prefixcache.load.slo_points import search_slo
    from prefixcache.report.slo_curve import SEARCH_HTML, write_slo_curve

    def told(value: Any) -> Any:
        if points.progress is not None:
            points.progress(Progress(f"{points.over} {value.normalize():f}", "point", 0, 1))
        return measure(value)

    report = search_slo(points, bounds, told)
    write_slo_curve(report, points.folder / SEARCH_HTML, language)
    return report
