"""A suggestion for an unreachable target in Chinese, made of its figures (RFC 3.3.6)."""

from __future__ import annotations

from typing import Any

# lever → (what would suffice, that it alone does not), with {current} and {needed}.
LEVERS: dict[str, tuple[str, str]] = {
    "request_count": ("将 request_count 从 {current} 增加到 {needed}", "仅增加请求数量无法达到"),
    "requests_per_group": ("将每组平均请求数从 {current} 增加到 {needed}", "仅增加每组请求数无法达到"),
    "group_count": ("将 Prefix Group 从 {current} 个减少到 {needed} 个（平均分配）", "仅减少 Prefix Group 无法达到"),
    "length_spread": ("将最长请求从 {current} Token 限制到 {needed} Token", "仅缩小长度差无法达到"),
    "minimum_non_shared_length": (
        "将 prefix.minimum_non_shared_length 从 {current} 降低到 {needed}",
        "仅减小 minimum_non_shared_length 无法达到",
    ),
    "warmup": (
        "改为预热模式：execution.mode: warmup 与 target.semantics: static_prefix_ratio，避免冷启动损失",
        "仅预热缓存无法达到",
    ),
    "cache_domains": ("将缓存域从 {current} 个减少到 {needed} 个", "仅减少缓存域无法达到"),
    "planning.num_blocks": ("将每个缓存域的 Block 数从 {current} 增加到 {needed}", "需要更大的缓存"),
    "request_order": ("将 request_order.across_group 从 {current} 改为 {needed}", "仅调整 Group 间顺序无法达到"),
    "hit_unit": ("使用命中粒度为 {needed} Token 的服务端（当前 {current}）", "仅减小命中粒度无法达到"),
}


# What is at its smallest already, by lever.
LEAST: dict[str, str] = {
    "group_count": "当前仅有一个 Prefix Group，无法再减少",
    "cache_domains": "当前仅有一个缓存域，无法再减少",
    "hit_unit": "命中粒度已为一个 Token，无法再减小",
    "minimum_non_shared_length": "minimum_non_shared_length 已为最小值",
}


def chinese(suggestion: dict[str, Any], *, cut: bool = False, far: bool = False) -> str:
    """The Chinese text of one entry of ``suggestions[]``; an unknown lever keeps its English text.

    Args:
        suggestion: ``lever, current, needed, reachable_hit_ratio, text``.
        cut: whether its search ended before the smallest change was found.
        far: more than the target can be reached, but nothing near it.
    """
    lever, current, needed = (suggestion[key] for key in ("lever", "current", "needed"))
    if lever.startswith("target.") and needed is not None:
        return f"将 {lever} 提高到至少 {needed:.6f}：公共头部自身即可命中这么多。"
    if lever not in LEVERS:
        return str(suggestion["text"])
    ratio = suggestion["reachable_hit_ratio"]
    reach = "" if ratio is None else f"{ratio * 100:.2f} %"
    can, cannot = LEVERS[lever]
    if needed is None:
        cannot = LEAST[lever] if lever in LEAST and current in (0, 1) else cannot
        more = ("，但所试方案均不接近目标" if far else "") + ("；搜索提前结束" if cut else "")
        return f"{cannot}（至多 {reach}{more}）。" if reach else f"{cannot}。"
    text = can.format(current=_plain(current), needed=_plain(needed))
    more = "；搜索提前结束，或有更小的改动" if cut else ""
    return f"{text}（可达 {reach}{more}）。" if reach else f"{text}。"


def _plain(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
