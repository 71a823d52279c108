"""Cache models and simulation, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

SIMULATION: dict[str, str] = {
    # Settings of a model
    "write at least {least}": "请填写不小于 {least} 的数",
    "{value} is no share": "{value} 不是有效比例",
    "write 0 to less than 1": "请填写不小于 0 且小于 1 的数",
    "{value} is not a time": "{value} 不是有效时长",
    "write 0 or more": "请填写不小于 0 的数",
    "steps take no time": "step 与 token 的耗时均为 0",
    "write a step or a token above 0": "请将 step 或 token 设为大于 0 的值",
    "the server does not tell its {name}": "服务端未给出 {name}",
    "write it, as the server was started": "请按服务端的启动参数填写",
    "the trace's blocks have {found} tokens, the server's {wanted}": (
        "Trace 的 Block 为 {found} Token，服务端为 {wanted} Token"
    ),
    "use the same size for both": "请使二者一致",
    "{requests} requests, {domains} domains, {gates} gates": (
        "请求 {requests} 条、缓存域 {domains} 项、门控 {gates} 项，三者数量不一致"
    ),
    "give one of each per request": "请为每条请求各给出一项",
    "domains {first} to {last} of {count}": "缓存域编号为 {first} 至 {last}，而缓存域共 {count} 个",
    "write 0 to {last}": "请填写 0 至 {last} 之间的数",
    # Requests larger than a cache
    "request {request} needs {needed} blocks for {input} input and {output} output tokens, the pool has {usable} to "
    "use (one is the null block)": (
        "请求 {request} 的 {input} 个输入与 {output} 个输出 Token 需要 {needed} 个 Block，Block 池可用 {usable} 个"
        "（另有一个为 Null Block）"
    ),
    "request {request} needs {needed} blocks of {unit} tokens for {input} input and {output} output tokens, a pool of "
    "{blocks} has {usable} to use (one is the null block); vLLM would not start with so long a max_model_len": (
        "请求 {request} 的 {input} 个输入与 {output} 个输出 Token 需要 {needed} 个 Block（每个 {unit} Token），"
        "容量 {blocks} 的 Block 池可用 {usable} 个（另有一个为 Null Block）；"
        "max_model_len 如此之长时 vLLM 无法启动"
    ),
    "write at least {least}, or leave out longer requests": "请填写不小于 {least} 的数，或去掉过长的请求",
    "{blocks} blocks leave none to use: one is vLLM's null block": (
        "Block 数为 {blocks} 时没有可用的 Block：其中一个是 vLLM 的 Null Block"
    ),
    "request {request} with {input} input and {output} output tokens does not fit into a cache of {tokens} tokens in "
    "pages of {unit}": (
        "请求 {request} 有 {input} 个输入与 {output} 个输出 Token，超出 {tokens} Token 的缓存（每页 {unit} Token）"
    ),
    "the device cache does not tell what it evicts": "设备侧缓存未给出被淘汰的 Block",
    "make it with tell_evicted=True": "请以 tell_evicted=True 创建",
    # Engines and options
    "{engine} is unknown here": "此处不支持 {engine}",
    "is {blocks}, the engine unbounded": "为 {blocks}，而引擎 unbounded 的容量不受限",
    "leave one of them out": "请去掉其中一项",
    "an unbounded cache has no sizes to sweep": "unbounded 的容量不受限，没有可扫描的容量",
    "use --engine lru, vllm or sglang": "请用 --engine lru、vllm 或 sglang",
    "{name} is no pass": "{name} 不是轮次名称",
    "requests in flight are modelled for vllm, not for {engine}": "并发请求仅对 vllm 建模，不支持 {engine}",
    "leave it out, or use --engine vllm": "请删除该项，或使用 --engine vllm",
    "requests in flight need a pool of a size": "模拟并发请求须给出 Block 数",
    "write the server's number of blocks per domain (vLLM prints it when it starts: num_gpu_blocks)": (
        "请填写服务端每个缓存域的 Block 数（vLLM 启动时会打印 num_gpu_blocks）"
    ),
    "the dataset has no warmup prompts": "数据集中没有 Warmup 请求",
    "choose cold or replay, or generate it with execution.mode warmup or compare": (
        "请选择 cold 或 replay，或以 execution.mode 为 warmup 或 compare 重新生成"
    ),
    "the dataset was made for hit units {units}; at {unit} tokens its requests hit otherwise than designed": (
        "数据集按命中粒度 {units} 生成；粒度为 {unit} Token 时，请求的命中与理论值不同"
    ),
    "the eviction of {engine} caches was not measured on an engine; it is taken as LRU": (
        "{engine} 缓存的淘汰策略未经引擎实测，按 LRU 处理"
    ),
    "leave out --sweep": "请去掉 --sweep",
    "{engine} caches complete blocks only": "{engine} 仅缓存完整的 Block",
    "leave it out, or use --engine lru": "请删除该项，或使用 --engine lru",
    "{blocks} is no number of blocks": "{blocks} 不是有效的 Block 数",
    "write whole numbers from 1 to {most}, or {unbounded}, with commas between them": (
        "请填写 1 至 {most} 的整数或 {unbounded}，以逗号分隔"
    ),
    # Routes
    "{policy} cannot be used with a trace, whose requests have no groups": (
        "{policy} 不能用于 Trace：其中的请求不分 Group"
    ),
    "{policy} is no routing policy": "{policy} 不是路由策略",
    "requests are planned for domain {domain}, there are {count} domains": (
        "有请求计划发往缓存域 {domain}，但缓存域只有 {count} 个"
    ),
    "write at least {least}, or name another policy with --routing": (
        "请填写不小于 {least} 的数，或用 --routing 指定其他策略"
    ),
    "the dataset lists the domain of each request among {made}, {asked} are asked for": (
        "数据集逐条指定了请求的缓存域（共 {made} 个），与要求的 {asked} 个不符"
    ),
    "name a policy with --routing, or leave --dp out": "请用 --routing 指定策略，或去掉 --dp",
    # Runs that lead a model
    "give the directory that `prefixcache run` wrote": "请指定 `prefixcache run` 输出的目录",
    "the run has no pass {name}": "该次运行没有轮次 {name}",
    "the run's server is {engine}: a record leads the model of vllm only": (
        "该次运行的服务端为 {engine}：KV 事件记录仅能驱动 vllm 的模型"
    ),
    "choose a run on vLLM": "请选择在 vLLM 上的运行",
    "a pool of a size is needed": "须给出 Block 数",
    "write the server's blocks": "请填写服务端的 Block 数",
}
