"""Fields inside of the blocks of manifest, reports and run files: what `explain` says where no other entry fits."""

from __future__ import annotations

from prefixcache.help.words import Words

NESTED: dict[str, Words] = {
    # Summaries
    "p50": Words("Median, linearly interpolated.", "中位数，线性插值。"),
    "p90": Words("90th percentile, linearly interpolated.", "第 90 百分位，线性插值。"),
    "p95": Words("95th percentile, linearly interpolated.", "第 95 百分位，线性插值。"),
    "p99": Words("99th percentile, linearly interpolated.", "第 99 百分位，线性插值。"),
    "summary": Words("The lengths as they came out.", "实际生成的长度统计。"),
    "sha256": Words("SHA-256 of the file, in hexadecimal.", "文件的 SHA-256，十六进制。"),
    "samples_sha256": Words("Digest over the hashes of all samples of a source.", "数据源全部样本 Hash 的摘要。"),
    # Text and sources
    "head_text": Words("Text that all prompts begin with.", "全部 Prompt 共同的开头文本。"),
    "tail_text": Words("Text that all prompts end with.", "全部 Prompt 共同的结尾文本。"),
    "source_samples": Words("Usable samples of the source.", "数据源中可用的样本数。", unit="count"),
    "source_tokens": Words("Tokens of the usable samples.", "可用样本的 Token 数。", unit="tokens"),
    "role": Words("Who speaks, in a chat prompt.", "Chat Prompt 中消息的角色。"),
    "prompts_stored": Words(
        "What the dataset keeps: both, text or ids.", "数据集保存的内容：文本与 ID、仅文本或仅 ID。"
    ),
    "embedded_tokenizer": Words(
        "Whether the tokenizer is the one shipped with the product.", "是否为本产品内置的 Tokenizer。"
    ),
    "tokenizer_sha256": Words("SHA-256 of tokenizer.json.", "tokenizer.json 的 SHA-256。"),
    # Planning
    "budget_split": Words("How the goal is divided among groups.", "目标在各 Group 间的分配方式。", rfc="3.3.8"),
    "capacity": Words(
        "Where hits are planned for caches that evict: their size and how the plan was found.",
        "按会淘汰的缓存规划时：缓存容量，以及方案的搜索过程。",
        rfc="6.6",
    ),
    "plans_tried": Words(
        "Plans simulated in the search for the one nearest to the target.", "搜索中仿真过的方案数。", unit="count"
    ),
    "unbounded_hit_tokens": Words(
        "What a cache that never evicts would hit of the plan.", "不淘汰的缓存在该方案下的命中。", unit="tokens"
    ),
    "max_overshoot": Words(
        "By how much the cumulative hit ratio exceeds the target at most, with objective trajectory.",
        "trajectory 目标下，累计命中率超过目标的最大值。",
    ),
    "validation_reason": Words("Why the dataset's status is not PASS.", "数据集状态不是 PASS 的原因。"),
    # Proof
    "planned_hit_tokens": Words("Hits of the plan.", "规划的命中。", unit="tokens"),
    "simulated_hit_tokens": Words(
        "Hits of the simulator over the token ids.", "仿真器对真实 Token ID 得到的命中。", unit="tokens"
    ),
    "mismatched_requests": Words("Requests whose hits differ.", "命中不一致的请求数。", unit="requests"),
    "first_mismatches": Words("The first requests whose hits differ.", "最先出现的命中不一致的请求。"),
    "certificate_holds": Words(
        "Whether simulated hits equal planned hits, request by request.", "仿真命中与规划命中是否逐条一致。"
    ),
    "method": Words("How prompts were encoded again.", "重新 Encode 的方式。"),
    "joints": Words(
        "Every joint of every prompt, encoded again in its surroundings.",
        "每个 Prompt 的每处拼接点，连同前后文重新 Encode。",
    ),
    "seen": Words("Joints of all prompts.", "全部 Prompt 的拼接点数。", unit="count"),
    "differing_prompts": Words(
        "Prompts whose text gives other token ids.", "文本与 Token ID 不一致的 Prompt 数。", unit="count"
    ),
    "first_differing": Words("The first of the prompts that differ.", "最先出现的不一致 Prompt。"),
    "repairs": Words("Requests mended, by what mended them.", "按修复方式统计的请求数。", rfc="3.3.15"),
    "cross_group_masters": Words(
        "Whether blocks of two groups' master prefixes are equal.",
        "不同 Group 的主 Prefix 是否存在相同 Block。",
        rfc="3.3.14",
    ),
    "repeated_windows": Words(
        "Windows of blocks after the shared prefix that occur more than once.",
        "共享 Prefix 之后重复出现的 Block 窗口数。",
        rfc="3.3.14",
    ),
    # Runs
    "adapter": Words("The framework whose metrics are read.", "所读取指标的推理框架。"),
    "engines": Words("Figures per engine label (DP rank).", "按引擎标签（DP 域）的数值。"),
    "isolation": Words(
        "How passes are kept apart: reset, salt or other content.", "各轮次的隔离方式：清空、Salt 或另一份内容。"
    ),
    "detected": Words("Whether a counter fell or the server started anew.", "是否检测到计数器回退或服务重启。"),
    "delta": Words("After less before.", "结束值减开始值。"),
    "notes": Words("What has to be known of a figure.", "数值的说明。"),
    "not_sent": Words("Requests that were never sent.", "未发送的请求数。", unit="requests"),
    "warmup_requests": Words("Warmup prompts sent.", "已发送的预热 Prompt 数。", unit="requests"),
    "planned_input_tokens": Words("Input tokens of the plan.", "计划的输入 Token 数。", unit="tokens"),
    "answers_with_cached_tokens": Words(
        "Answers that told how many of their tokens were cached.", "返回了 cached tokens 的应答数。", unit="requests"
    ),
    "counts_by_status": Words("Requests by how they ended.", "按结束状态统计的请求数。", unit="requests"),
    "by_group": Words("Figures per prefix group.", "按 Prefix Group 的数值。"),
    "by_domain": Words("Figures per cache domain.", "按缓存域的数值。"),
    "kv_tokens_needed": Words(
        "KV cache that the plan needs in its largest domain.",
        "计划在最大缓存域中所需的 KV Cache。",
        unit="tokens",
        rfc="4.5",
    ),
    "server_hit_tokens": Words("Cached tokens that the answer tells.", "应答中给出的 cached tokens。", unit="tokens"),
    "ttft_mean_s": Words("Mean time to the first token.", "首 Token 时延的平均值。", unit="seconds"),
    "ttft_p50_s": Words("Median time to the first token.", "首 Token 时延的中位数。", unit="seconds"),
    # Order and gates
    "longest_chain": Words(
        "Requests that must wait for one another, in the longest such chain.",
        "门控下最长的依赖链所含请求数。",
        unit="requests",
        rfc="6.4",
    ),
    "permitted_mean_concurrency": Words(
        "Requests that the gates let be in flight on average, at most.",
        "门控允许的平均并发上限。",
        unit="requests",
        rfc="6.4",
    ),
    "inversions": Words(
        "Pairs of requests that were sent in another order than planned.",
        "发送顺序与计划相反的请求对数。",
        unit="count",
        rfc="4.3",
    ),
    "waited": Words("Requests that waited for their gate.", "等待过门控的请求数。", unit="requests"),
    "growth": Words("How the hit ratio grew while requests were sent.", "命中率随发送过程的增长。"),
    # Languages
    "text_en": Words("The text in English.", "英文文本。"),
    "text_zh": Words("The text in Chinese.", "中文文本。"),
}
