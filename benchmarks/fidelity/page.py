"""The page: one table a section, what they say together, and what no model here covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.fidelity.sections import SECTIONS, Section
from tests.real.environment.server import Vllm

Row = Mapping[str, Any]
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Language:
    """Words of the page; ``scenarios`` maps the scenarios' names, left out where they stand as they are."""

    title: str
    opening: str
    heads: Mapping[str, str]
    notes: Mapping[str, str]
    columns: Mapping[str, tuple[str, ...]]
    summary: str
    limits: tuple[str, tuple[str, ...]]
    absent: str
    where: str
    scenarios: Mapping[str, str]
    gatings: Mapping[str, str]

    def __hash__(self) -> int:
        return hash(self.title)


def page(results: Mapping[str, Result], language: Language) -> str:
    """Markdown.

    Args:
        results: per section what ``python -m benchmarks.fidelity`` keeps of it.
    """
    parts = [f"# {language.title}", language.opening, _summary(results, language)]
    for section in SECTIONS:
        if section.key in results:
            parts.append(_section(section, results[section.key], language))
    heading, points = language.limits
    parts.append(f"## {heading}\n\n" + "\n".join(f"- {point}" for point in points))
    return "\n\n".join(parts) + "\n"


def _section(section: Section, result: Result, language: Language) -> str:
    server = section.server
    known = {name: getattr(server, name, None) for name in ("ranks", "budget", "sequences")}
    size = server.blocks if isinstance(server, Vllm) else server.tokens
    template = language.heads[f"{section.engine}-{section.kind}"]
    head = template.format(unit=section.unit, size=size, **known)
    if "absent" in result:
        return f"## {head}\n\n{language.absent} {result['absent']}"
    table = _table(language.columns[section.kind], (_cells(section, row, language) for row in result["rows"]))
    return f"## {head}\n\n{language.notes[section.kind]}\n\n{table}\n\n{_where(result, language)}"


def _where(result: Result, language: Language) -> str:
    machine = result["machine"]
    return language.where.format(
        engine={"vllm": "vLLM", "sglang": "SGLang"}[result["engine"]],
        version=result["version"],
        model=result["model"],
        cpu=machine["cpu"],
        cpus=machine["cpus"],
        load=machine["load"],
        prefixcache=machine["prefixcache"],
    )


def _cells(section: Section, row: Row, language: Language) -> list[str]:
    name = language.scenarios.get(row["scenario"], row["scenario"])
    passes = {"compare", "warmup", "replay"}
    if row["pass"] != "cold" or any(word in row["scenario"] for word in passes):
        name += f" ({row['pass']})"
    gating = "" if row["concurrency"] == 1 else f", {language.gatings[row['gating']]}"
    first = [name, f"{row['concurrency']}{gating}", f"{row['requests']}", f"{row['input_tokens']:,}"]
    match section.kind:
        case "design" | "model":
            off = "–" if row["order_free"] else f"{row['requests_off']}"
            tokens = [row["designed"], row["simulated"], row["measured"], row["measured"] - row[_claim(section)]]
            return [*first, *(f"{count:,}" for count in tokens), off]
        case "flight":
            row = {"from_events": _from_events(row), **row}
            tokens = [row[key] for key in ("designed", "simulated", "in_flight", "from_events", "clocked", "measured")]
            errors = [_pp(row, key) for key in ("simulated", "in_flight", "from_events", "clocked")]
            told = f"{row['events_told'] - row['events_off']} / {row['requests']}"
            return [*first, *(f"{count:,}" for count in tokens), *errors, told]
        case "tier":
            tokens = [row["designed"], row["measured"], row["external_expected"], row["external_measured"]]
            error = abs(row["measured"] - row["designed"]) + _external_error(row)
            return [*first, *(f"{count:,}" for count in tokens), f"{error:,}", f"{row['requests_off']}"]


def _pp(row: Row, key: str) -> str:
    return f"{100 * (row[key] - row['measured']) / row['input_tokens']:+.2f}"


def _summary(results: Mapping[str, Result], language: Language) -> str:
    exact = [(section, row) for section, row in _rows(results) if section.kind != "flight"]
    tokens = sum(abs(row["measured"] - row[_claim(section)]) + _external_error(row) for section, row in exact)
    off = sum(row["requests_off"] for _, row in exact if not row["order_free"])
    compared = sum(row["requests"] for _, row in exact)
    flights = [row for section, row in _rows(results) if section.kind == "flight"]
    flights = [{"from_events": _from_events(row), **row} for row in flights]
    worst = {
        key: max((abs(row[key] - row["measured"]) / row["input_tokens"] for row in flights), default=0.0) * 100
        for key in ("simulated", "in_flight", "clocked", "from_events")
    }
    return language.summary.format(
        passes=len(exact),
        requests=f"{compared:,}",
        tokens=f"{tokens:,}",
        off=off,
        flights=len(flights),
        led_off=sum(row["clocked"] != row["measured"] for row in flights),
        **{key: f"{value:.2f}" for key, value in worst.items()},
    )


def _from_events(row: Row) -> int:
    """Of a row kept without this figure: where the events tell all hits, and right, it is what was measured."""
    told_all = row["events_told"] == row["requests"] and not row["events_off"]
    return int(row["measured"] if told_all else row["clocked"])


def _claim(section: Section) -> str:
    """What exactness is claimed of."""
    return "simulated" if section.kind == "model" else "designed"


def _external_error(row: Row) -> int:
    return int(abs(row.get("external_measured", 0) - row.get("external_expected", 0)))


def _rows(results: Mapping[str, Result]) -> Iterable[tuple[Section, Row]]:
    return [(section, row) for section in SECTIONS for row in results.get(section.key, {}).get("rows", ())]


def _table(columns: tuple[str, ...], rows: Iterable[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


ENGLISH = Language(
    title="Fidelity: designed, simulated and measured hits on real engines",
    opening=(
        "Every figure on this page is tokens. Datasets are made by `prefixcache generate`'s stages and sent by "
        "`prefixcache run`'s machinery to real servers on a CPU, with a tiny random-weight model and Qwen's tokenizer "
        "(a prefix cache does not care what the weights say). *Designed* is what the dataset claims, *simulated* what "
        "`prefixcache simulate --dataset` says when told the server's own sizes, *measured* the difference of the "
        "server's own counters. Hits request by request are those of the answers' usage.\n\n"
        "```bash\n"
        "python -m benchmarks.fidelity        # builds what it needs, plays all sections, writes this page\n"
        "python -m benchmarks.fidelity --help # sections and engines can be chosen\n"
        "```"
    ),
    heads={
        "vllm-design": "vLLM, {size:,} blocks of {unit} tokens, data-parallel ranks: {ranks}",
        "vllm-model": "vLLM, eviction: {size} blocks of {unit} tokens, one request at a time",
        "vllm-flight": (
            "vLLM, requests in flight: {size} blocks of {unit} tokens, {budget} tokens a step, {sequences} sequences"
        ),
        "vllm-tier": "vLLM with an external tier",
        "sglang-design": "SGLang, {size:,} tokens in pages of {unit}",
        "sglang-model": "SGLang, eviction: {size:,} tokens in pages of {unit}, one request at a time",
    },
    notes={
        "design": "There is room for everything. Claimed: designed = measured, to the token.",
        "model": (
            "The cache is too small for the plan, so less is hit than designed. Claimed: simulated = measured, to the "
            "token and request by request."
        ),
        "flight": (
            "The pool is too small, and requests overlap, so time decides. *One at a time* is the pool model in send "
            "order, *in flight* the model of the scheduler from the send order alone at its default pace. *Clocked by "
            "KV events* are the hits that the events recorded with the run tell: a request's first stored block begins "
            "where its hits end; only a request that stores no block of its own takes the model's figure. *Step-led "
            "model* is the model of the scheduler again, letting each request in at the step at which the events show "
            "it. It may be off, because the events tell of whole blocks only: tokens that filled none took their share "
            "of a step's budget unseen, and steps that stored no block are not recorded, so the model has to guess "
            "from the client's times how many there were and who had ended. "
            "Errors are in percentage points of the input tokens. The last column counts requests whose hits stand in "
            "the events themselves, without any model, and are those of the answer."
        ),
        "tier": (
            "The tier is vLLM's ExampleConnector, prompts on disk. The local cache is emptied between the two runs, "
            "the tier is not (the server says it is). Local hits stay as designed; the rest of each prompt, up to its "
            "last full block, comes from the tier, except of prompts one token longer than whole blocks: the connector "
            "stores those under another name than it looks for."
        ),
    },
    columns={
        "design": (
            "scenario", "at a time", "requests", "input", "designed", "simulated", "measured",
            "measured − designed", "requests that differ",
        ),
        "model": (
            "scenario", "at a time", "requests", "input", "designed", "simulated", "measured",
            "measured − simulated", "requests that differ",
        ),
        "flight": (
            "scenario", "at a time", "requests", "input", "designed", "one at a time", "in flight",
            "clocked by KV events", "step-led model", "measured", "error one at a time", "error in flight",
            "error clocked by KV events", "error step-led model", "requests whose hits the events tell",
        ),
        "tier": (
            "scenario", "at a time", "requests", "input", "designed", "measured", "external expected",
            "external measured", "difference", "requests that differ",
        ),
    },
    summary=(
        "**In short.** Where exactness is claimed: {passes} passes, {requests} requests, {tokens} tokens of difference "
        "in all counters together, {off} requests that hit otherwise. With requests in flight on pools that are too "
        "small, {flights} runs: largest error {simulated} pp if served one at a time in the model, {in_flight} pp from "
        "the send order alone, {from_events} pp when clocked by recorded KV events, that is by the hits that these "
        "events tell. The step-led model, which takes only the order of steps from the events and computes the hits, "
        "is off by {clocked} pp at most ({led_off} of {flights} runs differ)."
    ),
    limits=(
        "What is not modelled",
        (
            "How fast a server is. The model of requests in flight knows the order of sending and sizes; the pace of "
            "steps and of the client is a default, on this page everywhere. `simulate --like RUN --calibrate` fits it "
            "to a run's times, which did not bring the hits nearer to the measured ones (cache-models.md). KV events "
            "replace it: `simulate --clocked-by RUN`.",
            "SGLang with requests in flight and eviction: only one request at a time is modelled.",
            "Asynchronous scheduling (vLLM's default on GPUs): blocks are released a step later.",
            "Hybrid (Mamba-like) models, speculative decoding, context parallelism: `hit_unit` and `hit_drop` cover "
            "their hits by formula; no such model was run here.",
            "Where a server's own load balancer sends a request: ranks are pinned by a header. Unpinned requests to a "
            "server with several ranks are only warned of.",
            "External tiers other than vLLM's ExampleConnector; each (LMCache, Mooncake, UCM) has a policy of its own.",
            "vLLM-Ascend, MindIE and GPUs: nothing here ran on them.",
            "Requests with several answers (`n` > 1), batches of prompts in one call and prompt logprobs: `run` sends "
            "none.",
        ),
    ),
    absent="Left out here:",
    where="{engine} {version} on {cpu} ({cpus} cores, load {load}), {model}, prefixcache {prefixcache}.",
    scenarios={},
    gatings={"watermark": "gated", "first_token": "first token", "completion": "completion", "none": "free"},
)  # fmt: skip
