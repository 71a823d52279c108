"""The tokenizer that figures are measured with: Qwen's by default, made from the package that ships its ranks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import ROOT

MAKE = "from tests.support.tokenizers import qwen_folder; print(qwen_folder())"


def tokenizer_path(name: str) -> str:
    """`embedded`, a folder with a tokenizer.json, or `qwen`.

    Made in a process of its own, so that this one stays small.

    Raises:
        SystemExit: there is no such tokenizer.
    """
    if name == "embedded":
        return name
    if name == "qwen":
        made = subprocess.run([sys.executable, "-c", MAKE], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if made.returncode:
            raise SystemExit("error: Qwen's tokenizer cannot be made. Remedy: run `make env`, or --tokenizer embedded.")
        return made.stdout.strip().splitlines()[-1]
    folder = Path(name).resolve()
    if not (folder / "tokenizer.json").is_file():
        raise SystemExit(f"error: no tokenizer.json in {folder}. Remedy: name its folder, `qwen` or `embedded`.")
    return str(folder)
