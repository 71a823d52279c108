"""Help of the flags of the commands that send requests, in Chinese, by its English text."""

from __future__ import annotations

RUN_FLAGS: dict[str, str] = {
    "Base URL or full path of the API. Repeatable.": "服务的基础地址或 API 完整路径。可重复。",
    "Metrics page; default /metrics of each URL. Repeatable.": "指标页面；默认为各 URL 的 /metrics。可重复。",
    "Folder of the run, new, empty or that of an earlier run; default outputs/run_NNN.": (
        "运行目录：新目录、空目录或以前的运行目录；默认 outputs/run_NNN。"
    ),
    "Model name; default the server's first.": "模型名称；默认取服务的第一个模型。",
    "Requests in flight; default the dataset's.": "并发请求数；默认取数据集的设置。",
    "closed:16, constant:200, poisson:200, gamma:200,burstiness=0.5, rates:10x30s,50x30s, ramp:10..200,seconds=60 or "
    "trace:FILE; default a closed loop of --concurrency.": (
        "closed:16, constant:200, poisson:200, gamma:200,burstiness=0.5, rates:10x30s,50x30s, "
        "ramp:10..200,seconds=60 或 trace:FILE；默认按 --concurrency 闭环发送。"
    ),
    "Requests in flight at most; only for open loads.": "最大在途请求数；仅用于开环负载。",
    "Measure exactly these loads, e.g. 1,2,4,8, instead of searching a range.": (
        "只测量这些负载（如 1,2,4,8），不在区间内搜索。"
    ),
    "Requests in flight at most; with --over rate.": "最大在途请求数；仅用于 --over rate。",
    "Seconds of load after which nothing is sent any more.": "负载时长（秒），此后不再发送请求。",
    "Send only the first so many requests of the send order.": "只发送发送顺序中的前 N 条请求。",
    "What a request waits for so that the cache holds its prefix: watermark, first_token, completion or none; default "
    "the dataset's.": (
        "门控规则，即请求等到什么时候其 Prefix 才已缓存：watermark、first_token、completion 或 none；"
        "默认取数据集的设置。"
    ),
    "Send prompts as text or as token ids; auto takes text where the dataset has it.": (
        "以文本（text）或 Token ID（ids）发送 Prompt；auto 在数据集含文本时用文本。"
    ),
    "How a pass is kept apart from what was cached before it: auto, reset, salt, variant or none.": (
        "每个轮次如何与此前的缓存隔离：auto、reset、salt、variant 或 none。"
    ),
    "Dataset of the same plan with other content, for the second pass of compare.": (
        "计划相同、内容不同的数据集，用于 compare 的第二个轮次。"
    ),
    "Go on where the cache cannot be proven empty.": "无法证明缓存为空时仍继续。",
    "Replace an earlier run in the folder.": "覆盖目录中以前的运行。",
    "Keep no prompts in the run's folder; they are read from the dataset.": (
        "运行目录中不保存 Prompt；Prompt 从数据集读取。"
    ),
    "Take any TLS certificate of the server.": "接受服务的任何 TLS 证书。",
    "PEM file of the authorities that signed its certificate.": "签发其证书的 CA 的 PEM 文件。",
    "Forward proxy; those of the environment are not used.": "正向代理；不使用环境变量中的代理。",
    "Record the KV events published at tcp://HOST:PORT; one for each --url.": (
        "记录 tcp://HOST:PORT 发布的 KV 事件；每个 --url 对应一个。"
    ),
    "Where the server repeats lost events, tcp://HOST:PORT; one for each --url.": (
        "服务重发丢失事件的地址 tcp://HOST:PORT；每个 --url 对应一个。"
    ),
    "Thresholds for goodput, seconds or ms: ttft=0.5,tpot=50ms,e2e=3; any of the three.": (
        "Goodput 的阈值（秒或 ms）：ttft=0.5,tpot=50ms,e2e=3；三者任选。"
    ),
    "Processes that carry requests; default one for every 512 streams.": "收发请求的进程数；默认每 512 个流一个。",
    "openai: completions, or chat for chat datasets; generate: SGLang's own route.": (
        "openai：completions，对话数据集用 chat；generate：SGLang 自有路由。"
    ),
    "NAME: VALUE, with every request; the value is never written. NAME: secret:BLOCK takes it from a Secret block of "
    "Prefect. Repeatable.": (
        "每条请求附带的 NAME: VALUE；其值从不写入任何文件。NAME: secret:BLOCK 从 Prefect 的 Secret Block 取值。可重复。"
    ),
    "JSON object of fields for every request's body; null takes one out, a text secret:BLOCK stands for the value of a "
    "Secret block of Prefect.": (
        "加入每条请求体的字段（JSON 对象）；值为 null 时去掉该字段，文本 secret:BLOCK 取自 Prefect 的 Secret Block。"
    ),
    "Attempts after a temporary failure; retried requests are marked.": "临时故障后的重试次数；重试过的请求会被标记。",
    "Seconds before the first retry, doubled each time.": "首次重试前的等待时间（秒），之后每次加倍。",
    "Prompts unlike the dataset's, sent before all passes so that the engine is warm.": (
        "在所有轮次之前发送的、与数据集无关的 Prompt 数，用于引擎热身。"
    ),
    "Field of the body that pins a DP rank; default a header of the engine's.": (
        "请求体中指定 DP Rank 的字段；默认使用引擎的 Header。"
    ),
    "Seconds to wait for the next byte of an answer before its request fails.": (
        "等待响应下一个字节的时间（秒），超过则请求失败。"
    ),
    "Seconds to wait for a connection; default 10, --timeout at most.": (
        "建立连接的等待时间（秒）；默认 10，且不超过 --timeout。"
    ),
    "Seconds to wait for an answer's first byte; default as --timeout.": (
        "等待响应首字节的时间（秒）；默认同 --timeout。"
    ),
    "Seconds that a whole request may take; default three times the longest wait for a byte.": (
        "整条请求的最长时间（秒）；默认为最长字节等待时间的三倍。"
    ),
    "Show a dashboard while requests are sent; only on a terminal.": "发送期间显示仪表盘；仅限终端。",
    "Say what the run would take, send nothing.": "只说明运行所需，不发送请求。",
    "For --dry-run: prompt tokens the server computes per second.": "用于 --dry-run：服务每秒计算的输入 Token 数。",
    "For --dry-run: output tokens per second and request.": "用于 --dry-run：每条请求每秒输出的 Token 数。",
    # replay, report, search, compare
    "Folder of the run.": "运行目录。",
    "How much faster than the run went.": "相对实际运行的播放倍速。",
    "Thresholds, seconds or ms: ttft=0.5,tpot=50ms,e2e=3; any of the three.": (
        "阈值（秒或 ms）：ttft=0.5,tpot=50ms,e2e=3；三者任选。"
    ),
    "Folder of the search; points that were finished in it are not run again.": (
        "搜索目录；其中已完成的负载点不再重复运行。"
    ),
    "concurrency (closed loop), or rate (Poisson arrivals per second).": (
        "concurrency（闭环并发数），或 rate（每秒泊松到达数）。"
    ),
    "Lowest load.": "最低负载。",
    "Highest load.": "最高负载。",
    "Loads are multiples of this.": "负载均为该值的倍数。",
    "Share of the requests that must hold all thresholds.": "须满足全部阈值的请求比例。",
    "Points above the first miss that are measured all the same.": "首个未达标点之上仍要测量的点数。",
    "The pass that is judged: cold, hot or replay; default the target's.": (
        "用于判定的轮次：cold、hot 或 replay；默认为目标约束的轮次。"
    ),
    "Folder of a run; the first is the baseline. One alone: its passes are compared. Repeatable.": (
        "运行目录；第一个为基线。只给一个时比较其各轮次。可重复。"
    ),
    "Names for the runs, in their order. Repeatable.": "各运行的名称，按给出的顺序。可重复。",
    "Bootstrap resamples.": "Bootstrap 重采样次数。",
    "Share that the intervals are to cover.": "区间的置信水平。",
    "Of the resampling.": "重采样的随机种子。",
    "Write the comparison as a page.": "将对比写成网页。",
    # Metrics and checks
    "Framework that the metrics pages are read as, or a YAML file that describes one.": (
        "按哪种框架解析指标页面，或描述该框架的 YAML 文件。"
    ),
    "What the server of each metrics page does: prefill, decode or mixed, in their order. Repeatable.": (
        "各指标页面所属服务的角色，按顺序：prefill、decode 或 mixed。可重复。"
    ),
    "Read the counters from this Prometheus server instead of the servers' own pages.": (
        "从该 Prometheus 服务读取计数器，而不读取服务自身的页面。"
    ),
    "Which of its targets, e.g. '{job=\"vllm\"}'.": "其中哪些目标，例如 '{job=\"vllm\"}'。",
    "Measure although the server contradicts the plan, where that can be measured.": (
        "服务端与计划矛盾但仍可测量时，照样测量。"
    ),
    "Do not simulate what contradictions will cost before the load.": "发送前不仿真各项矛盾的影响。",
}
