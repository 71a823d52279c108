"""What `probe` refuses, warns of and gives as reasons, in Chinese: forms as in :mod:`.text`.

Options that `run` has too (headers, engine, addresses) say the same there.
"""

from __future__ import annotations

_N, _S = r"([\d,.e+-]+)", r"(\S+)"

PROBE_FORMS: tuple[tuple[str, str], ...] = (
    # Who it is
    (rf"{_S} did not say who it is within {_N} s", "{0} 在 {1} s 内未给出服务信息"),
    (rf"{_S}: no answer within {_N} s", "{0}：{1} s 内没有响应"),
    (rf"no answer within {_N} s", "{0} s 内没有响应"),
    (rf"{_S} names no model", "{0} 未给出模型名称"),
    (rf"{_S} serves no model '(.+)'; it serves: (.+)", "{0} 没有模型 {1}；其模型为：{2}"),
    (rf"the server {_S} answered HTTP (\d+) to {_S}", "服务端 {0} 对 {2} 返回 HTTP {1}"),
    (
        rf"the server {_S} took the connection but did not answer {_S} within {_N} s",
        "服务端 {0} 已建立连接，但 {2} s 内未响应 {1}",
    ),
    (rf"there is no connection to {_S}", "无法连接 {0}"),
    (rf"{_S} gave no metrics page (\d+) times in a row", "{0} 连续 {1} 次未返回 Metrics 页面"),
    (rf"the server was not idle within {_N} s", "服务端在 {0} s 内未空闲"),
    (r"Check that the server is healthy", "请确认服务端运行正常"),
    (
        r"Check that the server is healthy, or give a longer --time-limit",
        "请确认服务端运行正常，或增大 --time-limit",
    ),
    (r"Give --model NAME", "请用 --model NAME 指定模型"),
    (r"name one of them, or leave --model out", "请从中选择，或不指定 --model"),
    # Options
    (rf"{_N} s is not {_N} to {_N} s", "{0} s 不在 {1} 至 {2} s 之间"),
    (r"Give seconds; a whole probe takes some ten of them on an idle server", "请填写秒数；空闲服务上完整探测约需十秒"),
    (r"is empty", "为空"),
    (r"Write a name, or leave it out", "请填写名称，或不指定"),
    (r"([^:]+[^ :]) exists", "{0} 已存在"),
    (r"name another file, or --overwrite to replace it", "请指定其他文件，或用 --overwrite 覆盖"),
    (r"(.+) is a folder", "{0} 是目录"),
    (r"name a file", "请指定文件"),
    (r"(.+) takes no file", "{0} 不能写入文件"),
    (r"name another place", "请指定其他位置"),
    (r"it holds characters that no HTTP header can carry", "含有 HTTP 头不允许的字符"),
    (r"Set the variable to the key alone", "请令该变量仅含 API Key"),
    (
        r"Write auto, (.+), or a YAML file that describes one \(docs/engines\.md\)",
        "请填写 auto、{0}，或描述框架的 YAML 文件（docs/engines.md）",
    ),
    (r"a line has no colon", "有一行缺少冒号"),
    (r"Write (?:--header ')?NAME: VALUE'?", "请写为 --header 'NAME: VALUE'"),
    (rf"{_S} is set by the client itself", "{0} 由客户端自行设置"),
    (r"Leave it out", "请去掉该项"),
    (r"Mend it", "请修正"),
    (r"a name holds characters that no header can have", "名称含有 HTTP 头名称不允许的字符"),
    (rf"the value of {_S} holds characters that no header can carry", "{0} 的值含有 HTTP 头不允许的字符"),
    (rf"{_S} stands twice", "{0} 重复给出"),
    (
        r"Give it once; several values of one header are joined by commas",
        "请只给一次；同一头的多个值用逗号连接",
    ),
    (r"it is no field of its own", "不是独立的字段"),
    (r"Name one, e\.g\. routed_dp_rank", "请指定字段，例如 routed_dp_rank"),
    (
        r"a Secret block is kept by Prefect, and a probe runs without it",
        "Secret Block 由 Prefect 保存，探测不经过 Prefect",
    ),
    (r"write the value itself; it is never shown", "请直接填写其值，不会显示"),
    (r"the address is not an http:// or https:// URL", "地址不是 http:// 或 https:// URL"),
    (
        r"Give a base URL such as (\S+), or the full path /v1/completions",
        "请填写基础 URL（如 {0}）或完整路径 /v1/completions",
    ),
    (
        r"--insecure checks no certificate, so a file of authorities is of no use beside it",
        "--insecure 不校验证书，同时指定 CA 文件没有意义",
    ),
    (r"Give --ca-file alone", "请仅指定 --ca-file"),
    (r"the proxy is no http:// or https:// URL", "代理地址不是 http:// 或 https:// URL"),
    (r"Give --proxy http://HOST:PORT", "请填写 --proxy http://HOST:PORT"),
    # Reasons
    (
        rf"a prompt under another salt hit {_N} tokens of the first one's",
        "另一个 Salt 下的 Prompt 命中了前者缓存的 {0} 个 Token",
    ),
    (
        r"a prompt sent twice under one salt hit nothing, so a miss proves nothing",
        "同一 Salt 下重复发送的 Prompt 未命中，因此不命中不能证明隔离",
    ),
    (r"a salted request failed: (.+)", "带 Salt 的请求失败：{0}"),
    (rf"{_S} answers HTTP 200 without a completion", "{0} 返回 HTTP 200，但没有生成结果"),
    (rf"{_S}: its token counts do not follow its prompts", "{0}：其 Token 数不随 Prompt 变化"),
    (r"no form of a prompt is known", "没有可用的 Prompt 形式"),
    (
        rf"{_S}: it counts the words of a probe in another way than one token each",
        "{0}：探测所用词语并非各为一个 Token",
    ),
    (
        rf"{_S}: its answers tell no prompt_tokens, so no word is known to be one token",
        "{0}：响应不提供 prompt_tokens，无法确认每个词语为一个 Token",
    ),
)
