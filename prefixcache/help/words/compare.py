"""What `compare` and `search` print and draw: key → (English, Chinese)."""

from __future__ import annotations

COMPARE: dict[str, tuple[str, str]] = {
    "compare.title": ("Paired comparison of runs", "运行结果配对对比"),
    "compare.head": (
        "{candidate} against {baseline}: {pairs} pairs of requests, by {by}",
        "{candidate} 对比 {baseline}：{pairs} 对请求，按 {by} 配对",
    ),
    "compare.pairing": (
        "only in {baseline}: {only_in_baseline}, only in {candidate}: {only_in_candidate}; not answered: "
        "{not_answered_in_baseline} and {not_answered_in_candidate} of {planned_in_both} planned in both",
        "仅在 {baseline} 中：{only_in_baseline}，仅在 {candidate} 中：{only_in_candidate}；双方均计划的 "
        "{planned_in_both} 条中未成功：{not_answered_in_baseline} 与 {not_answered_in_candidate}",
    ),
    "compare.note": (
        "Speed-up: baseline / candidate for latencies, candidate / baseline for throughput; above 1 the candidate is "
        "faster. Intervals: {share} bootstrap, {resamples} resamples, seed {seed}: over pairs of requests, BCa for "
        "means, percentile intervals for percentiles; of throughput over blocks of successive completions. They tell "
        "how much the choice of requests matters, not how much a repetition of the runs would differ.",
        "加速比：时延为 基线 / 对比，吞吐为 对比 / 基线；大于 1 表示对比方更快。置信区间：{share} Bootstrap，重采样 "
        "{resamples} 次，种子 {seed}：按请求对重采样，均值用 BCa，分位数用百分位法；吞吐按连续完成的区块重采样。"
        "区间反映请求抽样的影响，不反映重复运行之间的差异。",
    ),
    "compare.axis": ("speed-up (above 1: candidate is faster)", "加速比（大于 1：对比方更快）"),
    "compare.hits": ("Hit ratios", "命中率"),
    "compare.differs": ("What differs besides", "其他不同之处"),
    "compare.nothing": ("Nothing else that the runs state differs.", "两次运行记录的其他信息均相同。"),
    "metric.ttft_s": ("TTFT, ms", "TTFT（毫秒）"),
    "metric.tpot_s": ("TPOT, ms", "TPOT（毫秒）"),
    "metric.e2e_s": ("E2E latency, ms", "端到端时延（毫秒）"),
    "metric.mean": ("mean", "平均"),
    "metric.request_throughput": ("requests/s", "请求吞吐（条/秒）"),
    "metric.output_token_throughput": ("output tokens/s", "输出 Token 吞吐（每秒）"),
    "metric.designed": ("designed", "数据集理论命中率"),
    "metric.measured": ("measured", "实测命中率"),
    "metric.usage": ("by the answers' usage", "响应 usage 命中率"),
    "column.metric": ("metric", "指标"),
    "column.pairs": ("pairs", "请求对"),
    "column.baseline": ("baseline", "基线"),
    "column.candidate": ("candidate", "对比"),
    "column.speedup": ("speed-up", "加速比"),
    "column.interval": ("{share} interval", "{share} 置信区间"),
    "column.difference_pp": ("difference, pp", "差值（百分点）"),
    "column.field": ("field", "字段"),
    "compare_warning.no_pairs": (
        "no request was answered in both: nothing can be compared",
        "没有在两侧都成功的请求，无法对比",
    ),
    "compare_warning.unpaired": ("{count} requests have no partner and are left out", "{count} 条请求没有配对，未计入"),
    "compare_warning.not_answered": (
        "{count} answers are missing or failed; their pairs are left out",
        "{count} 条请求未成功，其配对未计入",
    ),
    "compare_warning.retried": (
        "{count} pairs have a retried request, which may have hit what its first attempt left in the cache",
        "{count} 对含重试的请求，可能命中其首次尝试留下的缓存",
    ),
    "compare_warning.other_input_len": (
        "{count} pairs differ in input length: their latencies do not compare like with like",
        "{count} 对请求的输入长度不同，时延不可直接比较",
    ),
    "compare_warning.other_output_len": (
        "{count} pairs differ in output tokens: E2E latencies do not compare like with like",
        "{count} 对请求的输出 Token 数不同，端到端时延不可直接比较",
    ),
    "compare_warning.few_pairs": (
        "only {count} pairs: bootstrap intervals of so few are often too narrow",
        "仅有 {count} 对请求，Bootstrap 区间往往偏窄",
    ),
    "compare_warning.run_failed": (
        "{runs}: status failed (requests failed, or the run broke off): its figures are of what was answered only",
        "{runs}：状态为 failed（有请求失败或运行中断），其数值仅基于已成功的请求",
    ),
    "compare_warning.run_partial": (
        "{runs}: status partial (the run broke off, or counters are missing)",
        "{runs}：状态为 partial（运行中断或缺少计数器）",
    ),
    # search
    "search.title": ("Highest load that meets the SLO", "满足 SLO 的最高负载"),
    "search.head": (
        "{dataset}, pass {pass_name}: SLO {slo} held by at least {share} of the requests, over {over} from {low} to "
        "{high} in steps of {step}",
        "{dataset}，{pass_name} 轮次：至少 {share} 的请求满足 SLO {slo}，{over} 从 {low} 到 {high}，步长 {step}",
    ),
    "limit.found": (
        "highest {over} that meets it: {best} ({share} of the requests)",
        "满足要求的最高{over}：{best}（达标率 {share}）",
    ),
    "limit.above_high": (
        "even {best} meets it ({share} of the requests): the limit lies above --high",
        "上限 {best} 仍满足要求（达标率 {share}）：极限高于 --high",
    ),
    "limit.below_low": ("even {low} misses it: the limit lies below --low", "下限 {low} 已不满足要求：极限低于 --low"),
    "search.head_of_loads": (
        "{dataset}, pass {pass_name}: SLO {slo} held by at least {share} of the requests, over {over} at {loads}",
        "{dataset}，{pass_name} 轮次：至少 {share} 的请求满足 SLO {slo}，{over}取 {loads}",
    ),
    "limit.of_loads_found": (
        "highest {over} of these that meets it: {best} ({share} of the requests)",
        "所测负载中满足要求的最高{over}：{best}（达标率 {share}）",
    ),
    "limit.of_loads_above_high": (
        "even {best}, the highest of these, meets it ({share} of the requests)",
        "所测最高负载 {best} 仍满足要求（达标率 {share}）",
    ),
    "limit.of_loads_below_low": ("even {low}, the lowest of these, misses it", "所测最低负载 {low} 已不满足要求"),
    "search.from_before": (
        "{count} of {points} points were finished before and not run again",
        "{points} 个负载点中有 {count} 个沿用已有结果，未重新运行",
    ),
    "search.page": ("curve: {path}", "曲线：{path}"),
    "search.goal": ("wanted", "要求"),
    "search.all": ("all thresholds", "全部阈值"),
    "search.attainment_axis": ("requests that hold, %", "达标率，%"),
    "search.goodput_axis": ("goodput, requests/s", "Goodput，条/秒"),
    "over.concurrency": ("concurrency", "并发数"),
    "over.rate": ("rate, requests/s", "请求速率（条/秒）"),
    "column.attainment": ("attainment", "达标率"),
    "column.goodput": ("goodput/s", "Goodput（条/秒）"),
    "column.throughput": ("answered/s", "请求吞吐（条/秒）"),
    "column.failed": ("failed", "失败"),
    "column.hit_ratio": ("measured hits", "实测命中率"),
    "column.meets": ("meets", "满足"),
    "search.yes": ("yes", "是"),
    "search.no": ("no", "否"),
    "search_warning.not_monotone": (
        "the curve is not monotone: {count} loads meet the SLO above one that misses it; more requests per point make "
        "it steadier",
        "曲线不单调：有 {count} 个负载点高于某个未达标点却达标；增加每点的请求数可使结果更稳定",
    ),
    "search_warning.gated": (
        "{count} points: gates permit a lower mean concurrency than the load asks for (gating none sends at once)",
        "{count} 个负载点：门控允许的平均并发低于所要求的负载（gating none 则立即发送）",
    ),
    "search_warning.few_requests": (
        "{count} points have fewer than 10 requests per slot: rise and end of the load weigh in",
        "{count} 个负载点平均每个并发名额不足 10 条请求：爬升与收尾阶段影响结果",
    ),
    "search_warning.residue": (
        "{count} points found the cache not empty: their hits are not those planned",
        "{count} 个负载点存在缓存残留，命中与计划不符",
    ),
}
