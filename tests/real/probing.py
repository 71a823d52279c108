"""The probe of a real server: it names the truth that the server was started with."""

from __future__ import annotations

from typing import Any

from prefixcache.probe.findings import ProbeReport
from prefixcache.probe.options import ProbeOptions
from prefixcache.probe.run import probe_server
from tests.real.environment.model import tiny_model
from tests.real.environment.server import RealServer

LIMIT_S = 300.0
"""Some ten seconds on an idle machine; beside other tests minutes."""
HONEST: dict[str, Any] = {
    "models": ["tiny"],
    "hit_drop": 0,
    "last_token_rule": "computed",
    "matching": "chained_prefix",
    "outputs_cached": True,
    "salt": "cache_salt",
    "usage_cached_tokens": "present",
}


def check_probe(server: RealServer, **truth: Any) -> ProbeReport:
    """Probe a server and compare what is found with the truth.

    Args:
        server: the real engine.
        truth: findings by name, beside those that hold for every engine here.
    """
    report = probe_server(ProbeOptions(server.url, tokenizer=str(tiny_model()), time_limit=LIMIT_S))
    wanted = HONEST | truth
    assert {name: report.value(name) for name in wanted} == wanted
    assert report.value("tokenizer")["differ"] == []
    assert "first_token" in report.value("order_evidence")
    assert [each.sentence.text("en") for each in report.contradictions] == []
    assert (report.status, report.exit_code, report.tokens_left) == ("complete", 0, 0)
    return report
