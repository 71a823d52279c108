"""What `simulate` says of recorded runs and slower tiers, in Chinese: forms as in :mod:`.text`."""

from __future__ import annotations

LIKE_FORMS: tuple[tuple[str, str], ...] = (
    (
        r"the run does not tell its server's (\S+): vLLM's defaults are taken \((.+)\); start vLLM with "
        r"VLLM_SERVER_DEV_MODE=1 for the run, or give the flags",
        "运行记录中没有服务的 {0}，取 vLLM 的默认值（{1}）；"
        "运行时请以 VLLM_SERVER_DEV_MODE=1 启动 vLLM，或在命令行给出",
    ),
    (
        r"the run sent at given times \(open loop\): simulated one at a time; give --concurrency for requests in "
        r"flight",
        "该次运行按给定时刻发送（开环）：按逐条模拟；如需并发请给出 --concurrency",
    ),
    (
        r"the run does not tell its concurrency: simulated one at a time; give --concurrency for requests in flight",
        "运行记录中没有并发数：按逐条模拟；如需并发请给出 --concurrency",
    ),
    (
        r"(\d+) requests in flight are modelled for vllm with a number of blocks only: simulated one at a time",
        "并发 {0} 仅对给定 Block 数的 vllm 建模：按逐条模拟",
    ),
    (
        r"the run's server is (\S+), which is not modelled: (\S+) is taken",
        "该次运行的服务是 {0}，没有相应的模型：按 {1} 处理",
    ),
    (
        r"the run had (\d+) caches, the dataset is made for one that all requests share: simulated as made; "
        r"with --dp \d+ its requests are spread",
        "该次运行有 {0} 个缓存，而数据集按全局共享的一个缓存生成：按数据集模拟；用 --dp {0} 可把请求分散",
    ),
    (r"the run's servers have different sizes: those of the first are taken for all", "各服务的规格不同：均取第一个的"),
    (
        r"the server schedules asynchronously, which is not modelled: it releases blocks a step later",
        "服务采用异步调度，未建模：其 Block 晚一步释放",
    ),
    (r"the run does not tell the blocks of its server's cache", "运行记录中没有服务缓存的 Block 数"),
    (
        r"write the blocks of each domain's cache, or unbounded; --sweep and --like need none",
        "请写出每个缓存域的 Block 数，或 unbounded；--sweep 与 --like 无需给出",
    ),
    (r"write the blocks of each domain's cache, or unbounded", "请写出每个缓存域的 Block 数，或 unbounded"),
    (r"there is no run to calibrate from", "没有可供标定的运行"),
    (r"name one with --like, or leave it out", "请用 --like 指定，或删除该项"),
    (r"leave it out: the default pace is taken", "请删除该项：将采用默认节奏"),
    (r"the run sent only a part of its dataset", "该次运行只发送了数据集的一部分"),
    (r"the run sent at given times \(open loop\), which is not modelled", "该次运行按给定时刻发送（开环），未建模"),
    (
        r"the pace of vLLM's scheduler is fitted, the run's server is another",
        "标定的是 vLLM 调度器的节奏，该次运行的服务不是 vLLM",
    ),
    (
        r"(\d+) requests of the run tell when they were sent, had their first and their last token",
        "运行记录中只有 {0} 条请求具备发送、首 Token 与末 Token 的时刻",
    ),
    (
        r"choose a run with at least 4 streamed answers, or leave --calibrate out",
        "请选择至少有 4 个流式响应的运行，或删除 --calibrate",
    ),
    (r"the run recorded no KV events", "该次运行没有记录 KV 事件"),
    (r"run again with --kv-events, or use --like RUN_DIR", "请带 --kv-events 重新运行，或改用 --like RUN_DIR"),
    (r"does not go with a recorded run", "不能与运行记录一起使用"),
    (r"leave it out, or use --like in place of --clocked-by", "请删除该项，或以 --like 代替 --clocked-by"),
    (r"give --clocked-by alone: the run has its dataset", "请只给出 --clocked-by：数据集就在运行目录中"),
    (r"the record of KV events is (\S+): hits may be told wrongly", "KV 事件的记录为 {0}：命中可能有误"),
    (
        r"slower tiers with requests in flight are not modelled",
        "并发时的慢速缓存层未建模",
    ),
    (r"slower tiers in a sweep are not modelled", "容量曲线中的慢速缓存层未建模"),
    (r"slower tiers behind (\S+) without a size are not modelled", "不限容量的 {0} 之后的慢速缓存层未建模"),
    (r"slower tiers behind (\S+) are not modelled", "{0} 之后的慢速缓存层未建模"),
    (r"slower tiers with a hit_drop of (\d+) are not modelled", "hit_drop 为 {0} 时的慢速缓存层未建模"),
    (r"slower tiers that take what (\S+) evicts are not modelled", "接收 {0} 所淘汰 Block 的慢速缓存层未建模"),
    (r"write --concurrency 1", "请写 --concurrency 1"),
    (r"use --engine vllm, lru or sglang with --num-blocks", "请用 --engine vllm、lru 或 sglang 并给出 --num-blocks"),
    (r"choose a dataset without hit_drop", "请选择没有 hit_drop 的数据集"),
    (r"use --tier-write through, or --engine vllm", "请用 --tier-write through，或 --engine vllm"),
    (r"there is no tier to write to", "没有可写入的缓存层"),
    (r"give --host-blocks or --external-blocks", "请给出 --host-blocks 或 --external-blocks"),
    (
        r"no engine's slower tiers were measured block for block; see docs/cache-models\.md",
        "没有任何引擎的慢速缓存层经过逐 Block 的实测对照；见 docs/cache-models.md",
    ),
)
