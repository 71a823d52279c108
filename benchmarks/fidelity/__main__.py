"""Play scenarios on real engines and write docs/fidelity.md and its Chinese twin.

    python -m benchmarks.fidelity                              # everything: the best part of an hour
    python -m benchmarks.fidelity --section vllm-tight         # one section; the page keeps what the others measured
    python -m benchmarks.fidelity --page                       # only write the page again

Each section's rows are kept in outputs/benchmarks/fidelity, so a run that was broken off goes on with --missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.fidelity.measuring import rows_of
from benchmarks.fidelity.page import ENGLISH, page
from benchmarks.fidelity.sections import SECTIONS, Section
from benchmarks.fidelity.words import CHINESE
from benchmarks.measure import ROOT, machine
from tests.real.environment.model import tiny_model
from tests.real.environment.server import RealServer, ServerFailed, version_of
from tests.real.environment.venvs import Unavailable

KEPT = ROOT / "outputs" / "benchmarks" / "fidelity"
PAGES = {ENGLISH: ROOT / "docs" / "fidelity.md", CHINESE: ROOT / "docs" / "fidelity.zh-CN.md"}


def main(words: list[str] | None = None) -> None:
    flags = _flags().parse_args(words)
    chosen = [section for section in SECTIONS if _is_chosen(section, flags)]
    for section in [] if flags.page else chosen:
        result = _measured(section)
        _keep(section, result)
        if flags.json:
            print(json.dumps(result, ensure_ascii=False), flush=True)
    results = {section.key: found for section in SECTIONS if (found := _kept(section)) is not None}
    for language, path in PAGES.items():
        path.write_text(page(results, language), encoding="utf-8")
        print(f"written: {path.relative_to(ROOT)}", file=sys.stderr)


def _flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fidelity", description=__doc__.splitlines()[0])
    keys = [section.key for section in SECTIONS]
    parser.add_argument("--engine", action="append", choices=["vllm", "sglang"], help="only this engine's sections")
    parser.add_argument("--section", action="append", choices=keys, help="only this section")
    parser.add_argument("--missing", action="store_true", help="only sections that were not measured yet")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page from what is kept")
    parser.add_argument("--json", action="store_true", help="one JSON line a section on stdout")
    return parser


def _is_chosen(section: Section, flags: argparse.Namespace) -> bool:
    named = flags.section is None or section.key in flags.section
    wanted = flags.engine is None or section.engine in flags.engine
    return named and wanted and not (flags.missing and _kept(section) is not None)


def _measured(section: Section) -> dict[str, Any]:
    """The section's rows, or why there are none."""
    head: dict[str, Any] = {"section": section.key, "kind": section.kind, "machine": machine()}
    try:
        with RealServer(section.server) as server, tempfile.TemporaryDirectory() as folder:
            version = version_of(server)["version"]
            rows = list(rows_of(section, server, Path(folder), lambda text: print(text, file=sys.stderr, flush=True)))
    except (Unavailable, ServerFailed) as error:
        print(f"{section.key} left out: {error}", file=sys.stderr)
        return {**head, "absent": str(error)[-300:], "rows": []}
    model = json.loads((tiny_model() / "config.json").read_text())
    return {**head, "engine": section.engine, "version": version, "model": model["architectures"][0], "rows": rows}


def _keep(section: Section, result: dict[str, Any]) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / f"{section.key}.json").write_text(json.dumps(result, indent=1), encoding="utf-8")


def _kept(section: Section) -> dict[str, Any] | None:
    path = KEPT / f"{section.key}.json"
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    main()
