"""Build everything and say where it lies: `python -m tests.real.environment [--without-sglang]`."""

from __future__ import annotations

import sys
import time

from tests.real.environment.model import tiny_model
from tests.real.environment.venvs import Unavailable, sglang_python, vllm_python


def main() -> None:
    wanted = [("vllm", vllm_python), ("sglang", sglang_python), ("model", tiny_model)]
    if "--without-sglang" in sys.argv:
        del wanted[1]
    for name, make in wanted:
        began = time.monotonic()
        try:
            print(f"{name}: {make()} ({time.monotonic() - began:.0f} s)", flush=True)
        except Unavailable as error:
            raise SystemExit(f"{name} cannot be had here: {error}") from None


if __name__ == "__main__":
    main()
