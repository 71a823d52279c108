"""Requests as the engine is to see them, so that its answer can be given the form that the plan asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from prefixcache.reference.faults.link import Request
from prefixcache.reference.faults.plan import StreamForm

OPENAI = ("/v1/completions", "/v1/chat/completions")


def read_json(request: Request) -> dict[str, Any]:
    """The request's object; empty where it is none, which the engine will say."""
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


def as_wanted(request: Request, form: StreamForm) -> Request:
    """Ask the engine for what the form needs: usage on every event, or a whole answer."""
    body = read_json(request)
    if not body.get("stream"):
        return request
    if form.whole:
        body = {key: value for key, value in body.items() if key not in ("stream", "stream_options")}
    elif form.usage is not None and request.path in OPENAI:
        options: dict[str, Any] = body.get("stream_options") or {}
        options = {**options, "include_usage": form.usage != "absent"}
        options["continuous_usage_stats"] = form.usage == "every"
        body = {**body, "stream_options": options}
    else:
        return request
    data = orjson.dumps(body)
    headers = [(k, v) for k, v in request.headers if k not in (b"content-length", b"transfer-encoding")]
    return replace(request, body=data, headers=[*headers, (b"content-length", b"%d" % len(data))])
