"""What is wrong with a configuration, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

CONFIG: dict[str, str] = {
    # Block size and hit unit
    "{value} is not a multiple of block_size {block_size}": "{value} 不是 block_size {block_size} 的整数倍",
    "write {block_size} or a multiple of it, or leave it out": "请填写 {block_size} 或其整数倍，或省略该项",
    "measure it with `prefixcache probe --url URL --json` and give the report with --probe-report, name the framework "
    "with --engine NAME, or write a number": "请用 `prefixcache probe --url URL --json` 实测并以 --probe-report 给出"
    "报告，或用 --engine NAME 指定框架，或直接填写数值",
    # Target
    "write a number between 0 and 1, e.g. hit_ratio: 0.5": "请填写 0 至 1 之间的数，如 hit_ratio: 0.5",
    "stands here, but scope is global": "仅适用于 scope: per_group，而 scope 为 global",
    "remove it or write scope: per_group": "请删除该项，或写 scope: per_group",
    "{ratio} stands here, but scope is per_group": "已给出 {ratio}，但 scope 为 per_group，应逐组设目标",
    "give every group its own in `groups`, or write scope: global": "请在 `groups` 中为每个 Group 给出 hit_ratio，"
    "或写 scope: global",
    "is missing or empty, but scope is per_group": "缺失或为空，而 scope 为 per_group",
    "write groups: [{{id, hit_ratio}}] or scope: global": "请写 groups: [{{id, hit_ratio}}] 或 scope: global",
    "{ratio} contradicts prefix.groups, which gives {group} {own}": "{ratio} 与 prefix.groups 不一致："
    "后者为 {group} 给出 {own}",
    "group {group} has no target": "Group {group} 没有目标命中率",
    "group {group} and {more} more have no target": "Group {group} 等没有目标命中率（另有 {more} 个）",
    "give every group a hit_ratio; 0 where it shall share nothing": "请为每个 Group 给出 hit_ratio；不共享 Prefix 的填"
    " 0",
    "stands here, but mode replay takes no target: every request hits all it can": "replay 模式不设目标："
    "每条请求都命中其所能命中的全部 Token",
    "remove it, or choose another execution.mode": "请删除该项，或改用其他 execution.mode",
    "{ratio} stands here, but target.scope is not per_group": "已给出 {ratio}，但 target.scope 不是 per_group",
    "remove it or write target.scope: per_group": "请删除该项，或写 target.scope: per_group",
    # Groups
    "{name} is no prefix group": "没有名为 {name} 的 Prefix Group",
    "single_prefix has {count} groups": "single_prefix 只能有一个 Group，此处有 {count} 个",
    "write mode: multi_prefix, or one group": "请写 mode: multi_prefix，或只保留一个 Group",
    "multi_prefix has no groups": "multi_prefix 未给出 Group",
    "has no groups": "未给出 Group",
    "add `groups` or `group_count`": "请添加 `groups` 或 `group_count`",
    "list at least one group or leave it out": "请至少列出一个 Group，或省略该项",
    "let every id differ": "各 Group 的 id 不得重复，请修改",
    "request_weight and request_count are mixed, or missing from some groups": "各 Group 混用了 request_weight 与 "
    "request_count，或部分 Group 未给出",
    "give every group a `request_weight`, or every group a `request_count`": "请为全部 Group 统一给出 "
    "`request_weight`，"
    "或统一给出 `request_count`",
    "all {key} are 0": "所有 Group 的 {key} 均为 0",
    "give one group a positive {key}": "请至少为一个 Group 给出大于 0 的 {key}",
    "the groups of a file are not listed": "请求的 Group 来自文件，但未列出有哪些 Group",
    "add `groups: [{{id: ...}}, ...]` with every id of the file": "请添加 `groups: [{{id: ...}}, ...]`，"
    "列出文件中的全部 id",
    "list one group id per request": "请为每条请求列出一个 Group id",
    # Lengths
    "list one length per request": "请为每条请求列出一个长度",
    "move the median or the range": "请调整中位数或范围",
    "all weights are 0": "所有权重均为 0",
    "give at least one bin a positive weight": "请至少为一个区间给出大于 0 的权重",
    "write [low, high] with low < high": "请写 [low, high]，且 low < high",
    "[{low}, {high}] starts before the end of the bin before it, {end}": "区间 [{low}, {high}] 与前一区间重叠："
    "前一区间止于 {end}",
    "sort the bins and let none overlap": "请将区间按升序排列，且互不重叠",
    # Mode, routing, order
    "static_prefix_ratio needs a warm cache, but execution.mode {mode} starts cold": "static_prefix_ratio 要求缓存已预"
    "热，"
    "而 execution.mode {mode} 为冷启动",
    "write order_aware_global, or execution.mode: warmup": "请写 order_aware_global，或 execution.mode: warmup",
    "order_aware_global needs a cold start, but execution.mode {mode} starts warm": "order_aware_global 要求冷启动，"
    "而 execution.mode {mode} 从已预热的缓存开始",
    "write static_prefix_ratio, or execution.mode: progressive_prefix_fill": "请写 static_prefix_ratio，"
    "或 execution.mode: progressive_prefix_fill",
    "is {rounds}, but mode {mode} measures a cold start": "为 {rounds}，但 {mode} 模式测量冷启动，不预热",
    "write 0 or leave it out": "请填写 0，或省略该项",
    "is 0, but mode {mode} needs a warm cache": "为 0，但 {mode} 模式要求缓存已预热",
    "write at least 1 or leave it out": "请填写不小于 1 的数，或省略该项",
    "an order by prefix length ({within}, {across}) with routing policy {policy} over {domains} cache domains would "
    "move requests between domains while their prefixes are planned": "按 Prefix 长度排序（{within}，{across}）不能与 "
    "{domains} 个缓存域上的路由策略 {policy} 同用：规划 Prefix 时请求会在缓存域之间移动",
    "order by input length, or use policy bound or sticky": "请按输入长度排序，或采用策略 bound 或 sticky",
    "trajectory follows the send order, but the order ({within}, {across}) follows the planned prefixes": "trajectory "
    "按发送顺序规划，而发送顺序（{within}，{across}）又取决于所规划的 Prefix",
    "order by input length, or write objective: proportional": "请按输入长度排序，或写 objective: proportional",
    "group {group} has no domain": "未给出 Group {group} 的缓存域",
    "list every group": "请列出全部 Group",
    "list one domain per request": "请为每条请求列出一个缓存域",
    "{policy} contradicts sticky_routing and bind_prefix_group_to_dp, which mean {meant}": "{policy} 与 "
    "sticky_routing、"
    "bind_prefix_group_to_dp 矛盾，后者表示 {meant}",
    "stands beside request_domains": "不能与 request_domains 同时给出",
    "stands here, but the policy is {policy}": "仅适用于 policy: explicit，而策略为 {policy}",
    "remove it or write policy: explicit": "请删除该项，或写 policy: explicit",
    "explicit has no routes": "策略 explicit 未给出路由",
    "add `group_domains` or `request_domains`": "请添加 `group_domains` 或 `request_domains`",
    "domain {domain} is beyond dp_size {dp_size}": "缓存域编号 {domain} 超出 dp_size {dp_size}（编号从 0 开始）",
    "write 0 to {last}, or raise dp_size": "请填写 0 至 {last}，或增大 dp_size",
    "{mode} stands beside within_group or across_group": "{mode} 不能与 within_group 或 across_group 同时给出",
    "give either `mode` or `within_group`/`across_group`": "`mode` 与 `within_group`/`across_group` 请只保留一种",
    # Number of requests
    "the numbers of requests disagree: {counts}": "各处的请求数不一致：{counts}",
    "leave out request_count or make them equal": "请省略 request_count，或使各处一致",
    "write how many requests the dataset has": "请填写数据集的请求数",
    # Planning and validation
    "is false, but objective {objective} is exact by itself": "为 false，但目标函数 {objective} 本身即精确规划，"
    "无法关闭校准",
    "leave it out, or write objective: proportional": "请省略该项，或写 objective: proportional",
    "{value} is below pass_tolerance {tolerance}": "{value} 小于 pass_tolerance {tolerance}",
    "swap them": "请交换二者",
    "is given, but planning.assume is unbounded": "仅适用于 planning.assume: capacity，而 planning.assume 为 unbounded",
    "write planning.assume: capacity, or leave it out": "请写 planning.assume: capacity，或省略该项",
    "is missing: planning.assume is capacity": "缺失：planning.assume 为 capacity 时必填",
    "write the blocks of one cache domain, as the server tells them (num_gpu_blocks)": "请填写单个缓存域的 Block 数，"
    "以服务端报告的 num_gpu_blocks 为准",
    "is not block_size: planning.assume is capacity": "planning.assume 为 capacity 时须等于 block_size",
    "is {value}: planning.assume is capacity": "planning.assume 为 capacity 时不支持 {value}",
    "is false: planning.assume is capacity": "planning.assume 为 capacity 时不能为 false",
    "is an order by prefix length: planning.assume is capacity": "planning.assume 为 capacity 时不支持按 Prefix 长度排"
    "序",
    "order by input length": "请按输入长度排序",
    # Matching and collisions
    "is given, but cache_match_semantics is {semantics}": "仅适用于 cache_match_semantics: content_defined_chunk，"
    "而 cache_match_semantics 为 {semantics}",
    "leave it out, or write cache_match_semantics: content_defined_chunk": "请省略该项，"
    "或写 cache_match_semantics: content_defined_chunk",
    "replay hits all whole units, but a server with content_defined_chunk hits whole chunks": "replay 按完整命中粒度命"
    "中，"
    "而 content_defined_chunk 的服务端按完整 Chunk 命中",
    "choose another mode, or cache_match_semantics: independent_block or chained_prefix": "请改用其他模式，"
    "或写 cache_match_semantics: independent_block 或 chained_prefix",
    "chunks of {min} to {max} tokens, {mean} in the mean, never fill a hit unit of {unit} tokens, so that no chunk "
    "could end at a planned prefix": "{min} 至 {max} Token、平均 {mean} Token 的 Chunk 无法恰好填满 {unit} Token 的"
    "命中粒度，没有 Chunk 能在计划的 Prefix 处结束",
    "make hit_unit a multiple of chunk.min": "请使 hit_unit 为 chunk.min 的整数倍",
    "{name} {value} is more than {other} {limit}; window <= min <= hit_unit and min <= mean <= max are needed so that "
    "a chunk can end at every planned prefix": "{name} {value} 大于 {other} {limit}；须满足 window <= min <= hit_unit "
    "且 min <= mean <= max，Chunk 才能在每个计划的 Prefix 处结束",
    "change the chunk lengths, or hit_unit": "请调整 Chunk 长度或 hit_unit",
    # Tokenizer, sources, prompts
    "{value} is blank": "{value} 为空白",
    "is blank": "为空白",
    "name a folder or a hub name, or write embedded": "请填写目录或 Hub 名称，或写 embedded",
    "ids cannot be sent to a chat route": "Chat 接口不接受 Token ID",
    "write form: text, or format: completion": "请写 form: text，或 format: completion",
    "write a text or leave it out": "请填写文本，或省略该项",
    "{name} stands beside `path`": "{name} 不能与 `path` 同时给出",
    "name a file, or a hub data set by `name`, for source: text": "source 为 text 时，请用 path 指定文件，"
    "或用 `name` 指定 Hub 数据集",
    "name a file or folder, or leave it out": "请填写文件或目录，或省略该项",
    "means nothing with source: {source}": "source 为 {source} 时不起作用",
    "remove it, or write source: text or gsm8k": "请删除该项，或写 source: text 或 gsm8k",
    "write the name of a column": "请填写列名",
    "name each column once": "每列请只写一次",
    "{number} is beyond the {count} samples of the synthetic source": "样本编号 {number} 超出合成数据源的 {count} 个样"
    "本",
    "write at most {last}, or use a source of your own": "请填写不大于 {last} 的数，或使用自有数据源",
    "list sample numbers for selection {selection}": "selection 为 {selection} 时请列出样本编号",
    "means nothing with selection {selection}": "selection 为 {selection} 时不起作用",
    "write selection: fixed or fixed_cycle, or remove it": "请写 selection: fixed 或 fixed_cycle，或删除该项",
    "names a sample twice": "样本编号重复",
    "list each sample once": "每个样本请只列一次",
    "write selection: index, or remove it": "请写 selection: index，或删除该项",
    "{selection} needs samples, and random_tokens has none": "{selection} 需要样本，而 random_tokens 没有样本",
    "write selection: random": "请写 selection: random",
    # Output
    "names a format twice": "格式重复",
    "names no format": "未给出任何格式",
    "write parquet, jsonl, or both": "请写 parquet、jsonl 或两者",
    "ids keeps no text, but prompt.format chat sends texts": "ids 不保存文本，而 prompt.format 为 chat 时需发送文本",
    "write prompts: both or text, or prompt.format: completion": "请写 prompts: both 或 text，"
    "或 prompt.format: completion",
    "ids keeps no text, but prompt.form is text": "ids 不保存文本，而 prompt.form 为 text",
    "write prompts: both or text, or leave out prompt.form": "请写 prompts: both 或 text，或省略 prompt.form",
    "text leaves the token ids to the Parquet shards, which are not among output.formats": "text 仅在 Parquet 分片中保"
    "存 "
    "Token ID，而 output.formats 不含 parquet",
    "write prompts: both, or formats: [parquet, jsonl]": "请写 prompts: both，或 formats: [parquet, jsonl]",
    "text keeps no token ids to send, but prompt.form ids makes prompts without a text": "text 不保存可供发送的 Token "
    "ID，"
    "而 prompt.form 为 ids 时 Prompt 没有文本",
    "write prompts: both or ids, or leave out prompt.form": "请写 prompts: both 或 ids，或省略 prompt.form",
}
