"""Fields of the run's files: request results, performance, counters, run.json, and the report."""

from __future__ import annotations

from prefixcache.help.words import Words
from prefixcache.help.words.measuring import MEASURING

RUN: dict[str, Words] = {
    # Report
    "actual_hit_rate": Words(
        "Measured hit ratio: the server's counters over the pass, summed over endpoints before dividing.",
        "实测命中率（RFC 称“服务端实际命中率”）：轮次前后计数器差值，各端点先求和再相除。",
        rfc="3.3.18-3.3.19",
        formula="delta hits / delta queries",
        unit="ratio",
    ),
    "measured_hit_tokens": Words(
        "Tokens that the server's counters say were hit; null where they count blocks or nothing.",
        "服务端计数器显示的命中 Token 数；按 Block 计数或无计数器时为 null。",
        rfc="3.3.18",
        formula="hits after - hits before",
        unit="tokens",
    ),
    "measured_query_tokens": Words(
        "Tokens that the server's counters say were asked for.",
        "服务端计数器显示的查询 Token 数。",
        rfc="3.3.18",
        formula="queries after - queries before",
        unit="tokens",
    ),
    "construction_deviation": Words(
        "How well the dataset was built.",
        "数据构造偏差：评价数据集生成准确性。",
        rfc="3.3.21",
        formula="designed - target",
        unit="deviation",
    ),
    "runtime_deviation": Words(
        "How well the server did what the model says.",
        "运行实现偏差：评价服务端运行与理论模型的一致性。",
        rfc="3.3.21",
        formula="measured - designed",
        unit="deviation",
    ),
    "run_status": Words(
        "complete, partial (broken off) or failed (requests failed).",
        "运行状态：complete、partial（中断）或 failed（有请求失败）。",
        rfc="3.4.4",
    ),
    "verdict": Words(
        "exact, within_range, misfit, deviates, polluted or incomplete, with the sentence in both languages.",
        "结论：逐 Token 一致、在建议范围内、偏差超限、存在缓存残留或结果不完整，含中英文说明。",
        rfc="3.3.21",
    ),
    "target_pass": Words("The pass whose ratio the target constrains.", "目标约束的轮次。", rfc="3.3.17"),
    "warnings": Words(
        "Everything odd, each with a code that explain knows.", "全部告警；其 code 可用 explain 查询。", rfc="3.4.3"
    ),
    "dataset": Words(
        "What was run: ids, digests, tokenizer, order, routing.",
        "被测数据集：ID、摘要、Tokenizer、顺序与路由。",
        rfc="3.4.2",
    ),
    "server": Words(
        "Against what it was run: endpoints, versions, options.", "被测服务：端点、版本与运行参数。", rfc="3.4.2"
    ),
    "endpoints": Words("One entry per endpoint and engine label.", "各端点与引擎（DP）的指标。", rfc="3.3.19"),
    "performance": Words("Latencies, rates and success per pass.", "各轮次性能指标。", rfc="3.3.20"),
    "residue": Words(
        "Whether the cache held something before a cold pass, and the evidence; null: nothing tells.",
        "冷轮次开始前是否存在历史缓存残留及依据；null 表示无从判断。",
        rfc="3.3.22",
    ),
    "first_request_hit": Words(
        "Whether the first request of a cold cache hit anything: it must not.",
        "冷缓存首条请求是否命中（应为否）。",
        rfc="4.6",
    ),
    "conduct": Words("How the run went: order, gates, routes.", "运行过程：顺序、门控与路由。", rfc="3.3.22"),
    "load": Words(
        "How the pass was loaded beside how it was asked to be: rates, delays, requests in flight.",
        "该轮次产生的负载与要求的负载：速率、延迟与在途请求。",
        rfc="3.1.5",
    ),
    "sending": Words(
        "How many requests of how many were sent, and which bound of the load kept the others back.",
        "共有多少请求、已发送多少，其余因何种界限未发送。",
        rfc="3.4.4",
    ),
    "order": Words(
        "The order sent beside the planned one, from the moments of sending.",
        "由发送时刻得到的发送顺序与计划顺序的对照。",
        rfc="3.3.9",
    ),
    # Results
    "pass": Words("Measured pass: cold, hot or replay.", "测量轮次：cold、hot 或 replay。", rfc="3.3.20"),
    "phase": Words("warmup or measured.", "warmup（预热）或 measured（正式测量）。", rfc="3.3.3"),
    "endpoint": Words("Base URL without credentials.", "服务地址（不含认证信息）。", rfc="3.4.1"),
    "actual_route": Words(
        "Endpoint or DP rank that served the request; null: unknown.",
        "实测路由（端点或 DP）；null 表示未知。",
        rfc="2.7",
        unit="index",
    ),
    "ready_s": Words(
        "A slot was free and the request was next; since the pass began, on one monotonic clock.",
        "轮到该请求且有空闲并发的时刻；自轮次开始，单调时钟。",
        unit="seconds",
    ),
    "gate_wait_s": Words(
        "How long the request waited at its gate for the cache it needs.",
        "在门控处等待所需缓存建立的时间。",
        rfc="4.3",
        unit="seconds",
    ),
    "lag_s": Words(
        "How much later than it could the request was sent, waiting at the gate left out.",
        "发送滞后（不含门控等待）。",
        formula="sent_s - max(scheduled_s, ready_s + gate_wait_s)",
        unit="seconds",
    ),
    "sent_s": Words("When the request was sent.", "发送时刻。", unit="seconds"),
    "first_byte_s": Words("Arrival of the answer's first bytes.", "收到首字节的时刻。", unit="seconds"),
    "first_token_s": Words("Arrival of the first token.", "收到首 Token 的时刻。", unit="seconds"),
    "last_token_s": Words("Arrival of the last token.", "收到最后一个 Token 的时刻。", unit="seconds"),
    "ttft_s": Words(
        "Time to first token.",
        "首 Token 时延（TTFT）。",
        rfc="3.3.20",
        formula="first_token_s - sent_s",
        unit="seconds",
    ),
    "tpot_s": Words(
        "Time per output token after the first; null below two tokens.",
        "每输出 Token 时延（TPOT），不含首 Token；不足两个 Token 时为 null。",
        rfc="3.3.20",
        formula="(last_token_s - first_token_s) / (completion_tokens - 1)",
        unit="seconds",
    ),
    "e2e_s": Words(
        "End-to-end latency.", "端到端时延。", rfc="3.3.20", formula="last_token_s - sent_s", unit="seconds"
    ),
    "gate_broken": Words(
        "Sent although nothing before it could have filled its prefix, since all of it had ended.",
        "前序请求均已结束仍无可覆盖其 Prefix 的缓存，因此直接发送。",
        rfc="4.3",
    ),
    "prompt_tokens": Words(
        "Prompt tokens as the answer's usage says; null: it did not say.",
        "响应 usage 给出的输入 Token 数；null 表示未给出。",
        rfc="3.3.22",
        unit="tokens",
    ),
    "completion_tokens": Words(
        "Generated tokens as the answer's usage says.", "响应 usage 给出的输出 Token 数。", unit="tokens"
    ),
    "cached_tokens": Words(
        'Cached tokens as the answer\'s usage says; null is "not said", never 0.',
        "响应 usage 给出的命中 Token 数；null 表示未给出，不等于 0。",
        rfc="3.3.18",
        unit="tokens",
    ),
    "hit_difference": Words(
        "Cached tokens by usage minus expected hits (column of export).",
        "usage 命中与理论命中之差（export 的列）。",
        formula="cached_tokens - expected_hit_len",
        unit="tokens",
    ),
    "http_status": Words("HTTP status of the answer.", "HTTP 状态码。"),
    "error": Words(
        "Why it failed, short, without secrets and without the prompt.", "失败原因（不含密钥与 Prompt）。", rfc="3.4.1"
    ),
    # Performance
    "requests": Words("Requests planned.", "计划请求数。", unit="requests"),
    "ok": Words("Requests answered to the end.", "成功请求数。", unit="requests"),
    "failed": Words(
        "Requests that failed; they are counted, not dropped.",
        "失败请求数；计入统计，不丢弃。",
        rfc="3.4.4",
        unit="requests",
    ),
    "success_rate": Words(
        "Answered requests over all, failed ones included.",
        "请求成功率（分母含失败请求）。",
        rfc="3.3.20",
        formula="ok / requests",
        unit="ratio",
    ),
    "timeout_rate": Words(
        "Requests that timed out over all.", "超时率。", rfc="3.3.20", formula="timeout / requests", unit="ratio"
    ),
    "duration_s": Words(
        "From the first request's readiness to the last token.", "轮次持续时间。", rfc="3.3.20", unit="seconds"
    ),
    "request_throughput": Words(
        "Answered requests per second.", "请求吞吐。", rfc="3.3.20", formula="ok / duration_s", unit="per_second"
    ),
    "input_token_throughput": Words("Input tokens per second.", "输入 Token 吞吐。", rfc="3.3.20", unit="per_second"),
    "output_token_throughput": Words("Output tokens per second.", "输出 Token 吞吐。", rfc="3.3.20", unit="per_second"),
    "qps_sent": Words("Requests sent per second, answered or not.", "发送 QPS。", rfc="3.3.20", unit="per_second"),
    "kv_usage": Words(
        "Share of the KV cache in use, polled during the pass.",
        "轮次中采样的 KV Cache 使用率。",
        rfc="3.3.18",
        unit="ratio",
    ),
    "preemptions": Words("Requests that the server preempted.", "服务端抢占次数。", rfc="3.3.22", unit="count"),
    "evicted": Words(
        "Tokens that the server evicted from its cache, where it counts them.",
        "服务端淘汰的缓存 Token 数（若有统计）。",
        rfc="3.3.18",
        unit="tokens",
    ),
    "chain": Words(
        "Longest chain of requests that wait for each other, and the mean concurrency it permits.",
        "最长依赖链及其允许的平均并发。",
        rfc="4.3",
    ),
    # Counters
    "queries": Words(
        "Counter of the server: tokens looked up in the prefix cache.",
        "计数器：Prefix Cache 查询 Token 数。",
        rfc="3.3.18",
        unit="tokens",
    ),
    "hits": Words(
        "Counter of the server: tokens found in the prefix cache.",
        "计数器：Prefix Cache 命中 Token 数。",
        rfc="3.3.18",
        unit="tokens",
    ),
    "external_hit_rate": Words(
        "An external tier's hits over its own queries; never added to the local rate.",
        "外置 KV Cache 命中率（分母为其自身查询）；不与本地命中率相加。",
        rfc="3.3.18",
        formula="delta external hits / delta external queries",
        unit="ratio",
    ),
    "total_hit_rate": Words(
        "Local and external hits over local queries.",
        "本地与外置命中之和占本地查询的比例。",
        rfc="3.3.18",
        formula="(delta hits + delta external hits) / delta queries",
        unit="ratio",
    ),
    "client_cached_tokens": Words(
        "Cached tokens by the answers' usage, where every answer tells.",
        "全部响应 usage 均给出时的命中 Token 合计。",
        unit="tokens",
    ),
    "client_hit_ratio": Words("client_cached_tokens over input tokens.", "usage 命中率。", unit="ratio"),
    "differing_requests": Words(
        "Requests whose cached tokens by usage are not the expected ones.",
        "usage 命中与理论命中不同的请求。",
        rfc="3.3.22",
    ),
    "prompt_token_check": Words(
        "Prompt tokens planned, by usage and by the server's counters, and what explains a difference.",
        "输入 Token 核对：计划、usage 与服务端计数及差异原因。",
        rfc="3.3.22",
    ),
    "route_confirmed": Words(
        "Whether the counters show that the domain's requests met its cache.",
        "计数器是否证实该缓存域的请求进入了其缓存。",
        rfc="2.7",
    ),
    # run.json
    "prefixcache_version": Words("Version that ran the dataset.", "执行测评的软件版本。", rfc="3.4.2"),
    "started_at": Words("When the run began.", "运行开始时间。", unit="time"),
    "finished_at": Words(
        "When the run ended; null while it runs or if it was killed.",
        "运行结束时间；运行中或被终止时为 null。",
        unit="time",
    ),
    "options": Words("How it was run; no secrets.", "运行参数（不含密钥）。", rfc="3.4.1"),
    "servers": Words(
        "What each server said of itself; null: it did not say.", "各服务自述信息；null 表示未提供。", rfc="3.2.3"
    ),
    "failed_requests": Words("Requests that failed.", "失败请求数。", rfc="3.4.4", unit="requests"),
    "kv_events": Words(
        "What was recorded of the server's KV events; null: not asked for.",
        "服务端 KV 事件的记录情况；null 表示未要求记录。",
        rfc="6.5",
    ),
    "preflight": Words(
        "Contradictions between dataset and service, each with its predicted effect on the hit rate, and all together.",
        "数据集与服务端的矛盾，各自及合计对命中率的预测影响。",
        rfc="4.2",
    ),
    "plan": Words(
        "What --dry-run prints: tokens, KV cache, chains, time.", "--dry-run 的内容：Token、KV Cache、依赖链与时间。"
    ),
} | MEASURING
