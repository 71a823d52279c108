"""The direction of imports: walked over the syntax trees, so that an arrow the other way fails `make check`."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Rooms that must not know the ones listed: agreement of the engine with the plan must mean something.
APART = {
    "prefixcache.reference": (
        "prefixcache.cache",
        "prefixcache.workload",
        "prefixcache.analysis",
        "prefixcache.content",
    ),
    "prefixcache.cache": ("prefixcache.reference",),
    "prefixcache.workload": ("prefixcache.reference", "prefixcache.content", "prefixcache.dataset"),
    "prefixcache.analysis": ("prefixcache.reference",),
    "prefixcache.config": (
        "prefixcache.workload",
        "prefixcache.cache",
        "prefixcache.content",
        "prefixcache.dataset",
        "prefixcache.load",
        "prefixcache.engines",
    ),
    "prefixcache.engines": ("prefixcache.load", "prefixcache.report", "prefixcache.probe"),
    "prefixcache.load": ("prefixcache.report", "prefixcache.reference", "prefixcache.probe"),
    "prefixcache.probe": (
        "prefixcache.reference",
        "prefixcache.report",
        "prefixcache.workload",
        "prefixcache.cache",
        "prefixcache.dataset",
        "prefixcache.stages",
    ),
    "prefixcache.schemas": (
        "prefixcache.workload",
        "prefixcache.cache",
        "prefixcache.content",
        "prefixcache.dataset",
        "prefixcache.stages",
        "prefixcache.engines",
        "prefixcache.report",
        "prefixcache.reference",
    ),
    "prefixcache": ("tasks", "flows", "prefect"),
    "tasks": ("flows",),
}
# The roof: the RFC's interface stands on all rooms, and only the package's face may show it.
ROOF, FACE = "prefixcache.api", "prefixcache.__init__"


def imported_names(path: Path) -> set[str]:
    """Dotted names that a module imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the direction"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return found


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def inside(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def wrong_arrows() -> list[str]:
    """One line per import against the direction."""
    wrong = []
    for package in ("prefixcache", "tasks", "flows"):
        for path in sorted((ROOT / package).rglob("*.py")):
            module = module_of(path)
            for room, forbidden in APART.items():
                if not inside(module, room):
                    continue
                for name in sorted(imported_names(path)):
                    if any(inside(name, other) for other in forbidden):
                        wrong.append(f"{path.relative_to(ROOT)} imports {name}, which {room} must not know")
            if inside(module, "prefixcache") and not inside(module, ROOF) and module != FACE:
                for name in sorted(imported_names(path)):
                    if inside(name, ROOF):
                        wrong.append(f"{path.relative_to(ROOT)} imports {name}, which stands above it")
    return wrong


if __name__ == "__main__":
    found = wrong_arrows()
    print("\n".join(found) or "import direction: in order")
    sys.exit(bool(found))
