"""The page in Chinese."""

from __future__ import annotations

from benchmarks.fidelity.page import Language

CHINESE = Language(
    title="真实引擎对照：设计命中、仿真命中与实测命中",
    opening=(
        "本页所有数字的单位都是 Token。数据集由 `prefixcache generate` 的各阶段生成，由 `prefixcache run` 的执行器发往"
        "CPU 上的真实服务；模型是随机权重的极小模型，Tokenizer 是真实的 Qwen Tokenizer（前缀缓存与权重无关）。"
        "*设计* 是数据集的声明，"
        "*仿真* 是把服务自身的规格告诉 `prefixcache simulate --dataset` 后得到的结果，*实测* 是服务自身计数器的差值；"
        "逐请求命中取自响应的 usage。\n\n"
        "```bash\n"
        "python -m benchmarks.fidelity        # 准备环境、执行全部场景并写出本页\n"
        "python -m benchmarks.fidelity --help # 可只选部分引擎或章节\n"
        "```"
    ),
    heads={
        "vllm-design": "vLLM，{size:,} 个 Block × {unit} Token，数据并行 Rank 数：{ranks}",
        "vllm-model": "vLLM，淘汰：{size} 个 Block × {unit} Token，逐条发送",
        "vllm-flight": "vLLM，并发：{size} 个 Block × {unit} Token，每步 {budget} Token，最多 {sequences} 条序列",
        "vllm-tier": "vLLM 加外部缓存层",
        "sglang-design": "SGLang，{size:,} Token，页大小 {unit}",
        "sglang-model": "SGLang，淘汰：{size:,} Token，页大小 {unit}，逐条发送",
    },
    notes={
        "design": "容量充足。声明：设计 = 实测，逐 Token 相等。",
        "model": "缓存小于计划所需，因此命中低于设计。声明：仿真 = 实测，总量与每条请求都逐 Token 相等。",
        "flight": (
            "缓存池过小且请求相互重叠，结果取决于时间。*逐条* 是按发送顺序的缓存池模型，*并发* 是只知道发送顺序、"
            "用默认节奏的调度器模型。*按 KV 事件* 是运行时记录的事件直接给出的命中："
            "一条请求写入的第一个 Block 从其命中结束处开始；只有没有写入自己 Block 的请求才取模型的结果。"
            "*按步引导的模型* 仍是调度器模型，只是让每条请求在事件显示的那一步进入。"
            "它可能有误差：事件只记录完整的 Block，未填满 Block 的 Token 占用了该步的预算却不可见；"
            "没有写入 Block 的步也不产生事件，这样的步有多少、哪些请求已经结束，只能由客户端的时刻推断。"
            "误差单位为输入 Token 的百分点。最后一列是命中数直接由事件给出（不经过模型）且与响应一致的请求数。"
        ),
        "tier": (
            "外部层是 vLLM 的 ExampleConnector，把 Prompt 存在磁盘上。两次运行之间只清空了本地缓存，"
            "外部层没有清空（尽管服务回答已清空）。本地命中仍等于设计；每条 Prompt 余下的部分，直到最后一个完整 Block，"
            "都来自外部层；只有长度比整数个 Block 多 1 个 Token 的 Prompt 除外，Connector 存它与查它用的名字不同。"
        ),
    },
    columns={
        "design": ("场景", "并发", "请求数", "输入", "设计", "仿真", "实测", "实测 − 设计", "命中不同的请求"),
        "model": ("场景", "并发", "请求数", "输入", "设计", "仿真", "实测", "实测 − 仿真", "命中不同的请求"),
        "flight": (
            "场景", "并发", "请求数", "输入", "设计", "逐条", "并发模型", "按 KV 事件", "按步引导的模型", "实测",
            "逐条误差", "并发模型误差", "按 KV 事件误差", "按步引导的模型误差", "事件直接给出命中的请求",
        ),
        "tier": (
            "场景", "并发", "请求数", "输入", "设计", "实测", "外部层预期", "外部层实测", "差", "命中不同的请求",
        ),
    },
    summary=(
        "**概要。** 声明精确之处：{passes} 个 Pass，{requests} 条请求，全部计数器的差合计 {tokens} Token，"
        "命中不同的请求 {off} 条。"
        "缓存池过小且有并发时共 {flights} 次运行：按逐条模型最大误差 {simulated} pp，只凭发送顺序 {in_flight} pp，"
        "按记录的 KV 事件（事件直接给出的命中）{from_events} pp。按步引导的模型只从事件取步的次序、命中由模型算出，"
        "最大误差 {clocked} pp（{flights} 次运行中 {led_off} 次不同）。"
    ),
    limits=(
        "没有建模的部分",
        (
            "服务的快慢。并发模型只知道发送顺序和规格；步长与客户端的节奏取默认值，本页全部如此。"
            "`simulate --like RUN --calibrate` 可按一次运行的时刻标定，"
            "但命中并没有因此更接近实测（见 cache-models.md）。"
            "KV 事件可代替它：`simulate --clocked-by RUN`。",
            "SGLang 在并发下的淘汰：只对逐条发送建模。",
            "异步调度（GPU 上 vLLM 的默认值）：Block 晚一步释放。",
            "混合（类 Mamba）模型、投机解码、上下文并行：由 `hit_unit` 与 `hit_drop` 按公式覆盖；此处未运行这类模型。",
            "服务自带负载均衡的去向：Rank 由请求头固定；发往多 Rank 服务而不固定时只给出警告。",
            "除 vLLM ExampleConnector 以外的外部层；LMCache、Mooncake、UCM 各有自己的策略。",
            "vLLM-Ascend、MindIE 与 GPU：此处没有在其上运行。",
            "一次多个回答（`n` > 1）、一次调用多条 Prompt、Prompt logprobs：`run` 不会发送。",
        ),
    ),
    absent="此处未执行：",
    where="{engine} {version}，{cpu}（{cpus} 核，负载 {load}），{model}，prefixcache {prefixcache}。",
    scenarios={
        "one group, one at a time": "单 Group，逐条",
        "one group, 16 at a time": "单 Group，并发 16",
        "three groups interleaved, one at a time": "3 个 Group 交错，逐条",
        "three groups interleaved, 16 at a time": "3 个 Group 交错，并发 16",
        "three groups, all shuffled": "3 个 Group，全部打乱",
        "one group, longest first": "单 Group，长的在前",
        "shortest prefix first": "前缀短的在前",
        "longest prefix first": "前缀长的在前",
        "group after group": "逐个 Group",
        "weighted interleave": "加权交错",
        "no gates: totals": "无门控：只比总量",
        "warm, no gates": "预热，无门控",
        "warm, one group": "预热，单 Group",
        "compare": "compare（冷、热两个 Pass）",
        "compare, salted": "compare，用 salt 隔离",
        "replay": "重放",
        "token ids": "发送 Token ID",
        "random tokens as ids": "随机 Token，发送 ID",
        "chat": "对话",
        "chat, a system message of three blocks": "对话，system 消息占 3 个 Block",
        "a common opening": "公共开头",
        "outputs of 40 tokens": "输出 40 Token",
        "targets by group": "按 Group 设目标",
        "fewest shared tokens": "共享 Token 最少（minimal_prefix）",
        "along the target": "沿目标（trajectory）",
        "groups bound to ranks, one at a time": "Group 绑定 Rank，逐条",
        "groups bound to ranks, 16 at a time": "Group 绑定 Rank，并发 16",
        "round robin": "轮询",
        "round robin by group, compare": "按 Group 轮询，compare",
        "random routes": "随机路由",
        "interleaved": "交错",
        "shuffled": "打乱",
        "longest first": "长的在前",
        "outputs of 20 tokens": "输出 20 Token",
        "warm": "预热",
        "outputs of one token": "打乱，输出 1 Token",
        "six groups": "打乱，6 个 Group",
        "unseen prompts": "未见过的 Prompt",
        "the same prompts again": "同样的 Prompt 再发一次",
    },
    gatings={"watermark": "水位门控", "first_token": "首 Token 门控", "completion": "完成门控", "none": "无门控"},
)  # fmt: skip
