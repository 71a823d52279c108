"""Every sentence and table header that the commands print, in one table: key → (English, Chinese)."""

from __future__ import annotations

from prefixcache.help.words.compare import COMPARE
from prefixcache.help.words.metrics import METRICS
from prefixcache.help.words.probe import PROBE
from prefixcache.help.words.stages import STAGES

OWN: dict[str, tuple[str, str]] = {
    # Statuses beside their code
    "status.PASS": ("PASS", "PASS（通过）"),
    "status.PASS_WITH_WARNING": ("PASS_WITH_WARNING", "PASS_WITH_WARNING（告警通过）"),
    "status.FAIL": ("FAIL", "FAIL（未通过）"),
    # Errors, warnings, interruptions
    "error": ("error:", "错误："),
    "warning": ("warning:", "警告："),
    "remedy": ("Remedy: {text}", "处理建议：{text}"),
    "place.stage": ("stage", "阶段"),
    "place.dataset_id": ("dataset_id", "数据集"),
    "place.request_id": ("request_id", "请求"),
    "place.group": ("group", "Prefix Group"),
    "place.retry_count": ("retry_count", "重试次数"),
    "interrupted": ("interrupted by {signal};", "已被 {signal} 中断；"),
    "comma": (", ", "，"),
    "colon": (": ", "："),
    "list": (", ", "、"),
    "again.afresh": ("the same command again starts afresh.", "再次执行同一命令将从头开始。"),
    "again.shards": (
        "the same command again builds the shards that are missing; all else starts afresh.",
        "再次执行同一命令只构建缺失的分片，其余从头开始。",
    ),
    "again.run": (
        "what was answered so far stays in the run's folder (runtime/request_results.jsonl.partial); the same command "
        "starts the run afresh.",
        "已完成的请求记录保留在运行目录（runtime/request_results.jsonl.partial）；再次执行同一命令将重新开始。",
    ),
    "again.resume": ("the same command again goes on where it stopped.", "再次执行同一命令将从中断处继续。"),
    # demo
    "demo.engine": ("reference engine at {url}", "参考引擎：{url}"),
    # run --live
    "live.no_terminal": (
        "--live shows nothing: stderr is no terminal; `prefixcache replay` shows the run afterwards.",
        "--live 未生效：stderr 不是终端；运行结束后可用 `prefixcache replay` 查看。",
    ),
    "live.step": ("{step} …", "{step} …（准备中）"),
    # generate
    "generate.verdict": (
        "target {target} %, designed {designed} % ({deviation} pp): {hits} of {tokens} input tokens, "
        "{requests} requests",
        "目标命中率 {target} %，数据集理论命中率 {designed} %（偏差 {deviation} 个百分点）："
        "{tokens} 个输入 Token 中命中 {hits} 个，共 {requests} 条请求",
    ),
    "generate.without_target": (
        "designed {designed} %: {hits} of {tokens} input tokens, {requests} requests",
        "数据集理论命中率 {designed} %：{tokens} 个输入 Token 中命中 {hits} 个，共 {requests} 条请求",
    ),
    "generate.proof": (
        "certificate holds over the real token ids; {prompts} prompts ({tokens} tokens) re-encoded, {differ} differ",
        "理论仿真在真实 Token 上成立；已重新 Encode {prompts} 条 Prompt（{tokens} Token），{differ} 条不一致",
    ),
    "generate.no_proof": (
        "certificate does NOT hold over the real token ids; {prompts} prompts ({tokens} tokens) re-encoded, "
        "{differ} differ",
        "理论仿真在真实 Token 上不成立；已重新 Encode {prompts} 条 Prompt（{tokens} Token），{differ} 条不一致",
    ),
    "generate.dataset": ("dataset: {path}", "数据集：{path}"),
    "note": ("note:", "说明："),
    # plan
    "plan.verdict": (
        "target {target}, designed {designed} ({deviation} pp), at most {maximum}",
        "目标命中率 {target}，理论命中率 {designed}（偏差 {deviation} 个百分点），最大可达 {maximum}",
    ),
    "plan.without_target": ("designed {designed}, at most {maximum}", "理论命中率 {designed}，最大可达 {maximum}"),
    "plan.sums": (
        "{requests} requests, {tokens} input tokens, {hits} expected hits, {lanes} lanes",
        "{requests} 条请求，{tokens} 个输入 Token，理论命中 {hits} 个，{lanes} 条缓存通道（缓存域 × Group）",
    ),
    "plan.sums_one": (
        "{requests} requests, {tokens} input tokens, {hits} expected hits, 1 lane",
        "{requests} 条请求，{tokens} 个输入 Token，理论命中 {hits} 个，1 条缓存通道（缓存域 × Group）",
    ),
    "plan.why": ("why:", "原因："),
    "plan.assumption": (
        "plan needs no tokenizer: it assumes that nothing stands before or after the text (K = t = 0)",
        "plan 不加载 Tokenizer：假设正文前后没有附加 Token（K = t = 0）",
    ),
    "plan.frame": (
        "every request begins with {head} tokens and ends with {tail} that are not its own text (BOS, template)",
        "每条请求开头有 {head} 个、末尾有 {tail} 个不属于正文的 Token（BOS、模板）",
    ),
    "column.group": ("group", "Prefix Group"),
    "column.requests": ("requests", "请求数"),
    "column.input_tokens": ("input tokens", "输入 Token"),
    "column.expected_hits": ("expected hits", "理论命中"),
    "column.target": ("target", "目标"),
    "column.ratio": ("ratio", "命中率"),
    "column.master_prefix": ("master prefix", "主 Prefix"),
    "column.cold_start": ("cold start", "冷启动损失"),
    "column.at_most": ("at most", "最大可达"),
    # validate
    "validate.intact": ("intact", "完好"),
    "validate.damaged": ("damaged", "已损坏"),
    "validate.more": ("and {count} more", "另有 {count} 项"),
    "validate.reencoded": (
        "{prompts} prompts re-encoded, {tokens} tokens",
        "已重新 Encode {prompts} 条 Prompt，{tokens} Token",
    ),
    "check.digests": ("digests", "文件摘要"),
    "check.form": ("form", "文件格式"),
    "check.seal": ("seal", "Manifest 摘要"),
    "check.readable": ("readable", "可读取"),
    "check.shards": ("shards", "分片一致"),
    "check.lengths": ("lengths", "长度"),
    "check.order": ("order", "发送顺序"),
    "check.counts": ("counts", "数量"),
    "check.claims": ("claims", "声明数值"),
    "check.watermarks": ("watermarks", "缓存水位"),
    "check.certificate": ("certificate", "理论仿真"),
    "check.collisions": ("collisions", "冲突检测"),
    "check.seams": ("seams", "重新 Encode"),
    "check.verdict": ("verdict", "校验结论"),
    # reorder
    "reorder.verdict": (
        "{orders}: target {target} %, designed {designed} % ({deviation} pp): {hits} of {tokens} input tokens",
        "{orders}：目标命中率 {target} %，数据集理论命中率 {designed} %（偏差 {deviation} 个百分点）："
        "{tokens} 个输入 Token 中命中 {hits} 个",
    ),
    "reorder.without_target": (
        "{orders}: designed {designed} %: {hits} of {tokens} input tokens",
        "{orders}：数据集理论命中率 {designed} %：{tokens} 个输入 Token 中命中 {hits} 个",
    ),
    "reorder.proof": (
        "certificate holds over the real token ids in the new order",
        "按新的发送顺序，理论仿真在真实 Token 上成立",
    ),
    # simulate
    "simulate.head": (
        "{engine}, blocks of {block_size} tokens, {domains} cache domains, {routing} routes",
        "{engine}，Block Size {block_size} Token，{domains} 个缓存域，路由 {routing}",
    ),
    "simulate.head_one": (
        "{engine}, blocks of {block_size} tokens, 1 cache domain",
        "{engine}，Block Size {block_size} Token，1 个缓存域",
    ),
    "simulate.head_of_run": ("{engine}, blocks of {block_size} tokens", "引擎 {engine}，Block Size {block_size} Token"),
    "simulate.size": (", blocks per domain: {size}", "，每个缓存域 Block 数：{size}"),
    "simulate.flight": (
        ", {concurrency} requests in flight, gating {gating}",
        "，并发 {concurrency}，门控 {gating}",
    ),
    "simulate.unbounded": ("unbounded", "不限"),
    "simulate.total": ("{name}, in total", "{name}，合计"),
    "simulate.domain": ("domain {number}", "缓存域 {number}"),
    "simulate.usage": (
        "blocks with content: at most {most}, at the end {last}{share}",
        "有内容的 Block：最多 {most} 个，结束时 {last} 个{share}",
    ),
    "simulate.preemptions": ("preemptions: {count}", "抢占次数：{count}"),
    "simulate.ideal": (
        "unbounded ideal: {ideal}, {tokens} hit tokens",
        "容量不限时的理想命中率：{ideal}，命中 {tokens} Token",
    ),
    "simulate.event": ("told by the KV events", "按 KV 事件直接得出"),
    "simulate.led": ("model led by their steps", "由事件的步引导的模型"),
    "simulate.measured": ("measured by the server's counters", "服务计数器实测"),
    "simulate.told": (
        "events tell the hits of {told} of {requests} requests; the others stored nothing of their own, the model's "
        "stand in",
        "{requests} 条请求中有 {told} 条的命中由事件直接给出；其余请求没有写入自己的 Block，取模型的结果",
    ),
    "simulate.all_tiers": ("all tiers", "各层合计"),
    "simulate.like": ("parameters: {parameters}", "参数：{parameters}"),
    "simulate.sourced": ("{name} {value} ({source})", "{name} {value}（{source}）"),
    "simulate.pace": (
        "pace fitted to the run: a step {step} ms, a token {token} µs, the client's next request {delay} ms, arrivals "
        "{spacing} ms apart; times are off by {error} % (default pace {default} %), {order} % of pairs end in the "
        "measured order",
        "按该次运行标定的节奏：每步 {step} ms，每 Token {token} µs，客户端下一条请求 {delay} ms，到达间隔 {spacing} "
        "ms；"
        "时间误差 {error} %（默认节奏 {default} %），{order} % 的请求对结束次序与实测一致",
    ),
    "simulate.beside": (
        "{name}: the run measured {ratio}, the simulation is {deviation} from it",
        "{name}：该次运行实测 {ratio}，仿真与之相差 {deviation}",
    ),
    "simulate.pp": ("pp", "个百分点"),
    "source.flag": ("flag", "命令行"),
    "source.run": ("run", "运行记录"),
    "source.dataset": ("dataset", "数据集"),
    "source.default": ("default", "默认值"),
    "tier.device": ("device", "设备"),
    "tier.host": ("host", "主机内存"),
    "tier.external": ("external", "外部存储"),
    "column.how": ("hits", "命中的来源"),
    "column.off_measured": ("minus measured", "与实测之差"),
    "column.tier": ("tier", "缓存层"),
    "column.queries": ("queries", "查询 Token"),
    "column.requests_off": ("requests off", "命中不同的请求"),
    "method.stack_distances": ("exact, by stack distances in one pass", "由栈距离一次遍历得出，精确"),
    "method.simulated": ("simulated at each size, bisection between them", "逐个容量仿真，所需容量由二分得出"),
    "simulate.needed": (" ← {share} of the ideal", " ← 达到理想值的 {share}"),
    "simulate.sweep_title": ("Hit ratio against cache size", "命中率与缓存容量"),
    "simulate.sweep_axis": ("blocks of each domain's cache", "每个缓存域的 Block 数"),
    "simulate.ratio_axis": ("hit ratio, %", "命中率，%"),
    "simulate.ideal_line": ("unbounded", "容量不限"),
    "pass_name.cold": ("cold", "cold（冷启动）"),
    "pass_name.hot": ("hot", "hot（Warmup 后）"),
    "pass_name.replay": ("replay", "replay（重放）"),
    "column.num_blocks": ("blocks per domain", "每域 Block 数"),
    "column.blocks": ("blocks", "完整 Block"),
    "column.hit_blocks": ("hit blocks", "命中 Block"),
    "column.block_ratio": ("of blocks", "Block 命中率"),
    "column.hit_tokens": ("hit tokens", "命中 Token"),
    "column.part": ("part", "范围"),
    "column.designed": ("designed", "理论命中率"),
    "column.evicted": ("evicted blocks", "淘汰 Block"),
    "column.of_ideal": ("of the ideal", "占理想值"),
    # run, report
    "run.how": (
        "{execution_mode}, concurrency {concurrency}, gating {gating}",
        "{execution_mode}，并发 {concurrency}，门控 {gating}",
    ),
    "run.how_load": (
        "{execution_mode}, load {load}, gating {gating}",
        "{execution_mode}，负载 {load}，门控 {gating}",
    ),
    "run.time": ("time: {time} ({assumption})", "预计用时：{time}（{assumption}）"),
    "run.time_unknown": ("unknown", "未知"),
    "run.about": ("about {seconds} s", "约 {seconds} 秒"),
    "run.overhead_only": ("client and server overhead only", "仅客户端与服务端自身开销"),
    "run.legend": (
        "KV tokens: what stays cached if nothing is evicted. chain: longest chain of gated requests → mean concurrency "
        "it permits.",
        "KV Token：不发生淘汰时保留在缓存中的 Token。依赖链：门控下最长的请求链 → 允许的平均并发。",
    ),
    "column.pass": ("pass", "轮次"),
    "column.warmup": ("warmup", "Warmup"),
    "column.output_tokens": ("output tokens", "输出 Token"),
    "column.kv_tokens": ("KV tokens", "KV Token"),
    "column.chain": ("chain", "依赖链"),
    "report.path": ("report: {path}", "报告：{path}"),
    # explain
    "explain.listing": ("`prefixcache explain NAME` says more", "`prefixcache explain 名称` 可查看详情"),
    # export
    "export.done": ("{rows} rows, {columns} columns: {path}", "{rows} 行，{columns} 列：{path}"),
    # init
    "init.intro": ("Enter takes the value in brackets.", "直接回车采用方括号中的默认值。"),
    "init.tokenizer": (
        "Tokenizer of the served model: folder or hub name (embedded: for the reference engine)",
        "被测模型的 Tokenizer：目录或 Hub 名称（embedded 仅适用于参考引擎）",
    ),
    "init.url": ("Server URL, if there is one (- for none)", "推理服务地址（没有则填 -）"),
    "init.requests": ("Number of requests", "请求数量"),
    "init.length": ("Input length in tokens: one number, or FROM..TO", "输入 Token 长度：单个数字，或 最小..最大"),
    "init.target": ("Target hit ratio, 0 to 1", "目标命中率，0 到 1"),
    "init.groups": ("Number of prefix groups", "Prefix Group 数量"),
    "init.mode": ("Execution mode ({choices})", "执行模式（{choices}）"),
    "init.block_size": ("Block size of the server, tokens", "服务端 Block Size（Token）"),
    "init.server_said": (
        "{url} says: model {model}, block size {block}",
        "{url} 返回：模型 {model}，Block Size {block}",
    ),
    "init.server_silent": ("{url} could not be asked: {why}", "无法查询 {url}：{why}"),
    "init.unknown": ("unknown", "未知"),
    "init.written": ("written: {path}", "已写入：{path}"),
    "init.next": ("next:", "下一步："),
    "init.header": (
        "Written by `prefixcache init`. `prefixcache explain KEY` says more about a key; keys left out have defaults.",
        "由 `prefixcache init` 生成。`prefixcache explain 配置项` 可查看详细说明；未列出的配置项取默认值。",
    ),
    "init.header_next": ("What to do with it:", "使用方法："),
    # inspect
    "inspect.head": ("head", "公共头部"),
    "inspect.cached": ("shared prefix, cached before", "共享 Prefix（已缓存）"),
    "inspect.prefix": ("shared prefix, not yet cached", "共享 Prefix（尚未缓存）"),
    "inspect.divergence": ("divergence block", "唯一分叉 Block"),
    "inspect.suffix": ("suffix", "Suffix"),
    "inspect.tail": ("tail", "尾部"),
    "inspect.tokens": ("tokens {start}–{end}, {count}", "Token {start}–{end}，共 {count}"),
    "inspect.tokens_of": ("tokens", "Token"),
    "inspect.hidden": ("… {count} tokens …", "……省略 {count} 个 Token……"),
    "inspect.decoded": (
        "The text of the parts is decoded from the token ids: {why}.",
        "各部分文本由 Token ID 解码得到：{why}。",
    ),
    "inspect.inexact": (
        "At token {token} the boundary lies inside a character: the whole character is shown with the part before it.",
        "Token {token} 处的边界位于一个字符内部，该字符整体显示在前一部分。",
    ),
    "inspect.no_tokenizer": (
        "The dataset holds no tokenizer, so its text cannot be split: boundaries are known in tokens only.",
        "数据集未包含 Tokenizer，无法切分文本；边界仅以 Token 序号给出。",
    ),
    "inspect.not_stored": (
        "Prompts are not stored in this run (--without-prompts); inspect the dataset itself to read them.",
        "本次运行未保存 Prompt（--without-prompts）；如需查看文本，请对数据集目录执行 inspect。",
    ),
    "inspect.why_ids_only": ("the dataset holds no text", "数据集不含文本"),
    "inspect.why_differs": ("the text does not encode to these ids", "文本 Encode 结果与 Token ID 不一致"),
    "inspect.whole_text": ("text", "文本"),
    "inspect.blocks_legend": ("│ begins a block of {block} tokens", "│ 表示一个 Block（{block} Token）的开始"),
    "inspect.rows_hidden": ("… {count} rows …", "……省略 {count} 行……"),
    "inspect.anywhere": ("anywhere", "不限"),
    "inspect.not_sent": ("not sent", "未发送"),
    "inspect.unknown": ("–", "–"),
    "inspect.measured": ("measured in {run}", "实测（{run}）"),
    "fact.request": ("request", "请求"),
    "fact.group": ("group", "Prefix Group"),
    "fact.order": ("#", "序号"),
    "fact.route": ("domain / route", "缓存域 / 路由"),
    "fact.length": ("length", "输入长度"),
    "fact.output": ("output", "输出长度"),
    "fact.prefix": ("prefix", "规划 Prefix"),
    "fact.watermark": ("watermark", "缓存水位"),
    "fact.expected": ("expected", "理论命中"),
    "fact.order.long": ("position in send order", "发送序号"),
    "fact.prefix.long": ("planned prefix", "规划 Prefix"),
    "fact.watermark.long": ("watermark before → after", "缓存水位 前 → 后"),
    "fact.expected.long": ("expected hit", "理论命中"),
    "fact.collision": ("collision check", "冲突检测"),
    "fact.pass": ("pass", "轮次"),
    "fact.cached": ("cached", "实测命中"),
    "fact.difference": ("diff", "差值"),
    "fact.status": ("status", "状态"),
    "fact.ttft": ("TTFT, ms", "TTFT，ms"),
    "fact.e2e": ("E2E, ms", "E2E，ms"),
    "fact.endpoint": ("endpoint", "端点"),
    "fact.ratio": ("ratio", "命中率"),
}
CLI: dict[str, tuple[str, str]] = OWN | COMPARE | METRICS | PROBE | STAGES
