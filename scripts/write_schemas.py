"""Writes docs/schemas/*.json; with --check says whether they are what the package describes (exit code 1 if not)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from prefixcache.schemas.catalog import schema_files

FOLDER = Path(__file__).parents[1] / "docs" / "schemas"


def differing(folder: Path) -> list[str]:
    """Names that are missing, differ, or should not be there."""
    wanted = schema_files()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    only_check = parser.parse_args(arguments).check
    names = differing(folder)
    if not only_check:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = schema_files()
        for name in names:
            if name in wanted:
                (folder / name).write_text(wanted[name], encoding="utf-8")
            else:
                (folder / name).unlink()
    print("\n".join(f"{name}: {'differs' if only_check else 'written'}" for name in names) or "schemas: in order")
    return 1 if only_check and names else 0


if __name__ == "__main__":
    sys.exit(main())
