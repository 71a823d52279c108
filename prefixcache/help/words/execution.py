"""Configuration keys of execution, routing, planning and validation. Key: model class and field."""

from __future__ import annotations

from prefixcache.help.words import Words

EXECUTION: dict[str, Words] = {
    "ExecutionConfig.mode": Words(
        "Cache state of the measured interval: progressive_prefix_fill, cold, warmup, hot, replay or compare.",
        "执行模式：决定测量开始时的缓存状态（0warmup 逐步填充、冷、预热、热、重放或对比）。",
        rfc="3.1.5",
        default=("from target.semantics", "由 target.semantics 决定"),
    ),
    "ExecutionConfig.warmup_rounds": Words(
        "How often the warmup prompts are sent before the measured interval.",
        "测量前 Warmup 请求的发送轮数。",
        rfc="3.3.3",
        default=("0 in cold modes, else 1", "冷启动模式为 0，否则为 1"),
    ),
    "ExecutionConfig.concurrency": Words(
        "Requests in flight at most.", "最大并发请求数。", rfc="3.1.5", unit="requests", flag="run --concurrency"
    ),
    "ExecutionConfig.gating": Words(
        "When a request may be sent, so that the plan stays true under concurrency.",
        "门控：请求何时可以发送，使并发下理论模型仍然成立。",
        rfc="4.3",
        flag="run --gating",
    ),
    # Routing
    "RoutingConfig.cache_scope": Words(
        "One cache for all, or one per instance or DP rank; global_shared means global.",
        "缓存范围：全局共享，或按实例 / DP 本地；global_shared 等同 global。",
        rfc="3.3.19",
    ),
    "RoutingConfig.dp_size": Words(
        "Cache domains (DP ranks or instances); counts only where the cache is local.",
        "缓存域数（DP 或实例数）；仅在本地缓存时有效。",
        rfc="2.7",
    ),
    "RoutingConfig.policy": Words(
        "Which cache domain a request goes to.",
        "路由策略：请求进入哪个缓存域。",
        rfc="2.7",
        default=("bound, or what the next keys say", "bound，或由后续各项决定"),
    ),
    "RoutingConfig.sticky_routing": Words(
        "true: policy sticky; false alone: round_robin.", "true 即 sticky；单独写 false 即 round_robin。", rfc="2.7"
    ),
    "RoutingConfig.bind_prefix_group_to_dp": Words(
        "true: policy bound; wins over sticky_routing.", "true 即 bound；优先于 sticky_routing。", rfc="2.7"
    ),
    "RoutingConfig.group_domains": Words(
        "The cache domain of each group; policy explicit.",
        "逐组指定缓存域（policy 为 explicit）。",
        rfc="2.7",
        unit="index",
    ),
    "RoutingConfig.request_domains": Words(
        "The cache domain of each request; policy explicit.", "逐条指定缓存域（policy 为 explicit）。", rfc="2.7"
    ),
    "RequestDomains.values": Words(
        "One domain per request, in generated order.", "按生成顺序逐条给出缓存域。", rfc="2.7", unit="index"
    ),
    "RequestDomains.file": Words(
        "File with one domain per request: JSON list, JSONL, CSV or Parquet column, or plain integers.",
        "逐条缓存域文件：JSON 列表，JSONL / CSV / Parquet 列，或纯整数文本。",
        rfc="2.7",
    ),
    "RequestDomains.column": Words(
        "Column of the file.", "文件中的列名。", rfc="2.7", default=("planned_dp_id", "planned_dp_id")
    ),
    # Planning
    "PlanningConfig.objective": Words(
        "proportional: one base ratio per group; minimal_prefix: fewest shared tokens; trajectory: steady growth.",
        "proportional：每组一个基础比例；minimal_prefix：共享 Token 最少；trajectory：累计命中率平稳。",
        rfc="3.3.5",
    ),
    "PlanningConfig.reachability_check": Words(
        "Whether the target can be reached is always checked.", "始终执行目标可达性检查。", rfc="3.3.6"
    ),
    "PlanningConfig.base_ratio_search": Words(
        "How the base ratio is found; the search is exact.", "基础比例的搜索方式；结果精确。", rfc="3.3.5"
    ),
    "PlanningConfig.block_residual_calibration": Words(
        "Meet the target to half a hit unit; false leaves what rounding down to units loses.",
        "Block 级残差校准：精确到半个命中粒度；false 则保留向下对齐的损失。",
        rfc="3.3.5",
        formula="|designed - target| <= u / (2 * sum(L))",
    ),
    "PlanningConfig.assume": Words(
        "Plan hits for a cache that never evicts, or for a vLLM block pool of num_blocks.",
        "按不淘汰的缓存规划命中，或按容量为 num_blocks 的 vLLM Block 池规划。",
        rfc="6.6",
    ),
    "PlanningConfig.num_blocks": Words(
        "With assume capacity: blocks of each cache domain, as the server tells them (num_gpu_blocks).",
        "assume 为 capacity 时每个缓存域的 Block 数，即服务端的 num_gpu_blocks。",
        rfc="6.6",
    ),
    "PlanningConfig.max_iterations": Words(
        "Accepted for compatibility: the search needs at most 64 steps.",
        "为兼容而保留：搜索至多 64 步。",
        rfc="3.3.5",
    ),
    # Validation
    "ValidationConfig.audit": Words(
        "How many prompts are re-encoded as proof: `auto` takes all up to 20 million tokens and a sample beyond, "
        "`full` always all, with a faster tokenizer where one is installed and proves equal.",
        "重新编码多少条 Prompt 作为证明：`auto` 在 2000 万 Token 以内全部检查，超过则抽样并注明；`full` 总是全部检查，"
        "若装有经核对一致的更快 Tokenizer 则用它。",
        rfc="3.2.1",
    ),
    "ValidationConfig.pass_tolerance": Words(
        "Largest deviation from the target that is a PASS.", "判定 PASS 的最大偏差。", rfc="3.3.17", unit="deviation"
    ),
    "ValidationConfig.warning_tolerance": Words(
        "Largest deviation that is a PASS_WITH_WARNING; beyond it is FAIL.",
        "判定 PASS_WITH_WARNING 的最大偏差，超出为 FAIL。",
        rfc="3.3.17",
        unit="deviation",
    ),
    "ValidationConfig.on_cannot_share": Words(
        "What a request too short to share more than the head does: it is listed, or refused.",
        "无法共享任何前缀（公共头部除外）的请求如何处理：列出，或报错。",
    ),
    "ValidationConfig.on_failure": Words(
        "error: no dataset; warn: best plan, status FAIL; accept_with_warning: best plan, PASS_WITH_WARNING.",
        "error：不生成数据集；warn：按最佳方案生成，状态 FAIL；accept_with_warning：生成并告警通过。",
        rfc="3.3.17",
    ),
}
