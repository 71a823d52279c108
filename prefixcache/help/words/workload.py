"""Configuration keys of the workload: top level, lengths, target, groups, order. Key: model class and field."""

from __future__ import annotations

from prefixcache.help.words import Words

WORKLOAD: dict[str, Words] = {
    # Top level
    "PrefixCacheDatasetConfig.dataset_id": Words(
        "Name of the dataset; part of its content's seed and of the request ids.",
        "数据集名称；参与内容种子，并作为请求 ID 的前缀。",
        rfc="3.5.1",
        default=("the file's name", "配置文件名"),
    ),
    "PrefixCacheDatasetConfig.seed": Words(
        "The one seed of everything: lengths, groups, order and content.",
        "全局随机种子：决定长度、分组、顺序与内容。",
        rfc="3.2.4",
    ),
    "PrefixCacheDatasetConfig.request_count": Words(
        "Number of requests; may be left out where explicit lengths or group counts say it.",
        "请求数量；若显式长度或各组请求数已给出，可省略。",
        rfc="3.3.1",
        unit="requests",
        default=("from explicit lengths or group counts", "取自显式长度或各组请求数"),
    ),
    "PrefixCacheDatasetConfig.block_size": Words(
        "Tokens per KV-cache block of the server; it must be the server's, or the hit rate will differ. auto asks "
        "the server (--url), a probe's report (--probe-report) or takes a framework's default (--engine).",
        "服务端 KV Cache 的 Block Size；必须与服务端一致，否则命中率会偏离。auto 表示向服务端（--url）或探测报告"
        "（--probe-report）获取，或采用框架默认值（--engine）。",
        rfc="3.2.3",
        formula="b",
        unit="tokens",
        default=("16, with a warning", "16，并告警"),
    ),
    "PrefixCacheDatasetConfig.hit_unit": Words(
        "Tokens in which the server really matches, a multiple of block_size (larger on hybrid models); auto as for "
        "block_size.",
        "服务端真实的命中粒度，为 block_size 的整数倍（混合架构模型上更大）；auto 含义同 block_size。",
        rfc="3.2.3",
        formula="u",
        unit="tokens",
        default=("block_size", "等于 block_size"),
    ),
    "PrefixCacheDatasetConfig.block_size_source": Words(
        "Where block_size comes from; written by `block_size: auto` or where it is left out; content does not depend "
        "on it.",
        "block_size 的来源；由 `block_size: auto` 或缺省时写入，不影响数据内容。",
        rfc="3.2.3",
        default=("explicit", "explicit"),
    ),
    "PrefixCacheDatasetConfig.hit_unit_source": Words(
        "Where hit_unit comes from; written by auto, content does not depend on it.",
        "hit_unit 的来源；由 auto 写入，不影响数据内容。",
        rfc="3.2.3",
        default=("explicit, or block_size where it is left out", "explicit；缺省时为 block_size"),
    ),
    "PrefixCacheDatasetConfig.hit_drop": Words(
        "Matched hit units that the engine throws away again (EAGLE and MTP drop the last one).",
        "引擎匹配后又丢弃的命中粒度数（EAGLE、MTP 会丢弃最后一个）。",
        formula="H = max(0, min(P, C) - d*u)",
        unit="units",
    ),
    "PrefixCacheDatasetConfig.max_model_len": Words(
        "Longest input plus output of the model; a plan with a longer request is refused.",
        "模型最大上下文；任一请求输入加输出超出则拒绝规划。",
        rfc="3.3.1",
        formula="L + output_len <= max_model_len",
        unit="tokens",
        default=("no check", "不检查"),
    ),
    "PrefixCacheDatasetConfig.tokenizer": Words(
        "The served model's tokenizer.",
        "被测模型的 Tokenizer。",
        rfc="3.2.1",
        default=("the embedded one, for the reference engine only", "内置 Tokenizer，仅适用于参考引擎"),
        flag="--tokenizer",
    ),
    "PrefixCacheDatasetConfig.input_length": Words(
        "Prompt tokens of the requests, as the server counts them; a number means fixed.",
        "各请求的输入 Token 长度（按服务端统计口径）；直接写数字表示固定长度。",
        rfc="3.2.2",
        formula="L",
        unit="tokens",
    ),
    "PrefixCacheDatasetConfig.output_length": Words(
        "Tokens every request generates, exactly; the same forms as input_length.",
        "各请求精确生成的输出 Token 数；写法与 input_length 相同。",
        rfc="3.3.1",
        unit="tokens",
    ),
    "PrefixCacheDatasetConfig.target": Words(
        "The hit rate that is asked for.",
        "目标命中率。",
        rfc="3.3.5",
        default=("required; mode replay takes none", "必填；replay 模式不设目标"),
    ),
    "PrefixCacheDatasetConfig.prefix": Words(
        "Prefix groups: which requests share a master prefix.",
        "Prefix Group：哪些请求共享同一主 Prefix。",
        rfc="3.3.2",
        default=("one group", "单个 Group"),
    ),
    "PrefixCacheDatasetConfig.suffix": Words(
        "Where the text comes from, and how collisions are handled.",
        "文本来源与冲突检测设置。",
        rfc="3.3.13",
        default=("synthetic text", "合成文本"),
    ),
    "PrefixCacheDatasetConfig.prompt": Words(
        "What stands around every prompt's own text, and in which form prompts are sent.",
        "Prompt 正文前后的内容及发送形式。",
        rfc="3.3.22",
        default=("plain text", "纯文本"),
    ),
    "PrefixCacheDatasetConfig.request_order": Words(
        "Send order: within each group and across groups.",
        "请求发送顺序：组内与组间。",
        rfc="3.3.9",
        default=("by execution mode", "由执行模式决定"),
    ),
    "PrefixCacheDatasetConfig.execution": Words(
        "How the dataset is run: mode, concurrency, gating.",
        "执行方式：模式、并发与门控。",
        rfc="3.1.5",
    ),
    "PrefixCacheDatasetConfig.routing": Words(
        "Which cache a request meets: one cache, or one per instance or DP rank.",
        "请求进入哪个缓存：单一缓存，或按实例 / DP 划分。",
        rfc="2.7",
        default=("one cache", "单一缓存"),
    ),
    "PrefixCacheDatasetConfig.planning": Words(
        "How prefix lengths are planned.",
        "Prefix 长度的规划方式。",
        rfc="3.3.5",
    ),
    "PrefixCacheDatasetConfig.validation": Words(
        "Tolerances of the verdict on the dataset, and what a FAIL does.",
        "理论命中率校验的容差，以及校验失败时的处理。",
        rfc="3.3.17",
    ),
    "PrefixCacheDatasetConfig.output": Words(
        "What the dataset keeps of its prompts.", "数据集保存哪些 Prompt 内容。", rfc="3.4.1"
    ),
    # Lengths
    "Length.mode": Words(
        "The length model.",
        "长度分布模式。",
        rfc="3.2.2",
    ),
    "FixedLength.value": Words("Tokens of every request.", "每条请求的 Token 数。", rfc="3.2.2", unit="tokens"),
    "ExplicitLength.values": Words(
        "One length per request, in generated order.", "逐条给出的长度，按生成顺序。", rfc="3.2.2", unit="tokens"
    ),
    "ExplicitLength.file": Words(
        "File with one length per request: JSON list, JSONL, CSV or Parquet column, or plain integers.",
        "逐条长度文件：JSON 列表，JSONL / CSV / Parquet 列，或纯整数文本。",
        rfc="3.2.2",
    ),
    "ExplicitLength.column": Words(
        "Column of the file.",
        "文件中的列名。",
        rfc="3.2.2",
        default=("input_length, or output_length for outputs", "input_length；输出为 output_length"),
    ),
    "_Range.min": Words("Shortest length, included.", "最小长度（含）。", rfc="3.2.2", unit="tokens"),
    "_Range.max": Words("Longest length, included.", "最大长度（含）。", rfc="3.2.2", unit="tokens"),
    "TruncatedNormalLength.mean": Words(
        "Mean of the normal law before it is cut to [min, max]; must lie inside.",
        "截断前正态分布的均值，须位于 [min, max] 内。",
        rfc="3.2.2",
        unit="tokens",
    ),
    "TruncatedNormalLength.std": Words(
        "Standard deviation of the normal law before it is cut.",
        "截断前正态分布的标准差。",
        rfc="3.2.2",
        unit="tokens",
    ),
    "LogNormalLength.median": Words(
        "Median of the log-normal law; must lie in [min, max].",
        "对数正态分布的中位数，须位于 [min, max] 内。",
        unit="tokens",
    ),
    "LogNormalLength.sigma": Words("Standard deviation of the logarithm.", "取对数后的标准差。"),
    "HistogramLength.bins": Words(
        "Length ranges with weights, ascending, not overlapping.",
        "带权重的长度区间，升序且互不重叠。",
        rfc="2.3",
    ),
    "Bin.range": Words(
        "[low, high): low included, high not, except in the last bin.",
        "[low, high)：含下界，不含上界，最后一个区间两端均含。",
        rfc="2.3",
        unit="tokens",
    ),
    "Bin.weight": Words(
        "Share of the requests, relative to the other bins.", "该区间的请求占比权重（相对值）。", rfc="2.3"
    ),
    "EmpiricalLength.file": Words(
        "File of real lengths to draw from: JSONL, CSV, Parquet or a request trace.",
        "真实长度样本文件：JSONL、CSV、Parquet 或请求日志。",
        rfc="3.2.2",
    ),
    "EmpiricalLength.column": Words(
        "Column of the file.",
        "文件中的列名。",
        rfc="3.2.2",
        default=("input_length, or output_length for outputs", "input_length；输出为 output_length"),
    ),
    "EmpiricalLength.replacement": Words(
        "Draw with replacement; false uses each row at most once.",
        "是否有放回抽样；false 表示每行至多使用一次。",
        rfc="3.2.2",
    ),
    # Target
    "TargetConfig.scope": Words(
        "One target for all requests, or one per group.", "全局统一目标，或各 Group 独立目标。", rfc="3.3.8"
    ),
    "TargetConfig.hit_ratio": Words(
        "Share of all input tokens that the cache shall serve.",
        "目标命中率：由缓存提供的输入 Token 占全部输入 Token 的比例。",
        rfc="3.3.5",
        formula="T = sum(H) / sum(L)",
        unit="ratio",
        default=("required with scope global", "scope 为 global 时必填"),
    ),
    "TargetConfig.semantics": Words(
        "order_aware_global: cold start, the watermark grows; static_prefix_ratio: warm cache, a share of each prompt.",
        "order_aware_global：冷启动、水位逐步增长；static_prefix_ratio：预热后按固定公共 Prefix 比例。",
        rfc="3.3.3-3.3.5",
        default=("from execution.mode", "由 execution.mode 决定"),
    ),
    "TargetConfig.groups": Words(
        "One target per group, with scope per_group.", "scope 为 per_group 时各组的目标。", rfc="3.3.8"
    ),
    "GroupTarget.id": Words("A group of prefix.groups.", "prefix.groups 中的 Group。", rfc="3.3.8"),
    "GroupTarget.hit_ratio": Words(
        "Target hit ratio of the group.", "该组的目标命中率。", rfc="3.3.8", formula="sum(H_g) / sum(L_g)", unit="ratio"
    ),
    # Groups
    "PrefixConfig.mode": Words(
        "One prefix group or several.",
        "单 Prefix 或多 Prefix。",
        rfc="3.3.2",
        default=("from the number of groups", "由 Group 数量决定"),
    ),
    "PrefixConfig.nested_prefix": Words(
        "Every request of a group is cut from the start of one master prefix.",
        "同组请求均从同一主 Prefix 头部截取。",
        rfc="3.3.2",
    ),
    "PrefixConfig.minimum_non_shared_length": Words(
        "Tokens each request keeps for itself after the shared prefix.",
        "每条请求在公共 Prefix 后至少保留的非共享 Token 数。",
        rfc="3.3.12",
        formula="P <= L - minimum_non_shared_length",
        unit="tokens",
        default=("one block", "一个 Block"),
    ),
    "PrefixConfig.group_count": Words(
        "Number of equal groups, named group_0, group_1, …; or list them in groups.",
        "平均分配的 Group 数，命名为 group_0、group_1……；也可在 groups 中逐个列出。",
        rfc="3.3.2",
        default=("1", "1"),
    ),
    "PrefixConfig.groups": Words(
        "The prefix groups, in their order.", "Prefix Group 列表，顺序即配置顺序。", rfc="3.3.2"
    ),
    "PrefixConfig.zipf_exponent": Words(
        "The k-th group gets a share of the requests proportional to k to the power of minus this.",
        "Zipf 指数：第 k 个 Group 的请求占比与 k 的负该次幂成正比。",
        rfc="3.3.2",
        formula="n_k ~ k^-s",
    ),
    "PrefixConfig.request_groups": Words(
        "The group of every request, one by one.", "逐条指定请求所属 Group。", rfc="3.3.2"
    ),
    "PrefixConfig.source": Words(
        "Where master prefixes come from, where that is not the suffix's source.",
        "主 Prefix 的文本来源；默认与 suffix 相同。",
        rfc="2.6",
        default=("the suffix's", "与 suffix 相同"),
    ),
    "GroupConfig.id": Words("Name of the group.", "Group 名称。", rfc="3.3.2"),
    "GroupConfig.request_weight": Words(
        "Share of the requests, relative to the other groups; counts always sum to the total.",
        "请求占比权重（相对值）；各组请求数之和恒等于总数。",
        rfc="3.3.2",
    ),
    "GroupConfig.request_count": Words(
        "Number of requests of the group.", "该组请求数量。", rfc="3.3.2", unit="requests"
    ),
    "GroupConfig.hit_ratio": Words(
        "The group's target, with target.scope per_group.",
        "该组目标命中率（target.scope 为 per_group 时）。",
        rfc="3.3.8",
        unit="ratio",
    ),
    "GroupConfig.input_length": Words(
        "Input lengths of this group instead of the dataset's.",
        "该组的输入长度，覆盖数据集设置。",
        rfc="3.3.1",
        unit="tokens",
        default=("the dataset's", "与数据集相同"),
    ),
    "GroupConfig.output_length": Words(
        "Output lengths of this group instead of the dataset's.",
        "该组的输出长度，覆盖数据集设置。",
        rfc="3.3.1",
        unit="tokens",
        default=("the dataset's", "与数据集相同"),
    ),
    "GroupConfig.source": Words(
        "Text source of this group instead of the dataset's.",
        "该组的文本来源，覆盖数据集设置。",
        rfc="2.6",
        default=("the dataset's", "与数据集相同"),
    ),
    "RequestGroups.values": Words(
        "One group id per request, in generated order.", "按生成顺序逐条给出 Group ID。", rfc="3.3.2"
    ),
    "RequestGroups.file": Words(
        "File with one group id per request: JSON list, JSONL, CSV or Parquet column, or plain ids.",
        "逐条 Group ID 文件：JSON 列表，JSONL / CSV / Parquet 列，或纯文本。",
        rfc="3.3.2",
    ),
    "RequestGroups.column": Words(
        "Column of the file.", "文件中的列名。", rfc="3.3.2", default=("prefix_group_id", "prefix_group_id")
    ),
    # Order
    "OrderConfig.mode": Words(
        "One of the RFC's nine flat names: shorthand for within_group and across_group.",
        "RFC 的九种发送策略之一，是 within_group 与 across_group 的简写。",
        rfc="3.3.9",
    ),
    "OrderConfig.within_group": Words(
        "Order of the requests of each group; it decides when hits come, never how many.",
        "组内发送顺序；影响命中出现的时间，不影响命中总量。",
        rfc="3.3.9",
        default=("input_len_asc in cold modes, else generated", "冷启动模式为 input_len_asc，否则为 generated"),
    ),
    "OrderConfig.across_group": Words(
        "How the groups are merged into one send order.",
        "组间合并方式。",
        rfc="3.3.9-3.3.10",
        default=("interleave", "interleave"),
    ),
    "OrderConfig.preserve_group_dependency": Words(
        "The merge decides which group sends at each position; its requests keep their own order.",
        "组间合并仅决定每个位置由哪个 Group 发送，组内顺序保持不变。",
        rfc="3.3.10",
    ),
}
