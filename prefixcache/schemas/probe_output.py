"""Schema of what `prefixcache probe --json` prints."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, document, many, obj, one_of, told

READING = {
    "shared": ("Leading tokens shared with the prompt it was compared with. Unit: tokens.", "nat"),
    "length": ("Tokens of the prompt. Unit: tokens.", "nat"),
    "usage_cached_tokens": ("Cached tokens by its answer's usage; null: not told. Unit: tokens.", "nat?"),
    "counted_hits": ("Hits by the counters around it; null: not told. Unit: tokens.", "num?"),
    "external_hits": ("Hits of an external tier by the counters. Unit: tokens.", "num?"),
    "seconds": ("Until the answer of one token was whole. Unit: seconds.", "num"),
    "rank": ("DP rank it was sent to by name; null: none was named.", "nat?"),
}


def probe() -> Schema:
    """Output of probe. Open is findings[].value, whose kind differs by name (docs/probe.md)."""
    reading = obj({name: told(text, kind) for name, (text, kind) in READING.items()})
    finding = obj(
        {
            "name": told("The property (docs/probe.md).", "str"),
            "value": {"description": "What was found; null: unknown, or there is none (docs/probe.md)."},
            "source": told("Where the value comes from.", one_of("stated", "measured", "derived", "unknown")),
            "evidence": told("What was seen, in English.", "str"),
            "evidence_zh": told("The same in Chinese.", "str"),
            "readings": told("The requests it rests on, the first 60.", many(reading)),
        }
    )
    texts = {"text": told("In English.", "str"), "text_zh": told("In Chinese.", "str")}
    contradiction = obj({"code": told("Its kind (docs/probe.md).", "str"), **texts})
    body = obj(
        {
            "schema_version": "nat",
            "endpoint": told("Base URL without credentials.", "str"),
            "metrics": told("The metrics pages that were read.", "str[]"),
            "status": told(
                "complete; partial: time was up or a question was refused; lost: the server went away.",
                one_of("complete", "partial", "lost"),
            ),
            "findings": told("One entry per property.", many(finding)),
            "contradictions": told("What cannot be true together.", many(contradiction)),
            "warnings": told("What speaks against reading the findings as they stand.", many(obj(texts))),
            "requests": told("Prompts that were answered. Unit: requests.", "nat"),
            "tokens_sent": told("Their tokens. Unit: tokens.", "nat"),
            "tokens_left": told("Of these, what may still be cached. Unit: tokens.", "nat"),
            "seconds": told("How long the probe took. Unit: seconds.", "num"),
        }
    )
    return document("probe", "Output of probe", "How a server's prefix cache works, as found out.", body)
