"""Fields of the load generator and of what is made of its records: latencies, retries, goodput (docs/measuring.md)."""

from __future__ import annotations

from prefixcache.help.words import Words

MEASURING: dict[str, Words] = {
    # request_results.jsonl
    "scheduled_s": Words(
        "The moment that the load shape gives the request; null in a closed loop.",
        "开环负载下计划的发送时刻；闭环为 null。",
        rfc="3.1.5",
        unit="seconds",
    ),
    "first_text_s": Words(
        "Arrival of the first token whose text is not empty.", "收到首个非空文本的时刻。", unit="seconds"
    ),
    "chunks": Words("Events that brought tokens.", "携带 Token 的事件数。", unit="count"),
    "itl_max_s": Words(
        "The longest time between two successive events with tokens of a request.",
        "同一请求相邻两个含 Token 事件的最大间隔（最大 ITL）。",
        rfc="3.3.20",
        unit="seconds",
    ),
    "attempts": Words("How often the request was sent; 0: never.", "发送次数；0 表示从未发送。", unit="count"),
    "retried": Words(
        "Why each attempt but the last failed; such a request may hit what its own attempt before left in the cache.",
        "除最后一次外各次尝试的失败原因；重试的请求可能命中其前次尝试留下的缓存。",
        rfc="3.4.4",
    ),
    "failure": Words("What exactly failed; null if nothing did.", "失败的具体类型；无失败为 null。", rfc="3.4.4"),
    "connection": Words("Whether the connection was new or reused.", "连接为新建（new）或复用（reused）。"),
    "output_by": Words(
        "Who counted completion_tokens: usage, or the tokenizer where the usage says nothing.",
        "completion_tokens 的来源：usage，或在 usage 缺失时由 Tokenizer 重新计数。",
    ),
    # performance_metrics.json
    "ttfb_s": Words(
        "Time to the first byte of the answer.", "首字节时延。", formula="first_byte_s - sent_s", unit="seconds"
    ),
    "time_to_text_s": Words(
        "Time to the first token with visible text.",
        "首个可见文本时延。",
        formula="first_text_s - sent_s",
        unit="seconds",
    ),
    "itl_s": Words(
        "Inter-token latency: all times between successive events with tokens, over all requests.",
        "Token 间隔时延（ITL）：全部请求中相邻含 Token 事件的间隔。",
        rfc="3.3.20",
        unit="seconds",
    ),
    "slot_wait_s": Words(
        "In an open loop, how long after its scheduled moment a request got one of the slots in flight.",
        "开环负载下，超过计划时刻后等待并发名额的时间。",
        formula="max(0, ready_s - scheduled_s)",
        unit="seconds",
    ),
    "failures_by_kind": Words("Failed requests by what failed.", "按具体类型统计的失败请求数。", rfc="3.4.4"),
    "retries": Words(
        "Requests sent more than once, all attempts, why, and how many may have been warm.",
        "重试的请求数、总发送次数、原因，以及可能命中自身缓存的请求数。",
        rfc="3.4.4",
    ),
    "without_retried": Words(
        "The latencies over requests answered at the first attempt; null: all were.",
        "仅统计首次尝试即成功的请求的时延；全部如此时为 null。",
        rfc="3.4.4",
    ),
    # Goodput
    "slo": Words(
        "Thresholds of a request's latencies, in seconds; null: none were given.",
        "单个请求的时延阈值（SLO），单位秒；null 表示未指定。",
        unit="seconds",
        flag="--slo",
    ),
    "goodput": Words(
        "Requests per second that were answered within all thresholds; null without an SLO.",
        "每秒成功且满足全部阈值的请求数；未指定 SLO 时为 null。",
        formula="good_requests / duration_s",
        unit="per_second",
    ),
}
