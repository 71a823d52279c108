"""What a reference engine is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from prefixcache.errors import InputError
from prefixcache.reference.dialects.traits import TRAITS, Traits

EMBEDDED = "embedded"
EMBEDDED_FOLDER = Path(__file__).resolve().parents[1] / "content" / "embedded_tokenizer"
STAGE = "reference engine"
MATCHING = ("chained", "independent", "content-defined")
RESETS = ("real", "refused", "pretends", "absent")
SALTS = ("honoured", "ignored")
MOST_TOKENS = 1 << 24
MOST_UNITS = 10_000_000
"""Cache units of all ranks together: about 130 bytes each, taken when the engine starts."""
MOST_RANKS = 1024
MOST_SEED = (1 << 63) - 1
HIDDEN = (
    *("dialect", "hit_unit", "hit_drop", "claims_block_size", "prefix_caching", "outputs_cached", "usage_cached"),
    *("matching", "reset", "salt"),
)
"""Options no server tells of: a client has to find out."""


@dataclass(frozen=True)
class EngineOptions:
    """Size, speed and tokenizer of one engine.

    Args:
        tokenizer: folder that ``transformers.AutoTokenizer`` can load; ``embedded`` is the one inside the package.
        block_size: tokens per cache block.
        num_blocks: blocks per data-parallel rank, one of which is the null block that never holds tokens.
        dp: data-parallel ranks, each with a pool of its own.
        prefill_tps: prompt tokens a rank computes per second, one request after the other; 0 takes no time.
        decode_tps: output tokens per second of each request; 0 takes no time.
        max_model_len: tokens of prompt and output together; lowered to what a rank's pool can hold.
        model: the served model name.
        seed: varies the output tokens.
        kv_events: ``tcp://*:PORT`` where KV events are published, rank r at PORT + r; empty: nowhere.
        kv_events_replay: where they are repeated, likewise.
        faults: file of a fault plan (docs/faults.md); empty: none.
        stamp: every token event of a stream carries ``stamp``, the server's ``time.perf_counter()`` in seconds right
            before the event is written; on Linux all processes of a machine share that clock.
        tls_cert, tls_key: PEM files; both: HTTPS is served.
        dialect: which engine it poses as, one of :data:`~prefixcache.reference.dialects.traits.TRAITS`.
        hit_unit: tokens in which it really matches; 0: the block size, or what the dialect forces.
        hit_drop: matched units it computes again all the same, the last ones (EAGLE, MTP).
        claims_block_size: tokens per block that its pages and routes state; 0: the truth.
        prefix_caching: without it nothing is ever hit.
        outputs_cached: generated tokens can be hit.
        usage_cached: the usage of its answers tells cached tokens; else null.
        matching: ``chained`` blocks, ``independent`` blocks that hit anywhere, or ``content-defined`` chunks.
        reset: what the route that empties the cache does: ``real``, ``refused``, ``pretends`` (says done and does
            nothing), ``absent``; empty: as the dialect's.
        salt: ``honoured`` or ``ignored``; empty: as the dialect's.

    Raises:
        InputError: a value no engine can run with.
    """

    tokenizer: str
    block_size: int = 16
    num_blocks: int = 200_000
    dp: int = 1
    prefill_tps: float = 0
    decode_tps: float = 0
    max_model_len: int = 131072
    model: str = "reference"
    seed: int = 0
    kv_events: str = ""
    kv_events_replay: str = ""
    faults: str = ""
    stamp: bool = False
    tls_cert: str = ""
    tls_key: str = ""
    dialect: str = "vllm"
    hit_unit: int = 0
    hit_drop: int = 0
    claims_block_size: int = 0
    prefix_caching: bool = True
    outputs_cached: bool = True
    usage_cached: bool = True
    matching: str = "chained"
    reset: str = ""
    salt: str = ""

    def __post_init__(self) -> None:
        for field, least, most in (
            *(("block_size", 1, MOST_TOKENS), ("num_blocks", 2, MOST_UNITS), ("dp", 1, MOST_RANKS)),
            *(("max_model_len", 2, MOST_TOKENS), ("hit_unit", 0, MOST_TOKENS), ("hit_drop", 0, MOST_TOKENS)),
            *(("claims_block_size", 0, MOST_TOKENS), ("seed", -MOST_SEED, MOST_SEED)),
        ):
            value = getattr(self, field)
            if not least <= value <= most:
                remedy = f"write a number from {least:,} to {most:,}."
                raise InputError(f"{value} is not {least:,} to {most:,}", field=field, stage=STAGE, remedy=remedy)
        for field in ("prefill_tps", "decode_tps"):
            if not 0 <= getattr(self, field) < float("inf"):
                raise InputError(f"{getattr(self, field)} is no rate", field=field, stage=STAGE, remedy="0 is no limit")
        if not self.model:
            raise InputError(
                "empty", field="model", stage=STAGE, remedy="give the name under which the model is served."
            )
        for field, other in (("tls_cert", "tls_key"), ("tls_key", "tls_cert")):
            if getattr(self, field) and not getattr(self, other):
                raise InputError(
                    "is missing",
                    field=other,
                    stage=STAGE,
                    remedy=f"give the file that belongs to {field} {getattr(self, field)}.",
                )
        self._check_pose()

    def _check_pose(self) -> None:
        """What the dialects can be asked for."""
        for field, known in (
            *(("dialect", tuple(TRAITS)), ("matching", MATCHING)),
            *(("reset", ("", *RESETS)), ("salt", ("", *SALTS))),
        ):
            value = getattr(self, field)
            if value not in known:
                raise InputError(
                    f"{value!r} is unknown", field=field, stage=STAGE, remedy=f"write {', '.join(filter(None, known))}."
                )
        if self.units * self.dp > MOST_UNITS:
            raise InputError(
                f"{self.units * self.dp:,} units of cache in all ranks are more than {MOST_UNITS:,}",
                field="num_blocks",
                stage=STAGE,
                remedy="give fewer blocks or ranks, or a larger hit unit.",
            )
        traits, name = self.traits, self.traits.name
        for field, refused, why in (
            ("dp", self.dp > 1 and not traits.ranks, f"{name} has no data-parallel ranks"),
            ("reset", self.reset not in ("", "absent") and not traits.reset_route, f"{name} has no such route"),
            ("salt", self.salt == "honoured" and not traits.salts, f"{name} knows no salt"),
            ("claims_block_size", self.claims_block_size and not traits.states_block_size, f"{name} states none"),
            ("kv_events", self.kv_events and self.matching != "chained", "only chained blocks have KV events"),
        ):
            if refused:
                raise InputError(why, field=field, stage=STAGE, remedy="leave it out, or choose another pose.")

    @property
    def traits(self) -> Traits:
        return TRAITS[self.dialect]

    @property
    def block(self) -> int:
        """Tokens per cache block: vLLM-Ascend has blocks of its own on dense models, whatever was asked for."""
        forced = 0 if self.hit_unit else self.traits.forced_block
        return forced or self.block_size

    @property
    def unit(self) -> int:
        """Tokens in which the cache really matches."""
        return self.hit_unit or self.block

    @property
    def claimed_block(self) -> int:
        """Tokens per block as the server states them."""
        return self.claims_block_size or self.block

    @property
    def units(self) -> int:
        """Units of a rank that can hold tokens; without a hit unit of its own all blocks but the null block."""
        return max(1, (self.num_blocks - 1) * self.block // self.unit)

    @property
    def reset_does(self) -> str:
        return self.reset or ("real" if self.traits.reset_route else "absent")

    @property
    def salted(self) -> bool:
        """Requests with different salts have nothing in common."""
        return self.salt == "honoured" if self.salt else self.traits.salts

    @property
    def context_len(self) -> int:
        """Longest request in tokens that is accepted: a longer one would wait for blocks forever."""
        return min(self.max_model_len, self.units * self.unit)

    @property
    def tokenizer_folder(self) -> str:
        return str(EMBEDDED_FOLDER) if self.tokenizer in ("", EMBEDDED) else self.tokenizer
