"""Fields of the dataset's files: manifest, validation report, request metadata, data and warmup prompts."""

from __future__ import annotations

from prefixcache.help.words import Words

DATASET: dict[str, Words] = {
    # Identity
    "schema_version": Words("Version of the file's form.", "文件格式版本。", rfc="3.4.2"),
    "dataset_id": Words("Name of the dataset.", "数据集 ID。", rfc="3.3.16"),
    "generator": Words("Name of the program that made the dataset.", "生成器名称。", rfc="3.3.16"),
    "generator_version": Words(
        "Changes whenever equal configurations would give other bytes.",
        "生成器版本；相同配置会产生不同字节时递增。",
        rfc="3.4.2",
    ),
    "package_version": Words("Version of the package that made the dataset.", "生成数据集的软件包版本。", rfc="3.4.2"),
    "seed": Words("The one seed of everything.", "随机种子。", rfc="3.2.4"),
    "tokenizer": Words(
        "Tokenizer: name, SHA-256, and the ids it puts before and after every text.",
        "Tokenizer：名称、SHA-256，以及自动添加在文本前后的 Token。",
        rfc="3.4.2",
    ),
    "config": Words(
        "The resolved configuration, every file named by its hash.", "解析后的完整配置，文件以 Hash 标识。", rfc="3.4.2"
    ),
    "files": Words(
        "Per file of the dataset: SHA-256, bytes, rows.", "数据集各文件的 SHA-256、字节数与行数。", rfc="3.4.2"
    ),
    "order_digest": Words(
        "SHA-256 of the request ids in send order: another order is another dataset.",
        "按发送顺序排列的请求 ID 的 SHA-256：顺序不同即为不同数据集。",
        rfc="3.3.9",
    ),
    "manifest_digest": Words(
        "SHA-256 of the manifest without this field, as JSON with sorted keys: an edited claim is found.",
        "Manifest 除本字段外内容（键排序 JSON）的 SHA-256，可发现任何被修改的声明。",
        rfc="3.3.16",
    ),
    "dataset_digest": Words(
        "SHA-256 over the names and hashes of all files.", "全部文件名与 Hash 的 SHA-256。", rfc="3.4.2"
    ),
    "collision_detection": Words("Collision rules as configured.", "冲突检测配置。", rfc="3.3.14"),
    "theoretical_result": Words(
        "Target, designed and reachable hit ratio, deviations and status in one place.",
        "理论结果：目标、理论与最大可达命中率、偏差及校验状态。",
        rfc="B",
    ),
    # Sums
    "request_count": Words("Number of requests.", "请求数量。", rfc="3.3.16", unit="requests"),
    "input_tokens": Words(
        "Input tokens of all requests.", "全部请求的输入 Token 总数。", formula="sum(L)", unit="tokens"
    ),
    "output_tokens": Words(
        "Tokens that all requests generate.", "全部请求的输出 Token 总数。", formula="sum(output_len)", unit="tokens"
    ),
    "input_length": Words(
        "Input lengths: count, min, max, mean, percentiles, bins.",
        "输入长度统计：数量、最小、最大、平均、分位数与区间。",
        rfc="3.3.1",
        unit="tokens",
    ),
    "output_length": Words(
        "Output lengths: count, min, max, mean, percentiles.",
        "输出长度统计：数量、最小、最大、平均与分位数。",
        rfc="3.3.1",
        unit="tokens",
    ),
    "block_size": Words(
        "Tokens per KV-cache block.", "每个 KV Cache Block 的 Token 数。", rfc="3.2.3", formula="b", unit="tokens"
    ),
    "hit_unit": Words(
        "Tokens in which the server really matches.", "服务端真实的命中粒度。", rfc="3.2.3", formula="u", unit="tokens"
    ),
    "block_size_source": Words(
        "Who said the block size: the server, a measurement, a rule, a default, or the configuration (explicit).",
        "Block Size 的来源：服务端、实测、规则、默认值或配置文件（explicit）。",
        rfc="3.2.3",
    ),
    "hit_unit_source": Words(
        "Who said the hit unit; block_size: it is the block size.",
        "命中粒度的来源；block_size 表示等于 Block Size。",
        rfc="3.2.3",
    ),
    "execution_mode": Words("Execution mode of the dataset.", "执行模式。", rfc="3.1.5"),
    "semantics": Words(
        "What the target constrains: a cold start with growing watermarks, or a warm cache.",
        "目标语义：0warmup 顺序感知，或预热固定比例。",
        rfc="3.3.3-3.3.5",
    ),
    "minimum_non_shared_length": Words(
        "Tokens each request keeps for itself.", "每条请求的最小非共享长度。", rfc="3.3.12", unit="tokens"
    ),
    # Verdict
    "target_hit_ratio": Words(
        "The hit ratio that was asked for; null where a dataset has no target.",
        "目标命中率；无目标时为 null。",
        rfc="3.3.17",
        formula="T",
        unit="ratio",
    ),
    "target_hit_tokens": Words(
        "The target in tokens: the multiple of the hit unit nearest to T * sum(L).",
        "目标命中 Token：最接近 T * sum(L) 的命中粒度整数倍。",
        rfc="3.3.5",
        formula="round(T * sum(L) / u) * u",
        unit="tokens",
    ),
    "designed_hit_ratio": Words(
        "Hit ratio of the dataset as built, simulated on the real token ids.",
        "数据集理论命中率，在真实 Token 序列上仿真得到。",
        rfc="3.3.17",
        formula="sum(H) / sum(L)",
        unit="ratio",
    ),
    "expected_hit_tokens": Words(
        "Tokens that the model says come from the cache.",
        "理论命中 Token 总数。",
        rfc="3.3.17",
        formula="sum(H)",
        unit="tokens",
    ),
    "signed_deviation": Words(
        "Construction deviation with its sign.",
        "有符号数据构造偏差。",
        rfc="3.3.17",
        formula="designed - target",
        unit="deviation",
    ),
    "absolute_deviation": Words(
        "Construction deviation without its sign.",
        "数据构造偏差绝对值。",
        rfc="3.3.17",
        formula="|designed - target|",
        unit="deviation",
    ),
    "signed_deviation_pp": Words(
        "signed_deviation in percentage points.",
        "以百分点表示的有符号偏差。",
        rfc="3.3.17",
        unit="pp",
        formula="100 * signed_deviation",
    ),
    "absolute_deviation_pp": Words(
        "absolute_deviation in percentage points.",
        "以百分点表示的绝对偏差。",
        rfc="3.3.17",
        unit="pp",
        formula="100 * absolute_deviation",
    ),
    "max_reachable_hit_ratio": Words(
        "Hit ratio with every prefix at its ceiling: no target above it can be reached.",
        "最大可达命中率：所有 Prefix 取上限时的命中率。",
        rfc="3.3.6",
        formula="M = max(K, align_down(L - t - max(minimum_non_shared_length, 1), u))",
        unit="ratio",
    ),
    "max_reachable_hit_tokens": Words("The same in tokens.", "最大可达命中 Token 数。", rfc="3.3.6", unit="tokens"),
    "min_reachable_hit_ratio": Words(
        "Hit ratio with every prefix as short as it can be (the head only).",
        "最小可达命中率：仅命中公共头部。",
        formula="P = K",
        unit="ratio",
    ),
    "min_reachable_hit_tokens": Words("The same in tokens.", "最小可达命中 Token 数。", unit="tokens"),
    "reachable": Words("Whether the target lies within what can be reached.", "目标是否可达。", rfc="3.3.6"),
    "status": Words(
        "PASS, PASS_WITH_WARNING or FAIL; of a request: ok or how it failed; of a run: complete, partial or failed.",
        "校验状态 PASS / PASS_WITH_WARNING / FAIL；请求为 ok 或失败类型；运行为 complete / partial / failed。",
        rfc="3.3.17",
    ),
    "validation_status": Words(
        "Verdict on the dataset: PASS, PASS_WITH_WARNING or FAIL.", "数据集理论命中率校验状态。", rfc="3.3.17"
    ),
    "reason": Words(
        "Why the verdict is not PASS; null where it is.", "未达 PASS 的原因；PASS 时为 null。", rfc="3.3.17"
    ),
    "suggestions": Words(
        "For an unreachable target: per lever the smallest change that reaches it; needed null: it alone cannot.",
        "目标不可达时的调整建议：各项的最小改动；needed 为 null 表示单靠该项无法达到。",
        rfc="3.3.6",
    ),
    "pass_tolerance": Words("Largest deviation that is a PASS.", "PASS 的最大偏差。", rfc="3.3.17", unit="deviation"),
    "warning_tolerance": Words(
        "Largest deviation that is a PASS_WITH_WARNING.",
        "PASS_WITH_WARNING 的最大偏差。",
        rfc="3.3.17",
        unit="deviation",
    ),
    "on_failure": Words("What a FAIL does.", "校验失败时的处理方式。", rfc="3.3.17"),
    # Plan
    "hit_drop": Words(
        "Matched hit units that the engine throws away again.",
        "引擎匹配后又丢弃的命中单元数。",
        formula="d",
        unit="units",
    ),
    "head_tokens": Words(
        "Tokens with which every request begins, whatever its group (BOS, template head, system text).",
        "所有请求共有的开头 Token 数（BOS、模板头、系统文本）。",
        rfc="3.3.22",
        unit="tokens",
    ),
    "tail_tokens": Words(
        "Tokens after the user's text (template tail).",
        "正文之后的 Token 数（模板尾）。",
        rfc="3.3.22",
        formula="t",
        unit="tokens",
    ),
    "shared_head_tokens": Words(
        "Head in whole hit units: what every prompt shares with every other.",
        "公共头部按命中粒度对齐后的长度。",
        formula="K = align_down(head_tokens, u)",
        unit="tokens",
    ),
    "cache_domains": Words("Number of separate caches the model keeps.", "缓存域数。", rfc="3.3.19", unit="count"),
    "lanes": Words(
        "Cache domain x prefix group: the units that own a watermark.",
        "缓存域 × Prefix Group：持有水位的单位数。",
        rfc="3.3.7",
        unit="count",
    ),
    "cannot_share": Words(
        "Requests too short to share one hit unit.",
        "过短而无法共享任何 Prefix 的请求数。",
        rfc="3.4.4",
        unit="requests",
    ),
    "adjusted_requests": Words(
        "Requests moved by the residual calibration.", "残差校准调整过的请求数。", rfc="3.3.5", unit="requests"
    ),
    "cannot_share_requests": Words(
        "The first of these requests, numbered in generated order.",
        "上述请求的序号（按生成顺序，仅列出前若干条）。",
        unit="index",
    ),
    "objective": Words("What the planned prefixes optimise.", "规划目标。", rfc="3.3.5"),
    "trajectories": Words(
        "How the cumulative ratio runs under objective trajectory, with bounds that no plan can beat.",
        "trajectory 目标下累计命中率的走势及其理论下界。",
        rfc="6.9",
    ),
    "target_scope": Words("global, or per_group.", "目标范围：global 或 per_group。", rfc="3.3.8"),
    "valid_hit_units": Words(
        "Hit units at which the prompts diverge exactly as planned.",
        "数据集在哪些命中粒度下恰好在规划位置分叉。",
        unit="tokens",
    ),
    "sources": Words(
        "Per text source: samples, tokens, hash of the samples, how they were selected.",
        "各文本来源的样本数、Token 数、样本 Hash 与选择方式。",
        rfc="3.4.1",
    ),
    "collision_result": Words(
        "Collision check in short: status, repaired and unresolved requests.",
        "冲突检测结果摘要：状态、已修复与未解决的请求数。",
        rfc="3.3.15",
    ),
    "collision_retries": Words("Repairs tried for the request.", "该请求的冲突重试次数。", rfc="3.3.15", unit="count"),
    "collision_repair": Words(
        "The repair that helped: new divergence, other samples or a request mark; null: none was needed.",
        "生效的修复方式：重新生成分叉 Block、更换样本或加入请求标识；null 表示无需修复。",
        rfc="3.3.15",
    ),
    "sample_ids": Words(
        "Samples of the suffix, by their number in the source.", "Suffix 所用样本的序号。", rfc="3.4.1", unit="index"
    ),
    "assumptions": Words("What plan assumes because it loads no tokenizer.", "plan 未加载 Tokenizer 时所作的假设。"),
    "planning": Words("Objective and how the budget was split.", "规划目标与预算分配策略。", rfc="4.11"),
    "construction": Words(
        "How texts were built: cut at safe seams, repaired and verified, or token ids only.",
        "文本构造方式：在安全边界切分、修复后验证，或仅使用 Token ID。",
        rfc="3.2.1",
    ),
    "certificate": Words(
        "Proof: a block-exact cache simulator over the real token ids must give every expected hit.",
        "证明：在真实 Token 上逐 Block 仿真，必须复现每条请求的理论命中。",
        rfc="3.1.4",
    ),
    "collisions": Words(
        "What the collision check found: first non-shared blocks, repeats, repairs.",
        "冲突检测结果：首个非共享 Block、重复与修复情况。",
        rfc="3.3.14",
    ),
    "audit": Words(
        "Re-encoding of the texts: how many prompts were encoded again and how many differ.",
        "重新 Encode 校验：重编码的请求数与不一致数。",
        rfc="3.2.1",
    ),
    "passes": Words(
        "One entry per measured pass (cold, hot, replay), never pooled.",
        "各测量轮次（冷、热、重放）分别给出，不合并。",
        rfc="3.3.20",
    ),
    "groups": Words(
        "One entry per prefix group, in the configuration's order.", "各 Prefix Group，按配置顺序。", rfc="3.3.8"
    ),
    "domains": Words("One entry per cache domain.", "各缓存域（实例 / DP）。", rfc="3.3.19"),
    "initial_target_hit_tokens": Words(
        "The group's share of the goal by input tokens.",
        "按输入 Token 权重分配的初始组级预算。",
        rfc="3.3.8",
        formula="goal * sum(L_g) / sum(L)",
        unit="tokens",
    ),
    "master_prefix_len": Words(
        "Longest planned prefix of the group.",
        "该组主 Prefix 长度（最长规划 Prefix）。",
        rfc="3.5.1",
        formula="max(P)",
        unit="tokens",
    ),
    "cold_start_loss": Words(
        "Planned tokens that do not hit because they are computed for the first time: the final watermarks.",
        "冷启动损失：首次计算而未命中的规划 Token，即最终水位之和。",
        rfc="3.3.8",
        formula="sum over lanes of (max P - K)",
        unit="tokens",
    ),
    # Requests
    "request_id": Words("Name of the request, numbered in generated order.", "请求 ID，按生成顺序编号。", rfc="3.3.16"),
    "prefix_group_id": Words("Prefix group of the request.", "请求所属 Prefix Group。", rfc="3.3.2"),
    "order_index": Words("Position in send order.", "发送序号。", rfc="3.3.16", unit="index"),
    "input_len": Words(
        "Prompt tokens as the server counts them, BOS and template included.",
        "输入 Token 长度（服务端口径，含 BOS 与模板）。",
        rfc="3.3.16",
        formula="L",
        unit="tokens",
    ),
    "output_len": Words("Tokens to generate.", "输出 Token 数。", rfc="3.3.1", unit="tokens"),
    "planned_prefix_len": Words(
        "Leading tokens that the request takes from its group's master prefix; a multiple of the hit unit.",
        "规划共享 Prefix 长度，从组级主 Prefix 头部截取，为命中粒度的整数倍。",
        rfc="3.3.4",
        formula="P",
        unit="tokens",
    ),
    "cached_watermark_before": Words(
        "Longest prefix of the master cached in the lane just before the request, in the target's pass.",
        "发送前该组缓存水位（目标轮次）。",
        rfc="3.3.4",
        formula="C",
        unit="tokens",
    ),
    "cached_watermark_after": Words(
        "The same just after the request.", "请求完成后的缓存水位。", rfc="A.3", formula="max(C, P)", unit="tokens"
    ),
    "expected_hit_len": Words(
        "Tokens of the request served from cache according to the model.",
        "理论命中 Token 长度。",
        rfc="A.2",
        formula="H = max(0, min(P, C) - d*u)",
        unit="tokens",
    ),
    "expected_hit_len_cold": Words(
        "expected_hit_len of the cold pass, in compare.",
        "compare 模式下冷轮次的理论命中长度。",
        rfc="3.3.20",
        unit="tokens",
    ),
    "expected_hit_len_hot": Words(
        "expected_hit_len of the hot pass, in compare.",
        "compare 模式下热轮次的理论命中长度。",
        rfc="3.3.20",
        unit="tokens",
    ),
    "expected_hit_ratio": Words(
        "Expected hits of one request over its length.",
        "单条请求理论命中比例。",
        rfc="3.3.16",
        formula="H / L",
        unit="ratio",
    ),
    "divergence_len": Words(
        "Length of the unique divergence block.",
        "唯一分叉 Block 长度。",
        rfc="3.3.11",
        formula="min(b, L - P - t)",
        unit="tokens",
    ),
    "suffix_len": Words("Length of the natural suffix.", "自然 Suffix 长度。", rfc="3.3.13", unit="tokens"),
    "planned_dp_id": Words(
        "Cache domain of the request; 0 with one cache.", "计划缓存域；单一缓存时为 0。", rfc="2.7", unit="index"
    ),
    "planned_route": Words(
        "Rank or instance the request is to be sent to; null: anywhere.",
        "计划路由（实例或 DP）；null 表示不限。",
        rfc="2.7",
        unit="index",
    ),
    "collision_status": Words("What the collision check says of the request.", "该请求的冲突检测状态。", rfc="3.3.16"),
    "prompt": Words(
        "What is sent: the text, null where only ids are kept; in the manifest, form and head of all prompts.",
        "所发送的 Prompt 文本，仅保存 ID 时为 null；在 Manifest 中为全部 Prompt 的形式与公共头部。",
        rfc="3.2.5",
    ),
    "prompt_token_ids": Words(
        "The token ids that the text encodes to; null where output.prompts is text: the shards have them.",
        "Prompt 对应的 Token ID；output.prompts 为 text 时为 null，由 Parquet 分片保存。",
        rfc="3.2.1",
    ),
    "max_tokens": Words("Tokens to generate.", "输出 Token 数。", rfc="3.3.1", unit="tokens"),
}
