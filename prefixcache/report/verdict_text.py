"""The verdict as a sentence or two that a performance engineer reads, in either language."""

from __future__ import annotations

from typing import Any

from prefixcache.analysis.verdict import MISFITS, is_exact, worst_pass
from prefixcache.report.formats import count, percent, points, size_in_points
from prefixcache.report.strings import Language, named, spoken, text


def verdict_text(passes: list[dict[str, Any]], validation_status: str | None, language: Language) -> str:
    """The run's verdict in words.

    Args:
        passes: figures of all passes, each with its ``verdict`` (``analysis.verdict.judge_pass``).
        validation_status: of the dataset.
    """
    figures = worst_pass(passes)
    code = figures["verdict"]["code"]
    if code == "exact" and len(passes) > 1:
        parts = [_exact_all(passes, language)]
    elif code == "incomplete" and len(passes) > 1:
        parts = _all_incomplete(passes, language)
    else:
        parts = _SENTENCES[code](figures, language)
        if len(passes) > 1:
            parts[0] = text("say.in_pass", language, name=named("pass", figures["name"], language)) + parts[0]
    if code != "deviates" and validation_status == "PASS_WITH_WARNING":
        off = next((p["construction_deviation"] for p in passes if p["construction_deviation"]), None)
        if off is not None:
            parts.append(text("say.dataset_warning", language, construction=points(off, ""), status=validation_status))
    if any((p["actual_hit_rate"] or 0) > 1 for p in passes):
        parts.append(text("say.over_one", language))
    return (" " if language == "en" else "").join(parts)


def _exact(figures: dict[str, Any], language: Language) -> list[str]:
    return [text("say.exact", language, **_hits(figures))]


def _exact_all(passes: list[dict[str, Any]], language: Language) -> str:
    each = [text("say.exact_pass", language, name=named("pass", p["name"], language), **_hits(p)) for p in passes]
    return text("say.exact_all", language, passes=spoken(each, language))


def _hits(figures: dict[str, Any]) -> dict[str, str]:
    return {"hits": count(figures["measured_hit_tokens"], ""), "tokens": count(figures["measured_query_tokens"], "")}


def _within_range(figures: dict[str, Any], language: Language) -> list[str]:
    figured = [_gap(figures, language), _range(figures, language)]
    seen = [*_coarser_unit(figures, language), *_evidence(figures, language)]
    return [*_misfit(figures, language), *figured, *seen]


def _deviates(figures: dict[str, Any], language: Language) -> list[str]:
    construction = _with_unit(figures["construction_deviation"], language)
    runtime = _with_unit(figures["runtime_deviation"], language)
    if figures["verdict"]["larger_deviation"] == "construction":
        target = percent(figures["target_hit_ratio"], "")
        larger = text("say.larger_construction", language, construction=construction, target=target, runtime=runtime)
        return [*_misfit(figures, language), larger]
    larger = text("say.larger_runtime", language, construction=construction)
    misfit = _misfit(figures, language)
    seen = [*_coarser_unit(figures, language), *_evidence(figures, language)]
    return [*misfit, _gap(figures, language), _range(figures, language), larger, *seen]


def _with_unit(deviation: float | None, language: Language) -> str:
    missing = text("na", language)
    return missing if deviation is None else f"{points(deviation, missing)} {text('pp', language)}"


def _gap(figures: dict[str, Any], language: Language) -> str:
    deviation = figures["runtime_deviation"]
    if deviation:
        missing = text("na", language)
        hits, expected = count(figures["measured_hit_tokens"], missing), count(figures["expected_hit_tokens"], missing)
        key = "say.above" if deviation > 0 else "say.below"
        return text(key, language, size=size_in_points(deviation), hits=hits, expected=expected)
    if figures["differing_requests"]["count"] and not is_exact(figures):
        numbers = {key: count(figures["differing_requests"][key], "") for key in ("count", "compared")}
        return text("say.equal_total", language, **numbers)
    return text("say.equal_rate", language)


def _range(figures: dict[str, Any], language: Language) -> str:
    found = figures["verdict"]["range"]
    key = "say.in_range" if found["literal"] else "say.near_range"
    return text(key, language, limit=f"{found['limit'] * 100:g}", row=named("range", found["row"], language))


def _misfit(figures: dict[str, Any], language: Language) -> list[str]:
    """Said before any figure: on a server other than the planned one the range means little."""
    items = [named("evidence", code, language) for code in figures["verdict"]["evidence"] if code in MISFITS]
    return [text("say.misfit", language, items=spoken(items, language))] if items else []


def _coarser_unit(figures: dict[str, Any], language: Language) -> list[str]:
    """What to ask the server, where nobody has said that it matches in another unit."""
    unit = figures.get("coarser_unit")
    if unit is None or {"hit_alignment", "block_size"} & set(figures["verdict"]["evidence"]):
        return []
    return [text("say.coarser_unit", language, unit=count(unit, ""))]


def _evidence(figures: dict[str, Any], language: Language) -> list[str]:
    codes = figures["verdict"]["evidence"]
    items = [named("evidence", code, language) for code in codes if code not in MISFITS]
    return [text("say.evidence", language, items=spoken(items, language))] if items else []


def _why_incomplete(figures: dict[str, Any], language: Language) -> list[str]:
    warmup = figures["warmup"]
    places = {**figures["requests"], "warmup": warmup["requests"], "warmup_failed": warmup["failed"]}
    seen, sent = figures["measured_query_tokens"], figures["client"]["sent_tokens"]
    places |= {"queries": count(seen, ""), "sent": count(sent, "")}
    return [text(f"incomplete.{code}", language, **places) for code in figures["incomplete"]]


def _all_incomplete(passes: list[dict[str, Any]], language: Language) -> list[str]:
    comma, each = text("comma", language), []
    for figures in passes:
        if figures["incomplete"]:
            name, items = named("pass", figures["name"], language), comma.join(_why_incomplete(figures, language))
            each.append(text("say.pass_items", language, name=name, items=items))
    return [text("say.incomplete", language, items=spoken(each, language))]


def _incomplete(figures: dict[str, Any], language: Language) -> list[str]:
    items = _why_incomplete(figures, language)
    parts = [text("say.incomplete", language, items=spoken(items, language))]
    client = figures["client"]
    if figures["actual_hit_rate"] is None and client["known_requests"]:
        parts.append(
            text(
                "say.witness",
                language,
                cached=count(client["known_cached_tokens"], ""),
                known=count(client["known_requests"], ""),
                expected=count(client["known_expected_tokens"], ""),
            )
        )
    return parts


def _polluted(figures: dict[str, Any], language: Language) -> list[str]:
    first = (figures["first_request_hit"] or {}).get("requests") or []
    items = [
        text(
            "say.first_hit",
            language,
            domain=hit["planned_dp_id"],
            request=hit["request_id"],
            tokens=count(hit["cached_tokens"], ""),
        )
        for hit in first[:3]
    ]
    if not items:
        missing = text("na", language)
        hits, expected = count(figures["measured_hit_tokens"], missing), count(figures["expected_hit_tokens"], missing)
        items = [text("say.residue", language, hits=hits, expected=expected)]
    return [text("say.polluted", language, items=spoken(items, language))]


_SENTENCES = {
    "exact": _exact,
    "within_range": _within_range,
    "misfit": _within_range,
    "deviates": _deviates,
    "incomplete": _incomplete,
    "polluted": _polluted,
}
