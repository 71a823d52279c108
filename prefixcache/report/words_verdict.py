"""The words of verdicts, reasons and warnings: key → (English, Chinese)."""

from __future__ import annotations

VERDICT: dict[str, tuple[str, str]] = {
    # Verdict
    "verdict_column": ("Verdict", "结论"),
    "verdict.exact": ("Exact", "逐 Token 一致"),
    "verdict.within_range": ("Within range", "在建议范围内"),
    "verdict.misfit": ("Plan does not fit the server", "计划与服务端不符"),
    "verdict.deviates": ("Deviates", "偏差超限"),
    "verdict.polluted": ("Cache not empty", "存在缓存残留"),
    "verdict.incomplete": ("Incomplete", "结果不完整"),
    "say.exact": (
        "Measured equals designed token for token: {hits} of {tokens} tokens hit the cache.",
        "实测命中与理论命中逐 Token 一致：{tokens} 个 Token 中命中 {hits} 个。",
    ),
    "say.exact_all": (
        "Measured equals designed token for token in every pass: {passes}.",
        "各轮次的实测命中与理论命中均逐 Token 一致：{passes}。",
    ),
    "say.exact_pass": ("{name} {hits} of {tokens} tokens", "{name} {tokens} 个 Token 中命中 {hits} 个"),
    "say.in_pass": ("Pass {name}: ", "{name}轮次："),
    "say.pass_items": ("pass {name} ({items})", "{name}（{items}）"),
    "say.above": (
        "Measured is {size} pp above designed ({hits} hit tokens measured, {expected} designed).",
        "实测命中率比理论值高 {size} 个百分点（实测命中 {hits} Token，理论 {expected} Token）。",
    ),
    "say.below": (
        "Measured is {size} pp below designed ({hits} hit tokens measured, {expected} designed).",
        "实测命中率比理论值低 {size} 个百分点（实测命中 {hits} Token，理论 {expected} Token）。",
    ),
    "say.equal_total": (
        "Measured and designed are equal in total, but {count} of {compared} requests hit other than planned.",
        "实测与理论命中总量相等，但 {compared} 条请求中有 {count} 条的命中与计划不同。",
    ),
    "say.equal_rate": (
        "Measured and designed ratios are equal; the counters do not allow a comparison token for token.",
        "实测命中率与理论命中率相等；服务端计数器无法逐 Token 比对。",
    ),
    "say.in_range": (
        "RFC 3.3.21 suggests at most {limit} pp for {row}.",
        "RFC 3.3.21 对“{row}”的建议范围上限为 {limit} 个百分点。",
    ),
    "say.near_range": (
        "RFC 3.3.21 has no row for this kind of run; its nearest, {row}, suggests at most {limit} pp.",
        "RFC 3.3.21 未列出此类场景；最接近的“{row}”建议上限为 {limit} 个百分点。",
    ),
    "say.larger_runtime": (
        "The runtime deviation is the larger one (construction: {construction}): look at the server and at how "
        "the run went, not at the dataset.",
        "运行实现偏差较大（数据构造偏差 {construction}）：应检查推理服务与运行过程，而非数据集。",
    ),
    "say.larger_construction": (
        "The construction deviation is the larger one: designed is {construction} off the target of {target}, "
        "whatever the server does (runtime: {runtime}). Change the dataset's configuration.",
        "数据构造偏差较大：理论命中率与目标 {target} 相差 {construction}，与推理服务无关（运行实现偏差 "
        "{runtime}）。应调整数据集配置。",
    ),
    "say.misfit": ("The plan does not fit this server: {items}.", "数据集计划与该服务端不符：{items}。"),
    "say.coarser_unit": (
        "Each request hit exactly what matching in units of {unit} tokens would give: measure the server's hit unit "
        "with `prefixcache probe`.",
        "每条请求的命中恰为按 {unit} Token 粒度匹配的结果：建议用 `prefixcache probe` 实测服务端的命中粒度。",
    ),
    "say.evidence": ("Seen in this run: {items}.", "本次运行中观察到：{items}。"),
    "say.incomplete": (
        "The figures of this run are incomplete: {items}. They are shown as far as they go; do not compare them with "
        "other runs.",
        "本次运行结果不完整：{items}。以下仅展示已获得的数据，不应与其他运行对比。",
    ),
    "say.polluted": (
        "The cache was not empty when the cold pass began: {items}. The measured hits include some that the dataset "
        "did not plan. Reset the cache and run again.",
        "冷缓存轮次开始时缓存并非为空：{items}。实测命中包含计划外的历史缓存残留，请重置缓存后重新运行。",
    ),
    "say.first_hit": (
        "the first request of cache domain {domain} ({request}) hit {tokens} tokens",
        "缓存域 {domain} 的首条请求（{request}）命中了 {tokens} 个 Token",
    ),
    "say.residue": (
        "the run found {hits} hit tokens where the plan allows {expected}",
        "运行中发现残留（实测命中 {hits} Token，计划 {expected} Token）",
    ),
    "say.witness": (
        "The answers' usage tells of {cached} cached tokens in {known} requests, for which {expected} are designed.",
        "响应 usage 显示 {known} 条请求共命中 {cached} Token，这些请求的理论命中为 {expected} Token。",
    ),
    "say.over_one": (
        "The measured ratio is above 100 %: the server counted more hits than queries. It is shown as it is.",
        "实测命中率超过 100 %：服务端统计的命中多于查询，此处按原值展示。",
    ),
    "say.dataset_warning": (
        "The dataset itself is {construction} pp off its target ({status}).",
        "数据集本身与目标相差 {construction} 个百分点（{status}）。",
    ),
    # RFC 3.3.21's rows
    "range.fixed_single_prefix": ("fixed length, one prefix, one instance", "固定长度、单 Prefix、单实例"),
    "range.fixed_multi_prefix": ("fixed length, several prefixes", "固定长度、多 Prefix"),
    "range.variable_short_to_long_cold": ("variable length, short to long, 0-warmup", "变长、短到长、0 Warmup"),
    "range.multi_prefix_multi_instance": (
        "several prefixes on several instances or DP ranks",
        "多 Prefix、多实例或多 DP",
    ),
    # Why a pass is incomplete
    "incomplete.run_not_complete": ("the run broke off before its end", "运行中途终止"),
    "incomplete.requests_failed": ("{failed} of {planned} requests failed", "{planned} 条请求中 {failed} 条失败"),
    "incomplete.requests_not_sent": (
        "{not_sent} of {planned} requests were never sent",
        "{planned} 条请求中 {not_sent} 条未发送",
    ),
    "incomplete.warmup_failed": (
        "{warmup_failed} of {warmup} warmup prompts failed",
        "{warmup} 条 Warmup 请求中 {warmup_failed} 条失败",
    ),
    "incomplete.counters_partial": (
        "the counters of an endpoint are missing from the sum",
        "部分端点的计数器未计入汇总",
    ),
    "incomplete.counters_missing": ("the server's counters give no hit ratio", "服务端计数器无法给出命中率"),
    "incomplete.counters_fewer": (
        "the counters saw {queries} of {sent} prompt tokens sent",
        "计数器仅覆盖已发送 {sent} 个 Prompt Token 中的 {queries} 个",
    ),
    "incomplete.counters_more": (
        "the counters saw {queries} prompt tokens where {sent} were sent: others used the server, or lookups were "
        "repeated",
        "计数器统计了 {queries} 个 Prompt Token，而已发送 {sent} 个：存在其他流量或重复查询",
    ),
    # Why a figure is null
    "missing.no_target": ("the dataset has no target", "数据集未设目标命中率"),
    "missing.target_of_other_pass": ("the target is the other pass's", "目标属于另一轮次"),
    "missing.part_of_the_dataset_sent": (
        "only a part of the dataset was sent, the target is the whole's",
        "仅发送了数据集的一部分，而目标属于整个数据集",
    ),
    "missing.pass_not_measured": ("this pass was not measured to its end", "该轮次未完成测量"),
    "missing.counters_absent": ("the server does not publish these counters", "服务端未提供该计数器"),
    "missing.counters_unread_before": (
        "the metrics page could not be read when the pass began",
        "轮次开始时无法读取 Metrics 页面",
    ),
    "missing.counters_unread_after": (
        "the metrics page could not be read when the pass had ended",
        "轮次结束时无法读取 Metrics 页面",
    ),
    "missing.counters_reset": ("the counters began anew during the pass", "测量期间计数器被重置"),
    "missing.counters_in_blocks": (
        "the server counts blocks, not tokens; the ratio holds, the token figures do not exist",
        "服务端按 Block 计数，命中率有效，但无 Token 数",
    ),
    "missing.no_queries": ("the counters show no query at all", "计数器显示无任何查询"),
    "missing.usage_without_cached_tokens": (
        "the answers' usage does not tell cached tokens for every request",
        "响应 usage 未给出全部请求的 cached_tokens",
    ),
    "missing.requests_without_answer": ("some requests have no answer", "部分请求没有响应"),
    "missing.no_records": ("there is no record of this pass", "没有该轮次的记录"),
    "figure.target_hit_ratio": ("Target", "目标命中率"),
    "figure.construction_deviation": ("Construction deviation", "数据构造偏差"),
    "figure.actual_hit_rate": ("Measured hit ratio", "实测命中率"),
    "figure.runtime_deviation": ("Runtime deviation", "运行实现偏差"),
    "figure.measured_hit_tokens": ("Measured hit tokens", "实测命中 Token"),
    "figure.measured_query_tokens": ("Measured query tokens", "实测查询 Token"),
    "figure.client_cached_tokens": ("Cached tokens by usage", "usage 命中 Token"),
    "figure.performance": ("Performance", "性能指标"),
    # What can move hits (RFC 3.3.22)
    "evidence.prefix_caching_off": ("its prefix caching is off", "服务端未启用 Prefix Cache"),
    "evidence.block_size": ("its block size is another one than planned", "服务端 Block Size 与计划不同"),
    "evidence.kv_capacity": ("its KV cache is smaller than the plan needs", "KV Cache 容量不足"),
    "evidence.evictions": ("cached blocks were evicted", "发生缓存淘汰"),
    "evidence.preemptions": ("requests were preempted", "发生请求抢占"),
    "evidence.routes": ("requests went to other instances or DP ranks than planned", "请求进入了计划外的实例或 DP"),
    "evidence.ranks": ("it has more caches (DP ranks or instances) than planned", "服务端缓存（DP 或实例）数多于计划"),
    "evidence.order": (
        "requests of one prefix group were sent in another order than planned",
        "同一 Prefix Group 内请求的发送顺序与计划不同",
    ),
    "evidence.gate_broken": (
        "requests were sent with nothing before them to hit",
        "部分请求发送时前序缓存尚未建立",
    ),
    "evidence.hit_alignment": ("it matches in a larger unit than planned", "服务端命中粒度大于计划"),
    "evidence.prompt_tokens": (
        "the server counted other prompt tokens than planned",
        "服务端统计的 Prompt Token 与计划不同",
    ),
    "evidence.external_cache": ("an external KV cache served hits too", "外置 KV Cache 也提供了命中"),
    "evidence.not_idle": ("the server was not idle around the pass", "测量前后服务端不空闲"),
    # Warnings of the report
    "warn.ratio_over_one": (
        "the measured hit ratio is {ratio}: more hits ({hits}) than queries ({queries}) were counted",
        "实测命中率为 {ratio}：统计的命中（{hits}）多于查询（{queries}）",
    ),
    "warn.requests_differ": (
        "{count} of {compared} requests were served other cached tokens than planned",
        "{compared} 条请求中 {count} 条的命中 Token 与计划不同",
    ),
    "warn.route_mismatch": (
        "{count} of {known} requests went elsewhere than planned",
        "{known} 条请求中 {count} 条的路由与计划不同",
    ),
    "warn.requests_retried": (
        "{count} requests were sent again after a failure; {warm} of them were answered then and may have hit "
        "what their own first attempt left in the cache. The server's counters hold all attempts; latencies are also "
        "given without these requests",
        "{count} 条请求失败后被重试；其中 {warm} 条随后成功，可能命中其首次尝试留下的缓存。"
        "服务端计数器包含所有尝试；另给出不含这些请求的时延",
    ),
    "warn.dataset_status": (
        "the dataset's own check ended with {status}: {reason}",
        "数据集校验结果为 {status}：{reason}",
    ),
    "warn.run_not_complete": ("the run broke off: {reason}", "运行中途终止：{reason}"),
    "warn.manifest_differs": (
        "the manifest claims {claimed} hit tokens, request_metadata.jsonl sums to {summed}",
        "Manifest 记录的命中 Token 为 {claimed}，request_metadata.jsonl 合计为 {summed}",
    ),
    # Names of the warnings a run writes
    "code.metrics": ("Metrics page", "指标页"),
    "code.tokenizer_embedded": ("Embedded tokenizer", "数据集使用内置 Tokenizer"),
    "code.tokenizer_differs": ("Other tokenizer", "Tokenizer 与计划不同"),
    "code.kv_events_not_available": ("No KV events", "未收到 KV 事件"),
    "code.kv_events_partial": ("KV events incomplete", "KV 事件不完整"),
    "code.endpoints": ("Endpoints", "端点"),
    "code.reset_unconfirmed": ("Reset not confirmed", "缓存重置未确认"),
    "code.cache_not_reset": ("Cache not reset", "缓存未重置"),
    "code.warmup_failed": ("Warmup failed", "Warmup 失败"),
    "code.polling_stopped": ("Polling stopped", "指标轮询中止"),
    "code.residue": ("Residue", "历史缓存残留"),
    "code.requests_failed": ("Requests failed", "请求失败"),
    "code.gate_broken": ("Gate broken", "门控被打破"),
    "code.retried": ("Sent more than once", "重试请求"),
    "code.sender_stalled": ("Client stood still", "客户端停顿"),
    "code.engine_warmup_failed": ("Engine warm-up failed", "引擎预热失败"),
    "code.load_lag": ("Sent late", "客户端发送滞后"),
    "code.load_gated": ("Load held back by gates", "负载受门控延迟"),
    "code.load_slots": ("Load held back by max in flight", "负载受在途上限延迟"),
    "code.prompt_tokens": ("Prompt tokens", "Prompt Token 数不一致"),
    "code.counters": ("Counters", "计数器"),
    "code.counters_incomplete": ("Counters incomplete", "计数器不完整"),
    "code.counters_absent": ("Counters absent", "计数器缺失"),
    "code.usage_absent": ("No usage", "无 Usage"),
    "code.usage_malformed": ("Malformed usage", "Usage 格式错误"),
    "code.cached_above_prompt": ("More cached tokens than prompt", "缓存 Token 多于 Prompt"),
    "code.output_tokens": ("Answers of another length", "输出长度不符"),
    "code.sampling_changed": ("Sampling changed", "采样参数被改写"),
    "code.counters_reset": ("Counters reset", "计数器被重置"),
    "code.server_restarted": ("Server restarted", "服务端重启"),
    "code.metrics_missing": ("Metrics of an instance missing", "实例指标缺失"),
    "code.isolated_by_salt": ("Isolated by salt", "以 Salt 隔离"),
    "code.not_isolated": ("Not isolated", "未隔离"),
    "code.emptiness_unknown": ("Emptiness unknown", "缓存是否为空未知"),
    "code.sent_as_ids": ("Sent as token ids", "以 Token ID 发送"),
    "code.route": ("Route", "路由"),
    "code.not_idle": ("Server not idle", "服务端不空闲"),
    "code.hit_alignment": ("Hit alignment", "命中粒度"),
    "code.hit_unit_measured": ("Hit unit as measured", "命中粒度以实测为准"),
    "code.fewer_ranks": ("Fewer ranks than planned", "DP 数少于计划"),
    "code.hit_drop_differs": ("Other hit drop", "命中丢弃与计划不同"),
    "code.hit_unit_differs": ("Other hit unit", "命中粒度与计划不同"),
    "code.block_size": ("Block size does not fit", "Block Size 不符"),
    "code.context_length": ("Longer than the server takes", "超过服务端最大长度"),
    "code.other_framework": ("Page of another framework", "页面属于其他框架"),
    "code.counters_missing": ("Counters missing", "缺少计数器"),
    "code.cache_used": ("Cache used before", "缓存曾被使用"),
    "code.block_size_unknown": ("Block size unknown", "Block Size 未知"),
    "code.prefix_caching_off": ("Prefix caching off", "Prefix Cache 未启用"),
    "code.capacity_differs": ("Another capacity than planned for", "容量与规划时不同"),
    "code.capacity_in_flight": ("Planned for one request at a time", "按逐条发送规划"),
    "code.kv_capacity": ("KV capacity", "KV Cache 容量"),
    "code.block_size_differs": ("Other block size", "Block Size 与计划不同"),
    "code.metrics_fewer": ("Fewer metrics pages than endpoints", "指标页少于端点"),
    "code.probe_report_of_another": ("Probe report of another server", "探测报告属于其他服务"),
    "code.counters_cover": ("Counters saw other tokens", "计数器覆盖不符"),
    "code.idle_ranks": ("Idle ranks", "空闲 DP"),
    "code.more_ranks": ("More ranks than planned", "DP 数多于计划"),
    "code.ratio_over_one": ("Ratio above 100 %", "命中率超过 100 %"),
    "code.requests_retried": ("Requests were retried", "存在重试请求"),
    "code.requests_differ": ("Requests differ", "请求命中不同"),
    "code.route_mismatch": ("Routes differ", "路由不同"),
    "code.dataset_status": ("Dataset check", "数据集校验"),
    "code.run_not_complete": ("Run not complete", "运行未完成"),
    "code.manifest_differs": ("Manifest differs", "Manifest 不一致"),
}
