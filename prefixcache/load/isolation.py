"""Keeping a pass apart from everything that was cached before it, so that "cold" is a fact and not a hope.

``reset``: the server's route empties the cache. ``salt``: every request of a pass carries a fresh random salt, drawn
now and written to run.json, never to the dataset. ``variant``: the second pass sends other content of the same plan.
``none``: the user vouches for an empty cache. Whatever the method, the first request of a cold pass must hit nothing
(``prefixcache.load.counters.residue``).
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from prefixcache.engines.aggregate import aggregate
from prefixcache.engines.endpoint import Endpoint
from prefixcache.engines.quantities import Quantity
from prefixcache.engines.salt import ProbeAnswer, SaltFinding, probe_salt
from prefixcache.engines.server import ResetOutcome, reset_cache
from prefixcache.errors import EnvironmentFailure, InputError
from prefixcache.load.dataset import RunDataset
from prefixcache.load.options import Progress
from prefixcache.load.sending.prompts import Prompt
from prefixcache.load.sending.routes import Target

if TYPE_CHECKING:
    from prefixcache.engines.adapter import Adapter
    from prefixcache.load.passes import Bench

Method = Literal["reset", "salt", "variant", "none"]
STAGE = "run_benchmark"


@dataclass(frozen=True, slots=True)
class PassIsolation:
    """How one pass was kept apart. ``salt``: ``{field of the body: value}``; ``resets``: the endpoints' answers."""

    pass_name: str
    method: Method
    salt: Mapping[str, str] = field(default_factory=dict)
    resets: tuple[ResetOutcome, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "pass": self.pass_name,
            "method": self.method,
            "salt": next(iter(self.salt.values()), None),
            "salt_field": next(iter(self.salt), None),
            "reset": [r.to_json() for r in self.resets],
        }


class Isolator:
    """Prepares the passes of one run.

    Args:
        bench: the run.
        variant: the second content of the same plan, if there is one.
    """

    def __init__(self, bench: Bench, variant: RunDataset | None = None) -> None:
        self.bench = bench
        self.variant = variant
        requested = bench.options.isolation
        self.requested = "variant" if variant is not None else requested
        self.findings: tuple[SaltFinding, ...] = ()
        self.passes: list[PassIsolation] = []
        self._by_salt = requested == "salt"

    def to_json(self) -> dict[str, Any]:
        """For run.json."""
        variant = self.variant
        return {
            "requested": self.bench.options.isolation,
            "passes": [p.to_json() for p in self.passes],
            "salt_probe": [f.to_json() for f in self.findings],
            "variant": None
            if variant is None
            else {
                "dataset_id": variant.dataset_id,
                "dataset_digest": variant.manifest.get("dataset_digest"),
            },
        }

    def contents_of(self, pass_name: str) -> RunDataset:
        """The dataset whose prompts a pass sends."""
        dataset = self.bench.dataset
        if self.variant is None or pass_name == dataset.passes[0]:
            return dataset
        return dataset.with_contents_of(self.variant)

    async def prepare(self, pass_name: str) -> PassIsolation:
        """Do what the method asks for before a pass; the server is idle.

        Raises:
            InputError: the pass cannot be kept apart from what was cached before it.
            EnvironmentFailure: the server is gone.
        """
        self.bench.tell(Progress(pass_name, "isolate", 0, len(self.bench.endpoints)))
        if self.requested == "variant":
            done = PassIsolation(pass_name, "variant")
        elif self.requested == "none":
            done = self._none(pass_name)
        elif self._by_salt:
            done = await self._salted(pass_name, why=None)
        else:
            done = await self._reset_or_salt(pass_name)
        self.passes.append(done)
        return done

    def _none(self, pass_name: str) -> PassIsolation:
        bench = self.bench
        if pass_name != bench.dataset.passes[0] and not bench.options.allow_residue:
            raise InputError(
                f"without isolation the pass {pass_name} meets the cache that the pass before it has filled",
                field="isolation",
                remedy=f"Choose reset or salt; {self._without_help()}; --allow-residue measures anyway.",
                stage=STAGE,
                dataset_id=bench.dataset.dataset_id,
            )
        bench.warn("not_isolated", "nothing was done to empty the cache (--isolation none)", pass_name)
        return PassIsolation(pass_name, "none")

    async def _reset_or_salt(self, pass_name: str) -> PassIsolation:
        bench = self.bench
        resets = await self._reset()
        for outcome in resets:
            if outcome.answer == "unconfirmed":
                text = f"{outcome.endpoint} answered HTTP 200 to the reset but does not say whether it was done"
                bench.warn("reset_unconfirmed", text, pass_name)
        bad = next((r for r in resets if r.answer not in ("done", "unconfirmed")), None)
        if bad is None:
            return PassIsolation(pass_name, "reset", resets=resets)
        text = f"the prefix cache of {bad.endpoint} cannot be proven empty: {self._what_went_wrong(bad)}"
        if bad.http_status is None:
            raise EnvironmentFailure(text, field="url", remedy="Check that the server still runs.", stage=STAGE)
        if self.requested == "auto":
            return await self._salted(pass_name, why=text, remedy=self._remedy(bad), resets=resets)
        return self._give_in(pass_name, text, self._remedy(bad), resets)

    async def _reset(self) -> tuple[ResetOutcome, ...]:
        bench = self.bench
        adapter = bench.monitor.adapter
        pages = (await bench.monitor.snapshot()).pages.values()
        external = any(adapter.value(Quantity.EXTERNAL_QUERIES, page) for page in pages)
        key = bench.client.api_key
        return tuple(
            await asyncio.gather(
                *(reset_cache(bench.http, e, adapter, external=external, api_key=key) for e in bench.endpoints)
            )
        )

    def _what_went_wrong(self, outcome: ResetOutcome) -> str:
        adapter = self.bench.monitor.adapter
        path = adapter.reset.path
        absent = f"it has no route {path} (HTTP {outcome.http_status})" if path else _without_route(adapter)
        return {
            "absent": absent,
            "busy": "requests were still running there",
        }.get(outcome.answer, f"the reset failed ({outcome.http_status or outcome.detail})")

    def _remedy(self, outcome: ResetOutcome) -> str:
        if outcome.answer == "absent":
            return self.bench.monitor.adapter.reset.remedy
        return "wait until no other client uses the server"

    def _without_help(self) -> str:
        """What needs nothing of the server: other content where there are two passes, else a cache that is new."""
        if len(self.bench.dataset.passes) == 2:
            return "--isolation variant with a second dataset (--variant-dataset) needs no help of the server"
        return "a server that was just restarted can be measured with --isolation none"

    def _give_in(self, pass_name: str, text: str, remedy: str, resets: tuple[ResetOutcome, ...] = ()) -> PassIsolation:
        """Refuse, unless residue is allowed."""
        if not self.bench.options.allow_residue:
            raise InputError(
                text,
                field="isolation",
                remedy=f"{remedy[0].upper()}{remedy[1:]}; {self._without_help()}; --allow-residue measures anyway.",
                stage=STAGE,
                dataset_id=self.bench.dataset.dataset_id,
            )
        self.bench.warn("cache_not_reset", text, pass_name)
        return PassIsolation(pass_name, "none", resets=resets)

    async def _salted(
        self, pass_name: str, *, why: str | None, remedy: str = "", resets: tuple[ResetOutcome, ...] = ()
    ) -> PassIsolation:
        """A fresh salt, once a probe has shown that it separates caches. ``why``: what is wrong with the reset."""
        bench, name = self.bench, self.bench.monitor.adapter.salt_field
        if name is None:
            problem = f"{bench.monitor.adapter.traits.title} has no salt"
        else:
            if not self.findings:
                self.findings = tuple([await self._probe(name, endpoint) for endpoint in bench.endpoints])
            bad = next((f for f in self.findings if f.finding != "separates"), None)
            if bad is None:
                self._by_salt = True
                if why is not None:
                    bench.warn("isolated_by_salt", f"{why}; each pass carries a fresh {name} instead", pass_name)
                return PassIsolation(pass_name, "salt", {name: secrets.token_hex(16)}, resets)
            problem = f"{bad.endpoint} does not keep caches apart by {name}: {bad.detail}"
        text = problem if why is None else f"{why}; and {problem}"
        reset = bench.monitor.adapter.reset
        return self._give_in(
            pass_name, text, remedy or ("use --isolation reset" if reset.path else reset.remedy), resets
        )

    async def _probe(self, name: str, endpoint: Endpoint) -> SaltFinding:
        bench = self.bench
        prompt = probe_prompt(bench.dataset, await asyncio.to_thread(bench.dataset.prompt, bench.dataset.requests[0]))
        # One rank of several has to answer all three, or the second would miss for want of a cache.
        pages = (await bench.monitor.snapshot()).pages.values()
        pinned = any(len(bench.monitor.adapter.engines(page)) > 1 for page in pages)
        target = bench.router.pinned(endpoint, 0) if pinned else Target(endpoint)

        async def send(salt: str) -> ProbeAnswer:
            before = await bench.monitor.snapshot()
            client = replace(bench.client, send="text" if prompt.ids is None else "ids", salt={name: salt})
            outcome = await client.complete(prompt, target)
            await bench.monitor.idle(bench.options.quiesce_timeout)
            counted = aggregate(bench.monitor.adapter, before, await bench.monitor.snapshot()).total
            told = [hit for hit in (outcome.usage.cached_tokens, counted.delta(Quantity.HITS)) if hit is not None]
            return ProbeAnswer(outcome.status == "ok", max(told, default=None), outcome.error)

        return await probe_salt(endpoint.base, send, (secrets.token_hex(16), secrets.token_hex(16)))


def _without_route(adapter: Adapter) -> str:
    return f"{adapter.traits.title} has no route that empties its cache"


def probe_prompt(dataset: RunDataset, sample: Prompt) -> Prompt:
    """Random tokens of the dataset's own vocabulary, two hit units and one token long."""
    length = 2 * dataset.hit_unit + 1
    luck: random.Random = secrets.SystemRandom()
    if sample.ids is None:
        return Prompt(" ".join(secrets.token_hex(4) for _ in range(length)), None, 1)
    pool = sorted(set(sample.ids))
    return Prompt(None, [luck.choice(pool) for _ in range(length)], 1)
