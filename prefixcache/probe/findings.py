"""What a probe hands back: findings with their source and evidence, contradictions in words, and the whole report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from prefixcache.help.chinese.text import chinese_of
from prefixcache.help.messages import say
from prefixcache.help.words import Language
from prefixcache.probe.reading import Reading

Source = Literal["stated", "measured", "derived", "unknown"]
SOURCES: tuple[Source, ...] = ("stated", "measured", "derived", "unknown")
NAMES = (
    "hit_unit",
    "hit_drop",
    "block_size",
    "last_token_rule",
    "matching",
    "outputs_cached",
    "usage_cached_tokens",
    "salt",
    "reset",
    "dp_size",
    "rank_route",
    "capacity_tokens",
    "tokenizer",
    "order_evidence",
    "framework",
    "version",
    "models",
    "max_model_len",
)
"""All findings, in the order in which they are shown: what a dataset depends on first."""
MOST_READINGS = 60


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence in two languages: a key of the command line's words and what fills its places."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def text(self, language: Language) -> str:
        values = self.values if language == "en" else {name: _inner(value) for name, value in self.values.items()}
        return say(f"probe.{self.code}", language, **values)


def _inner(value: Any) -> Any:
    """Reasons are sentences of their own."""
    return chinese_of(value) if isinstance(value, str) and " " in value else value


def said(code: str, **values: Any) -> Said:
    return Said(code, values)


@dataclass(frozen=True, slots=True)
class Finding:
    """One property of the server.

    Args:
        name: one of ``NAMES``.
        value: None where it is not known.
        source: ``stated`` by the server, ``measured`` by requests, ``derived`` from either, or ``unknown``.
        evidence: what was seen.
        readings: the requests it rests on.
    """

    name: str
    value: Any
    source: Source
    evidence: Sequence[Said] = ()
    readings: Sequence[Reading] = ()

    def text(self, language: Language) -> str:
        return ("" if language == "zh" else " ").join(each.text(language) for each in self.evidence)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": self.value,
            "source": self.source,
            "evidence": self.text("en"),
            "evidence_zh": self.text("zh"),
            "readings": [reading.to_json() for reading in self.readings[:MOST_READINGS]],
        }


def unknown(name: str, code: str, readings: Sequence[Reading] = (), **values: Any) -> Finding:
    """A property that could not be found out, and why."""
    return Finding(name, None, "unknown", (said(code, **values),), readings)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two things that cannot both be true. ``code`` names the kind."""

    code: str
    sentence: Said

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "text": self.sentence.text("en"), "text_zh": self.sentence.text("zh")}


@dataclass(slots=True)
class ProbeReport:
    """Everything a probe found.

    Args:
        endpoint: base URL without credentials.
        metrics: labels of the metrics pages that were read.
        status: ``complete``, ``partial`` (time was up, or something could not be asked) or ``lost`` (the server went
            away in between).
        requests, tokens_sent: prompts of the probe and their tokens.
        tokens_left: tokens of prompts sent since the last reset that was seen to work: what may still be cached.
        seconds: how long it took.
    """

    endpoint: str
    metrics: tuple[str, ...] = ()
    findings: dict[str, Finding] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)
    warnings: list[Said] = field(default_factory=list)
    status: Literal["complete", "partial", "lost"] = "complete"
    requests: int = 0
    tokens_sent: int = 0
    tokens_left: int = 0
    seconds: float = 0.0

    def add(self, *findings: Finding) -> None:
        for finding in findings:
            self.findings[finding.name] = finding

    def contradict(self, code: str, **values: Any) -> None:
        """Name a contradiction, once."""
        if all(each.code != code for each in self.contradictions):
            self.contradictions.append(Contradiction(code, said(f"contra.{code}", **values)))

    def warn(self, code: str, **values: Any) -> None:
        found = said(code, **values)
        if found not in self.warnings:
            self.warnings.append(found)

    def value(self, name: str) -> Any:
        """The value of a finding, None where it is unknown or not there."""
        finding = self.findings.get(name)
        return None if finding is None else finding.value

    @property
    def exit_code(self) -> int:
        """0: nothing contradicts; 1: something does; 3: the server went away."""
        if self.status == "lost":
            return 3
        return 1 if self.contradictions else 0

    def to_json(self) -> dict[str, Any]:
        return {
            "schema_version": 1,
            "endpoint": self.endpoint,
            "metrics": list(self.metrics),
            "status": self.status,
            "findings": [self.findings[name].to_json() for name in NAMES if name in self.findings],
            "contradictions": [each.to_json() for each in self.contradictions],
            "warnings": [{"text": each.text("en"), "text_zh": each.text("zh")} for each in self.warnings],
            "requests": self.requests,
            "tokens_sent": self.tokens_sent,
            "tokens_left": self.tokens_left,
            "seconds": round(self.seconds, 3),
        }


def figure(value: float | None) -> str:
    """A number of tokens for a sentence."""
    return "?" if value is None else f"{value:,.0f}"
