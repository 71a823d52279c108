"""What is measured: scenarios on a server, section by section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.real.environment.server import Sglang, Vllm
from tests.real.scenarios import ANY_BLOCK, EXACT, FLIGHT, RANKS, TIGHT, Scenario

Kind = Literal["design", "model", "flight", "tier"]
"""What is claimed: the designed hits to the token; those of a model to the token; a model's in total; two tiers'."""


@dataclass(frozen=True)
class Section:
    """One server and what is run on it."""

    key: str
    kind: Kind
    server: Vllm | Sglang
    scenarios: tuple[Scenario, ...]

    @property
    def engine(self) -> str:
        return "vllm" if isinstance(self.server, Vllm) else "sglang"

    @property
    def unit(self) -> int:
        return self.server.block_size if isinstance(self.server, Vllm) else self.server.page_size

    @property
    def blocks(self) -> int:
        """Of one cache domain."""
        return self.server.blocks if isinstance(self.server, Vllm) else self.server.tokens // self.server.page_size


AGAIN = (Scenario("unseen prompts", {"prefix": {"group_count": 3}, "seed": 21}),)
SECTIONS = (
    Section("vllm-32", "design", Vllm(32), EXACT),
    Section("vllm-64", "design", Vllm(64, 4096), ANY_BLOCK),
    Section("vllm-128", "design", Vllm(128, 4096), ANY_BLOCK),
    Section("vllm-2-ranks", "design", Vllm(32, 4096, ranks=2), RANKS),
    Section("vllm-tight", "model", Vllm(32, 64), TIGHT),
    Section("vllm-in-flight-65", "flight", Vllm(32, 65, budget=2048, sequences=128, events=True), FLIGHT),
    Section("vllm-in-flight-97", "flight", Vllm(32, 97, budget=512, sequences=8, events=True), FLIGHT),
    Section("vllm-external", "tier", Vllm(32, 4096, external=True), AGAIN),
    Section("sglang-1", "design", Sglang(1), ANY_BLOCK),
    Section("sglang-32", "design", Sglang(32), ANY_BLOCK),
    Section("sglang-tight-1", "model", Sglang(1, 2048), TIGHT),
    Section("sglang-tight-32", "model", Sglang(32, 2048), TIGHT),
)
