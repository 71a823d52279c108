"""The sentences that the code says to users, read from its source: errors, remedies and warnings."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import prefixcache

ROOT = Path(prefixcache.__file__).parent.parent
PLACE = "7"
"""Stands in every place whose value is not written in the source."""
WARNERS = {"warn", "_warn", "_error"}
SPOKEN = {"message", "text", "remedy", "unknown"}
CODED = {"WireError"}
"""Errors whose first argument is a code."""
# ``RequestError`` is what an engine answers over HTTP, in English as any server's.
BUILT_IN = re.compile(
    r"^(Request|Value|Type|Runtime|Key|Index|Assertion|NotImplemented|OS|Attribute|Lookup|Timeout|Stop)"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One text with ``PLACE`` in its places; ``where`` is file:line."""

    where: str
    text: str


def spoken_in(folder: str) -> list[Sentence]:
    """Every sentence that the files of a folder hand to an error or a warning, by file and line.

    Args:
        folder: below the project's root, e.g. ``prefixcache/config``; or one file.
    """
    place = ROOT / folder
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [sentence for path in files for sentence in _spoken(path)]


def _spoken(path: Path) -> Iterator[Sentence]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = _assigned(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if called in WARNERS:
            said = [*node.args[1:], *(k.value for k in node.keywords if k.arg in SPOKEN)]
        elif called.endswith(("Error", "Failure")) and not BUILT_IN.match(called):
            first = 1 if called in CODED else 0
            said = [*node.args[first : first + 1], *(k.value for k in node.keywords if k.arg in SPOKEN)]
        else:
            continue
        for argument in said:
            for text in texts_of(argument, names):
                if " " in text.strip() and len(re.findall(r"[A-Za-z]{2,}", text)) > 1:
                    yield Sentence(f"{path.relative_to(ROOT)}:{argument.lineno}", text)


def texts_of(node: ast.expr, names: dict[str, list[ast.expr]], depth: int = 0) -> list[str]:
    """What an expression may say: each branch of a condition, names followed to where they are assigned."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        return [*texts_of(node.body, names, depth), *texts_of(node.orelse, names, depth)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = [texts_of(side, names, depth) or [PLACE] for side in (node.left, node.right)]
        return ["".join(pair) for pair in itertools.product(*sides)]
    if isinstance(node, ast.JoinedStr):
        pieces = [_piece(piece, names, depth) for piece in node.values]
        return ["".join(chosen) for chosen in itertools.islice(itertools.product(*pieces), 16)]
    if isinstance(node, ast.Name) and depth < 3:
        return [text for value in names.get(node.id, ()) for text in texts_of(value, names, depth + 1)]
    return []


def _piece(piece: ast.expr, names: dict[str, list[ast.expr]], depth: int) -> list[str]:
    if isinstance(piece, ast.FormattedValue):
        found = texts_of(piece.value, names, depth) if piece.format_spec is None and piece.conversion == -1 else []
        return found or [PLACE]
    return [str(piece.value)] if isinstance(piece, ast.Constant) else [PLACE]


def _assigned(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Name → every value that the file assigns to it."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            found.setdefault(node.target.id, []).append(node.value)
    return found
