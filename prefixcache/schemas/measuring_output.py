"""Schemas of what `prefixcache compare --json` prints and of an SLO search's search.json."""

from __future__ import annotations

from prefixcache.schemas.parts import Schema, document, fields, many, mapping, nullable, obj, one_of, told

METHOD = one_of("bca", "percentile", "block")


def run_comparison() -> Schema:
    """Output of compare."""
    run = obj(
        {
            "label": told("The run's name in this comparison.", "str"),
            **fields("str?", "dataset_id execution_mode"),
            "run_status": "str",
            "passes": told("Its passes in the order they ran.", "str[]"),
            "started_at": "str?",
        }
    )
    draws = obj(
        {
            "resamples": told("How often the pairs were drawn. Unit: count.", "nat"),
            "confidence": told("Share of the draws that an interval covers.", "ratio"),
            "seed": "nat",
        }
    )
    body = obj(
        {
            "schema_version": "nat",
            "runs": told("The runs in the order given; the first is the baseline.", many(run)),
            "bootstrap": told("How intervals were made (docs/measuring.md).", draws),
            "comparisons": told("One entry per pair of passes.", many(_comparison())),
        }
    )
    return document("run_comparison", "Output of compare", "Passes of runs, compared request by request.", body)


def _comparison() -> Schema:
    side = told("A pass of a run.", obj({"label": told("The run's name.", "str"), "pass": "str"}))
    counts = ("planned_in_both pairs only_in_baseline only_in_candidate not_answered_in_baseline "
              "not_answered_in_candidate retried other_input_len other_output_len")  # fmt: skip
    pairing = obj(
        {name: told(f"{name.replace('_', ' ').capitalize()}. Unit: requests.", "nat") for name in counts.split()}
    )
    anything: Schema = {"description": "As it stands in the run; null: not stated."}
    row = obj({"field": told("What differs.", "str"), "baseline": anything, "candidate": anything})
    rates = obj(
        {
            **{name: told(f"Of the {name}; null: unknown.", "num?") for name in ("baseline", "candidate")},
            "difference": told("candidate - baseline. Unit: ratio; 0.01 is 1 percentage point.", "num?"),
        }
    )
    kinds = {name: told(f"Hit ratio {name}.", rates) for name in ("designed", "measured", "usage")}
    throughput = obj(
        {name: told(f"Of the {name}. Unit: per second.", "num?") for name in ("baseline", "candidate")} | _ratio()
    )
    names = ("request_throughput", "output_token_throughput")
    return obj(
        {
            **dict.fromkeys(("baseline", "candidate"), side),
            "paired_by": told("What pairs were found by.", one_of("request_id", "request_number")),
            "pairing": told("What was paired and what was left out.", pairing),
            "speedups": told(
                "Ratios baseline / candidate: above 1 the candidate is faster.",
                obj({name: _speedup() for name in ("ttft_s", "tpot_s", "e2e_s")}),
            ),
            "throughput": told("Ratios candidate / baseline.", obj(dict.fromkeys(names, throughput))),
            "hit_ratio": told("Hit ratios of the two passes.", obj(kinds)),
            "differences": told("What the runs state otherwise.", many(row)),
            "warnings": _warnings(),
        }
    )


def _ratio() -> dict[str, str | Schema]:
    return {
        "ratio": told("The ratio; null: one is unknown or 0.", "num?"),
        "low": told("Lower end of the interval; null: there is none.", "num?"),
        "high": told("Upper end of the interval; null: there is none.", "num?"),
        "method": told("How the interval was made.", METHOD),
    }


def _speedup() -> Schema:
    names = ("mean", "p50", "p90", "p99")
    values = nullable(obj(dict.fromkeys(names, "num")))
    return obj(
        {
            "pairs": told("Pairs in which both latencies are known. Unit: requests.", "nat"),
            "baseline_s": told("Of the baseline's side of the pairs. Unit: seconds.", values),
            "candidate_s": told("Of the candidate's side of the pairs. Unit: seconds.", values),
            **{name: told(f"Ratio of the {name}; null without pairs.", nullable(obj(_ratio()))) for name in names},
        }
    )


def _warnings() -> Schema:
    shape = obj({"code": told("What it is about.", "str"), "count": "nat", **fields("str", "text_en text_zh")})
    return told("What speaks against reading the figures as they stand.", many(shape))


def slo_search() -> Schema:
    """search.json. Open are points[].thresholds and the spreads."""
    load = told("Requests in flight, or requests per second.", "num")
    exception = obj({"value": load, "below": told("The load below it that missed.", "num")})
    share = told("Share of the requests that hold all thresholds.", "ratio?")
    body = obj(
        {
            "schema_version": "nat",
            "dataset_id": "str?",
            "pass": "str",
            "over": told("What was varied.", one_of("concurrency", "rate")),
            "slo": told("Thresholds. Unit: seconds.", obj({}, fields("num", "ttft_s tpot_s e2e_s"))),
            "slo_text": told("The same as they are written on the command line.", "str"),
            "attainment": told("Share of the requests that had to hold all thresholds.", "ratio"),
            "low": load,
            "high": load,
            "resolution": told("Loads are multiples of this; null: the loads were given.", "num?"),
            "confirm": told("Points measured above the first miss; null: the loads were given. Unit: count.", "nat?"),
            "loads": told("The loads that were given; null: they were searched.", nullable(many(load))),
            "best": told("Highest load that met it, all measured lower ones too; null: none.", "num?"),
            "best_attainment": share,
            "limit": told("Where the limit lies.", one_of("found", "above_high", "below_low")),
            "highest_met": told("Highest load that met it, whatever lower ones did; null: none.", "num?"),
            "monotone": told("Whether no load met it above one that missed.", "bool"),
            "exceptions": told("Loads that met it above one that missed.", many(exception)),
            "points": told("Every point in the order of measuring.", many(_point(share))),
            "warnings": _warnings(),
        }
    )
    return document("slo_search", "search.json", "The highest load that meets an SLO, and the curve.", body)


def _point(share: Schema) -> Schema:
    spread = told("mean, p50 and p99. Unit: seconds.", mapping("num?"))
    return obj(
        {
            "value": told("The load.", "num"),
            "meets": told("Whether it met the objective.", "bool"),
            "reused": told("Finished by an earlier search, not run again.", "bool"),
            "folder": told("Its run directory, from the search's folder.", "str"),
            "pass": "str",
            "run_status": "str",
            "slo": told("The thresholds as they are written on the command line.", "str"),
            "requests": told("Requests with a record. Unit: requests.", "nat"),
            "good_requests": told("Answered requests that hold all thresholds. Unit: requests.", "nat"),
            "attainment": share,
            "goodput": "num?",
            "only_by_retry": told("Requests that hold all thresholds from a later attempt: not good.", "nat"),
            "thresholds": told("Each threshold alone (prefix_cache_report passes[].goodput).", "open"),
            **fields("num?", "request_throughput output_token_throughput duration_s"),
            "failed": "nat?",
            **dict.fromkeys(("ttft_s", "tpot_s", "e2e_s", "lag_s"), spread),
            "permitted_mean_concurrency": "num?",
            **fields("num?", "actual_hit_rate designed_hit_ratio"),
            "residue": told("Whether the cache was not empty before; null: nothing tells.", "bool?"),
        }
    )
