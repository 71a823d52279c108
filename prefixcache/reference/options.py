"""What a reference engine is started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from prefixcache.errors import InputError

EMBEDDED = "embedded"
EMBEDDED_FOLDER = Path(__file__).resolve().parents[1] / "content" / "embedded_tokenizer"


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

    def __post_init__(self) -> None:
        for field, minimum in (("block_size", 1), ("num_blocks", 2), ("dp", 1), ("max_model_len", 2)):
            if getattr(self, field) < minimum:
                raise InputError(f"{getattr(self, field)} is below {minimum}", field=field, stage="reference engine")
        for field in ("prefill_tps", "decode_tps"):
            if not 0 <= getattr(self, field) < float("inf"):
                raise InputError(
                    f"{getattr(self, field)} is no rate", field=field, stage="reference engine", remedy="0 is no limit"
                )
        if not self.model:
            raise InputError("empty", field="model", stage="reference engine")
        for field, other in (("tls_cert", "tls_key"), ("tls_key", "tls_cert")):
            if getattr(self, field) and not getattr(self, other):
                raise InputError(
                    "is missing",
                    field=other,
                    stage="reference engine",
                    remedy=f"give the file that belongs to {field} {getattr(self, field)}.",
                )

    @property
    def usable_blocks(self) -> int:
        """Blocks of a rank that can hold tokens: all but the null block."""
        return self.num_blocks - 1

    @property
    def context_len(self) -> int:
        """Longest request in tokens that is accepted: a longer one would wait for blocks forever."""
        return min(self.max_model_len, self.usable_blocks * self.block_size)

    @property
    def tokenizer_folder(self) -> str:
        return str(EMBEDDED_FOLDER) if self.tokenizer in ("", EMBEDDED) else self.tokenizer
