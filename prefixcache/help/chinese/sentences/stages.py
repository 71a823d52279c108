"""Building and storing, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

STAGES: dict[str, str] = {
    # The folder that is written to
    "no folder is named": "未指定目录",
    "name a folder, or `.` for the current one": "请指定目录；当前目录写为 `.`",
    "{path} is a file, not a folder": "{path} 是文件，不是目录",
    "name a new folder, or an empty one": "请指定新目录或空目录",
    "another process is making a dataset in {folder}": "另一个进程正在 {folder} 中生成数据集",
    "wait for it, or name another folder": "请等待其结束，或指定其他目录",
    "{path} is a link, not a folder of this tool": "{path} 是链接，不是本工具的目录",
    "{path} is a file, not a folder of this tool": "{path} 是文件，不是本工具的目录",
    "remove it, or name another folder": "请将其删除，或指定其他目录",
    "remove {path}": "请删除 {path}",
    "{path} is a folder": "{path} 是目录",
    "{place} holds files that are no dataset of this tool, e.g. {file}": (
        "{place} 中有不属于本工具数据集的文件，例如 {file}"
    ),
    "{address} holds a {file} that is none of this tool{more}": "{address} 中的 {file} 不是本工具生成的{more}",
    "{address} holds no dataset: it has no {file}": "{address} 中没有数据集：缺少 {file}",
    "{file} came damaged from {address}": "从 {address} 取得的 {file} 已损坏",
    "remove {path} and start it again": "请删除 {path} 后重新执行",
    "{path} looks like an address that was made a path": "{path} 看似被当作路径的网络地址",
    # What the system says of a file
    "Disk quota exceeded": "超出磁盘配额",
    "File too large": "超出文件大小限制",
    "Input/output error": "磁盘读写错误",
    # Workers
    "the worker on {host} does not see {path}": "{host} 上的工作进程看不到 {path}",
    "generator {found}, {stage} {version} instead of {generator}, {wanted}": (
        "其 generator 为 {found}、{stage} 为 {version}，应为 {generator}、{wanted}"
    ),
    # Prompts without a text
    "no text encodes to exact token ids with this tokenizer: prompts are ids only, and text leaves those out": (
        "使用该 Tokenizer 时没有文本能 Encode 为精确的 Token ID：Prompt 只有 ID，而 text 不保存 ID"
    ),
    "write prompts: both or ids, or use another tokenizer": "请设 prompts: both 或 ids，或更换 Tokenizer",
    "prompts are token ids only (prompt is null): this dataset can be sent as ids to a completions endpoint, not as "
    "text": "Prompt 仅为 Token ID（prompt 为 null）：该数据集只能以 ID 发送至 Completions 接口，不能以文本发送",
    "the seam rules do not hold for this tokenizer and source: every prompt was encoded and mended one by one, and "
    "{plain} of {total} prompts have single words in place of source text": (
        "该 Tokenizer 与数据源不满足拼接规则：已逐条 Encode 并修复，{total} 条 Prompt 中有 {plain} 条"
        "以单词代替数据源文本"
    ),
    # The verdict on what was built
    "the certificate does not hold: real token ids hit otherwise than planned": (
        "理论仿真证明不成立：真实 Token 的命中与计划不一致"
    ),
    "texts do not encode to their token ids": "文本 Encode 结果与 Token ID 不一致",
}

# What is left of collisions: requests alone are told by an older form.
_LEFT = {
    "{prompts} warmup prompts": "{prompts} 条 Warmup 请求",
    "the master prefixes of {groups} groups ({names})": "{groups} 个 Group（{names}）的主 Prefix ",
    "{requests} requests and {prompts} warmup prompts": "{requests} 条请求与 {prompts} 条 Warmup 请求",
    "{requests} requests and the master prefixes of {groups} groups ({names})": (
        "{requests} 条请求与 {groups} 个 Group（{names}）的主 Prefix "
    ),
    "{prompts} warmup prompts and the master prefixes of {groups} groups ({names})": (
        "{prompts} 条 Warmup 请求与 {groups} 个 Group（{names}）的主 Prefix "
    ),
    "{requests} requests and {prompts} warmup prompts and the master prefixes of {groups} groups ({names})": (
        "{requests} 条请求、{prompts} 条 Warmup 请求与 {groups} 个 Group（{names}）的主 Prefix "
    ),
}
STAGES |= {
    f"{who} share {what} that must be unique, after up to {{retries}} retries": (
        f"{who_zh}存在必须唯一却重复的 {what_zh}，已重试至多 {{retries}} 次"
    )
    for who, who_zh in _LEFT.items()
    for what, what_zh in (("blocks", "Block"), ("chunks", "Chunk"))
}
