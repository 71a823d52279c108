"""What a run warns of, in Chinese: forms as in :mod:`.text`, one per sentence of `load/`."""

from __future__ import annotations

from prefixcache.help.words.failures import KINDS, kind_name

# A figure (with thousands separators) and a server's address or name.
_N, _S = r"([\d,.e+]+)", r"(\S+)"
_WHEN = r"((?:before|after) the (?:pass|warmup))"

RUN_FORMS: tuple[tuple[str, str], ...] = (
    # How many requests failed of which kind: "1 incomplete, 53 refused"
    *(
        (rf"{_N} {kind}{rest}", f"{{0}} 条 {kind_name(kind, 1)}{more}")
        for kind in KINDS
        for rest, more in (("", ""), (", (.+)", "、{1}"))
    ),
    (rf"{_N} http_(\d+)", "{0} 条 http_{1}（HTTP {1}）"),
    (rf"{_N} http_(\d+), (.+)", "{0} 条 http_{1}（HTTP {1}）、{2}"),
    # Texts that say nothing
    (r"no pass is named", "未指定轮次"),
    (r"Write cold, hot or replay, or leave it out", "请填写 cold、hot 或 replay，或省略该参数"),
    # Loads that are given
    (r"(.+) is no load", "{0} 不是负载值"),
    (r"a load is not above 0", "负载须大于 0"),
    (r"the loads do not rise, or one stands twice", "负载重复"),
    (rf"{_N} loads are more than {_N}", "{0} 个负载超过上限 {1}"),
    (rf"{_N} requests cannot be in flight", "并发请求数不能为 {0}"),
    (rf"{_N} is above {_N}, the highest (\w+)", "{0} 超过 {2} 的上限 {1}"),
    (r"(\w+) (\S+) belongs to a search, and --points names the loads", "{0} {1} 用于区间搜索，而 --points 已指定负载"),
    (
        r"Write numbers above 0 with commas between them, e\.g\. 1,2,4,8",
        "请填写大于 0 的数，以逗号分隔，如 1,2,4,8",
    ),
    # Figures out of range
    (rf"(-?[\d,]+) is not (-?[\d,]+) to {_N}", "{0} 不在 {1} 至 {2} 之间"),
    (r"write a number from (-?[\d,]+) to ([\d,]+)", "请填写 {0} 至 {1} 之间的数"),
    (
        rf"{_N} units of cache in all ranks are more than {_N}",
        "所有 Rank 合计 {0} 个缓存单元，超过上限 {1}",
    ),
    (r"give fewer blocks or ranks, or a larger hit unit", "请减少 Block 或 Rank 数，或增大命中单元"),
    (r"Give a number of (?:requests|prompts)", "请填写一个在此范围内的数"),
    # Connections
    (r"nothing listens there: (.+)", "该地址无服务监听：{0}"),
    (r"nothing listens there", "该地址无服务监听"),
    (r"connection refused", "连接被拒绝"),
    (r"connection reset by peer", "连接被对端重置"),
    (r"no route to host", "没有到主机的路由"),
    (r"network is unreachable", "网络不可达"),
    (r"the host name (\S+) cannot be resolved: (.+)", "无法解析主机名 {0}：{1}"),
    (r"name or service not known", "名称不存在"),
    (r"temporary failure in name resolution", "域名解析暂时失败"),
    (r"no answer in time", "响应超时"),
    (r"the server (\S+) answers, but its certificate is not trusted: (.+)", "服务端 {0} 有响应，但其证书不受信任：{1}"),
    (
        r"the server (\S+) answers, but no TLS connection can be made: (.+)",
        "服务端 {0} 有响应，但无法建立 TLS 连接：{1}",
    ),
    (r"its certificate is not trusted: (.+)", "证书不受信任：{0}"),
    (r"no TLS connection can be made: (.+)", "无法建立 TLS 连接：{0}"),
    (
        r"Give the certificate of the authority that signed it with (--ca-file) FILE, or take any certificate with "
        r"(--insecure)",
        "请用 {0} FILE 给出签发机构的证书，或用 {1} 接受任意证书",
    ),
    (
        r"Check that HTTPS is spoken at this port; if it is plain HTTP, write http:// in the address",
        "请确认该端口提供 HTTPS；若为普通 HTTP，请在地址中写 http://",
    ),
    (r"server disconnected", "服务端断开连接"),
    # KV events
    (r"KV events: (.+)", "KV 事件：{0}"),
    (r"nothing listens at ([^;]+)", "{0} 无服务监听"),
    (r"no event came from ([^;]+)", "未收到来自 {0} 的任何事件"),
    (r"vLLM publishes with (--kv-events-config), see (\S+)", "vLLM 通过 {0} 发布，参见 {1}"),
    (r"(\d+) batches were lost, (\d+) could not be read", "丢失 {0} 批，{1} 批无法读取"),
    (r"the recording stopped \((.+)\)", "记录中止（{0}）"),
    # Metrics pages
    (rf"{_S}: metrics line (\d+) skipped \((?!infinite)(\w+)\): (.+)", "{0}：Metrics 第 {1} 行已跳过（{2}）：{3}"),
    (r"metrics line (\d+) skipped \((?!infinite)(\w+)\): (.+)", "Metrics 第 {0} 行已跳过（{1}）：{2}"),
    (r"the polling of the gauges stopped \((.+)\)", "指标轮询中止（{0}）"),
    (rf"there is no connection to (.+) {_WHEN}", "{0} 无法连接（{1}）"),
    (
        rf"(.+) gave no metrics page (\d+) times in a row {_WHEN}",
        "{0} 连续 {1} 次未给出 Metrics 页面（{2}）",
    ),
    (rf"the server was not idle within {_N} s {_WHEN}", "服务端在 {0} s 内未空闲（{1}）"),
    (rf"{_S} gave no metrics (.+), so the sums leave it out", "{0} {1}未给出 Metrics，汇总中不含该端点"),
    (rf"{_S} gave no metrics, so the sums leave it out", "{0} 未给出 Metrics，汇总中不含该端点"),
    (r"when the pass began and when it had ended", "在轮次开始与结束时"),
    (r"when the pass began", "在轮次开始时"),
    (r"when it had ended", "在轮次结束时"),
    (r"pass cold", "冷缓存轮次"),
    (r"pass hot", "热缓存轮次"),
    (r"pass replay", "重放轮次"),
    (r"before the pass", "轮次开始前"),
    (r"after the pass", "轮次结束后"),
    (r"after the warmup", "Warmup 之后"),
    # Addresses and caches
    (
        rf"the dataset plans one shared cache, but {_N} endpoints were given: .*",
        "数据集按一个共享缓存规划，但给出了 {0} 个端点：仅当它们共享缓存时规划才成立",
    ),
    (
        r"the dataset plans one cache per instance, but one endpoint was given: .*",
        "数据集按每实例一个缓存规划，但只给出一个端点：以其 DP 代替实例",
    ),
    (rf"{_S} says that prefix caching is switched off", "{0} 表明 Prefix Cache 未启用"),
    (
        rf"{_N} endpoints, {_N} metrics page\w? \((.+)\): whether .*",
        "{0} 个端点，{1} 个 Metrics 页面（{2}）：计数器是否覆盖全部端点，须待运行结束后由其统计的 Prompt Token 判断",
    ),
    (
        rf"the dataset plans {_N} cache domains, (.+) has {_N} DP ranks: those from {_N} on get no request",
        "数据集规划了 {0} 个缓存域，{1} 有 {2} 个 DP：编号 {3} 及之后的 DP 不会收到请求",
    ),
    (
        rf"the dataset plans one cache; (.+) has {_N} caches in all .*",
        "数据集规划了一个缓存，{0} 共有 {1} 个缓存（DP 或实例）：Group 的请求分散时会损失命中",
    ),
    (
        rf"the dataset plans {_N} caches, one behind each endpoint; (.+) has {_N} caches in all .*",
        "数据集规划了 {0} 个缓存（每端点一个），{1} 共有 {2} 个缓存（DP 或实例）：Group 的请求分散时会损失命中",
    ),
    (rf"{_S} does not state its block size, so it was not compared", "{0} 未说明其 Block Size，未作比较"),
    (
        rf"the dataset plans blocks of {_N} tokens, {_S} has blocks of {_N}: requests may hit otherwise than planned",
        "数据集按 {0} Token 的 Block 规划，{1} 的 Block 为 {2} Token：请求命中可能与计划不同",
    ),
    (
        rf"a planned prefix of {_N} tokens is no multiple of the hit alignment {_N} of {_S}",
        "计划的 {0} Token Prefix 不是 {2} 的命中粒度 {1} 的整数倍",
    ),
    (
        rf"(pass \w+) needs {_N} KV tokens in cache domain (\d+), {_S} holds {_N}: blocks may be evicted before they "
        "are hit",
        "{0}在缓存域 {2} 中需要 {1} 个 KV Token，{3} 仅容纳 {4} 个：Block 可能在被命中前淘汰",
    ),
    (
        rf"the hits were planned for caches of {_N} blocks of {_N} tokens, {_S} has {_N} of {_N}: requests may hit "
        "otherwise than planned",
        "按每个缓存域 {0} 个 {1} Token 的 Block 规划，{2} 有 {3} 个 {4} Token 的 Block：请求命中可能与计划不同",
    ),
    (
        rf"the hits were planned for caches of {_N} blocks, {_S} has {_N}: requests may hit otherwise than planned",
        "命中按每个缓存 {0} 个 Block 规划，{1} 为 {2} 个：实测命中可能不同",
    ),
    (
        rf"the hits were planned for caches of {_N} blocks and one request at a time; with {_N} in flight others are "
        r"evicted",
        "命中按每个缓存 {0} 个 Block、逐条发送规划；并发 {1} 条时淘汰会不同",
    ),
    (
        r"the dataset holds token ids and no text \(output\.prompts: ids\), so its prompts are sent as ids",
        "数据集只含 Token ID 而无文本（output.prompts: ids），因此以 Token ID 发送",
    ),
    (
        r"the dataset holds token ids and no exact text, so its prompts are sent as ids",
        "数据集只含 Token ID 而无精确文本，因此以 Token ID 发送",
    ),
    # Isolation and residue
    (
        rf"{_S} answered HTTP 200 to the reset but does not say whether it was done",
        "{0} 对缓存重置返回 HTTP 200，但未说明是否已完成",
    ),
    (r"nothing was done to empty the cache \(--isolation none\)", "未对缓存做任何清空（--isolation none）"),
    (
        rf"the prefix cache of {_S} cannot be proven empty: it has no route {_S} \(HTTP (\d+)\)",
        "无法证明 {0} 的 Prefix Cache 为空：没有接口 {1}（HTTP {2}）",
    ),
    (
        rf"the prefix cache of {_S} cannot be proven empty: requests were still running there",
        "无法证明 {0} 的 Prefix Cache 为空：仍有请求在运行",
    ),
    (
        rf"the prefix cache of {_S} cannot be proven empty: the reset failed \((.+)\)",
        "无法证明 {0} 的 Prefix Cache 为空：缓存重置失败（{1}）",
    ),
    (rf"each pass carries a fresh {_S} instead", "各轮次改用新的 {0}"),
    (rf"{_S} has no salt", "{0} 不支持 Salt"),
    (rf"and {_S} has no salt", "且 {0} 不支持 Salt"),
    (rf"(?:and )?{_S} does not keep caches apart by {_S}: (.+)", "{0} 不按 {1} 隔离缓存：{2}"),
    (r"neither the answers nor the counters tell cached tokens", "响应与计数器均未给出命中 Token"),
    (
        rf"request {_S}, the first of cache domain (\d+), hit {_N} tokens of a cache that should be empty",
        "请求 {0} 为缓存域 {1} 的首条请求，却在应为空的缓存中命中 {2} Token",
    ),
    (
        rf"the counters show {_N} hit tokens after the first request, into an empty cache",
        "首条请求进入空缓存后，计数器显示命中 {0} Token",
    ),
    (rf"{_N} hit tokens were measured where the plan allows {_N}", "实测命中 {0} Token，而计划至多 {1} Token"),
    (
        r"neither the first answers nor the counters tell whether the cache was empty when the pass began",
        "首批响应与计数器均无法说明轮次开始时缓存是否为空",
    ),
    # Requests
    (rf"{_N} of {_N} warmup prompts failed", "{1} 条 Warmup 请求中 {0} 条失败"),
    (rf"{_N} of {_N} requests of the replayed set failed", "重放集的 {1} 条请求中 {0} 条失败"),
    (
        rf"{_N} of {_N} requests failed \(([^()]+)\); the first is {_S}: (.+)",
        "{1} 条请求中 {0} 条失败（{2}）；首条为 {3}：{4}",
    ),
    (rf"{_N} requests were sent with nothing before them to hit", "{0} 条请求发送时前序缓存尚未建立"),
    # How the pass was loaded
    (
        rf"{_N} requests were sent more than once \({_N} attempts more\): each may have found its own prefix cached by "
        r"the attempt before, and the counters hold all attempts",
        "{0} 条请求被多次发送（共多发送 {1} 次）：每次重试可能命中其前一次发送写入的前缀，计数器包含所有发送",
    ),
    (
        rf"the client's event loop stood still {_N} times, {_N} ms at most \({_N} ms of garbage collection at most\): "
        r"moments within are late by as much",
        "客户端事件循环停顿 {0} 次，最长 {1} ms（其中垃圾回收最长 {2} ms）：期间的时间戳最多偏晚同样时长",
    ),
    (rf"{_N} of {_N} prompts of the engine's warm-up failed", "引擎预热的 {1} 条请求中 {0} 条失败"),
    (
        rf"requests were sent late by the client itself: {_N} ms at the 99th percentile, {_N} ms at most, {_N} of {_N} "
        r"by more than 1 ms",
        "客户端自身发送滞后：P99 为 {0} ms，最大 {1} ms，{3} 条请求中 {2} 条超过 1 ms",
    ),
    (
        rf"gates held {_N} of {_N} requests back beyond their moment, {_N} s in all; of {_N} requests/s asked for {_N} "
        r"left",
        "{1} 条请求中 {0} 条因门控晚于计划时刻发送，共 {2} 秒；要求 {3} 条/秒，发送 {4} 条/秒",
    ),
    (
        rf"{_N} of {_N} requests waited for one of {_N} places in flight, {_N} s in all; of {_N} requests/s asked for "
        rf"{_N} left",
        "{1} 条请求中 {0} 条等待在途名额（共 {2} 个），共 {3} 秒；要求 {4} 条/秒，发送 {5} 条/秒",
    ),
    # Points of an SLO search
    (
        rf"concurrency {_N}: {_N} of {_N} requests good \((.+?)\), (.+?) per second",
        "并发 {0}：{2} 条请求中 {1} 条达标（{3}），{4} 条/秒",
    ),
    (
        rf"concurrency {_N}: {_N} of {_N} requests good \((.+?)\), (.+?) per second, finished before",
        "并发 {0}：{2} 条请求中 {1} 条达标（{3}），{4} 条/秒，沿用已有结果",
    ),
    (
        rf"rate {_N}: {_N} of {_N} requests good \((.+?)\), (.+?) per second",
        "速率 {0}：{2} 条请求中 {1} 条达标（{3}），{4} 条/秒",
    ),
    (
        rf"rate {_N}: {_N} of {_N} requests good \((.+?)\), (.+?) per second, finished before",
        "速率 {0}：{2} 条请求中 {1} 条达标（{3}），{4} 条/秒，沿用已有结果",
    ),
    # Counters
    (
        rf"{_N} of {_N} requests failed \({_N} planned tokens\); servers count those only in part",
        "{1} 条请求中 {0} 条失败（计划 {2} Token）；服务端仅部分计入",
    ),
    (
        rf"{_N} answers count other prompt tokens than planned: the tokenizers differ in places",
        "{0} 条响应统计的 Prompt Token 与计划不同：两侧 Tokenizer 存在差异",
    ),
    (
        r"the server worked for somebody else too, or was still counting when it was read",
        "服务端同时在处理其他流量，或读取时仍在计数",
    ),
    (
        rf"the cache was asked for {_N} tokens, the server counted {_N} prompt tokens: lookups .*",
        "缓存被查询 {0} Token，服务端统计 {1} 个 Prompt Token：存在重复查询（抢占、重试）或绕过缓存",
    ),
    (
        rf"the cache counted {_N} hit tokens, the prompt tokens by source {_N}: lookups .*",
        "缓存统计命中 {0} Token，按来源统计的 Prompt Token 为 {1}：计入了未进入 Prefill 的查询，或服务端仍在计数",
    ),
    (
        rf"more hits \({_N}\) than queries \({_N}\): the two counters .*",
        "命中（{0}）多于查询（{1}）：两个计数器口径不同，或读取时存在其他流量；命中率按原值显示",
    ),
    (r"this server counts queries and hits in blocks, full blocks only", "该服务端按完整 Block 统计查询与命中"),
    (
        rf"{_S} was restarted within the interval, so its counters and its cache began anew",
        "{0} 在测量期间重启，其计数器与缓存重新开始",
    ),
    (rf"the hit rate lies between {_N} ?% and {_N} ?%", "命中率介于 {0}% 与 {1}% 之间"),
    (
        rf"{_S} was restarted within the interval, so its counters and its cache began anew; (.+)",
        "{0} 在测量期间重启，其计数器与缓存重新开始；{1}",
    ),
    (r"the server was restarted within the interval", "服务端在测量期间重启"),
    (
        rf"the counters of {_S} fell within the interval, so how much was asked for and hit is not known",
        "{0} 的计数器在测量期间变小，查询与命中数未知",
    ),
    (
        rf"the counters of {_S} fell within the interval, so how much was asked for and hit is not known; (.+)",
        "{0} 的计数器在测量期间变小，查询与命中数未知；{1}",
    ),
    (r"the counters of this pass are partial", "该轮次的计数器不完整"),
    (r"the counters of this pass are reset_detected", "该轮次的计数器被重置"),
    (
        rf"the counters saw {_N} of {_N} prompt tokens sent, so they are no measure of this pass",
        "计数器统计 {0} 个 Prompt Token，而已发送 {1} 个，不能用于度量该轮次",
    ),
    (
        rf"cache domain (\d+) was asked for {_N} tokens, planned are {_N}: requests went elsewhere, or others came",
        "缓存域 {0} 被查询 {1} Token，计划为 {2} Token：请求进入他处，或有其他流量",
    ),
    # The answers' usage
    (
        rf"{_N} of {_N} answers say nothing of their output tokens, so output throughput is not known",
        "{1} 条响应中有 {0} 条未给出输出 Token 数，输出吞吐未知",
    ),
    (
        rf"the usage of {_N} of {_N} answers holds what is no count of tokens, taken as not said; the first is {_S}: "
        r"(.+)",
        "{1} 条响应中有 {0} 条的 Usage 不是有效的 Token 数，按未给出处理；首条为 {2}：{3}",
    ),
    (
        rf"{_N} of {_N} answers state more cached tokens than their prompt has, shown as they are; the first is {_S}: "
        rf"{_N} of {_N}",
        "{1} 条响应中有 {0} 条的缓存 Token 多于 Prompt，按原值展示；首条为 {2}：{3} / {4}",
    ),
    (
        r"the extra body changes (.+): answers may be of other lengths than planned, and others in the next run",
        "附加请求体改写了 {0}：输出长度可能与计划不同，且各次运行的输出可能不一致",
    ),
    (
        rf"{_N} of {_N} answers have another number of tokens than was asked for \({_N} instead of {_N}\) although .*",
        "{1} 条响应中有 {0} 条的输出 Token 数与请求的不同（{2}，应为 {3}），尽管已发送 ignore_eos 与 min_tokens："
        "时延与吞吐并非计划输出长度下的数值",
    ),
    (
        rf"{_N} of {_N} answers have another number of tokens than was asked for \({_N} instead of {_N}\).*: .*",
        "{1} 条响应中有 {0} 条的输出 Token 数与请求的不同（{2}，应为 {3}）：时延与吞吐并非计划输出长度下的数值",
    ),
    (
        r"no metrics page gives a figure for (.+), so how much was hit is not known",
        "指标页没有 {0} 的数值，命中量未知",
    ),
    (
        r"not every endpoint counts both hits and queries, so their sums are of a part of the service",
        "部分端点未同时统计命中与查询，合计仅为部分服务的数值",
    ),
    (rf"the proxy {_S} cannot be reached \((.+)\)", "代理 {0} 不可访问（{1}）"),
    (r"the proxy opened no way to the server \(HTTP (\d+)\)", "代理未能连通服务端（HTTP {0}）"),
    # What a dry run assumes
    (r"neither the server nor the options state its rates", "服务端与参数均未给出速率"),
    (
        rf"prefill {_N} and decode {_N} tokens/s \((.+); 0 takes no time\), prefill serial within a cache domain",
        "Prefill {0}、Decode {1} Token/s（{2}；0 表示不耗时），同一缓存域内 Prefill 串行",
    ),
    (r"prefill and decode take no time, (.+)", "Prefill 与 Decode 不耗时，{0}"),
    (rf"stated by {_S}", "由 {0} 给出"),
    (r"assumed by the options", "由参数给定"),
    # What a run tells while it waits
    (
        rf"gating (\w+): the longest chain is {_N} of {_N} requests, which permits a mean concurrency of {_N}",
        "门控 {0}：最长依赖链 {1} 条（共 {2} 条请求），允许的平均并发为 {3}",
    ),
    (
        rf"waiting for {_S} to answer request {_S}, {_N} s so far; a request fails after {_N} s without a byte "
        r"\(--timeout\)",
        "正在等待 {0} 响应请求 {1}，已 {2} s；{3} s 无任何字节则请求失败（--timeout）",
    ),
    (
        rf"waiting for {_S} to answer request {_S} and {_N} more, {_N} s so far; a request fails after {_N} s without "
        r"a byte \(--timeout\)",
        "正在等待 {0} 响应请求 {1} 等（另有 {2} 条），已 {3} s；{4} s 无任何字节则请求失败（--timeout）",
    ),
)
