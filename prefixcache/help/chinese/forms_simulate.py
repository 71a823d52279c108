"""What `simulate` says of traces and sweeps, in Chinese: forms as in :mod:`.text`."""

from __future__ import annotations

SIMULATE_FORMS: tuple[tuple[str, str], ...] = (
    (
        r"a request of (\d+) tokens has (\d+) hash ids, more than blocks of (\d+) tokens: the trace's blocks seem to "
        r"be smaller than --block-size",
        "某请求有 {0} 个 Token 与 {1} 个 hash id，多于按 {2} Token 划分的 Block 数："
        "Trace 的 Block 似乎小于 --block-size",
    ),
    (
        r"(\d+) lines have fewer hash ids than complete blocks of (\d+) tokens, only those count; the first, line "
        r"(\d+), has (\d+) for (\d+) tokens, which are (\d+) blocks: the trace's blocks seem to be larger than "
        r"--block-size, or its lines are cut",
        "{0} 行的 hash id 少于 {1} Token 的完整 Block 数，仅计已有的；首行为第 {2} 行：{4} 个 Token 应有 {5} 个 Block，"
        "仅有 {3} 个。Trace 的 Block 似乎大于 --block-size，或该行不完整",
    ),
    (r"the file is UTF-16 text", "文件是 UTF-16 文本"),
    (r"save it as UTF-8, e\.g\. (.+)", "请另存为 UTF-8，例如：{0}"),
    (r"line (\d+) has the hash id (\S+)", "第 {0} 行的 hash id 为 {1}"),
    (r"hash ids are whole numbers from 0 to (\d+) \(64 bits\)", "hash id 须为 0 至 {0} 的整数（64 位）"),
    (
        r"the sweep serves one request at a time, whatever --concurrency says; only the passes are in flight",
        "容量曲线按逐条请求计算，与 --concurrency 无关；仅各轮次按并发模拟",
    ),
    (r"a sweep serves one request at a time", "容量曲线按逐条请求计算"),
    (
        r"leave it out, or give --num-blocks too: the passes are then simulated in flight at that size",
        "请删除该项，或同时给出 --num-blocks：各轮次即按该容量并发模拟",
    ),
    (r"the address is not tcp://HOST:PORT", "地址不是 tcp://HOST:PORT"),
    (
        r"the address names no host: \* is what the server itself binds to",
        "地址未指明主机：* 是服务端自身绑定的写法",
    ),
    (
        r"Write it as tcp://HOST:PORT, the server's kv-events endpoint",
        "请写为 tcp://HOST:PORT，即服务端的 kv-events 地址",
    ),
)
