"""What the preflight finds and predicts, and what `block_size: auto` says, in Chinese: forms as in :mod:`.text`."""

from __future__ import annotations

_N, _S = r"([\d,.e+\u2212-]+)", r"(\S+)"

PREFLIGHT_FORMS: tuple[tuple[str, str], ...] = (
    # What it will cost; first of all forms, since a finding before it may end in anything
    (r"(.+?); (predicted: .+)", "{0}；{1}"),
    (rf"predicted: {_N} % instead of {_N} % \({_N} pp\)", "预测命中率 {0} %，理论 {1} %（{2} 个百分点）"),
    (
        rf"{_N} of {_N} requests hit otherwise than designed, {_N} of them nothing: (.+)",
        "{1} 条请求中有 {0} 条命中与设计不同，其中 {2} 条完全不命中：{3}",
    ),
    # The first requests it hits, and more where "…" ends them
    (r"(\S+) of (\S+), (.+)", "{0}（{1}）、{2}"),
    (r"(\S+) of (\S+)", "{0}（{1}）"),
    (r"predicted: the server takes none of the requests", "预测：服务端不接受任何请求"),
    (r"all (\d+) contradictions together", "以上 {0} 项矛盾合计"),
    (r"nothing was predicted: (.+)", "未作预测：{0}"),
    (r"not all of it was predicted: (.+)", "部分矛盾未能预测：{0}"),
    (rf"the prediction took {_N} s", "预测耗时 {0} s"),
    (
        rf"contradictions beside this one: {_N}, see `prefixcache run --dry-run`",
        "另有 {0} 项矛盾，参见 `prefixcache run --dry-run`",
    ),
    (
        rf"the dataset has {_N} blocks of {_N} tokens, which would take too long to simulate before a run "
        rf"\({_N} at most\)",
        "数据集有 {0} 个 {1} Token 的 Block，运行前仿真耗时过长（至多 {2} 个）",
    ),
    # What was found
    (
        rf"the dataset is planned in units of {_N} tokens as measured, {_S} states {_N}: what was measured counts",
        "数据集按实测的 {0} Token 粒度规划，{1} 声明为 {2}：以实测值为准",
    ),
    (
        rf"the dataset plans hits in units of {_N} tokens, {_S} states {_N}: requests may hit otherwise than planned",
        "数据集按 {0} Token 的命中粒度规划，{1} 声明为 {2}：请求命中可能与计划不同",
    ),
    (
        rf"the dataset plans a hit drop of {_N} units, {_S} drops {_N} as measured: .*",
        "数据集按丢弃 {0} 个命中单元规划，{1} 实测丢弃 {2} 个：请求命中可能与计划不同",
    ),
    (
        rf"a planned prefix of {_N} tokens is no multiple of the block size {_N} of {_S}",
        "计划的 {0} Token Prefix 不是 {2} 的 Block Size {1} 的整数倍",
    ),
    (
        rf"a request of {_N} \+ {_N} tokens is longer than the server's max_model_len {_N}",
        "某请求为 {0} + {1} Token，超过服务端的 max_model_len {2}",
    ),
    (
        rf"a request of {_N} \+ {_N} tokens is longer than the server's max_model_len {_N}, as are {_N} more",
        "某请求为 {0} + {1} Token，超过服务端的 max_model_len {2}，另有 {3} 条同样超出",
    ),
    (
        rf"the dataset plans {_N} cache domains, (.+) has {_N} DP ranks",
        "数据集规划了 {0} 个缓存域，{1} 有 {2} 个 DP",
    ),
    (rf"{_S} gives no figure for (\w+): (.+)", "{0} 没有 {1} 的数值：{2}"),
    (
        rf"{_S} has served {_N} prompt tokens before and its cache is not emptied \(--isolation none\): .*",
        "{0} 此前已处理 {1} 个 Prompt Token 且未清空缓存（--isolation none）：若其属于本数据集，首批请求也会命中",
    ),
    # Sizes
    (r"is auto, and nobody was asked", "为 auto，但未指定向谁获取"),
    (
        r"give the server with --url URL .*; or write a number",
        "请用 --url URL（及 --metrics-url）指定服务端，用 --probe-report FILE 给出探测报告，"
        "或用 --engine NAME 指定框架；也可直接写数值",
    ),
    (r"is auto, but (.+) does not tell its block size", "为 auto，但 {0} 未说明其 Block Size"),
    (r"is auto, but the servers state different block sizes: (.+)", "为 auto，但各服务端的 Block Size 不同：{0}"),
    (r"serve all instances with one block size", "请令所有实例采用相同的 Block Size"),
    (
        rf"block_size is {_N}, (.+) tells {_N}: the dataset is planned for {_N}, and a run there will be refused",
        "block_size 为 {0}，{1} 为 {2}：数据集按 {3} 规划，在该服务端运行将被拒绝",
    ),
    (
        rf"nobody tells the block size: {_N} is assumed, the default of ([\w-]+)\. .*",
        "无从得知 Block Size：采用 {1} 的默认值 {0}。若与服务端不同，命中率也会不同；可用 `prefixcache probe` 实测",
    ),
    (
        rf"the server states a block size of {_N}, but matches in {_N} tokens as measured, .*",
        "服务端声明 Block Size 为 {0}，但实测按 {1} Token 匹配，二者不成倍数：均采用实测值",
    ),
    (rf"hit_drop {_N} is taken from the probe's report", "hit_drop {0} 取自探测报告"),
    (
        rf"hit_unit {_N} is a rule for (.+) on vLLM-Ascend \(block x (\d+)\), .*",
        "hit_unit {0} 为 vLLM-Ascend 上 {1} 的规则（Block × {2}），并非服务端声明；启用投机解码时还会"
        "丢弃最后一个单元（hit_drop: 1）。可用 `prefixcache probe` 实测",
    ),
    (
        rf"hit_unit {_N} is a rule for dense models on vLLM-Ascend, .*\(here {_N}\)\. .*",
        "hit_unit {0} 为 vLLM-Ascend 上稠密模型的规则，与所设 Block Size（此处 {1}）无关。"
        "可用 `prefixcache probe` 实测",
    ),
    (
        rf"(\S+) looks like a hybrid model: .*so {_N} is taken\. .*",
        "{0} 似为混合架构模型：其匹配粒度大于 Block（已见 784 至 3,584 Token），服务端未声明，暂取 {1}。"
        "可用 `prefixcache probe` 实测",
    ),
    (r"(\S+) is no report of a probe", "{0} 不是探测报告"),
    (r"(\S+) tells neither a block size nor a hit unit", "{0} 既无 Block Size 也无命中粒度"),
    (r"stands without --url", "未与 --url 同时给出"),
    (r"give the server's address too", "请同时给出服务端地址"),
    # Remedies
    (r"Generate the dataset with (block_size|hit_unit|hit_drop) (\d+)", "请以 {0} {1} 重新生成数据集"),
    (
        r"Generate the dataset with block_size (\d+), or serve with block size (\d+)",
        "请以 block_size {0} 重新生成数据集，或以 Block Size {1} 启动服务",
    ),
    (r"Measure it: `prefixcache probe --url URL`", "请实测：`prefixcache probe --url URL`"),
    (r"Give what was measured of this server: --probe-report FILE", "请提供对该服务的实测结果：--probe-report FILE"),
    (r"Start the server with prefix caching \((.+)\)", "请启用 Prefix Cache 启动服务（{0}）"),
    (
        r"Serve with --data-parallel-size (\d+), or give one --url for each domain",
        "请以 --data-parallel-size {0} 启动服务，或为每个缓存域给出一个 --url",
    ),
    (
        r"Give the server's own metrics page with --metrics-url, and switch its metrics on",
        "请用 --metrics-url 给出服务自身的指标页面，并启用其指标",
    ),
    (r"Choose --isolation auto, or restart the server", "请使用 --isolation auto，或重启服务"),
    (
        r"the dataset was built with the embedded tokenizer, which no real model uses, and (\S+) is not the reference "
        r"engine",
        "数据集使用内置 Tokenizer 构建，没有真实模型使用它，而 {0} 不是参考引擎",
    ),
    (
        r"Generate the dataset with the served model's tokenizer \(--tokenizer PATH\), or run it against "
        r"`prefixcache serve`",
        "请用所服务模型的 Tokenizer（--tokenizer PATH）重新生成数据集，或在 `prefixcache serve` 上运行",
    ),
)
