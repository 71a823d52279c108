"""What keeps runs apart: does the salt separate caches, does the reset really empty them?"""

from __future__ import annotations

import asyncio
import re
import secrets
import sys

from prefixcache.engines.quantities import Quantity
from prefixcache.engines.salt import ProbeAnswer, probe_salt
from prefixcache.engines.server import ResetOutcome
from prefixcache.probe.findings import Finding, ProbeReport, said, unknown
from prefixcache.probe.line import Line, Refused
from prefixcache.probe.reading import Reading

RESET_TRIES, RESET_PAUSE_S = 3, 0.3
SALT_SINCE = {"vllm": (0, 9), "vllm-ascend": (0, 9), "sglang": (0, 5, 4), "tensorrt-llm": (1, 2)}
"""The release from which a framework's requests surely have the field (vllm#17045, sglang#10718, TensorRT-LLM#7106).
Older ones pass over fields that they do not know."""
NEVER = sys.maxsize


async def find_salt(line: Line, report: ProbeReport, certain: int, floor: int) -> None:
    """Finding ``salt``: the field whose value separates caches.

    Args:
        certain: pieces of a prompt that hits when it is sent again.
        floor: tokens that any prompt may hit, the head's.
    """
    name = line.service.adapter.salt_field
    if name is None:
        report.add(unknown("salt", "salt.none", framework=line.service.adapter.traits.title))
        return
    prompt = line.pieces.fresh(certain)
    readings: list[Reading] = []

    async def send(salt: str) -> ProbeAnswer:
        try:
            again = len(prompt) if readings else 0
            reading = await (line.send if readings else line.cache)(prompt, shared=again, extra={name: salt})
        except Refused as error:
            return ProbeAnswer(False, None, str(error))
        readings.append(reading)
        return ProbeAnswer(True, None if reading.hit is None else max(0.0, reading.hit - floor))

    found = await probe_salt(line.service.endpoint.base, send, (secrets.token_hex(16), secrets.token_hex(16)))
    told = {"field": name, "detail": line.service.clean(found.detail)}
    if found.finding == "separates":
        report.add(Finding("salt", name, "measured", (said("salt.separates", field=name),), readings))
    elif found.finding == "ignored":
        code = "salt.ignored" if await _promises_salt(line, name) else "salt.unknown_field"
        report.add(Finding("salt", None, "measured", (said(code, **told),), readings))
        if code == "salt.ignored":
            report.contradict("salt_ignored", field=name, hit=f"{readings[-1].hit:,.0f}")
    elif found.finding == "refused":
        report.add(Finding("salt", None, "measured", (said("salt.refused", **told),), readings))
    else:
        report.add(unknown("salt", "salt.unproven", readings, **told))


async def _promises_salt(line: Line, name: str) -> bool:
    """Whether the server's own description of its routes has the field, else whether its release is known to."""
    answer = await line.service.get("/openapi.json")
    if answer.ok and answer.body:
        return f'"{name}"'.encode() in answer.raw
    return release(line.service.facts.version) >= SALT_SINCE.get(line.service.adapter.name, (NEVER,))


def release(version: str | None) -> tuple[int, ...]:
    """The numbers that a version begins with; none where there are none."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", version or "")
    return tuple(map(int, found[1].split("."))) if found else ()


async def reset(line: Line) -> ResetOutcome:
    """Empty the cache, external tiers too where they are counted; asked again for a moment where requests still run."""
    service, route = line.service, line.service.adapter.reset
    external = bool(service.adapter.value(Quantity.EXTERNAL_QUERIES, service.page))
    params = dict(route.external_params) if external else {}
    for attempt in range(RESET_TRIES):
        if attempt:
            await asyncio.sleep(RESET_PAUSE_S)
        answer = await service.post(route.path, {}, params=params)
        if answer.status is None:
            return ResetOutcome(service.endpoint.base, "refused", None, answer.text)
        verdict = route.judge(answer.status, answer.raw)
        if verdict != "busy":
            break
    return ResetOutcome(
        service.endpoint.base, verdict, answer.status, service.clean(answer.raw.decode("utf-8", "replace"))
    )


async def find_reset(line: Line, report: ProbeReport, certain: int, floor: int, *, allowed: bool) -> None:
    """Finding ``reset``: a prompt that hits, a reset, and the same prompt again must hit nothing.

    Args:
        certain, floor: as of ``find_salt``.
        allowed: whether the cache may be emptied.
    """
    route = line.service.adapter.reset
    if not route.path:
        report.add(unknown("reset", "reset.none", framework=line.service.adapter.traits.title))
        return
    path = f"POST {route.path}"
    if not allowed:
        report.add(unknown("reset", "reset.not_allowed", path=path))
        return
    prompt = line.pieces.fresh(certain)
    await line.cache(prompt)
    warm = await line.send(prompt, len(prompt))
    outcome = await reset(line)
    told = {"path": path, "status": outcome.http_status or "-", "detail": line.service.clean(outcome.detail)}
    if outcome.answer in ("absent", "refused", "busy"):
        text = said(f"reset.{outcome.answer}", **told)
        report.add(Finding("reset", None, "measured" if outcome.answer == "absent" else "unknown", (text,), (warm,)))
        return
    again = await line.send(prompt, len(prompt))
    readings = (warm, again)
    if warm.hit is None or again.hit is None or warm.hit <= floor:
        report.add(unknown("reset", "reset.unproven", readings, **told))
    elif again.hit <= floor:
        line.left = again.length
        told |= {"before": f"{warm.hit:,.0f}"}
        report.add(Finding("reset", path, "measured", (said("reset.empties", **told),), readings))
    else:
        told |= {"hit": f"{again.hit:,.0f}"}
        report.add(Finding("reset", None, "measured", (said("reset.pretends", **told),), readings))
        report.contradict("reset_pretends", **told)
