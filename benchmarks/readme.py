"""Rows of the READMEs' tables from measured figures, in both languages.

    python -m benchmarks.generation --full --runs 3 --json > outputs/benchmarks/generation.jsonl
    python -m benchmarks.peers --json > outputs/benchmarks/peers.jsonl
    python -m benchmarks.readme outputs/benchmarks/*.jsonl

Prints Markdown; nothing is written into a README. Figures of a shrunk run are refused.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.generation import in_words

CHINESE = {
    "plan": "规划 100,000 条 × 4,096 Token（100 个 Group）：长度、顺序、水位",
    "simulator": "正确性证明所用仿真器：100,000 × 256 个 Block Key",
    "1k": "生成 1,000 × 4,096",
    "10k": "生成 10,000 × 4,096",
    "100k": "生成 100,000 × 4,096",
    "validate-10k": "校验 10,000 × 4,096",
    "validate": "校验 100,000 × 4,096",
    "workers-1": "生成 10,000 × 4,096，1 个工作进程",
    "workers-2": "生成 10,000 × 4,096，2 个工作进程",
    "workers-speedup": "2 个工作进程对 1 个的加速",
    "rerun-10k": "原样重跑 10,000 × 4,096（整条命令）",
    "rerun-10k-start": "原样重跑 20 × 64（即 Prefect 启动）",
    "rerun-10k-beyond": "原样重跑 10,000 × 4,096：除 Prefect 启动外",
    "threads-1": "经 Prefect 生成 10,000 × 4,096，threads，1 个工作进程",
    "threads-2": "经 Prefect 生成 10,000 × 4,096，threads，2 个工作进程",
    "threads-4": "经 Prefect 生成 10,000 × 4,096，threads，4 个工作进程",
    "processes-2": "经 Prefect 生成 10,000 × 4,096，processes，2 个工作进程",
    "dask-2": "经 Prefect 生成 10,000 × 4,096，dask，2 个工作进程",
    "reporting": "生成 10,000 × 4,096 时的进度报告",
    "reporting-share": "进度报告占总耗时",
    "rerun": "原样重跑 100,000 × 4,096（整条命令）",
    "rerun-start": "原样重跑 20 × 64（即 Prefect 启动）",
    "rerun-beyond": "原样重跑 100,000 × 4,096：除 Prefect 启动外",
    "scale-1m": "生成 1,000,000 × 1,024",
    "scale-100k": "生成 100,000 × 1,024",
    "scale-seconds": "1,000,000 × 1,024 对 100,000 × 1,024：耗时之比",
    "scale-peak": "1,000,000 × 1,024 对 100,000 × 1,024：峰值 RSS 之比",
    "input tokens": "输入 Token",
    "block keys": "Block Key",
}
WORK_HEAD = {
    "en": "| work | went over | median | least – most | per second | largest process |",
    "zh": "| 工作 | 处理量 | 中位数 | 最小 – 最大 | 每秒 | 最大进程的 RSS |",
}
PEER_HEAD = {
    "en": "| generator | prompts | of exactly 4,096 tokens | tokens per second | prefixcache / it, as many prompts "
    "| prefixcache / it, {large} of ours |",
    "zh": "| 生成器 | Prompt 数 | 恰为 4,096 Token | 每秒 Token | prefixcache 与之比（同样条数） "
    "| prefixcache 与之比（本工具 {large} 条） |",
}
REASON = {"en": "not measured: {reason}", "zh": "未测：{reason}"}


def figures_of(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """All JSON lines; of a figure that was measured twice the last.

    Raises:
        SystemExit: a line of a shrunk run.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        for text in path.read_text(encoding="utf-8").splitlines():
            figure = json.loads(text)
            if figure.get("shrunk", 1) != 1:
                raise SystemExit(f"error: {path}: {figure['figure']} was measured shrunk. Remedy: leave out --shrink.")
            found[figure["figure"]] = figure
    return list(found.values())


def setting(figures: Sequence[dict[str, Any]], language: str) -> str:
    """The line above the table: machine, load, runs."""
    loads = [figure["machine"]["load"] for figure in figures]
    runs = sorted({figure["runs"] for figure in figures})
    machine = figures[0]["machine"]
    load = f"{min(loads)} – {max(loads)}"
    of_runs = " / ".join(map(str, runs))
    parts = f"{machine['cpus']} CPU ({machine['cpu']}), Python {machine['python']}, gigatoken {machine['gigatoken']}"
    if language == "zh":
        return f"每项运行 {of_runs} 次取中位数；{parts}；测前负载 {load}。"
    return f"Medians of {of_runs} runs; {parts}; load before each figure {load}."


def work_table(figures: Sequence[dict[str, Any]], language: str) -> list[str]:
    rows = [WORK_HEAD[language], "|---|---:|---:|---:|---:|---:|"]
    for figure in figures:
        for row in figure["cases"]:
            seconds, rate = row["seconds"], row["per_second"]
            unit = CHINESE[row["unit"]] if language == "zh" else row["unit"]
            rows.append(
                f"| {CHINESE[row['case']] if language == 'zh' else row['title']} | {row['count'] / 1e6:,.2f} M {unit} "
                f"| {seconds['median']:.2f} s | {seconds['least']:.2f} – {seconds['most']:.2f} s "
                f"| {'–' if rate is None else f'{rate / 1e6:,.2f} M'} | {row['peak_mib']:.0f} MiB |"
            )
        for row in figure["comparisons"]:
            title = CHINESE[row["comparison"]] if language == "zh" else row["title"]
            rows.append(f"| {title} | | {in_words(row)} | | |")
    return rows


def peer_table(figure: dict[str, Any], language: str) -> list[str]:
    ours = {row["generator"]: row for row in figure["generators"]}
    head = PEER_HEAD[language].format(large=f"{ours['ours-large']['prompts']:,}")
    rows = [head, "|---|---:|---:|---:|---:|---:|"]
    for row in figure["generators"]:
        if row.get("reason"):
            rows.append(f"| {row['title']} | {REASON[language].format(reason=row['reason'])} | | | | |")
            continue
        exact = "" if row["exact_prompts"] is None else f"{row['exact_prompts']:,}"
        ratios = [f"{row[name]['median']:,.1f} ×" if name in row else "" for name in ("ours_same", "ours_large")]
        rows.append(
            f"| {row['title']} {row['version']} | {row['prompts']:,} | {exact} "
            f"| {row['tokens_per_second'] / 1e3:,.0f} k | {ratios[0]} | {ratios[1]} |"
        )
    return rows


def tables(figures: Sequence[dict[str, Any]], language: str) -> str:
    """Everything for one README."""
    work = [figure for figure in figures if "cases" in figure]
    parts = [setting(figures, language)]
    if work:
        parts.append("\n".join(work_table(work, language)))
    parts += ["\n".join(peer_table(figure, language)) for figure in figures if "generators" in figure]
    return "\n\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.readme", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, help="JSON lines of the benchmarks")
    figures = figures_of(parser.parse_args(arguments).files)
    if not figures:
        raise SystemExit("error: the files hold no figure.")
    for name, language in (("README.md", "en"), ("README.zh-CN.md", "zh")):
        print(f"<!-- {name} -->\n\n{tables(figures, language)}\n")


if __name__ == "__main__":
    main()
