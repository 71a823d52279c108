"""What a workload cannot be, and files of lengths and names, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

# What would make a target reachable; how much can be reached then is said behind each.
_CHANGES: dict[str, str] = {
    "Raise request_count from {current} to {needed}": "将 request_count 从 {current} 增加到 {needed}",
    "Raise the requests per group from {current} to {needed} on average": "将每组平均请求数从 {current} 增加到"
    " {needed}",
    "Reduce the prefix groups from {current} to {needed} of equal size": "将 Prefix Group 从 {current} 个减少到"
    " {needed} "
    "个（平均分配）",
    "Cap the longest request at {needed} tokens instead of {current}": "将最长请求从 {current} Token 限制到 {needed} "
    "Token",
    "Lower prefix.minimum_non_shared_length from {current} to {needed}": "将 prefix.minimum_non_shared_length 从"
    " {current} "
    "降低到 {needed}",
    "Use execution.mode: warmup with target.semantics: static_prefix_ratio, so that no request pays for the cold "
    "start": "改为预热模式：execution.mode: warmup 与 target.semantics: static_prefix_ratio，避免冷启动损失",
    "Use {needed} cache domains instead of {current}": "将缓存域从 {current} 个减少到 {needed} 个",
    "Use a server whose hit unit is {needed} tokens instead of {current}": "使用命中粒度为 {needed} Token 的服务端"
    "（当前 {current}）",
    "Use a server whose hit unit is {needed} tokens instead of {current} and whose blocks are no larger than that, "
    "instead of {block}": "使用命中粒度为 {needed} Token（当前 {current}）且 Block 不大于此（当前 {block}）的服务端",
    "Use a server whose blocks are {needed} tokens instead of {current}, with as many of them": "使用 Block 为"
    " {needed} "
    "Token（当前 {current}）且 Block 数相同的服务端",
    "Use a cache of {needed} blocks per domain instead of {current}": "将每个缓存域的 Block 数从 {current} 增加到"
    " {needed}",
    "Send one group after the other: request_order.across_group {needed} instead of {current}": "逐个 Group 发送："
    "将 request_order.across_group 从 {current} 改为 {needed}",
}
_REACHED = {
    "{change} (then {{reached}} can be reached)": "{change}（可达 {{reached}}）",
    "{change} (then {{reached}} can be reached; the search was cut short, less may do)": "{change}（可达 {{reached}}；"
    "搜索提前结束，或有更小的改动）",
}
WORKLOAD: dict[str, str] = {
    # Groups
    "{count} requests are assigned to groups, the dataset has {requests}": "为 {count} 条请求指定了 Group，"
    "而数据集有 {requests} 条请求",
    "give one group id per request": "请为每条请求给出一个 Group id",
    "the groups' request_count sum to {sum}, the dataset has {requests} requests": "各 Group 的 request_count 合计"
    " {sum}，"
    "而数据集有 {requests} 条请求",
    "make them equal": "请使二者一致",
    # Files of lengths and names
    "{file} holds no lengths": "{file} 中没有长度",
    "name a file with lengths": "请指定含有长度的文件",
    "{file} entry {number} is {value}, not a length": "{file} 第 {number} 项为 {value}，不是有效长度",
    "lengths are 1 to {most} tokens": "长度须为 1 至 {most} Token",
    "check the path": "请检查路径",
    "{file} cannot be read as lengths: {reason}": "{file} 无法按长度读取：{reason}",
    "{file} cannot be read: {reason}": "{file} 无法读取：{reason}",
    "{file} has no column {column}; it has: {columns}": "{file} 没有列 {column}；现有列：{columns}",
    "name one of them": "请指定其中之一",
    "{file} is empty": "{file} 为空",
    "name a file with one entry per request": "请指定每条请求占一项的文件",
    "expected a list of whole numbers": "应为整数列表",
    "expected a list of texts or whole numbers": "应为文本或整数的列表",
    "column {column} holds something else than whole numbers": "列 {column} 含有非整数的值",
    "column {column} holds something else than texts or whole numbers": "列 {column} 含有文本与整数以外的值",
    "invalid literal for int() with base 10: {value}": "{value} 不是整数",
    # Lengths
    "no request may be shorter than {shortest} tokens (head, tail and one of its own), max is {max}": "请求不得短于 "
    "{shortest} Token（公共头部、尾部与至少一个自有 Token），而 max 为 {max}",
    "raise it to {shortest} at least": "请至少提高到 {shortest}",
    "{count} explicit lengths, but request_count is {requests}": "列出了 {count} 个长度，而 request_count 为"
    " {requests}",
    "{count} explicit lengths, but the group has {requests} requests": "列出了 {count} 个长度，"
    "而该 Group 有 {requests} 条请求",
    "leave out request_count or give one length per request": "请省略 request_count，或为每条请求给出一个长度",
    "give one length per request of the group": "请为该 Group 的每条请求给出一个长度",
    "no bin holds a length of at least {shortest}": "没有区间包含不小于 {shortest} 的长度",
    "raise the bins' ranges": "请提高各区间的范围",
    "the file has {usable} usable lengths, {needed} are needed without replacement": "文件中有 {usable} 个可用长度，"
    "不放回抽样需要 {needed} 个",
    "write replacement: true, or ask for fewer requests": "请写 replacement: true，或减少请求数",
    "no usable length in the file": "文件中没有可用的长度",
    "name another column": "请指定其他列",
    "{count} requests are shorter than the {shortest} tokens that head, tail and one token of their own take; the "
    "first, request {request}, has {tokens}": "{count} 条请求短于 {shortest} Token（公共头部、尾部与一个自有 Token 所"
    "需）；"
    "首条为请求 {request}，长 {tokens} Token",
    "ask for at least {shortest} tokens": "请将长度设为至少 {shortest} Token",
    "{count} requests are longer than max_model_len {most}; the first, request {request}, has {input} input + {output} "
    "output tokens": "{count} 条请求超过 max_model_len {most}；首条为请求 {request}，输入 {input} + 输出 {output} "
    "Token",
    "lower input_length or output_length, or raise max_model_len to the server's real limit": "请减小 input_length 或 "
    "output_length，或将 max_model_len 提高到服务端的实际上限",
    # Routes
    "{count} requests have a domain, the dataset has {requests}": "为 {count} 条请求指定了缓存域，"
    "而数据集有 {requests} 条请求",
    "give one domain per request": "请为每条请求给出一个缓存域",
    "entry {number} is domain {domain}, beyond dp_size {dp_size}": "第 {number} 项为缓存域 {domain}，超出 dp_size "
    "{dp_size}（编号从 0 开始）",
    "{value} is no domain": "{value} 不是缓存域编号",
    "write whole numbers from 0": "请填写从 0 开始的整数",
    # Plans that cannot be made
    "minimal_prefix with a hit_drop of {drop} units above the shared head of {head} is planned for one prefix group in "
    "one cache domain at a time, not for {count} together": "hit_drop（{drop} 个命中单元）大于公共头部（{head} 个）时，"
    "minimal_prefix 只能对单个缓存域中的单个 Prefix Group 规划，此处共 {count} 个",
    "write objective: proportional, or target.scope: per_group with one cache domain": "请写 objective: proportional，"
    "或采用 target.scope: per_group 且仅一个缓存域",
    "with a shared head the group that sends first pays for it, and with across_group {across} that depends on the "
    "prefixes being planned, so single groups' targets cannot be met exactly": "公共头部的冷启动损失由先发送的 Group "
    "承担，而 across_group 为 {across} 时发送先后取决于所规划的 Prefix，无法精确满足各 Group 的目标",
    "order by input length, interleave or grouped, or write target.scope: global": "请按输入长度排序，或采用 "
    "interleave、grouped，或写 target.scope: global",
    "{count} requests are too short to share one unit of {unit} tokens beyond the head and keep {kept} of their own; "
    "the first is request {request}": "{count} 条请求过短，无法在公共头部之外共享一个 {unit} Token 的命中单元并保留 "
    "{kept} 个自有 Token；首条为请求 {request}",
    "{count} requests are too short to share one unit of {unit} tokens and keep {kept} of their own; the first is "
    "request {request}": "{count} 条请求过短，无法共享一个 {unit} Token 的命中单元并保留 {kept} 个自有 Token；"
    "首条为请求 {request}",
    "ask for longer requests, lower prefix.minimum_non_shared_length, or write on_cannot_share: list": "请增加请求长度"
    "，"
    "降低 prefix.minimum_non_shared_length，或写 on_cannot_share: list",
    # Why a verdict is not PASS: parts are joined by "; ", so that a place at an end may hold another part
    "group {group}": "Group {group}",
    "a hit ratio of {target} % cannot be reached, {least} % at least": "目标命中率 {target} % 不可达，最少为 {least} %",
    "a hit ratio of {target} % cannot be reached, {least} % at least: {reason}": "目标命中率 {target} % 不可达，最少为 "
    "{least} %：{reason}",
    "the targets of {missed} of {groups} prefix groups cannot be reached": "{groups} 个 Prefix Group 中有 "
    "{missed} 个的目标不可达",
    "the targets of {missed} of {groups} prefix groups cannot be reached: {reason}": "{groups} 个 Prefix Group 中有 "
    "{missed} 个的目标不可达：{reason}",
    "raise the target, or use a tokenizer or chat template with a shorter head": "请提高目标，或使用公共头部更短的 "
    "Tokenizer 或对话模板",
    "plan for larger caches (planning.num_blocks)": "请按更大的缓存规划（planning.num_blocks）",
    "plan for larger caches (planning.num_blocks), or: {hint}": "请按更大的缓存规划（planning.num_blocks），或：{hint}",
    "group {group}: {most} of {tokens} input tokens can hit at most, its target needs {goal}": "Group {group}："
    "{tokens} 个输入 Token 中最多可命中 {most} 个，目标需要 {goal}",
    "below the minimum: all prompts begin with the same {head} tokens, so {least} of {tokens} input tokens hit "
    "whatever is planned, the target asks for {goal}": "低于下限：所有 Prompt 共有 {head} Token 的公共头部，{tokens} 个"
    "输入 Token 中至少命中 {least} 个，目标仅需要 {goal}",
    "{group}: below the minimum: all prompts begin with the same {head} tokens, so {least} of {tokens} input tokens "
    "hit whatever is planned, the target asks for {goal}": "{group}：低于下限：所有 Prompt 共有 {head} Token 的公共头"
    "部，"
    "{tokens} 个输入 Token 中至少命中 {least} 个，目标仅需要 {goal}",
    "and {count} more groups": "另有 {count} 个 Group",
    "{kept} tokens stay unshared (own tokens and alignment to {unit})": "{kept} Token 不共享（自有 Token 与 {unit} "
    "Token "
    "对齐）",
    "{lost} are lost to cold starts in 1 lane": "{lost} Token 因 1 条缓存通道（缓存域 × Group）冷启动而损失",
    "{lost} are lost to cold starts in {lanes} lanes": "{lost} Token 因 {lanes} 条缓存通道（缓存域 × Group）"
    "冷启动而损失",
    "of every match the engine drops {drop} tokens (hit_drop)": "每次匹配引擎丢弃 {drop} Token（hit_drop）",
    "{count} requests are too short to share anything": "{count} 条请求过短，无法共享任何 Prefix",
    "{count} requests are too short to share anything but the head": "{count} 条请求过短，只能共享公共头部",
    "no request is long enough to share one unit of {unit} tokens and keep {kept} of its own": "所有请求都过短，"
    "无法共享一个 {unit} Token 的命中单元并保留 {kept} 个自有 Token",
    "with caches of {blocks} blocks {hits} of {tokens} input tokens hit in the best of {tries} plans that were tried, "
    "the target needs {goal}": "每个缓存 {blocks} 个 Block 时，所试 {tries} 个方案中最好的在 {tokens} 个输入 Token 中"
    "命中 "
    "{hits} 个，目标需要 {goal} 个",
    "of {tries} plans that were tried with caches of {blocks} blocks none comes nearer to the target": "每个缓存"
    " {blocks} "
    "个 Block 时，所试 {tries} 个方案均不能更接近目标",
    "the target was missed by more than pass_tolerance; planning.block_residual_calibration is off": "与目标的偏差超过 "
    "pass_tolerance；planning.block_residual_calibration 已关闭",
    "granularity: half a unit of {unit} tokens is {share} of {tokens} input tokens, more than pass_tolerance "
    "{tolerance}; {enough}": "数据集过小（granularity）：半个 {unit} Token 的命中单元占 {tokens} 个输入 Token 的"
    " {share}，"
    "超过 pass_tolerance {tolerance}；{enough}",
    "granularity: half a unit of {unit} tokens is {share} of {tokens} input tokens of its smallest group, more than "
    "pass_tolerance {tolerance}; {enough}": "数据集过小（granularity）：半个 {unit} Token 的命中单元占最小 Group 的 "
    "{tokens} 个输入 Token 的 {share}，超过 pass_tolerance {tolerance}；{enough}",
    "{tokens} input tokens would pass": "输入 Token 达到 {tokens} 个即可通过",
    "no size passes tolerance 0": "容差为 0 时任何规模都无法通过",
    # What would make a target reachable
    **{
        english.format(change=change): chinese.format(change=changed)
        for change, changed in _CHANGES.items()
        for english, chinese in _REACHED.items()
    },
    "Raise {field} to {least} at least: so much the common head hits alone": "将 {field} 提高到至少 {least}："
    "公共头部自身即可命中这么多",
    "Raise target.hit_ratio to {least} at least: so much hits whatever is planned": "将 target.hit_ratio 提高到至少 "
    "{least}：任何方案都会命中这么多",
}
