"""The page's two lists of particulars: how the run went, and what is needed to repeat it."""

from __future__ import annotations

from typing import Any

from prefixcache.help.words.failures import kind_name
from prefixcache.report.formats import count, decimal, milliseconds, percent
from prefixcache.report.strings import LANGUAGES, named
from prefixcache.report.tables import Column, Table, Tables

BOUNDS = ("max_in_flight", "duration_s", "limit")


def conduct(tables: Tables) -> Table:
    """One column a pass: order, gates, routes, second witness, residue."""
    passes = tables.report["passes"]
    columns = [Column("", False), *(Column(tables.pass_name(p["name"])) for p in passes)]
    each = [_conduct_of(tables, p) for p in passes]
    keys = list(dict.fromkeys(key for row in each for key in row))
    rows = [[tables.word(f"conduct.{key}"), *(row.get(key, tables.word("na")) for row in each)] for key in keys]
    return Table(columns, rows)


def _conduct_of(tables: Tables, figures: dict[str, Any]) -> dict[str, str]:
    none = tables.word("na")

    def numbers(*values: float | None) -> str:
        return " / ".join(count(value, none) for value in values)

    requests, gates, client = figures["requests"], figures["gates"], figures["client"]
    order, routes, check = figures["order"], figures["routes"], figures["prompt_token_check"] or {}
    chain, first = figures["chain"] or {}, figures["first_request_hit"]
    rows = {"sent": numbers(requests["planned"], requests["ok"], requests["failed"], requests["not_sent"])}
    rows |= _load(figures.get("sending") or {}, (figures["performance"] or {}).get("load") or {}, none)
    if figures["warmup"]["requests"]:
        rows["warmup"] = numbers(figures["warmup"]["requests"], figures["warmup"]["failed"])
    rows |= {
        "witness": numbers(
            client["known_cached_tokens"], client["known_requests"] or None, client["known_expected_tokens"]
        ),
        "prompt_tokens": numbers(check.get("planned_tokens"), check.get("server_prompt_tokens")),
        "inversions": numbers(order["inversions"], order["inversions_within_lanes"]),
        "gates": f"{count(gates['waited'], none)} / {milliseconds(gates['max_s'], none)}",
        "broken": count(gates["broken"], none),
        "chain": f"{count(chain.get('longest'), none)} / {decimal(chain.get('permitted_mean_concurrency'), none)}",
    }
    rows |= _troubles(tables, figures["performance"] or {})
    if routes["planned"]:
        rows["routes"] = numbers(routes["mismatches"], routes["known"], routes["planned"])
    rows["preemptions"] = count(figures["preemptions"], none)
    if first is not None:
        rows["first_hit"] = tables.answer(first["detected"])
        rows["residue"] = tables.answer(figures["residue"]["detected"])
    answers = list(dict.fromkeys(str(reset.get("answer")) for reset in figures["reset"]))
    rows["reset"] = tables.word("comma").join(named("reset", answer, tables.language) for answer in answers) or none
    return rows


def _load(sending: dict[str, Any], load: dict[str, Any], none: str) -> dict[str, str]:
    """What a bound of the load kept back, and the rates of an open loop."""
    rows = {}
    kept = sending.get("unsent") or {}
    if any(kept.values()):
        why = " / ".join(count(kept.get(name), none) for name in ("limit", "duration", "load"))
        rows["kept_back"] = f"{count(sending['sent'], none)} / {count(sending['planned'], none)} ({why})"
    if load.get("loop") == "open":
        rows["rate"] = f"{decimal(load['asked_rate'], none)} / {decimal(load['achieved_rate'], none)}"
    return rows


def _troubles(tables: Tables, performance: dict[str, Any]) -> dict[str, str]:
    """Failures and retries by kind, where there are any."""

    def listed(kinds: dict[str, int]) -> str:
        at = LANGUAGES.index(tables.language)
        return tables.word("comma").join(f"{kind_name(kind, at)} {number:,}" for kind, number in kinds.items())

    failures, retries = performance.get("failures_by_kind") or {}, performance.get("retries") or {}
    rows = {"failures": listed(failures)} if failures else {}
    if retries.get("requests"):
        rows["retries"] = tables.word("kinds_of", count=f"{retries['requests']:,}", kinds=listed(retries["by_kind"]))
    return rows


def reproduction(tables: Tables) -> list[tuple[str, str]]:
    """Digests, versions and settings: name and value."""
    none = tables.word("na")
    dataset, server = tables.report["dataset"], tables.report["server"]
    options, order, routing = server["options"], dataset["request_order"], dataset["routing"]

    def joined(*values: Any) -> str:
        return " / ".join(none if value is None else str(value) for value in values)

    def counts(*values: float | None) -> str:
        return " / ".join(count(value, none) for value in values)

    values = {
        "dataset_id": joined(dataset["id"]),
        "dataset_digest": joined(dataset["digest"]),
        "order_digest": joined(dataset["order_digest"]),
        "tokenizer": joined(dataset["tokenizer"]),
        "tokenizer_sha256": joined(dataset["tokenizer_sha256"]),
        "block_size": counts(dataset["block_size"], dataset["hit_unit"]),
        "seed": joined(dataset["seed"]),
        "request_count": f"{count(dataset['request_count'], none)} / {count(dataset['input_tokens'], none)}",
        "groups": count(dataset["group_count"], none),
        "order": joined(order.get("within_group"), order.get("across_group")),
        "routing": joined(routing.get("cache_scope"), routing.get("cache_domains"), routing.get("policy")),
        "semantics": joined(dataset["semantics"]),
        "max_reachable": percent(dataset["max_reachable_hit_ratio"], none),
        "certificate": tables.answer(dataset["certificate_holds"]),
        "generator": joined(dataset["generator_version"], dataset["package_version"]),
        "runner": joined(server["prefixcache_version"]),
        "concurrency": joined(count(options["concurrency"], none), options["gating"], options["send"]),
        "load": joined(options.get("load"), *(_bound(options.get(name), tables) for name in BOUNDS)),
        "sampling": _sampling(options["sampling"] or {}, tables) or none,
        "prompts": tables.word(f"stored.{dataset['prompts_stored']}"),
        "times": joined(server["started_at"], server["finished_at"]),
    }
    rows = [(tables.word(f"repro.{key}"), value) for key, value in values.items()]
    for endpoint in server["endpoints"]:
        rows.append((tables.word("repro.server"), _server(endpoint)))
        cache = (endpoint.get(k) for k in ("block_size", "num_gpu_blocks", "kv_cache_tokens_per_engine"))
        rows.append((tables.word("repro.cache"), counts(*cache)))
    return rows


def _bound(value: Any, tables: Tables) -> Any:
    """A bound of the load that nobody gave is not missing."""
    return tables.word("not_set") if value is None else value


def _server(endpoint: dict[str, Any]) -> str:
    names = ("engine_name", "version", "model")
    parts = [endpoint.get("engine_name") or endpoint.get("adapter"), *(endpoint.get(n) for n in names[1:])]
    return " · ".join(str(part) for part in (*parts, endpoint.get("endpoint")) if part)


def _sampling(settings: dict[str, Any], tables: Tables) -> str:
    """What a run sets itself is said in words, anything else as it is sent."""
    own = {
        ("ignore_eos", True): tables.word("sampling.ignore_eos"),
        ("min_tokens", "max_tokens"): tables.word("sampling.min_tokens"),
    }
    return tables.word("comma").join(own.get(pair, f"{pair[0]} = {pair[1]}") for pair in settings.items())
