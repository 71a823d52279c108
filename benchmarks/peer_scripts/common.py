"""How a peer's script is told what to make and says how long it took."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Wanted:
    """``prompts`` prompts of ``shared`` + ``own`` tokens; ``groups`` different shared beginnings."""

    tokenizer: str
    prompts: int
    shared: int
    own: int
    groups: int
    folder: str


def wanted() -> Wanted:
    return Wanted(**json.loads(sys.argv[1]))


def timed(package: str, wanted: Wanted, generate: Callable[[], list[str]]) -> None:
    """Run the generator under the clock and print one JSON line; what it prints itself goes to stderr."""
    with contextlib.redirect_stdout(sys.stderr):
        began = time.perf_counter()
        prompts = generate()
        seconds = time.perf_counter() - began
    (Path(wanted.folder) / "prompts.json").write_text(json.dumps(prompts))
    print(json.dumps({"seconds": seconds, "prompts": len(prompts), "version": version(package)}))
