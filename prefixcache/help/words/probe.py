"""What `probe` finds, in words: key → (English, Chinese)."""

from __future__ import annotations

PROBE: dict[str, tuple[str, str]] = {
    # The card
    "probe.title": ("Probe of {endpoint}", "服务探测：{endpoint}"),
    "probe.finding": ("property", "属性"),
    "probe.value": ("value", "结果"),
    "probe.source": ("source", "来源"),
    "probe.evidence": ("evidence", "依据"),
    "probe.contradiction": ("contradiction: ", "矛盾："),
    "probe.no_contradiction": ("Nothing that was found contradicts anything.", "未发现矛盾。"),
    "probe.partial": (
        "Time was up, or a question was refused: what is unknown says why.",
        "探测未完成（超时或请求被拒绝），未知项均注明原因。",
    ),
    "probe.sums": (
        "{requests} prompts, {tokens} tokens, {seconds} s; left in the cache: at most {left} tokens of random prompts "
        "that nobody else sends",
        "共发送 {requests} 条 Prompt、{tokens} 个 Token，用时 {seconds} 秒；缓存中最多残留 {left} 个随机 Token，"
        "不会被其他请求命中",
    ),
    "probe.written": ("configuration keys written: {path}", "配置片段已写入：{path}"),
    "probe.step": ("probing: {step}", "探测：{step}"),
    "probe.name.framework": ("framework", "推理框架"),
    "probe.name.version": ("version", "版本"),
    "probe.name.models": ("models", "模型"),
    "probe.name.max_model_len": ("max length", "最大长度"),
    "probe.name.block_size": ("block size", "Block Size"),
    "probe.name.hit_unit": ("hit unit", "命中粒度"),
    "probe.name.hit_drop": ("hit drop", "命中丢弃"),
    "probe.name.last_token_rule": ("last token", "末尾 Token"),
    "probe.name.matching": ("matching", "匹配语义"),
    "probe.name.outputs_cached": ("outputs cached", "缓存输出"),
    "probe.name.dp_size": ("DP ranks", "DP 域数"),
    "probe.name.rank_route": ("reach a rank", "指定 DP 域"),
    "probe.name.salt": ("salt", "Salt 隔离"),
    "probe.name.reset": ("reset", "清空缓存"),
    "probe.name.usage_cached_tokens": ("usage", "usage 字段"),
    "probe.name.tokenizer": ("tokenizer", "Tokenizer"),
    "probe.name.order_evidence": ("order evidence", "顺序依据"),
    "probe.name.capacity_tokens": ("capacity", "缓存容量"),
    "probe.source.stated": ("stated", "声明"),
    "probe.source.measured": ("measured", "实测"),
    "probe.source.derived": ("derived", "推断"),
    "probe.source.unknown": ("unknown", "未知"),
    "probe.yes": ("yes", "是"),
    "probe.no": ("no", "否"),
    "probe.unknown_value": ("unknown", "未知"),
    "probe.none_value": ("none", "无"),
    # Values that are words
    "probe.value.last_token_rule.computed": ("computed", "重新计算"),
    "probe.value.last_token_rule.cached": ("cached", "取自缓存"),
    "probe.value.rank_route.none needed": ("none needed", "无需指定"),
    "probe.value.usage_cached_tokens.present": ("present", "有"),
    "probe.value.usage_cached_tokens.sometimes": ("sometimes", "时有时无"),
    "probe.value.usage_cached_tokens.null": ("null", "无"),
    "probe.value.usage_cached_tokens.in_streams": ("in_streams", "仅流式响应有"),
    "probe.value.usage_cached_tokens.zero": ("zero", "恒为 0"),
    "probe.value.usage_cached_tokens.differs": ("differs", "与计数器不符"),
    "probe.value.order_evidence.kv_events": ("kv_events", "KV 事件"),
    "probe.value.order_evidence.tracing": ("tracing", "Tracing"),
    "probe.value.order_evidence.first_token": ("first_token", "首 Token"),
    "probe.tokens_value": ("{agree} of {strings} strings", "{strings} 个中 {agree} 个一致"),
    # Why something is unknown
    "probe.time": ("Not reached within the time limit.", "超出时间上限，未探测。"),
    "probe.lost": ("The server went away before.", "探测期间服务不可用。"),
    "probe.needs_unit": ("Cannot be told without a known hit unit.", "命中粒度未知，无法判断。"),
    "probe.refused": ("The server refused: {why}.", "服务拒绝请求：{why}。"),
    # Warnings
    "probe.warn.metrics": ("{text}", "指标页不可用：{text}"),
    "probe.warn.no_metrics": (
        "no metrics page of a known framework: hits are read from the answers alone.",
        "没有已知框架的 Metrics 页面，命中数仅取自响应。",
    ),
    "probe.warn.other_metrics": (
        "no metrics page has a metric of {engine}: hits are read from the answers alone.",
        "Metrics 页面中没有 {engine} 的指标，命中数仅取自响应。",
    ),
    "probe.warn.of_another": (
        "the metrics page is one of {other}, not of {engine}: leave --engine out, or name the right page with "
        "--metrics-url; hits are read from the answers alone.",
        "Metrics 页面属于 {other}，而非 {engine}：请去掉 --engine，或用 --metrics-url 指定正确的页面；"
        "命中数仅取自响应。",
    ),
    "probe.warn.busy": (
        "the server was not seen idle before the probe: {why}",
        "探测开始前未观察到服务空闲：{why}",
    ),
    "probe.warn.foreign": (
        "the counters counted other clients' requests beside {count} of the probe's: probe an idle server.",
        "有 {count} 次探测请求期间计数器包含其他客户端的流量，请在服务空闲时探测。",
    ),
    "probe.warn.unseen": (
        "{count} of the prompts moved no counter: another server answered them, or the metrics page is not its own.",
        "有 {count} 条 Prompt 未使任何计数器变化：由其他服务应答，或 Metrics 页面不属于该服务。",
    ),
    "probe.warn.other_blocks": (
        "the hit counters count blocks of {tokens} tokens, not of the stated {stated}.",
        "命中计数器以 {tokens} 个 Token 的 Block 计数，而非声明的 {stated}。",
    ),
    "probe.warn.second_try": (
        "the hit unit was found at the second try: the first readings contradicted each other.",
        "命中粒度在第二次测量时得出，第一次读数互相矛盾。",
    ),
    "probe.warn.capacity_odd": (
        "the capacity readings contradict each other: it is approximate at best.",
        "容量读数互相矛盾，结果仅供参考。",
    ),
    "probe.warn.lost": ("the server takes no connection any more: {why}", "服务已无法连接：{why}"),
    # Contradictions
    "probe.contra.block_size": (
        "the server says {stated}, it matches in {unit} tokens",
        "服务声明 Block Size 为 {stated}，实测命中粒度为 {unit} 个 Token",
    ),
    "probe.contra.caching_off": (
        "the server says that prefix caching is off, but prompts hit in units of {unit} tokens",
        "服务声明未启用 Prefix Cache，但 Prompt 按 {unit} 个 Token 命中",
    ),
    "probe.contra.inconsistent": (
        "the readings fit no hit unit: a prompt that shares {shared} tokens hit {hit} where the others say {wanted} "
        "(several caches behind one address, eviction, other clients or a router)",
        "读数与任何命中粒度都不符：共享 {shared} 个 Token 的 Prompt 命中 {hit}，按其他读数应为 {wanted}"
        "（可能是同一地址后有多个缓存、发生淘汰、有其他客户端或路由）",
    ),
    "probe.contra.counters_silent": (
        "the hit counters stay at 0 while an answer tells {usage} cached tokens of {length}",
        "命中计数器保持为 0，而响应称 {length} 个 Token 中有 {usage} 个命中缓存",
    ),
    "probe.contra.salt_ignored": (
        "the server takes {field} but keeps nothing apart by it: a prompt hit {hit} tokens cached under another salt",
        "服务接受 {field} 但并不隔离缓存：Prompt 命中了另一个 Salt 下缓存的 {hit} 个 Token",
    ),
    "probe.contra.reset_pretends": (
        "{path} answers HTTP {status} but empties nothing: a prompt still hits {hit} tokens",
        "{path} 返回 HTTP {status}，但缓存并未清空：Prompt 仍命中 {hit} 个 Token",
    ),
    "probe.contra.usage_zero": (
        "usage tells 0 cached tokens where the counters tell hits ({counted} of {length} tokens)",
        "usage 中命中为 0，而计数器显示 {length} 个 Token 中命中 {counted} 个",
    ),
    "probe.contra.usage_differs": (
        "usage tells {usage} cached tokens where the counters tell {counted} (of {length})",
        "usage 称命中 {usage} 个 Token，计数器为 {counted} 个（共 {length} 个）",
    ),
    "probe.contra.tokenizer": (
        "the local tokenizer is not the server's: {count} of {strings} strings encode otherwise ({names})",
        "本地 Tokenizer 与服务端不一致：{strings} 个字符串中 {count} 个编码不同（{names}）",
    ),
    # Who it is
    "probe.who.reference": (
        "It names itself; metrics as {adapter}'s.",
        "服务自报名称；指标格式与 {adapter} 相同。",
    ),
    "probe.who.by_metrics": ("Its metrics page tells.", "由 Metrics 页面判断。"),
    "probe.who.by_device": ("Its info route tells the device: {device}.", "信息接口给出的设备为 {device}。"),
    "probe.who.named": ("--engine names it.", "由 --engine 指定。"),
    "probe.who.by_info": ("Its info route tells; there is no metrics page.", "由信息接口判断，没有 Metrics 页面。"),
    "probe.who.untold": (
        "Neither a metrics page nor an info route tells.",
        "Metrics 页面与信息接口均未说明。",
    ),
    "probe.who.not_said": ("The server does not say.", "服务未说明。"),
    # Block size and hit unit
    "probe.block.untold": ("The server does not say.", "服务未说明。"),
    "probe.unit.found": (
        "{prompts} prompts that share up to {reach} tokens with a cached one fit it.",
        "与已缓存 Prompt 共享至多 {reach} 个 Token 的 {prompts} 条请求均符合。",
    ),
    "probe.by.counters": ("By the counters.", "读自计数器。"),
    "probe.by.usage": ("By the answers' usage.", "读自响应 usage。"),
    "probe.by.chat": (
        "Through the chat route: {head} tokens of its template stand before the words, {tail} behind.",
        "经 Chat 接口发送：模板在词语之前占 {head} 个 Token，之后占 {tail} 个。",
    ),
    "probe.place.rounded": (
        "Only a chat route, and hits told by a rounded rate: where the words stand behind the template ({around} "
        "tokens in all) cannot be told.",
        "仅有 Chat 接口，且命中数来自取整的比率：无法确定词语在模板（共 {around} 个 Token）之后的位置。",
    ),
    "probe.place.single": (
        "Only a chat route, and hits token by token: how many of the template's {around} tokens stand before the "
        "words cannot be told without a tokenize route for chats.",
        "仅有 Chat 接口，且按单个 Token 命中：没有支持对话的 Tokenize 接口，无法确定模板的 {around} 个 Token 中"
        "有多少在词语之前。",
    ),
    "probe.place.odd": (
        "Only a chat route, and what prompts hit fits no place of the words behind the template ({around} tokens in "
        "all).",
        "仅有 Chat 接口，且命中数与词语在模板（共 {around} 个 Token）之后的任何位置都不符。",
    ),
    "probe.drop.found": (
        "Matched units that are computed again: {drop}.",
        "匹配后仍重新计算的命中粒度数为 {drop}。",
    ),
    "probe.drop.chance": (
        "Blocks of {unit} tokens hit anywhere, so random ones are met by chance.",
        "{unit} 个 Token 的 Block 在任意位置均可命中，随机 Block 会偶然命中。",
    ),
    "probe.drop.unknown": ("As the hit unit.", "同命中粒度。"),
    "probe.unit.chunks": (
        "Chunks that their content bounds, of no one size; some end at {ends} tokens.",
        "按内容切分的 Chunk，大小不固定；部分边界位于 {ends} 个 Token 处。",
    ),
    "probe.unit.no_room": ("The model takes too short prompts to tell.", "模型可接受的长度过短，无法判断。"),
    "probe.unit.no_hit": (
        "No hit up to {reach} tokens: the unit is larger than that, or prefix caching is off.",
        "共享 {reach} 个 Token 仍无命中：命中粒度更大，或 Prefix Cache 未启用。",
    ),
    "probe.unit.one_step": (
        "Hits rise once only up to {reach} tokens, to {hit}: one step makes no unit.",
        "至 {reach} 个 Token 命中仅跃升一次（至 {hit}），不足以确定粒度。",
    ),
    "probe.unit.coarse": (
        "Hits are told by a rounded rate, to {slack} tokens: too coarse for a unit so small.",
        "命中数来自取整的比率，误差 {slack} 个 Token，不足以确定如此小的粒度。",
    ),
    "probe.unit.untold": (
        "Neither answers nor counters tell hits; TTFT of a first over a repeated prompt: {ratio}.",
        "响应与计数器均不提供命中数；首次与重复 Prompt 的 TTFT 之比：{ratio}。",
    ),
    "probe.unit.inconsistent": (
        "Inconsistent: {shared} shared tokens hit {hit}, the other readings say {wanted}.",
        "不一致：共享 {shared} 个 Token 命中 {hit}，按其他读数应为 {wanted}。",
    ),
    # Rules
    "probe.last.computed": (
        "{length} cached tokens sent again hit {hit}, with one more behind them {more}.",
        "已缓存的 {length} 个 Token 再次发送命中 {hit}，多一个 Token 时命中 {more}。",
    ),
    "probe.last.cached": (
        "{length} cached tokens sent again hit {hit}: the last one too.",
        "已缓存的 {length} 个 Token 再次发送命中 {hit}，包含末尾 Token。",
    ),
    "probe.last.odd": (
        "{length} cached tokens sent again hit {hit}, with one more {more}: no known rule.",
        "已缓存的 {length} 个 Token 再次发送命中 {hit}，多一个 Token 时命中 {more}，不符合已知规则。",
    ),
    "probe.last.no_room": ("The model takes too short prompts to tell.", "模型可接受的长度过短，无法判断。"),
    "probe.matching.chain": (
        "Behind another beginning {tokens} cached tokens hit nothing, moved or not.",
        "开头不同时，其后 {tokens} 个已缓存 Token 均不命中，无论是否移位。",
    ),
    "probe.matching.block": (
        "Cached blocks behind another beginning hit {hit} tokens.",
        "开头不同时，其后已缓存的 Block 仍命中 {hit} 个 Token。",
    ),
    "probe.matching.chunk": (
        "Cached tokens hit {hit} tokens even when moved by {shift}.",
        "已缓存内容移位 {shift} 个 Token 后仍命中 {hit} 个。",
    ),
    "probe.matching.no_room": ("The model takes too short prompts to tell.", "模型可接受的长度过短，无法判断。"),
    "probe.outputs.yes": (
        "A prompt and its answer ({prompt} + {output} tokens) sent again hit {hit}.",
        "Prompt 连同其回答（{prompt} + {output} 个 Token）再次发送命中 {hit}。",
    ),
    "probe.outputs.no": (
        "A prompt and its answer ({prompt} + {output} tokens) sent again hit {hit}: the prompt alone.",
        "Prompt 连同其回答（{prompt} + {output} 个 Token）再次发送命中 {hit}，仅为 Prompt 部分。",
    ),
    "probe.outputs.odd": (
        "A prompt and its answer ({prompt} + {output} tokens) sent again hit {hit}: neither rule.",
        "Prompt 连同其回答（{prompt} + {output} 个 Token）再次发送命中 {hit}，两种规则均不符。",
    ),
    "probe.outputs.texts": (
        "Prompts are not taken as ids here, so an answer cannot be sent again exactly.",
        "此处 Prompt 不以 ID 发送，无法逐 Token 续写回答。",
    ),
    "probe.outputs.no_ids": (
        "The server does not tell the ids of its answer's tokens.",
        "服务不返回输出 Token 的 ID。",
    ),
    # Ranks
    "probe.ranks.untold": ("The server does not say how many there are.", "服务未说明 DP 域数量。"),
    "probe.ranks.one": ("There is one.", "仅有一个。"),
    "probe.ranks.counted": (
        "Only the named rank's counters moved (0 and {last}).",
        "指定 0 与 {last} 时，仅对应 DP 域的计数器变化。",
    ),
    "probe.ranks.caches": (
        "A prompt hits on the rank that had it and not on the other (0 and {last}).",
        "Prompt 在处理过它的 DP 域命中，在另一个不命中（0 与 {last}）。",
    ),
    "probe.ranks.unreached": ("None of these led to a rank: {tried}.", "以下方式均未能指定 DP 域：{tried}。"),
    # Isolation
    "probe.salt.none": ("{framework} has no salt.", "{framework} 没有 Salt 参数。"),
    "probe.salt.separates": (
        "A prompt hits under the same {field}, and nothing under another.",
        "{field} 相同则命中，不同则不命中。",
    ),
    "probe.salt.ignored": ("{field} is taken and ignored: {detail}.", "{field} 被接受但被忽略：{detail}。"),
    "probe.salt.unknown_field": (
        "{field} keeps nothing apart here, and this release is not known to have it.",
        "{field} 未隔离缓存，且未知该版本支持此字段。",
    ),
    "probe.salt.refused": ("{field} is refused: {detail}.", "{field} 被拒绝：{detail}。"),
    "probe.salt.unproven": ("{field} could not be proven: {detail}.", "{field} 无法证实：{detail}。"),
    "probe.reset.none": ("{framework} has no route for it.", "{framework} 没有清空缓存的接口。"),
    "probe.reset.not_allowed": ("{path} was not tried (--no-reset).", "未尝试 {path}（--no-reset）。"),
    "probe.reset.absent": ("There is no {path} (HTTP {status}). {detail}", "没有 {path}（HTTP {status}）。{detail}"),
    "probe.reset.refused": ("{path} failed (HTTP {status}): {detail}.", "{path} 失败（HTTP {status}）：{detail}。"),
    "probe.reset.busy": (
        "{path} says that requests still run (HTTP {status}): {detail}.",
        "{path} 称仍有请求在运行（HTTP {status}）：{detail}。",
    ),
    "probe.reset.empties": (
        "A prompt that hit {before} tokens hits none after it.",
        "清空前 Prompt 命中 {before} 个 Token，清空后不命中。",
    ),
    "probe.reset.pretends": (
        "It answers HTTP {status}, but the prompt still hits {hit} tokens.",
        "返回 HTTP {status}，但 Prompt 仍命中 {hit} 个 Token。",
    ),
    "probe.reset.unproven": (
        "{path} answers HTTP {status}; nothing tells whether it emptied the cache.",
        "{path} 返回 HTTP {status}，无从判断缓存是否清空。",
    ),
    # Usage
    "probe.usage.null": ("No answer tells cached tokens.", "响应均未提供命中 Token 数。"),
    "probe.usage.unasked": ("No prompt was answered.", "没有 Prompt 得到响应。"),
    "probe.usage.agrees": (
        "In {answers} of {of} answers; {both} agree with the counters.",
        "{of} 条响应中 {answers} 条提供，{both} 条与计数器比对一致。",
    ),
    "probe.usage.alone": (
        "In {answers} of {of} answers; counters could be compared for {both}.",
        "{of} 条响应中 {answers} 条提供，{both} 条可与计数器比对。",
    ),
    "probe.usage.in_streams": (
        "In streams only, with stream_options.include_usage: {usage} cached tokens of {length}.",
        "仅流式响应（stream_options.include_usage）提供：{length} 个 Token 中命中 {usage} 个。",
    ),
    "probe.usage.zero": (
        "0 in all {count} answers whose prompts hit by the counters (e.g. {counted} of {length}; usage {usage}).",
        "计数器显示命中的 {count} 条响应中 usage 均为 {usage}（例如 {length} 个 Token 命中 {counted} 个）。",
    ),
    "probe.usage.differs": (
        "{count} answers differ from the counters, e.g. usage {usage}, counters {counted} of {length}.",
        "{count} 条响应与计数器不符，例如 usage 为 {usage}，计数器为 {counted}（共 {length}）。",
    ),
    # Tokenizer
    "probe.tokens.not_given": (
        "Not checked: no --tokenizer was given. The server has a tokenize route.",
        "未检查：未指定 --tokenizer。服务提供 Tokenize 接口。",
    ),
    "probe.tokens.not_given_no_route": (
        "Not checked: no --tokenizer was given. The server has no tokenize route.",
        "未检查：未指定 --tokenizer。服务没有 Tokenize 接口。",
    ),
    "probe.tokens.chat": (
        "Not checked: only a chat route and no tokenize route, and a template stands around every text.",
        "未检查：仅有 Chat 接口且没有 Tokenize 接口，文本前后均有模板。",
    ),
    "probe.tokens.no_answer": ("The server answered to none of the strings.", "服务未能处理任何测试字符串。"),
    "probe.tokens.by_ids": (
        "{agree} of {strings} strings at which tokenizers differ have the same ids.",
        "{strings} 个易分歧的字符串中 {agree} 个 ID 相同。",
    ),
    "probe.tokens.by_route_counts": (
        "{agree} of {strings} strings at which tokenizers differ have as many tokens; the route tells no ids.",
        "{strings} 个易分歧的字符串中 {agree} 个 Token 数相同；接口不返回 ID。",
    ),
    "probe.tokens.by_usage": (
        "{agree} of {strings} strings at which tokenizers differ have as many tokens by usage; no tokenize route.",
        "{strings} 个易分歧的字符串中 {agree} 个与 usage 的 Token 数相同；没有 Tokenize 接口。",
    ),
    "probe.tokens.differ": ("Otherwise: {names}.", "不一致：{names}。"),
    # Order
    "probe.order.kv_events": ("KV events at {endpoint}.", "KV 事件发布于 {endpoint}。"),
    "probe.order.no_kv_events": ("No KV events are published.", "未发布 KV 事件。"),
    "probe.order.kv_events_untold": (
        "Whether KV events are published is not told.",
        "服务未说明是否发布 KV 事件。",
    ),
    "probe.order.tracing": ("Tracing is on.", "已启用 Tracing。"),
    "probe.order.first_token": (
        "First tokens always tell one.",
        "首 Token 的先后始终可用。",
    ),
    # Capacity
    "probe.capacity.stated": (
        "For each engine.",
        "每个引擎的容量。",
    ),
    "probe.capacity.untold": ("The server does not say.", "服务未说明。"),
    "probe.capacity.not_asked": ("Not measured (--capacity).", "未实测（--capacity）。"),
    "probe.capacity.spread": (
        "Not measured: no DP rank can be reached by name.",
        "未实测：无法指定 DP 域。",
    ),
    "probe.capacity.at_least": (
        "A prompt was still whole after {held} tokens.",
        "写入 {held} 个 Token 后 Prompt 仍完整命中。",
    ),
    "probe.capacity.between": (
        "A prompt was whole after {held} tokens, and not after {lost}.",
        "写入 {held} 个 Token 后 Prompt 仍完整，写入 {lost} 个后不再完整。",
    ),
    "probe.capacity.time": ("Time was up before it was narrow.", "时间用尽，区间未收窄。"),
}
