"""Help of commands and flags in Chinese, by its English text: what `--help` shows with `--lang zh`."""

from __future__ import annotations

from prefixcache.help.chinese.flags_run import RUN_FLAGS

COMMANDS: dict[str, str] = {
    "Request datasets whose prefix-cache hit rate is planned and proven, run and explained.": (
        "Prefix Cache 命中率经规划与证明的请求数据集：生成、运行与解读。"
    ),
    "Write a first configuration, every key explained, and say what to do with it.": (
        "写出第一份配置，逐键说明，并提示后续步骤。"
    ),
    "Plan a dataset and print its figures; exit 1 if the target cannot be reached.": (
        "规划数据集并打印各项数值；目标不可达时退出码为 1。"
    ),
    "Build a dataset whose prefix-cache hit rate is planned and proven to the token.": (
        "生成 Prefix Cache 命中率经规划且逐 Token 证明的数据集。"
    ),
    "Check a dataset: counts, lengths, digests, order, seams, certificate. Exit 1 if it is damaged or FAIL.": (
        "校验数据集：数量、长度、摘要、顺序、重新 Encode、理论仿真。已损坏或 FAIL 时退出码为 1。"
    ),
    "Show what a request is made of: prefix, divergence, suffix, watermark, expected and measured hits.": (
        "显示一条请求的构成：Prefix、分叉 Block、Suffix、缓存水位、理论命中与实测命中。"
    ),
    "Write a dataset in another send order. Exit 1 if the new order misses the target.": (
        "按另一发送顺序写出数据集。新顺序未达目标时退出码为 1。"
    ),
    "Simulate a request trace or a dataset in an engine's cache: hits, evictions, use of the cache.": (
        "在引擎的缓存中仿真请求 Trace 或数据集：命中、淘汰与缓存占用。"
    ),
    "Run a dataset and put target, design and measurement side by side. Exit 1 if requests failed.": (
        "运行数据集，并列给出目标、理论与实测。有请求失败时退出码为 1。"
    ),
    "Show a run's live view again; where stdout is no terminal, its last frame.": (
        "重放运行的实时视图；stdout 不是终端时只显示最后一帧。"
    ),
    "Build report/prefix_cache_report.{json,html} from a run directory. Exit 1 if requests had failed.": (
        "由运行目录生成 report/prefix_cache_report.{json,html}。有请求失败时退出码为 1。"
    ),
    "Say what servers counted between two moments: queries, hits and hit ratio, by engine and in total.": (
        "给出服务在两个时刻之间的计数：查询、命中与命中率，按引擎并合计。"
    ),
    "Find out how a server's prefix cache works, by prompts of its own. Exit 1 if what it says is not so.": (
        "用自带的 Prompt 探明服务的 Prefix Cache 如何工作。服务的声明与事实不符时退出码为 1。"
    ),
    "Find the highest load at which the SLO is met, a run per point. Exit 1 if even the lowest load misses it.": (
        "查找满足 SLO 的最高负载，每个负载点一次运行。最低负载也不满足时退出码为 1。"
    ),
    "Compare runs request by request: speed-ups with bootstrap intervals, hit ratios, what else differs.": (
        "逐请求比较多次运行：加速比及 Bootstrap 区间、命中率与其他差异。"
    ),
    "Write plan and results of every request side by side, one row per request and pass.": (
        "并列写出每条请求的计划与结果，每条请求每个轮次一行。"
    ),
    "Explain a name; without one list everything that can be explained.": "解释一个名称；不给名称时列出全部可解释项。",
    "Serve the reference engine: an OpenAI-compatible server with a real block cache and simulated compute.": (
        "启动参考引擎：兼容 OpenAI 的服务，Block 缓存真实，计算为模拟。"
    ),
    "Generate 300 requests, serve the reference engine, run, and report: measured must equal designed.": (
        "生成 300 条请求，启动参考引擎，运行并生成报告：实测必须等于理论。"
    ),
}

FLAGS: dict[str, str] = RUN_FLAGS | {
    # before the command
    "Print the version and exit.": "显示版本并退出。",
    "Log what each stage found, on stderr.": "在 stderr 上记录各阶段的结果。",
    # init, plan, generate, validate
    "File to write.": "要写入的文件。",
    "Folder or hub name; or embedded.": "目录或 Hub 名称；或 embedded。",
    "Server to ask for model and block size.": "从该服务查询模型与 Block Size。",
    "Number of requests.": "请求数。",
    "Tokens: 4096, or 1024..8192.": "Token 数：4096，或 1024..8192。",
    "Target hit ratio, 0 to 1.": "目标命中率，0 到 1。",
    "Number of prefix groups.": "Prefix Group 数。",
    "Execution mode.": "执行模式。",
    "Tokens per KV-cache block.": "每个 KV Cache Block 的 Token 数。",
    "Replace the file if it exists.": "文件已存在时覆盖。",
    "Ask nothing: defaults for what is not given.": "不提问：未给出的项取默认值。",
    "Language of the output: en or zh.": "输出语言：en 或 zh。",
    "Print one JSON object on stdout and nothing else.": "stdout 上只输出一个 JSON 对象。",
    "YAML file that describes the dataset.": "描述数据集的 YAML 文件。",
    "Folder or hub name; replaces tokenizer.path of the file.": "目录或 Hub 名称；替换文件中的 tokenizer.path。",
    "Text source NAME or NAME=PATH, e.g. gsm8k=/data/gsm8k. Repeatable.": (
        "文本来源 NAME 或 NAME=PATH，例如 gsm8k=/data/gsm8k。可重复。"
    ),
    "Change a key of the file, e.g. target.hit_ratio=0.6. Repeatable.": (
        "修改文件中的键，例如 target.hit_ratio=0.6。可重复。"
    ),
    "Load the tokenizer and count what it, the chat template and prompt.system put around every text.": (
        "加载 Tokenizer，并统计它、对话模板与 prompt.system 在每段文本前后附加的 Token。"
    ),
    "Folder of the dataset, or an address, s3://bucket/path.": "数据集目录，或地址 s3://bucket/path。",
    "Processes that build shards; default one per CPU.": "生成分片的进程数；默认每个 CPU 一个。",
    "Who builds shards: threads, processes, dask, ray.": "由谁生成分片：threads、processes、dask、ray。",
    "Dask scheduler or Ray head that is running, e.g. tcp://host:8786; default a cluster of its own.": (
        "正在运行的 Dask Scheduler 或 Ray Head，例如 tcp://host:8786；默认自建集群。"
    ),
    "Keep prompts as text, as token ids, or both; replaces output.prompts.": (
        "以文本、Token ID 或两者保存 Prompt；替换 output.prompts。"
    ),
    "Files that hold the prompts: parquet,jsonl, or one; replaces output.formats.": (
        "保存 Prompt 的文件：parquet,jsonl 或其一；替换 output.formats。"
    ),
    "auto, or full: re-encode every prompt of large datasets too; replaces validation.audit.": (
        "auto 或 full：大数据集也逐条重新 Encode；替换 validation.audit。"
    ),
    "Run the same stages in this process, without cache.": "在本进程中运行相同的阶段，不使用缓存。",
    "Folder or address that `generate` wrote.": "`generate` 写出的目录或地址。",
    "Re-encode with this one instead of the dataset's own.": "用它代替数据集自带的 Tokenizer 重新 Encode。",
    # inspect, reorder, export, explain
    "Folder that `generate` wrote, or of a run.": "`generate` 写出的目录，或运行目录。",
    "Id, unique end of one, or '#N' for position N.": "ID、其唯一的结尾，或用 '#N' 表示第 N 个位置。",
    "Run to take measured figures from; default its own.": "从该运行取实测数值；默认取其自身的运行。",
    "Only this prefix group, in the table.": "表中只列该 Prefix Group。",
    "Rows of the table.": "表的行数。",
    "Shorten no text.": "不截短文本。",
    "Mark where blocks begin.": "标出各 Block 的起点。",
    "Folder that `generate` wrote.": "`generate` 写出的目录。",
    "A flat name such as shuffle, or WITHIN/ACROSS: input_len_asc/interleave.": (
        "单个名称，如 shuffle；或 组内/组间：input_len_asc/interleave。"
    ),
    "Folder of the dataset.": "数据集目录。",
    "Of the shuffles; default the dataset's.": "打乱顺序的随机种子；默认取数据集的种子。",
    "File to write; an earlier one is replaced.": "要写入的文件；已有文件会被覆盖。",
    "csv, xlsx, parquet or jsonl; default by the file's ending.": "csv、xlsx、parquet 或 jsonl；默认按文件扩展名。",
    "Add the prompts as a column.": "增加一列 Prompt。",
    "Configuration key, field, metric, exit code, warning or status.": "配置键、字段、指标、退出码、警告或状态。",
    # simulate
    "Request trace with block hashes, JSON lines (Mooncake's format).": (
        "含 Block 哈希的请求 Trace，JSON Lines（Mooncake 格式）。"
    ),
    "Folder or address that `generate` wrote; with --like by default the run's.": (
        "`generate` 写出的目录或地址；与 --like 同用时默认为该运行的数据集。"
    ),
    "Folder of a run: sizes, limits, ranks, concurrency and gating of a dataset's simulation come from it; flags "
    "win.": "运行目录：数据集仿真的规格、上限、Rank、并发与门控取自该运行；命令行选项优先。",
    "Folder of a run with KV events: hits as they tell, and of the model that their steps lead, beside the measured "
    "ones.": "含 KV 事件的运行目录：并列给出事件所示的命中、按其步骤推进的模型命中与实测命中。",
    "lru, vllm, sglang, unbounded; of a dataset also independent_block, content_defined_chunk. Default lru for a "
    "trace, vllm for a dataset.": (
        "lru、vllm、sglang、unbounded；数据集还可用 independent_block、content_defined_chunk。"
        "Trace 默认 lru，数据集默认 vllm。"
    ),
    "Blocks of each domain's cache, or unbounded; of a trace several, with commas.": (
        "每个缓存域的 Block 数，或 unbounded；Trace 可给多个，用逗号分隔。"
    ),
    "Tokens per block (SGLang: page). Default 512 for a trace, the hit unit for a dataset.": (
        "每个 Block（SGLang：Page）的 Token 数。Trace 默认 512，数据集默认为其命中粒度。"
    ),
    "Blocks of a slower tier in host memory behind each domain's cache, or unbounded.": (
        "各缓存域之后、位于主机内存的较慢层级的 Block 数，或 unbounded。"
    ),
    "Blocks of an external store behind that, or unbounded.": "再之后的外部存储的 Block 数，或 unbounded。",
    "What slower tiers get: through (all that is served; default) or evicted (what the faster one evicts).": (
        "较慢层级写入什么：through（全部已服务的内容；默认）或 evicted（较快层级淘汰的内容）。"
    ),
    "Of a trace: count last blocks that are not full, too.": "用于 Trace：未满的末尾 Block 也计入。",
    "Caches that share nothing (DP ranks).": "互不共享的缓存数（DP Rank）。",
    "round_robin, group_round_robin, bound, sticky, random, explicit; of a trace round_robin or random.": (
        "round_robin、group_round_robin、bound、sticky、random、explicit；Trace 为 round_robin 或 random。"
    ),
    "Of random routes of a trace.": "Trace 随机路由的随机种子。",
    "Requests in flight; 1: one at a time. Default 1.": "并发请求数；1 表示逐条。默认 1。",
    "With requests in flight: watermark, first_token, completion, none.": (
        "有并发时的门控：watermark、first_token、completion、none。"
    ),
    "With requests in flight: tokens of a step.": "有并发时：每步的 Token 数。",
    "With requests in flight: requests that run at once.": "有并发时：同时运行的请求数。",
    "With requests in flight: most tokens of one in a step beside others; 0: no such limit.": (
        "有并发时：与其他请求同步时单条请求每步的最大 Token 数；0 表示不限。"
    ),
    "With --like: fit the pace of requests in flight to the run's times.": (
        "与 --like 同用：按该运行的时间拟合并发请求的节奏。"
    ),
    "Of a dataset: cold, hot or replay; default its own passes.": (
        "用于数据集：cold、hot 或 replay；默认为其自身的轮次。"
    ),
    "Hits against capacity, and what 50, 90 and 99 % of the ideal need.": (
        "命中随容量的变化，以及达到理想值 50、90、99 % 所需的容量。"
    ),
    "Draw the sweep into this file.": "将容量扫描画入该文件。",
    "Server to ask for `block_size: auto`. Repeatable.": "block_size: auto 时查询的服务。可重复。",
    "Its metrics page; default /metrics of each URL. Repeatable.": "其指标页面；默认为各 URL 的 /metrics。可重复。",
    "Framework whose default block size counts where no server tells: vllm, vllm-cpu, vllm-ascend, sglang or mindie.": (
        "没有服务可查询时，取该框架的默认 Block Size：vllm、vllm-cpu、vllm-ascend、sglang 或 mindie。"
    ),
    "What `prefixcache probe --json` printed: measured sizes go before stated.": (
        "`prefixcache probe --json` 的输出：实测值优先于服务声明的值。"
    ),
    # probe, metrics
    "Base URL or full path of the API.": "服务的基础地址或 API 完整路径。",
    "Folder or hub name to compare the server's tokenizer with.": "用于与服务的 Tokenizer 比对的目录或 Hub 名称。",
    "Fill the cache with random prompts to see how much it holds.": "用随机 Prompt 填满缓存，以测出其容量。",
    "Never empty the cache, neither to try the route nor at the end.": (
        "从不清空缓存：既不试探重置路由，结束时也不清空。"
    ),
    "For everything; what is not reached is unknown.": "全部探测的总时限（秒）；未探测到的记为未知。",
    "Write what was found as keys of a configuration.": "将探测结果写成配置键。",
    "Replace the file of --write-config if it exists.": "--write-config 的文件已存在时覆盖。",
    "Saved /metrics page at the start, plain or gzip. Repeatable.": (
        "区间开始时保存的 /metrics 页面，纯文本或 gzip。可重复。"
    ),
    "The same server's page at the end; paired with --before by position. Repeatable.": (
        "同一服务在区间结束时的页面；按位置与 --before 配对。可重复。"
    ),
    "Framework, or a YAML file that describes one.": "框架名称，或描述框架的 YAML 文件。",
    "What each server does: prefill, decode or mixed (default), in their order. Repeatable.": (
        "各服务的角色：prefill、decode 或 mixed（默认），按顺序给出。可重复。"
    ),
    "Only series of this model, and those that name none.": "只取该模型的序列，以及未注明模型的序列。",
    "Ask this Prometheus server instead.": "改为查询该 Prometheus 服务。",
    "Which targets, e.g. '{job=\"vllm\"}'.": "查询哪些目标，例如 '{job=\"vllm\"}'。",
    "Start: ISO 8601 or Unix seconds.": "区间开始：ISO 8601 或 Unix 秒。",
    "End, likewise; default now.": "区间结束，格式相同；默认为当前时刻。",
    # serve, demo
    "Whose metrics page, routes and answers: vllm, vllm-v0, vllm-early-v1, vllm-ascend, sglang, mindie or "
    "mindie-gauge.": (
        "按哪种引擎提供指标页面、路由与响应：vllm、vllm-v0、vllm-early-v1、vllm-ascend、sglang、mindie 或 "
        "mindie-gauge。"
    ),
    "Tokens in which it really matches; 0 = a block.": "真实的命中粒度（Token）；0 表示一个 Block。",
    "Matched units it computes again (EAGLE, MTP).": "匹配后仍要重新计算的命中粒度数（EAGLE、MTP）。",
    "The block size it claims; 0 = the true one.": "对外声明的 Block Size；0 表示真实值。",
    "What hits: chained, independent or content-defined (docs/dialects.md).": (
        "何为命中：chained、independent 或 content-defined（见 docs/dialects.md）。"
    ),
    "What its reset route does: real, refused, pretends or absent; default the dialect's.": (
        "重置路由的行为：real（真正清空）、refused（拒绝）、pretends（应答而不清空）或 absent（没有此路由）；"
        "默认随 --dialect。"
    ),
    "What becomes of cache_salt: honoured or ignored; default likewise.": (
        "对 cache_salt 的处理：honoured（生效）或 ignored（忽略）；默认同样随 --dialect。"
    ),
    "Without it nothing hits.": "关闭后不会有任何命中。",
    "Generated tokens can hit.": "生成的 Token 可被命中。",
    "Usage tells cached tokens.": "Usage 给出命中的 Token 数。",
    "Address to listen on.": "监听地址。",
    "Port; 0 takes a free one and prints it.": "端口；0 表示取空闲端口并打印。",
    "Folder, hub name, or `embedded`.": "目录、Hub 名称或 `embedded`。",
    "KV-cache blocks per DP rank.": "每个 DP Rank 的 KV Cache Block 数。",
    "DP ranks, each with a cache of its own.": "DP Rank 数，各有自己的缓存。",
    "Prompt tokens computed per second; 0 = at once.": "每秒计算的输入 Token 数；0 表示立即完成。",
    "Output tokens per second and request; 0 = at once.": "每条请求每秒输出的 Token 数；0 表示立即完成。",
    "Longest prompt plus output, tokens.": "Prompt 与输出之和的最大 Token 数。",
    "Name the server gives its model.": "服务给出的模型名称。",
    "Publish KV events at tcp://*:PORT, DP rank r at PORT + r.": (
        "在 tcp://*:PORT 发布 KV 事件，第 r 个 DP Rank 用 PORT + r。"
    ),
    "Repeat them at tcp://*:PORT for those who missed some.": "在 tcp://*:PORT 向漏收者重发事件。",
    "Fault plan (YAML, docs/faults.md): what happens to which requests.": (
        "故障计划（YAML，见 docs/faults.md）：哪些请求发生什么。"
    ),
    "Every token event carries the server's clock, `stamp`, in seconds.": (
        "每个 Token 事件带有服务的时钟 `stamp`（秒）。"
    ),
    "Certificate (PEM file): serve HTTPS.": "证书（PEM 文件）：以 HTTPS 提供服务。",
    "Key of the certificate (PEM file).": "证书的私钥（PEM 文件）。",
    "Folder for the dataset and the run.": "数据集与运行的目录。",
    "Show this message and exit.": "显示本说明并退出。",
}
