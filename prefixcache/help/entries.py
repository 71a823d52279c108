"""All that `explain` knows: one entry per configuration key, field, status, exit code, warning and check."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from prefixcache.errors import InputError
from prefixcache.help.config_keys import KINDS, ConfigKey, config_keys
from prefixcache.help.fields import files_with
from prefixcache.help.words import UNITS, Language, Words
from prefixcache.help.words.codes import CHECKS, EXIT_CODES, STATUSES, WARNINGS
from prefixcache.help.words.content import CONTENT
from prefixcache.help.words.dataset import DATASET
from prefixcache.help.words.execution import EXECUTION
from prefixcache.help.words.failures import FAILURES
from prefixcache.help.words.nested import NESTED
from prefixcache.help.words.run import RUN
from prefixcache.help.words.workload import WORKLOAD

CONFIG = WORKLOAD | CONTENT | EXECUTION
TOPICS: dict[str, tuple[str, str]] = {
    "config": ("configuration key", "配置项"),
    "field": ("field of a file", "产物字段"),
    "status": ("status", "状态"),
    "failure": ("kind of failure", "失败类型"),
    "exit": ("exit code", "退出码"),
    "warning": ("warning code", "告警代码"),
    "check": ("check of validate", "validate 校验项"),
}
MOST_NEAR = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that can be explained.

    Args:
        topic: a key of ``TOPICS``.
        names: by which it is found; the first is shown.
        words: its meaning.
        keys: for configuration: the key in each place, and per length model.
        files: for fields: where they stand.
    """

    topic: str
    names: tuple[str, ...]
    words: Words
    keys: tuple[ConfigKey, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.names[0]

    def facts(self, language: Language) -> list[tuple[str, str]]:
        """Label and text of everything known beside the meaning, in reading order."""
        at = 0 if language == "en" else 1
        found = [("formula", self.words.formula), ("type", self._kind(at)), ("unit", self._unit(at))]
        found += [("default", self._default(at)), ("where", self._where(at)), ("rfc", self.words.rfc)]
        return [(LABELS[label][at], text) for label, text in found if text]

    def to_json(self) -> dict[str, Any]:
        """Everything, in both languages."""
        first = self.keys[0] if self.keys else None
        return {
            "name": self.name,
            "also": list(self.names[1:]),
            "topic": self.topic,
            "text_en": self.words.en,
            "text_zh": self.words.zh,
            "formula": self.words.formula or None,
            "type": first.kind if first else None,
            "values": list(first.values) if first and first.values else None,
            "unit": self.words.unit or None,
            "required": first.required if first else None,
            "default": first.default if first else None,
            "default_rule": list(self.words.default) if self.words.default else None,
            "modes": [key.variant for key in self.keys if key.variant and key.path == self.name] or None,
            "files": list(self.files) or None,
            "rfc": self.words.rfc or None,
        }

    def _kind(self, at: int) -> str:
        if not self.keys:
            return ""
        key = self.keys[0]
        text = KINDS[key.kind][at]
        if key.values:
            text = ", ".join(key.values) if len(key.values) == 1 else f"{text}: {', '.join(key.values)}"
        modes = [k.variant for k in self.keys if k.variant and k.path == self.name]
        return f"{text} (mode {' / '.join(modes)})" if modes else text

    def _unit(self, at: int) -> str:
        return UNITS[self.words.unit][at] if self.words.unit else ""

    def _default(self, at: int) -> str:
        if self.words.default:
            return self.words.default[at]
        if not self.keys:
            return ""
        key = self.keys[0]
        if key.required:
            return ("required", "必填")[at]
        if key.default is None:
            return (
                "keys below have their own" if key.kind == "block" else "none",
                "见下级各项" if key.kind == "block" else "无",
            )[at]
        return key.default

    def _where(self, at: int) -> str:
        if not self.keys:
            return ", ".join(self.files)
        ways = ["; ".join(self.names)]
        if self.keys[0].kind != "block" and "[]" not in self.name:
            ways.append(f"--set {self.name}=…")
        if self.words.flag:
            ways.append(self.words.flag)
        return f"{('configuration file', '配置文件')[at]}: {', '.join(ways)}"


LABELS: dict[str, tuple[str, str]] = {
    "formula": ("formula", "公式"),
    "type": ("type", "类型"),
    "unit": ("unit", "单位"),
    "default": ("default", "默认值"),
    "where": ("where", "位置"),
    "rfc": ("RFC", "RFC 条款"),
}


@cache
def all_entries() -> tuple[Entry, ...]:
    """Every entry, configuration keys first, in the order in which they are documented."""
    by_word: dict[str, list[ConfigKey]] = {}
    for key in config_keys():
        by_word.setdefault(key.word, []).append(key)
    configured: dict[tuple[str, Words], list[ConfigKey]] = {}
    for word, keys in by_word.items():
        if word in CONFIG:  # length models may share a key and its meaning
            configured.setdefault((keys[0].path, CONFIG[word]), []).extend(keys)
    found = [
        Entry("config", tuple(dict.fromkeys(key.path for key in keys)), words, tuple(keys))
        for (_, words), keys in configured.items()
    ]
    fields = DATASET | RUN
    found += [Entry("field", (name,), words, files=files_with(name)) for name, words in fields.items()]
    tables = {"status": STATUSES, "failure": FAILURES, "exit": EXIT_CODES, "warning": WARNINGS, "check": CHECKS}
    for topic, table in tables.items():
        found += [Entry(topic, (name,), words) for name, words in table.items()]
    return tuple(found)


def words_of(path: str) -> Words:
    """The words of a configuration key by its path.

    Raises:
        KeyError: no such key.
    """
    for entry in all_entries():
        if entry.topic == "config" and path in entry.names:
            return entry.words
    raise KeyError(path)


def find(query: str) -> list[Entry]:
    """Entries for what a user typed: an exact name, the end of a dotted one, a term in a text, else a near name.

    Raises:
        InputError: nothing is near; the nearest names are told.
    """
    wanted = query.strip().strip("`").removeprefix("prefix_cache_dataset.").lower().replace("-", "_")
    wanted = wanted.removeprefix("exit ").removeprefix("exit_code ")
    for hits in (_named(wanted), _nested(wanted), _spoken(query.strip().lower()), _near(wanted, 0.82)):
        if hits:
            return hits
    near = list(dict.fromkeys(entry.name for entry in _near(wanted, 0.45)))[:MOST_NEAR]
    raise InputError(
        f"nothing is known of {query!r}",
        field="FIELD",
        remedy=f"did you mean {', '.join(near)}?" if near else "`prefixcache explain` lists everything.",
        stage="explain",
    )


def _named(wanted: str) -> list[Entry]:
    """Entries of that very name, or whose dotted name ends with it."""
    return [e for e in all_entries() if any(f".{name}".lower().endswith(f".{wanted}") for name in e.names)]


def _nested(wanted: str) -> list[Entry]:
    """A field inside of a block, which has no entry in the list."""
    words = NESTED.get(wanted.rsplit(".", 1)[-1])
    return [] if words is None else [Entry("field", (wanted,), words)]


def _spoken(wanted: str) -> list[Entry]:
    """Entries whose name or text holds what was typed, the plainest first."""
    if len(wanted) < 2:
        return []
    named = [e for e in all_entries() if any(wanted in name.lower() for name in e.names)]
    told = [e for e in all_entries() if wanted in e.words.en.lower() or wanted in e.words.zh.lower()]
    found = named or sorted(told, key=lambda e: len(e.words.en))
    return found[:MOST_NEAR]


def _near(wanted: str, cutoff: float) -> list[Entry]:
    scored = [(max(_likeness(wanted, name.lower()) for name in e.names), e) for e in all_entries()]
    best = sorted((s for s in scored if s[0] >= cutoff), key=lambda s: -s[0])
    return [entry for _, entry in best[:MOST_NEAR]]


def _likeness(wanted: str, name: str) -> float:
    parts: Iterable[str] = {name, name.rpartition(".")[2]}
    return max(difflib.SequenceMatcher(None, wanted, part).ratio() for part in parts)
