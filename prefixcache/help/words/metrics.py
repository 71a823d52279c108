"""What `metrics` prints: key → (English, Chinese)."""

from __future__ import annotations

METRICS: dict[str, tuple[str, str]] = {
    "counted.title": ("Counted by {engine}, in {unit}", "{engine} 的计数，单位：{unit}"),
    "counted.unit.token": ("tokens", "Token"),
    "counted.unit.block": ("blocks", "Block"),
    "counted.unit.object": ("objects", "对象"),
    "counted.unit.mixed": ("different units", "不同单位"),
    "counted.endpoint": ("endpoint", "端点"),
    "counted.engine_label": ("engine", "引擎"),
    "counted.queries": ("queries", "查询"),
    "counted.hits": ("hits", "命中"),
    "counted.hit_ratio": ("hit ratio", "命中率"),
    "counted.external_queries": ("external queries", "外部查询"),
    "counted.external_hits": ("external hits", "外部命中"),
    "counted.total_hit_ratio": ("total", "总命中率"),
    "counted.all": ("all", "合计"),
    "counted.stores": ("Stores behind the engines (never added to them)", "引擎之后的外部存储（不计入引擎数据）"),
    "counted.store": ("store", "存储"),
    "counted.unit": ("unit", "单位"),
    "counted.status.partial": (
        "Partial: not every server gave all figures, so the total is of a part.",
        "不完整：并非所有服务都给出全部数据，合计仅覆盖其中一部分。",
    ),
    "counted.status.reset_detected": (
        "Counters began anew in between: what was counted before that is not known.",
        "期间计数器被重置：重置前的计数未知。",
    ),
}
