"""What metrics pages, servers and probes are refused for, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

ENGINES: dict[str, str] = {
    # Which framework it is
    "{page} has no metric of a known framework ({known}); it has {seen}": (
        "{page} 没有已知框架（{known}）的指标；其中有：{seen}"
    ),
    "the metrics page has no metric of a known framework ({known}); it has {seen}": (
        "Metrics 页面没有已知框架（{known}）的指标；其中有：{seen}"
    ),
    "Give the server's own metrics page with --metrics-url ({hints}), or describe it in a YAML file for --engine": (
        "请用 --metrics-url 给出服务自身的 Metrics 页面（{hints}），或用 YAML 文件描述该框架并通过 --engine 指定"
    ),
    "Give the server's own /metrics page, or describe its framework in a YAML file for --engine": (
        "请给出服务自身的 /metrics 页面，或用 YAML 文件描述其框架并通过 --engine 指定"
    ),
    "vLLM: /metrics of the API server": "vLLM：API Server 的 /metrics",
    "vLLM-Ascend: /metrics of the API server": "vLLM-Ascend：API Server 的 /metrics",
    "SGLang: start it with --enable-metrics": "SGLang：以 --enable-metrics 启动",
    "LMDeploy: start it with --enable-metrics": "LMDeploy：以 --enable-metrics 启动",
    "llama.cpp: start it with --metrics": "llama.cpp：以 --metrics 启动",
    "MindIE: start it with MIES_SERVICE_MONITOR_MODE=1 and give the metrics port's page": (
        "MindIE：以 MIES_SERVICE_MONITOR_MODE=1 启动，并给出指标端口的页面"
    ),
    "TensorRT-LLM: return_perf_metrics and enable_iter_perf_stats, page /prometheus/metrics": (
        "TensorRT-LLM：开启 return_perf_metrics 与 enable_iter_perf_stats，页面为 /prometheus/metrics"
    ),
    # A description of a framework in a YAML file
    "{file}: name: {name} is a framework that is known without it": "{file}：name：{name} 是内置框架，无需描述",
    "Give it another name, or write --engine {name}": "请换一个名称，或写 --engine {name}",
    "{file}: it cannot be read": "{file}：无法读取",
    "{file}: it has more than {most} bytes": "{file}：超过 {most} 字节",
    "{file}: it is no YAML": "{file}：不是 YAML",
    "{file}: it is no YAML in line {line}": "{file}：第 {line} 行不是有效的 YAML",
    "{file}: it is no mapping": "{file}：不是键值映射",
    "{file}: key {key} stands twice in line {line}": "{file}：第 {line} 行的键 {key} 重复",
    "{file}: {key}: a sum of different units ({units})": "{file}：{key}：不同单位不能相加（{units}）",
    "{file}: it: a sum of different units ({units})": "{file}：不同单位不能相加（{units}）",
    "{file}: it: {one} and {other} are of different units": "{file}：{one} 与 {other} 的单位不同",
    "{file}: it: metrics.{quantity} is a {kind}: only what is cumulative has a difference": (
        "{file}：metrics.{quantity} 为 {kind}：只有累计量才能求差"
    ),
    "{file}: it: rank_header {name} has a meaning of its own": "{file}：rank_header {name} 另有含义，不能使用",
    "{file}: it: salt_field {name} has a meaning of its own": "{file}：salt_field {name} 另有含义，不能使用",
    "{file}: it: metrics must name queries and hits": "{file}：metrics 须包含 queries 与 hits",
    "{file}: {key}: Field required": "{file}：缺少 {key}",
    "{file}: {key}: Extra inputs are not permitted": "{file}：未知的键 {key}",
    "{file}: {key}: Input should be {wanted}": "{file}：{key} 应为 {wanted}",
    "{file}: {key}: Input should be greater than {limit}": "{file}：{key} 须大于 {limit}",
    "{file}: {key}: Input should be a valid integer": "{file}：{key} 须为整数",
    "{file}: {key}: Input should be a finite number": "{file}：{key} 须为有限数值",
    "{file}: {key}: Input should be a valid string": "{file}：{key} 须为文本",
    "{file}: {key}: Input should be a valid list": "{file}：{key} 须为列表",
    "{file}: {key}: Input should be a valid dictionary": "{file}：{key} 须为键值映射",
    "{file}: {key}: Input should be a valid dictionary or instance of {kind}": "{file}：{key} 须为键值映射（{kind}）",
    "{file}: {key}: String should match pattern {pattern}": "{file}：{key} 须匹配 {pattern}",
    "{file}: {key}: String should have at most {most} characters": "{file}：{key} 至多 {most} 个字符",
    "Describe one framework in it": "请在其中只描述一个框架",
    "Write it as in docs/engines.md": "请按 docs/engines.md 编写",
    "Begin with `name:` and `metrics:`, as in docs/engines.md": "请以 `name:` 与 `metrics:` 开头，参见 docs/engines.md",
    "Correct that key; docs/engines.md has an example": "请修正该键；示例见 docs/engines.md",
    # Addresses, TLS and proxies
    "the address has {count} characters, {most} at most": "地址有 {count} 个字符，至多 {most} 个",
    "the address holds characters that no URL can carry": "地址含有 URL 不允许的字符",
    "the host of the address is no host name": "地址中的主机名无效",
    "the host of the address is no host name: each of its parts has 1 to 63 characters": (
        "地址中的主机名无效：每段须为 1 至 63 个字符"
    ),
    "the server {server} answers, but {why}": "服务端 {server} 有响应，但{why}",
    "the server {server} answers, but speaks plain HTTP, not HTTPS": (
        "服务端 {server} 有响应，但该端口为普通 HTTP，而非 HTTPS"
    ),
    "Write http:// in the address, or the port at which it speaks HTTPS": (
        "请在地址中写 http://，或改用提供 HTTPS 的端口"
    ),
    "no reason was given": "未给出原因",
    "Check that the proxy runs at this address, or leave --proxy out": "请确认该地址上的代理正在运行，或去掉 --proxy",
    "{seconds} is no time to wait": "{seconds} 不是有效的等待时间",
    "Give seconds above 0": "请填写大于 0 的秒数",
    "{file} holds no certificate of an authority ({why})": "{file} 中没有 CA 证书（{why}）",
    "Give a PEM file with --ca-file": "请用 --ca-file 指定 PEM 文件",
    # Servers
    "This is no OpenAI-compatible server, or the path of the address is wrong: give the address without /v1, "
    "e.g. http://HOST:PORT": (
        "该地址不是 OpenAI 兼容的服务端，或地址中的路径有误：请填写不含 /v1 的地址，如 http://HOST:PORT"
    ),
    "Give its API key in the variable PREFIXCACHE_API_KEY": "请通过环境变量 PREFIXCACHE_API_KEY 提供其 API Key",
    "Check the spelling of the host name, and that this machine's DNS knows it": (
        "请检查主机名的拼写，并确认本机 DNS 能够解析"
    ),
    "the server {server} answered {path} with something that is not JSON": (
        "服务端 {server} 对 {path} 返回的内容不是 JSON"
    ),
    "{framework} has no route that empties its cache": "{framework} 没有清空缓存的接口",
    "Restart the server to empty its cache": "请重启服务端以清空缓存",
    "Restart the server to empty its slots": "请重启服务端以清空 Slot",
    "Restart the server, or describe its route under `reset` of the file for --engine": (
        "请重启服务端，或在 --engine 文件的 `reset` 下描述其接口"
    ),
    "Restart MindIE to empty its cache": "请重启 MindIE 以清空缓存",
    "Start vLLM with VLLM_SERVER_DEV_MODE=1, which adds POST /reset_prefix_cache": (
        "请以 VLLM_SERVER_DEV_MODE=1 启动 vLLM，以启用 POST /reset_prefix_cache"
    ),
    "Use an SGLang version that has /flush_cache": "请使用支持 /flush_cache 的 SGLang 版本",
    "Clear LMCache by its own controller": "请用 LMCache 的 Controller 清空",
    "Clear the store by its own tools": "请用该存储自带的工具清空",
    "Clear UCM's store by hand": "请手动清空 UCM 的存储",
    # Pages
    "the metrics page of {page} cannot be read: {why}": "Metrics 页面 {page} 无法读取：{why}",
    "the metrics page of {page} is an HTML page, not Prometheus text": (
        "Metrics 地址 {page} 返回的是 HTML 页面，而非 Prometheus 文本"
    ),
    "more than {most} bytes of text": "文本超过 {most} 字节",
    "broken gzip ({why})": "gzip 已损坏（{why}）",
    "its end is missing": "缺少结尾",
    "cannot be read: {why}": "无法读取：{why}",
    "is an HTML page, not Prometheus text": "是 HTML 页面，而非 Prometheus 文本",
    "holds no metric": "没有任何指标",
    "{name} has no sample in the {span} before {flag}": "{name} 在 {flag} 之前 {span} 内没有样本",
    "skipped (infinite)": "已跳过（数值为无穷大）",
    "skipped (the page ends within this line: what stood behind it is lost)": "已跳过（页面在该行中断，其后内容缺失）",
    "skipped (the series is there before, as {value})": "已跳过（该序列此前已出现，值为 {value}）",
    "metrics line {number} skipped (infinite): {line}": "Metrics 第 {number} 行已跳过（数值为无穷大）：{line}",
    # Pages of another framework, or of none
    "{page} holds no series of {framework}; it has {names}": "{page} 没有 {framework} 的序列；其中有：{names}",
    "{page} holds no series of {framework}: it is a page of {other}": (
        "{page} 没有 {framework} 的序列：它是 {other} 的页面"
    ),
    "Give the server's own /metrics page of that moment": "请给出服务端自身在该时刻的 /metrics 页面",
    "Leave --engine out, or give the server's own /metrics page of that moment": (
        "请去掉 --engine，或给出服务端自身在该时刻的 /metrics 页面"
    ),
    "Give the server's own /metrics page, saved after its first request, with the names of the YAML file": (
        "请给出服务端自身的 /metrics 页面（在首个请求之后保存，且含 YAML 文件中的名称）"
    ),
    "the page of its beginning has no series of {framework}": "开始时刻的页面没有 {framework} 的序列",
    "the page of its end has no series of {framework}": "结束时刻的页面没有 {framework} 的序列",
    "{page}: its page of after is of a process that began before that of its page of before: the two are probably "
    "swapped": "{page}：after 页面所属进程的启动早于 before 页面所属进程：两个页面很可能给反了",
    "{page}: its counters fell although both pages are of one process: the two are probably swapped": (
        "{page}：两个页面属于同一进程，计数器却下降：两个页面很可能给反了"
    ),
    "{page}: no counter is higher on its page of after than on its page of before: the two may be swapped": (
        "{page}：after 页面的计数器无一高于 before 页面：两个页面可能给反了"
    ),
    # A run's pages and servers of another framework
    "the metrics page of {page} has no series of {framework}; it has {names}": (
        "Metrics 页面 {page} 没有 {framework} 的序列；其中有：{names}"
    ),
    "the metrics page of {page} is one of {other}, not of {framework} as --engine says": (
        "Metrics 页面 {page} 属于 {other}，而非 --engine 指定的 {framework}"
    ),
    "the metrics pages are of different frameworks: {one} of {first}, {other} of {second}": (
        "Metrics 页面来自不同框架：{one} 为 {first}，{other} 为 {second}"
    ),
    "{server} says that it is {owner}, but {page} is read as a metrics page of {framework}": (
        "{server} 自称 {owner}，但 {page} 按 {framework} 的 Metrics 页面读取"
    ),
    "Name the right metrics page with --metrics-url": "请用 --metrics-url 指定正确的 Metrics 页面",
    "Leave --engine out, or name the right metrics page with --metrics-url": (
        "请去掉 --engine，或用 --metrics-url 指定正确的 Metrics 页面"
    ),
    "Run the servers of each framework apart, each with its own metrics page": (
        "请按框架分别运行，并各自使用其 Metrics 页面"
    ),
    "Generate the dataset with block_size {size}: on an NPU the server keeps its own, whatever it is asked for": (
        "请以 block_size {size} 重新生成数据集：在 NPU 上服务端使用自身的 Block Size，无法通过启动参数更改"
    ),
    # Pages of before and after, and Prometheus
    "Give both as often, in the same order of servers": "请给出数量相同的两组页面，服务顺序一致",
    "Save the text of the server's /metrics page": "请保存服务端 /metrics 页面的文本",
    "Give an existing file": "请指定已存在的文件",
    "the pages are of different frameworks: {one} of {first}, {other} of {second}": (
        "页面来自不同框架：{one} 为 {first}，{other} 为 {second}"
    ),
    "Ask for the servers of each framework apart: their counters have no common sum": (
        "请按框架分别统计：不同框架的计数器不能相加"
    ),
    "Give one for each metrics page, in their order": "请按 Metrics 页面的顺序各给出一个",
    "Write ISO 8601, {now}, or Unix seconds": "请填写 ISO 8601（如 {now}）或 Unix 秒数",
    "Give the moment at which the interval begins": "请填写区间的开始时刻",
    "lies not after --from": "不晚于 --from",
    "Give the later moment as --to": "请以较晚的时刻作为 --to",
    "Prometheus at {server} has no sample of a known framework in the {span} before --from and --to": (
        "Prometheus（{server}）在 --from 与 --to 之前 {span} 内没有已知框架的样本"
    ),
    "Check --from, --to and --selector": "请检查 --from、--to 与 --selector",
    "the newest is {seconds} s old": "最新样本在 {seconds} s 之前",
    "it has none of the last {span}": "最近 {span} 内没有样本",
    "Check that Prometheus scrapes this target at least every minute, or give the server's own page with "
    "--metrics-url": "请确认 Prometheus 至少每分钟采集该目标一次，或用 --metrics-url 给出服务自身的页面",
    "Prometheus at {server} {problem}": "Prometheus 服务（{server}）{problem}",
    "answered something else than its API does": "返回的内容不符合其 API",
    "answered more than {most} bytes of text": "返回的文本超过 {most} 字节",
    "answered HTTP {status} and no JSON": "返回 HTTP {status}，且不是 JSON",
    "answered HTTP {status} {reason}": "返回 HTTP {status} {reason}",
    "does not tell its time": "未给出其时间",
    "cannot be asked ({why})": "无法查询（{why}）",
    "Check the address (the part before /api/v1) and that it runs": "请检查地址（/api/v1 之前的部分）并确认其已运行",
    "Prometheus cannot read {selector}: {reason}": "Prometheus 无法解析 {selector}：{reason}",
    "Write it as Prometheus does, e.g. '{{job=\"vllm\"}}'": "请按 Prometheus 的写法填写，如 '{{job=\"vllm\"}}'",
    # Why a figure is not known
    "there is no page of its beginning": "缺少开始时刻的页面",
    "there is no page of its end": "缺少结束时刻的页面",
    "there is no page of its beginning and its end": "缺少开始与结束时刻的页面",
    "the endpoints count in {one} and {other}, which have no sum": "各端点的计数单位不同（{one} 与 {other}），不能相加",
    "{name} is not known at both ends": "{name} 并非在两端都已知",
    "hits of outer tiers are not known": "外层缓存的命中未知",
    "SGLang does not count what it looks up in host memory and storage": "SGLang 不统计主机内存与外部存储中的查询",
    "TensorRT-LLM counts blocks brought back from host memory among the cached tokens": (
        "TensorRT-LLM 将从主机内存换回的 Block 计入缓存命中"
    ),
    "llama.cpp has no tier behind its slots": "llama.cpp 在 Slot 之外没有缓存层",
    "MindIE exports no counters of tiers behind the NPU's memory": "MindIE 不导出 NPU 显存之外缓存层的计数器",
    "LMCache is itself the tier behind an engine": "LMCache 本身就是引擎之后的缓存层",
    "the store is itself the tier behind an engine": "该存储本身就是引擎之后的缓存层",
    # Why a ratio on a page is not that of the interval
    "no figure of an interval": "不是区间数值",
    "since the start: shown, never used": "自启动以来的比率：仅展示，不采用",
    "of the last prefill batch only: never a figure of a run": "仅为最近一个 Prefill 批次：不能作为运行的数值",
    "a ratio without its counters: no figure of an interval follows from it; gone with V1": (
        "只有比率而没有计数器，无法得出区间数值；V1 起已取消"
    ),
    "of blocks, over a span that the framework does not state": "按 Block 计，统计区间未说明",
}
