"""A pass's entry in ``runtime/prefix_cache_metrics.json``: what the server's counters say, beside the plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prefixcache.engines.aggregate import Aggregation, Figures
from prefixcache.engines.quantities import Quantity
from prefixcache.load.dataset import Planned, RunDataset
from prefixcache.load.records.rows import RequestRecord
from prefixcache.load.sending.routes import Router


@dataclass(frozen=True, slots=True)
class Measured:
    """Tokens of an interval; None where the counters do not tell."""

    query_tokens: int | None
    hit_tokens: int | None

    @property
    def rate(self) -> float | None:
        return self.hit_tokens / self.query_tokens if self.hit_tokens is not None and self.query_tokens else None


def measured(figures: Figures | None) -> Measured:
    """Queries and hits in tokens; counters in blocks have no token figure and stay None."""
    if figures is None:
        return Measured(None, None)
    return Measured(_tokens(figures, Quantity.QUERIES), _tokens(figures, Quantity.HITS))


def _tokens(figures: Figures, quantity: Quantity) -> int | None:
    figure = figures.counters.get(quantity)
    if figure is None or figure.delta is None or figure.unit != "token":
        return None
    return round(figure.delta)


def pass_figures(
    dataset: RunDataset,
    pass_name: str,
    aggregation: Aggregation,
    records: Sequence[RequestRecord],
    router: Router,
    endpoints: Sequence[str],
    sent: Sequence[Planned] | None = None,
) -> dict[str, Any]:
    """Counters of a pass with the plan and the client's view beside them.

    Args:
        dataset, pass_name: the plan.
        aggregation: of the snapshots around the measured interval.
        records: the measured requests of the pass.
        router, endpoints: how cache domains map to ranks or endpoints (labels of their metrics pages, in order).
        sent: the requests of the plan that no bound of the load kept back; all of them if None.
    """
    sent = dataset.requests if sent is None else sent
    total = measured(aggregation.total)
    expected = sum(r.hits.get(pass_name, 0) for r in sent)
    planned = sum(r.input_len for r in sent)
    whole = len(sent) == dataset.planned_requests
    designed = expected / planned if planned else None
    return {
        "pass": pass_name,
        "expected_hit_tokens": expected,
        "planned_input_tokens": planned,
        "designed_hit_ratio": dataset.designed(pass_name).get("designed_hit_ratio", designed) if whole else designed,
        "measured_query_tokens": total.query_tokens,
        "measured_hit_tokens": total.hit_tokens,
        "actual_hit_rate": aggregation.total.hit_rate,
        "external_hit_rate": aggregation.total.external_hit_rate,
        "total_hit_rate": aggregation.total.total_hit_rate,
        "hit_rate_bounds": hit_rate_bounds(aggregation.total, records),
        **aggregation.to_json(),
        "domains": _domains(sent, pass_name, aggregation, router, endpoints),
        "client": _client(records),
        "prompt_token_check": prompt_token_check(aggregation.total, records),
    }


def hit_rate_bounds(total: Figures, records: Sequence[RequestRecord]) -> list[float] | None:
    """Least and most that the hit rate can have been, where counters began anew within the pass; else None.

    What they are known to have counted is of these tokens; of the rest of what was sent all or nothing can have hit.
    """
    queries, hits = total.at_least(Quantity.QUERIES), total.at_least(Quantity.HITS)
    if total.hit_rate is not None or queries is None or hits is None or total.unit(Quantity.HITS) != "token":
        return None
    sent = sum(r.input_len if r.prompt_tokens is None else r.prompt_tokens for r in records if r.status == "ok")
    if not 0 < queries <= sent or hits > queries:
        return None
    return [hits / sent, (hits + sent - queries) / sent]


def _domains(
    sent: Sequence[Planned], pass_name: str, aggregation: Aggregation, router: Router, endpoints: Sequence[str]
) -> list[dict[str, Any]]:
    planned: dict[int, int] = defaultdict(int)
    expected: dict[int, int] = defaultdict(int)
    for request in sent:
        planned[request.domain] += request.input_len
        expected[request.domain] += request.hits.get(pass_name, 0)
    rows = []
    for domain in sorted(planned):
        found = measured(_domain_figures(domain, aggregation, router, endpoints))
        rows.append(
            {
                "domain": domain,
                "planned_input_tokens": planned[domain],
                "expected_hit_tokens": expected[domain],
                "measured_query_tokens": found.query_tokens,
                "measured_hit_tokens": found.hit_tokens,
                "hit_rate": found.rate,
                # Each rank's own counter is the proof that pinned requests arrived where they should.
                "route_confirmed": None if found.query_tokens is None else found.query_tokens == planned[domain],
            }
        )
    return rows


def _domain_figures(domain: int, aggregation: Aggregation, router: Router, endpoints: Sequence[str]) -> Figures | None:
    if router.domains == 1:
        return aggregation.total
    if router.by_rank:
        return aggregation.endpoints[0].engines.get(str(domain)) if len(aggregation.endpoints) == 1 else None
    label = endpoints[domain]
    return next((e.total for e in aggregation.endpoints if e.endpoint == label), None)


def _client(records: Sequence[RequestRecord]) -> dict[str, Any]:
    """What the answers' usage says; the sum of cached tokens only if every answer has it."""
    ok = [r for r in records if r.status == "ok"]
    cached = [r.cached_tokens for r in ok if r.cached_tokens is not None]
    return {
        "requests_ok": len(ok),
        "prompt_tokens": _usage_total(ok),
        "cached_tokens": sum(cached) if ok and len(cached) == len(ok) else None,
        "answers_with_cached_tokens": len(cached),
    }


def _usage_total(answered: Sequence[RequestRecord]) -> int | None:
    """Prompt tokens by the answers' usage; null as soon as one answer says nothing of them."""
    stated = [r.prompt_tokens for r in answered if r.prompt_tokens is not None]
    return sum(stated) if len(stated) == len(answered) else None


def prompt_token_check(figures: Figures, records: Sequence[RequestRecord]) -> dict[str, Any]:
    """The server's prompt tokens against ours; ``explanation`` is empty where they agree."""
    server = figures.delta(Quantity.PROMPT_TOKENS)
    queries = measured(figures).query_tokens
    sent = [r for r in records if r.sent_s is not None]
    planned = sum(r.input_len for r in sent)
    failed = [r for r in sent if r.status != "ok"]
    usage = _usage_total([r for r in sent if r.status == "ok"])
    reasons = []
    if server is not None and server != planned:
        if failed:
            reasons.append(
                f"{len(failed):,} of {len(sent):,} requests failed ({sum(r.input_len for r in failed):,} planned "
                "tokens); servers count those only in part"
            )
        differing = [r for r in sent if r.prompt_tokens is not None and r.prompt_tokens != r.input_len]
        if differing:
            reasons.append(
                f"{len(differing):,} answers count other prompt tokens than planned: the tokenizers differ in places"
            )
        if not reasons or server > planned:
            reasons.append("the server worked for somebody else too, or was still counting when it was read")
    if server is not None and queries is not None and server != queries:
        reasons.append(
            f"the cache was asked for {queries:,} tokens, the server counted {server:,.0f} prompt tokens: lookups were "
            "repeated (preemption, retries) or bypassed"
        )
    hits, by_source = measured(figures).hit_tokens, figures.delta(Quantity.PROMPT_LOCAL_HIT)
    if hits is not None and by_source is not None and hits != by_source:
        reasons.append(
            f"the cache counted {hits:,} hit tokens, the prompt tokens by source {by_source:,.0f}: lookups that led to "
            "no prefill were counted too, or the server was still counting"
        )
    return {
        "planned_tokens": planned,
        "usage_prompt_tokens": usage,
        "sent_tokens": sum(r.input_len if r.prompt_tokens is None else r.prompt_tokens for r in sent),
        "server_prompt_tokens": None if server is None else round(server),
        "server_query_tokens": queries,
        "server_hit_tokens": hits,
        "server_local_hit_tokens_by_source": None if by_source is None else round(by_source),
        "difference": None if server is None else round(server) - planned,
        "explanation": reasons,
    }
