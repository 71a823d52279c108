"""The command line's words in the chosen language."""

from __future__ import annotations

import re
from typing import Any

from prefixcache.errors import InputError, PrefixCacheError
from prefixcache.help.chinese.text import chinese_of
from prefixcache.help.words import ENVIRONMENT, LANGUAGES, Language
from prefixcache.help.words.cli import CLI

MOST_NAMED = 5


def language_of(value: str) -> Language:
    """Check a language that a user named.

    Raises:
        InputError: it is neither ``en`` nor ``zh``.
    """
    for language in LANGUAGES:
        if value == language:
            return language
    raise InputError(
        f"{value!r} is unknown", field="--lang", remedy=f"write en or zh, here or in the variable {ENVIRONMENT}."
    )


def say(key: str, language: Language, **values: object) -> str:
    """The words for a key with its ``{places}`` filled in."""
    words = CLI[key][LANGUAGES.index(language)]
    return words.format(**values) if values else words


def named(group: str, code: str, language: Language) -> str:
    """The words for ``group.code``; a code that is not in the table stands for itself."""
    key = f"{group}.{code}"
    return say(key, language) if key in CLI else code


def error_text(error: PrefixCacheError, language: Language) -> str:
    """An error with its places, field and remedy as the terminal shows it; the JSON of it is always English."""
    if language == "en":
        return str(error)
    places = {name: value for name, value in error.context().items() if f"place.{name}" in CLI and value != 0}
    if "stage" in places:
        places["stage"] = named("stage", str(places["stage"]), language)
    where = "，".join(f"{say(f'place.{name}', language)} {value}" for name, value in places.items())
    text = f"{error.field}：{chinese_of(error.message)}" if error.field else chinese_of(error.message)
    text = f"[{where}] {text}" if where else text
    remedy = say("remedy", language, text=chinese_of(error.remedy)) if error.remedy else ""
    return f"{text.rstrip('.。')}。{remedy}" if remedy else text


def finding_of(text: str, language: Language) -> str:
    """A problem that `validate` found, or a warning."""
    return chinese_of(text) if language == "zh" else text


def note_of(check: dict[str, Any], language: Language) -> str:
    """The note of one of validate's checks; in Chinese where its form is known."""
    note = str(check.get("note") or "")
    found = re.fullmatch(r"(\d+) prompts re-encoded, (\d+) tokens", note)
    return (
        say("validate.reencoded", language, prompts=found[1], tokens=found[2]) if found else finding_of(note, language)
    )


def reason_of(report: dict[str, Any], language: Language) -> str:
    """Why a plan is not PASS. The report's own text is English; the Chinese one is made of its figures."""
    english = str(report["reason"])
    if language == "en":
        return english
    if report.get("reachable") is False:
        return _unreachable(report)
    if english.startswith("granularity"):
        return (
            f"数据集过小：半个命中粒度（{report['hit_unit']} Token 的一半）在 {report['input_tokens']:,} 个输入 Token "
            f"中的占比已超出容差（granularity）。{english}"
        )
    if english.startswith("the target was missed by more than pass_tolerance"):
        return "与目标的偏差超过 pass_tolerance；planning.block_residual_calibration 已关闭"
    return chinese_of(english)


def _unreachable(report: dict[str, Any]) -> str:
    missed = [group for group in report["groups"] if group.get("reachable") is False]
    if missed:  # targets of their own
        shown = "；".join(f"Group {group['group_id']}：{_out_of_range(group)}" for group in missed[:MOST_NAMED])
        return shown + (f"；另有 {len(missed) - MOST_NAMED} 个 Group" if len(missed) > MOST_NAMED else "")
    text = _out_of_range(report)
    if bounded := report.get("capacity"):
        text = f"每个缓存域为 {bounded['num_blocks']:,} 个 Block、按容量淘汰时，{text}"
    if report.get("cannot_share"):
        text += f"；{report['cannot_share']:,} 条请求过短，无法共享任何 Prefix"
    return text


def _out_of_range(figures: dict[str, Any]) -> str:
    """``figures``: of the whole plan, or of a group; where the budget moved, a group's own share is its first one."""
    tokens, most, least = (
        figures.get(key) for key in ("input_tokens", "max_reachable_hit_tokens", "min_reachable_hit_tokens")
    )
    goal = figures.get("initial_target_hit_tokens", figures.get("target_hit_tokens"))
    if goal is not None and least is not None and goal < least:
        return f"低于下限：公共头部已使 {tokens:,} 个输入 Token 中至少命中 {least:,} 个，目标仅需要 {goal:,} 个"
    wanted = "" if goal is None else f"，目标需要 {goal:,} 个"
    rest = "" if tokens is None or most is None else f"；其余 {tokens - most:,} 个因自有 Token、对齐与冷启动而无法命中"
    return f"{tokens:,} 个输入 Token 中最多可命中 {most:,} 个{wanted}{rest}"
