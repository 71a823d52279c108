"""Statuses, verdicts, exit codes, warning codes and checks: code and what it means."""

from __future__ import annotations

from prefixcache.help.words import Words

STATUSES: dict[str, Words] = {
    "PASS": Words(
        "The designed hit ratio is within pass_tolerance (1 pp) of the target.",
        "理论命中率与目标的偏差不超过 pass_tolerance（1 个百分点）。",
        rfc="3.3.17",
    ),
    "PASS_WITH_WARNING": Words(
        "Within warning_tolerance (2 pp), or a miss accepted with on_failure: accept_with_warning.",
        "偏差不超过 warning_tolerance（2 个百分点），或经 on_failure: accept_with_warning 接受。",
        rfc="3.3.17",
    ),
    "FAIL": Words(
        "More than warning_tolerance off, or the target cannot be reached, or the certificate does not hold.",
        "偏差超过 warning_tolerance，或目标不可达，或仿真证明不成立。",
        rfc="3.3.17",
    ),
    "granularity": Words(
        "Reason: the dataset is so small that half a hit unit exceeds the tolerance.",
        "原因：数据集过小，半个命中粒度已超出容差。",
        rfc="3.3.17",
        formula="u / 2 > pass_tolerance * sum(L)",
    ),
    "exact": Words(
        "Verdict: measured equals designed token for token.", "结论：实测与理论逐 Token 一致。", rfc="3.3.21"
    ),
    "within_range": Words(
        "Verdict: the runtime deviation is inside the range the RFC suggests for this kind of run.",
        "结论：运行实现偏差在 RFC 对该场景的建议范围内。",
        rfc="3.3.21",
    ),
    "misfit": Words(
        "Verdict: inside that range, but the server is another one than the dataset was planned for.",
        "结论：偏差在范围内，但服务端与数据集计划不符。",
        rfc="3.3.21",
    ),
    "deviates": Words(
        "Verdict: the runtime deviation is larger than that range.", "结论：运行实现偏差超出建议范围。", rfc="3.3.21"
    ),
    "polluted": Words(
        "Verdict: the cache was not empty when a cold pass began.", "结论：冷轮次开始时缓存并非为空。", rfc="4.6"
    ),
    "incomplete": Words(
        "Verdict: requests failed, or the counters did not see just what was sent.",
        "结论：有请求失败，或计数器与所发送的不符。",
        rfc="3.4.4",
    ),
    "complete": Words("Run status: every request was answered.", "运行状态：全部请求成功。", rfc="3.4.4"),
    "partial": Words(
        "Run status: the run was broken off, or still runs.", "运行状态：运行中断或仍在进行。", rfc="3.4.4"
    ),
    "intact": Words(
        "validate: every file is what the manifest says.", "validate：所有文件与 Manifest 一致。", rfc="3.4.2"
    ),
    "http_error": Words(
        "Request status: the server answered with an error.", "请求状态：服务端返回错误。", rfc="3.4.4"
    ),
    "connect_error": Words("Request status: no connection to the server.", "请求状态：无法连接服务端。", rfc="3.4.4"),
    "timeout": Words("Request status: a deadline passed.", "请求状态：超时。", rfc="3.4.4"),
    "stream_error": Words(
        "Request status: the answer broke off or was no valid stream.", "请求状态：响应流中断或无效。", rfc="3.4.4"
    ),
    "cancelled": Words(
        "Request status: the run was broken off before its answer.", "请求状态：运行中断，未等到响应。", rfc="3.4.4"
    ),
    "ok": Words("Request status: answered to the end.", "请求状态：成功。", rfc="3.4.4"),
}
EXIT_CODES: dict[str, Words] = {
    "0": Words("Good.", "成功。"),
    "1": Words(
        "The verdict is FAIL: an unreachable target, a damaged dataset, requests that failed.",
        "结论为 FAIL：目标不可达、数据集损坏或有请求失败。",
    ),
    "2": Words(
        "The input is wrong: configuration, flags, files, a server that does not fit.",
        "输入有误：配置、参数、文件，或服务端与数据集不匹配。",
    ),
    "3": Words(
        "The environment failed: server, network, disk, a source that cannot be reached.",
        "环境故障：服务、网络、磁盘或数据源不可用。",
    ),
    "130": Words(
        "Interrupted; the same generate command goes on where it stopped.",
        "被中断；再次执行相同的 generate 命令可续作。",
    ),
}
WARNINGS: dict[str, Words] = {
    "metrics": Words("The metrics page could not be read as expected.", "指标页未能按预期读取。", rfc="3.4.4"),
    "metrics_missing": Words(
        "An endpoint gave no metrics at one end of the interval; the sums leave it out.",
        "某端点在测量区间的一端没有指标，汇总未计入。",
        rfc="3.4.4",
    ),
    "endpoints": Words(
        "Something about the number or kind of endpoints does not fit the plan.",
        "端点数量或类型与计划不符。",
        rfc="2.7",
    ),
    "server_restarted": Words(
        "A server was restarted within the interval: counters and cache began anew.",
        "测量期间服务实例重启，计数器与缓存均重新开始。",
        rfc="3.4.4",
    ),
    "counters_reset": Words(
        "Counters fell within the interval; how much was hit is not known.",
        "测量期间计数器被重置，命中量未知。",
        rfc="3.4.4",
    ),
    "counters": Words("A note on the server's counters.", "关于服务端计数器的说明。", rfc="3.3.18"),
    "counters_incomplete": Words(
        "Not every endpoint's counters cover the interval.", "部分端点的计数器未覆盖测量区间。", rfc="3.4.4"
    ),
    "counters_absent": Words(
        "No metrics page has a figure of hits or queries; how much was hit is not known.",
        "指标页没有命中或查询的数值，命中量未知。",
        rfc="3.4.4",
    ),
    "usage_absent": Words(
        "Answers say nothing of their output tokens; output throughput is not known.",
        "部分响应未给出输出 Token 数，输出吞吐未知。",
        rfc="3.3.20",
    ),
    "usage_malformed": Words(
        "Answers state token counts that are none (text, fractions, negative numbers); they count as not said.",
        "部分响应的 Usage 不是有效的 Token 数（文本、小数、负数等），按未给出处理。",
        rfc="3.3.22",
    ),
    "cached_above_prompt": Words(
        "Answers state more cached tokens than their prompt has; shown as they are.",
        "部分响应的缓存 Token 多于 Prompt Token；按原值展示。",
        rfc="3.3.22",
    ),
    "output_tokens": Words(
        "Answers have another number of tokens than was asked for.",
        "部分响应的输出 Token 数与请求的不同。",
        rfc="3.3.20",
    ),
    "sampling_changed": Words(
        "The extra body changes how tokens are chosen or how many: answers are no longer exact.",
        "附加请求体改写了采样参数，输出不再固定。",
        rfc="3.3.20",
    ),
    "reset_unconfirmed": Words(
        "The server answered the cache reset without saying that it worked.", "服务端未确认缓存重置成功。", rfc="4.6"
    ),
    "cache_not_reset": Words(
        "The prefix cache could not be emptied before the pass.", "轮次开始前未能清空 Prefix Cache。", rfc="4.6"
    ),
    "not_isolated": Words("Nothing was done to empty the cache, as asked.", "按要求未对缓存做任何隔离。", rfc="4.6"),
    "isolated_by_salt": Words(
        "The cache could not be emptied; the pass carried a fresh salt instead.",
        "无法清空缓存，改用新的 Salt 隔离。",
        rfc="4.6",
    ),
    "emptiness_unknown": Words(
        "Nothing tells whether the cache was empty when the cold pass began.",
        "无法判断冷轮次开始时缓存是否为空。",
        rfc="4.6",
    ),
    "residue": Words(
        "The cache held something before the cold pass began.", "冷轮次开始前存在历史缓存残留。", rfc="3.3.22"
    ),
    "warmup_failed": Words(
        "Warmup prompts failed, so the cache was not as warm as planned.",
        "部分 Warmup 请求失败，缓存未达计划状态。",
        rfc="3.3.3",
    ),
    "polling_stopped": Words("Polling of gauges stopped during the pass.", "轮次中指标轮询中止。", rfc="3.3.18"),
    "requests_failed": Words(
        "Requests failed; the figures are of an incomplete pass.", "有请求失败，结果不完整。", rfc="3.4.4"
    ),
    "gate_broken": Words(
        "Requests were sent with nothing before them to hit.", "部分请求发送时前序缓存尚未建立。", rfc="4.3"
    ),
    "retried": Words(
        "Requests were sent more than once; each may have hit its own prefix.",
        "有请求被重试；重试的请求可能命中其自身前一次发送写入的缓存。",
        rfc="3.4.4",
    ),
    "sender_stalled": Words(
        "The event loop of a sender process stood still, so that moments within are late.",
        "发送进程的事件循环出现停顿，期间的时间戳相应偏晚。",
        rfc="3.4.4",
    ),
    "engine_warmup_failed": Words(
        "Prompts that were to warm the engine failed.",
        "用于引擎预热的请求失败。",
        rfc="3.4.4",
    ),
    "load_lag": Words(
        "The client itself sent requests later than it could, by more than the load bears.",
        "客户端自身发送滞后，且已影响负载。",
        rfc="3.4.4",
    ),
    "load_gated": Words(
        "Gates held requests of an open loop back beyond their moment.",
        "开环负载中，门控使请求晚于计划时刻发送。",
        rfc="4.3",
    ),
    "load_slots": Words(
        "Requests of an open loop waited for a place in flight (--max-in-flight).",
        "开环负载中，请求因在途上限（--max-in-flight）而等待。",
        rfc="3.1.5",
    ),
    "prompt_tokens": Words(
        "The server counted other prompt tokens than planned.", "服务端统计的输入 Token 与计划不同。", rfc="3.3.22"
    ),
    "route": Words(
        "A cache domain was asked for other tokens than planned.", "某缓存域的查询 Token 与计划不符。", rfc="2.7"
    ),
    "tokenizer_embedded": Words(
        "The dataset was built with the embedded tokenizer, which no real model uses.",
        "数据集由内置 Tokenizer 生成，真实模型均不使用它。",
        rfc="3.2.1",
    ),
    "tokenizer_differs": Words(
        "The server encodes a prompt of the dataset otherwise than its tokenizer did.",
        "服务端对数据集 Prompt 的 Encode 结果与数据集的 Tokenizer 不同。",
        rfc="3.2.1",
    ),
    "kv_events_not_available": Words(
        "The server's KV events were asked for, but none came: nobody publishes them there.",
        "要求记录服务端 KV 事件，但未收到任何事件：该地址没有发布者。",
        rfc="6.5",
    ),
    "kv_events_partial": Words(
        "Some of the server's KV events are missing, so what is told from them is not exact.",
        "服务端 KV 事件有缺失，基于事件的分析不再精确。",
        rfc="6.5",
    ),
    "not_idle": Words(
        "The server was busy before or after the pass: others may have used it.",
        "轮次前后服务端不空闲，可能有其他流量。",
        rfc="3.3.22",
    ),
    "hit_alignment": Words(
        "The server matches in a larger unit than the dataset was planned for.",
        "服务端命中粒度大于数据集规划值。",
        rfc="4.2",
    ),
    "hit_drop_differs": Words(
        "The server was measured to drop another number of matched units than planned.",
        "实测服务端丢弃的命中单元数与规划值不同。",
        rfc="4.2",
    ),
    "hit_unit_differs": Words(
        "The server states another unit of matching than planned.", "服务端的命中粒度与规划值不同。", rfc="4.2"
    ),
    "block_size": Words(
        "Planned prefixes are no multiples of the server's block size; measured all the same as asked.",
        "规划的 Prefix 不是服务端 Block Size 的整数倍；已按要求继续测量。",
        rfc="4.2",
    ),
    "context_length": Words(
        "Requests are longer than the server takes; sent all the same as asked.",
        "部分请求超过服务端最大长度；已按要求继续发送。",
        rfc="3.3.1",
    ),
    "other_framework": Words(
        "A metrics page is not one of the framework that it is read as, or the server is of another.",
        "Metrics 页面不属于所按的框架，或服务端属于其他框架。",
        rfc="3.3.18",
    ),
    "counters_missing": Words(
        "A metrics page lacks the figure of a quantity, so the hit rate will not be known from it.",
        "指标页缺少所需指标，无法由其得到命中率。",
        rfc="3.3.18",
    ),
    "cache_used": Words(
        "The server has served before and its cache was not emptied.", "服务端此前已处理请求且未清空缓存。", rfc="4.6"
    ),
    "block_size_unknown": Words(
        "The server does not tell its block size, so it could not be compared.",
        "服务端未提供 Block Size，无法核对。",
        rfc="3.2.3",
    ),
    "prefix_caching_off": Words(
        "The server says that prefix caching is off.", "服务端未启用 Prefix Cache。", rfc="3.3.22"
    ),
    "capacity_differs": Words(
        "The server has another number of blocks than the hits were planned for.",
        "服务端的 Block 数与规划时假定的不同。",
        rfc="6.6",
    ),
    "capacity_in_flight": Words(
        "Hits planned for a cache that evicts hold for one request at a time.",
        "按容量规划的命中仅在逐条发送时精确成立。",
        rfc="6.6",
    ),
    "kv_capacity": Words(
        "The plan needs more KV cache than the server holds: blocks will be evicted.",
        "计划所需 KV Cache 超出容量，将发生淘汰。",
        rfc="4.5",
    ),
    "hit_unit_measured": Words(
        "The dataset's hit unit was measured, and the server states another one: the measured one counts.",
        "数据集的命中粒度为实测值，与服务端声明不同：以实测值为准。",
        rfc="4.2",
    ),
    "fewer_ranks": Words(
        "The server has fewer DP ranks than the plan has cache domains, so the plan's routes cannot be kept.",
        "服务端 DP 数少于计划的缓存域数，无法按计划路由。",
    ),
    "more_ranks": Words(
        "There are more caches (DP ranks or instances) than the plan has.", "缓存（DP 或实例）数多于计划。", rfc="2.7"
    ),
    "idle_ranks": Words(
        "The server has more DP ranks than the plan; the others get no request.",
        "服务端 DP 数多于计划，多出的 DP 无请求。",
        rfc="2.7",
    ),
    "block_size_differs": Words(
        "The server's block size is another one than planned.", "服务端 Block Size 与计划不同。", rfc="4.2"
    ),
    "metrics_fewer": Words(
        "Fewer metrics pages than endpoints: the counted tokens must show that they cover all.",
        "指标页少于端点：需由统计 Token 数证明其覆盖全部端点。",
        rfc="3.3.18",
    ),
    "probe_report_of_another": Words(
        "The probe's report is of another address than the run's.", "探测报告所属地址与本次运行不同。", rfc="4.2"
    ),
    "counters_cover": Words(
        "The counters saw other prompt tokens than were sent.", "计数器统计的 Prompt Token 与发送的不同。", rfc="3.3.18"
    ),
    "sent_as_ids": Words(
        "The dataset holds token ids and no exact text: its prompts are sent as ids.",
        "数据集仅含 Token ID，按 ID 发送。",
        rfc="3.2.1",
    ),
    "ratio_over_one": Words(
        "More hits than queries were counted; the ratio is shown as it is.",
        "统计的命中多于查询；按原值展示。",
        rfc="3.3.22",
    ),
    "requests_retried": Words(
        "Requests were sent again after a failure and may have hit their own first attempt's blocks.",
        "部分请求失败后被重试，可能命中其首次尝试留下的缓存。",
        rfc="3.4.4",
    ),
    "requests_differ": Words(
        "Requests were served other cached tokens than planned.", "部分请求命中 Token 与计划不同。", rfc="3.3.22"
    ),
    "route_mismatch": Words("Requests went elsewhere than planned.", "部分请求的路由与计划不同。", rfc="3.3.22"),
    "dataset_status": Words(
        "The dataset's own check did not end with PASS.", "数据集自身校验未达 PASS。", rfc="3.3.17"
    ),
    "run_not_complete": Words("The run broke off before its end.", "运行中途终止。", rfc="3.4.4"),
    "manifest_differs": Words(
        "The manifest's hits are not the sum of request_metadata.jsonl.",
        "Manifest 的命中数与 request_metadata.jsonl 合计不一致。",
        rfc="3.4.2",
    ),
}
CHECKS: dict[str, Words] = {
    "digests": Words(
        "Every file of the manifest is there with its size and SHA-256.",
        "Manifest 列出的文件齐全，大小与 SHA-256 一致。",
        rfc="3.4.2",
    ),
    "readable": Words("The files can be parsed and their rows belong together.", "文件可解析且各行相互对应。"),
    "shards": Words("The Parquet rows are the rows of the JSONL files.", "Parquet 与 JSONL 内容一致。"),
    "form": Words(
        "Manifest and report have the form that their schemas describe.",
        "Manifest 与校验报告符合其 Schema。",
        rfc="3.4.2",
    ),
    "seal": Words(
        "The manifest is as it was written: its digest is that of its content.",
        "Manifest 自写出后未被修改，其摘要与内容一致。",
        rfc="3.3.16",
    ),
    "lengths": Words(
        "Token ids are as many as planned; the parts sum to the length.",
        "Token 数与计划一致，各部分之和等于总长。",
        rfc="3.3.1",
    ),
    "order": Words("The send order is the one of the report.", "发送顺序与校验报告一致。", rfc="3.3.9"),
    "claims": Words(
        "Every figure that manifest and validation report state is the one the rows give.",
        "Manifest 与校验报告中的各项数值与请求数据一致。",
        rfc="3.3.17",
    ),
    "counts": Words("Requests and tokens, in all and per group.", "请求数与 Token 数（总计与各组）。", rfc="3.3.2"),
    "watermarks": Words(
        "Planned hits recomputed from the planned prefixes.", "由规划 Prefix 重新计算的水位与命中。", rfc="3.3.4"
    ),
    "certificate": Words(
        "The real token ids hit as planned in a simulated cache.",
        "真实 Token 在仿真缓存中的命中与计划一致。",
        rfc="3.1.4",
    ),
    "collisions": Words(
        "The first non-shared block of every request is unique behind its prefix.",
        "每条请求的首个非共享 Block 唯一。",
        rfc="3.3.14",
    ),
    "seams": Words("Every text encodes to its ids.", "文本重新 Encode 得到相同 Token。", rfc="3.2.1"),
    "verdict": Words(
        "The figures deserve the status that the manifest claims.", "各项数值与 Manifest 声明的状态相符。", rfc="3.3.17"
    ),
}
