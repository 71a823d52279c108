"""What a run finds of its servers before, while and after it sends, in Chinese.

As in :mod:`prefixcache.help.chinese.sentences`.
"""

from __future__ import annotations

LOAD_CHECKS: dict[str, str] = {
    "waiting up to {longest} s for the servers to fall idle: requests that are not this run's may be running there": (
        "正在等待服务端空闲（至多 {longest} s）：服务端可能正在处理其他客户端的请求"
    ),
    # The server beside the dataset
    "{server} serves no model {model}; it serves: {known}": "{server} 没有模型 {model}；其模型为：{known}",
    "{server} encodes the prompt to other token ids than the dataset's: the served model's tokenizer is not {name}, "
    "with which the dataset was built": (
        "{server} 对 Prompt 的 Encode 结果与数据集的 Token ID 不同：所服务模型的 Tokenizer 不是构建数据集所用的 {name}"
    ),
    "{server} counts {count} tokens where the dataset has {planned}: the served model's tokenizer is not {name}, with "
    "which the dataset was built": (
        "{server} 统计为 {count} 个 Token，数据集为 {planned} 个：所服务模型的 Tokenizer 不是构建数据集所用的 {name}"
    ),
    "Generate the dataset with the tokenizer of the served model (--tokenizer PATH)": (
        "请用所服务模型的 Tokenizer（--tokenizer PATH）重新生成数据集"
    ),
    "{server}/tokenize answers {status}, so the tokenizers cannot be compared": (
        "{server}/tokenize 返回 {status}，无法比对 Tokenizer"
    ),
    "Check the API key (PREFIXCACHE_API_KEY) and the server's log": (
        "请检查 API Key（PREFIXCACHE_API_KEY）与服务端日志"
    ),
    "the server {server} broke off while it tokenized ({why})": "服务端 {server} 在 Tokenize 途中中断（{why}）",
    "Check the server's log": "请检查服务端日志",
    "Set max_model_len: {limit} in the dataset's configuration, or serve with a longer context": (
        "请在数据集配置中设 max_model_len: {limit} 并重新生成，或以更长的上下文启动服务"
    ),
    "Generate the dataset with routing.cache_scope: dp_local and routing.dp_size: {ranks}, or serve with one rank": (
        "请以 routing.cache_scope: dp_local 与 routing.dp_size: {ranks} 重新生成数据集，或以单个 DP 启动服务"
    ),
    "Generate the dataset with planning.num_blocks: {blocks} and block_size: {size}": (
        "请以 planning.num_blocks: {blocks} 与 block_size: {size} 重新生成数据集"
    ),
    "Generate the dataset with planning.num_blocks: {blocks}": "请以 planning.num_blocks: {blocks} 重新生成数据集",
    "Give the server more KV cache, use fewer or shorter requests, or plan for the capacity "
    "(planning.assume: capacity)": (
        "请为服务端配置更多 KV Cache，减少或缩短请求，或按容量规划（planning.assume: capacity）"
    ),
    "the dataset plans {domains} cache domains, but {endpoints} endpoints were given": (
        "数据集规划了 {domains} 个缓存域，但给出了 {endpoints} 个端点"
    ),
    "Give {domains} endpoints (--url repeated), or one whose DP ranks can be pinned": (
        "请给出 {domains} 个端点（重复 --url），或一个可指定 DP 的端点"
    ),
    "the dataset plans {domains} cache domains behind one endpoint, and {framework} has no known way to name a DP "
    "rank": "数据集在一个端点之后规划了 {domains} 个缓存域，而 {framework} 没有已知的方式指定 DP",
    "Give {domains} endpoints (--url repeated), or name a field of the body with --rank-field": (
        "请给出 {domains} 个端点（重复 --url），或用 --rank-field 指定请求体中的字段"
    ),
    # Why no hits are predicted
    "other tokens are other blocks: what they would hit is not known": "Token 不同则 Block 不同：命中未知",
    "it moves no hit, only what is counted of them": "不影响命中，只影响命中的统计",
    "it moves no hit: the ranks are pinned": "不影响命中：请求已指定 DP",
    "it moves no hit, but how much is hit will not be known from the counters": "不影响命中，但无法由计数器得知命中量",
    "the server's block size is not known": "服务端的 Block Size 未知",
    "the server's unit is taken as it was measured": "服务端的命中粒度取实测值",
    "see `prefixcache simulate`": "参见 `prefixcache simulate`",
    # The probe's report
    "run `prefixcache probe --url URL --json` again, without another client on the server": (
        "请在没有其他客户端访问服务端时，重新运行 `prefixcache probe --url URL --json`"
    ),
    "write one with `prefixcache probe --url URL --json > FILE`": (
        "请用 `prefixcache probe --url URL --json > FILE` 生成"
    ),
    # Metrics
    "Prometheus at {server} has no sample of a known framework": "Prometheus（{server}）没有已知框架的样本",
    "Prometheus at {server} has no sample of a known framework with {selector}": (
        "Prometheus（{server}）在选择器 {selector} 下没有已知框架的样本"
    ),
    "Check --selector, and that Prometheus scrapes the servers": "请检查 --selector，并确认 Prometheus 在采集这些服务",
    # Isolation
    "without isolation the pass {name} meets the cache that the pass before it has filled": (
        "未隔离时，{name} 轮次会遇到前一轮次写入的缓存"
    ),
    "Choose reset or salt": "请选择 reset 或 salt",
    "--isolation variant with a second dataset (--variant-dataset) needs no help of the server": (
        "--isolation variant 配合第二个数据集（--variant-dataset）无需服务端配合"
    ),
    "a server that was just restarted can be measured with --isolation none": (
        "刚重启的服务端可用 --isolation none 测量"
    ),
    "--allow-residue measures anyway": "--allow-residue 可照常测量",
    "the prefix cache of {server} cannot be proven empty: {why}": "无法证明 {server} 的 Prefix Cache 为空：{why}",
    "it has no route {path} (HTTP {status})": "没有接口 {path}（HTTP {status}）",
    "requests were still running there": "仍有请求在运行",
    "the reset failed ({why})": "缓存重置失败（{why}）",
    "Check that the server still runs": "请确认服务端仍在运行",
    "Wait until no other client uses the server": "请等待其他客户端停止使用该服务",
    "Use --isolation reset": "请使用 --isolation reset",
    "the cache was not empty when the pass {name} began: {evidence}; the run was stopped": (
        "{name} 轮次开始时缓存不为空：{evidence}；运行已停止"
    ),
    "Restart the server or empty its cache and let nobody else use it, choose --isolation salt, or measure anyway with "
    "--allow-residue": (
        "请重启服务端或清空其缓存，并避免其他流量；或使用 --isolation salt；或用 --allow-residue 照常测量"
    ),
    "Restart the server or empty its cache, let nobody else use it, and run again with --overwrite": (
        "请重启服务端或清空其缓存，避免其他流量，并用 --overwrite 重新运行"
    ),
    # Requests, counters and load of a pass
    "{failed} of {total} {what} failed": "{total} 条{what}中 {failed} 条失败",
    "requests of the replayed set": "重放集请求",
    "warmup prompts": "预热请求",
    "concurrency {value}: {good} of {total} requests good": "并发 {value}：{total} 条请求中 {good} 条达标",
    "rate {value}: {good} of {total} requests good": "速率 {value}：{total} 条请求中 {good} 条达标",
    "See `error` in request_results.jsonl and the server's log, then run again with --overwrite": (
        "请查看 request_results.jsonl 的 `error` 与服务端日志，再用 --overwrite 重新运行"
    ),
    "Look whether the server knows ignore_eos and min_tokens, and what limits its answers": (
        "请确认服务端是否支持 ignore_eos 与 min_tokens，以及输出长度受何限制"
    ),
    "Check that its metrics page can be read throughout, and run again with --overwrite": (
        "请确认其 Metrics 页面全程可读，并用 --overwrite 重新运行"
    ),
    "Look for the cause in the server's log, and run again with --overwrite": (
        "请在服务端日志中查找原因，并用 --overwrite 重新运行"
    ),
    "Give the page of one single process, let nobody reset it during a run, and run again with --overwrite": (
        "请给出单一进程的 Metrics 页面，避免其在运行期间被重置，并用 --overwrite 重新运行"
    ),
    "Give the server's own metrics page with --metrics-url, and run again with --overwrite": (
        "请用 --metrics-url 给出服务自身的 Metrics 页面，并用 --overwrite 重新运行"
    ),
    "Give the metrics page of every instance (--metrics-url repeated), and run again with --overwrite": (
        "请给出每个实例的 Metrics 页面（重复 --metrics-url），并用 --overwrite 重新运行"
    ),
    "Let nobody else use the server, give no page twice, and run again with --overwrite": (
        "请避免其他流量，不要重复给出同一页面，并用 --overwrite 重新运行"
    ),
    "the counters of this pass are {status}": "该轮次的计数器状态为 {status}",
    "Give the client cores of its own, or ask for a lower rate or concurrency": (
        "请为客户端分配独占 CPU 核，或降低请求速率或并发"
    ),
    "Give the client cores of its own, or more processes with --processes": (
        "请为客户端分配独占 CPU 核，或用 --processes 增加发送进程"
    ),
    "Ask for a lower rate, or give up the designed hits with --gating none": (
        "请降低请求速率，或用 --gating none 放弃理论命中"
    ),
    "Ask for a lower rate, or for more in flight with --max-in-flight": (
        "请降低请求速率，或用 --max-in-flight 增加在途请求数"
    ),
}
