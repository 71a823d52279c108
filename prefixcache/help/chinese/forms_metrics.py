"""What metrics pages and their differences are remarked on, in Chinese: forms as in :mod:`.text`."""

from __future__ import annotations

_N, _S = r"([\d,.e+-]+)", r"(\S+)"

METRICS_FORMS: tuple[tuple[str, str], ...] = (
    (rf"{_S}: (the page does not say .*)", "{0}：{1}"),
    (rf"{_S}: (hits are an estimate: .*)", "{0}：{1}"),
    (rf"{_S}: (no series of .*)", "{0}：{1}"),
    (rf"{_S}: (more hits \(.*)", "{0}：{1}"),
    (rf"{_S}: (this server counts .*)", "{0}：{1}"),
    (rf"{_S}: (the server was restarted within the interval)", "{0}：{1}"),
    (
        r"the page does not say whether it counts blocks or tokens; taken as blocks",
        "页面未说明按 Block 还是按 Token 计数；按 Block 处理",
    ),
    (
        r"hits are an estimate: a rounded ratio since the start times the prompt tokens, at both ends",
        "命中为估算值：两端的累计命中率（已舍入）乘以 Prompt Token 数后相减",
    ),
    (
        rf"the hits counter says {_N}, the prompt tokens by source say that {_N} were found cached: .*",
        "命中计数器为 {0}，按来源统计的 Prompt Token 中缓存命中为 {1}：重复或放弃的查询也计入了命中，"
        "或该版本中二者之一有误",
    ),
    (
        rf"{_S}: (the hits counter says .*)",
        "{0}：{1}",
    ),
    (
        r"a Motor's page has the unweighted mean of its pods: give each pod's own page",
        "Motor 页面给出的是各 Pod 命中率的未加权平均：请使用各 Pod 自身的页面",
    ),
    (
        r"hits are an estimate: a rounded ratio since the start times the prompt tokens, at both ends; (.+)",
        "命中为估算值：两端的累计命中率（已舍入）乘以 Prompt Token 数后相减；{0}",
    ),
    (
        r"no series of (.+) yet: this version shows it from its first event on, so it is 0",
        "尚无 {0} 序列：该版本在首次事件后才导出，因此为 0",
    ),
    (
        r"the hit rate is that of prefill: decode endpoints \((.+)\) are not in the sums",
        "命中率仅统计 Prefill：Decode 端点（{0}）不计入合计",
    ),
    (
        r"not every endpoint counts both hits and queries, so their sums are of a part of the service",
        "并非所有端点都同时统计命中与查询，合计仅覆盖部分服务",
    ),
    (r"the server was restarted within the interval", "服务端在此期间重启"),
    (
        rf"{_S}: its process was restarted in between, so its figures are not known \((.+)\)",
        "{0}：期间进程重启，数值未知（{1}）",
    ),
    (
        rf"{_S}: its counters began anew in between, so its figures are not known \((.+)\)",
        "{0}：期间计数器被重置，数值未知（{1}）",
    ),
    (rf"queries at least {_N}, hits at least {_N}", "查询至少 {0}，命中至少 {1}"),
    (r"no bound either", "亦无下界"),
    (r"(queries|hits) are not available: (.+)", "{0} 不可用：{1}"),
    *(
        (
            "the page has no " + " or ".join([r"(\S+)"] * count) + "(?: here)?",
            "页面中没有 " + " 或 ".join(f"{{{n}}}" for n in range(count)),
        )
        for count in range(2, 7)
    ),
    (r"the page has no (.+?)(?: here)?", "页面中没有 {0}"),
    (r"the counter began anew", "计数器被重置"),
    (r"there is no page of (.+)", "缺少该时刻的页面（{0}）"),
    (r"(\S+) exports no such figure", "{0} 不导出该数值"),
    (
        rf"{_S}: {_N} tokens were looked up, {_N} prompt tokens: some prompts are never looked up \(.*\)",
        "{0}：查询 {1} 个 Token，Prompt Token {2} 个：部分 Prompt 不经过缓存查询（例如带 prompt_logprobs 的请求）",
    ),
    (
        rf"{_S}: {_N} tokens were looked up, {_N} prompt tokens: some tokens were looked up more than once .*",
        "{0}：查询 {1} 个 Token，Prompt Token {2} 个：部分 Token 被重复查询（旧版本对被抢占或等待的请求重复计数），"
        "或属于已中止的请求",
    ),
    (
        rf"{_S}: shows a hit ratio of {_N}, which is not that of the interval \((.+)\)",
        "{0}：页面显示的命中率 {1} 不是该区间的命中率（{2}）",
    ),
    (
        rf"{_S}: has series of several models \((.+)\), all of them summed; choose one with --model-name",
        "{0}：含多个模型的序列（{1}），已全部相加；可用 --model-name 选择其一",
    ),
    (r"(\S+) cannot be read on the page of (before|after)", "{1} 页面中的 {0} 无法读取"),
    (
        r"(\S+) of the page of before is gone, so another version counts",
        "before 页面中的 {0} 已不存在，说明服务版本已更换",
    ),
    (
        r"the page of before counts in (\w+)s, that of after in (\w+)s",
        "before 页面按 {0} 计数，after 页面按 {1} 计数",
    ),
    (
        rf"{_S}: its two pages are the same, so one page was given twice or nothing was asked in between",
        "{0}：两个页面相同，可能重复给出了同一页面，或其间没有请求",
    ),
    (
        rf"{_S}: the page of before has no series of (.+), so all that the page of after shows is taken as counted in "
        "between",
        "{0}：before 页面没有 {1} 序列，after 页面的全部数值按区间内计数处理",
    ),
    (
        rf"{_S}: (hits|queries) fell by {_N}: what is taken off grew more than what it is taken from",
        "{0} {1} 减少了 {2}：减项的增量大于被减项",
    ),
    (r"(before|after): (.+)", "{0}：{1}"),
    (
        r"metrics line (\d+) skipped \(the page ends within this line: what stood behind it is lost\): (.+)",
        "Metrics 第 {0} 行已跳过（页面在该行中断，其后内容缺失）：{1}",
    ),
    (
        r"the probe's report is of (\S+), not of (.+): its unit is taken all the same; probe this server if it is "
        "another one",
        "探测报告属于 {0}，而非 {1}：仍采用其粒度；若为另一服务，请重新探测",
    ),
    (
        r"metrics line (\d+) skipped \(the series is there before, as (\S+)\): (.+)",
        "Metrics 第 {0} 行已跳过（该序列此前已出现，值为 {1}）：{2}",
    ),
    (r"(\S+) is an HTML page, not Prometheus text", "{0} 是 HTML 页面，而非 Prometheus 文本"),
    (r"(.+) holds no metric", "{0} 中没有任何指标"),
    (r"(\d+) pages of before and (\d+) of after", "before 页面 {0} 个，after 页面 {1} 个"),
    (
        r"the pages are of different frameworks: (\S+) of (\S+), (\S+) of (\S+)",
        "页面来自不同框架：{0} 为 {1}，{2} 为 {3}",
    ),
    (r"(\d+) roles and (\d+) metrics pages", "角色 {0} 个，指标页面 {1} 个"),
    (r"(\S+) is no role", "没有角色 {0}"),
    (r"(\S+) is no known framework", "未知框架 {0}"),
    (r"(.+) is no moment", "{0} 不是有效时刻"),
    (r"(.+) is no selector of labels", "{0} 不是标签选择器"),
    (
        rf"Prometheus at {_S} has no new sample of (\S+) within {_N} s: (.+)",
        "Prometheus（{0}）在 {2} s 内没有 {1} 的新样本：{3}",
    ),
)
