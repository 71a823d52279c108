"""What the reference engine and its fault plans refuse, in Chinese; see :mod:`.sentences`.

Its HTTP answers are those of an engine and stay English.
"""

from __future__ import annotations

REFERENCE: dict[str, str] = {
    # Options
    "{value} is no rate": "{value} 不是有效的速率",
    "0 is no limit": "0 表示不限",
    "empty": "为空",
    "give the file that belongs to {field} {file}": "请给出与 {field} {file} 配套的文件",
    "{dialect} has no data-parallel ranks": "{dialect} 没有数据并行（DP）",
    "{dialect} has no such route": "{dialect} 没有该接口",
    "{dialect} knows no salt": "{dialect} 不支持 Salt",
    "{dialect} states none": "{dialect} 不声明 Block Size",
    "only chained blocks have KV events": "只有 chained 匹配方式有 KV 事件",
    "leave it out, or choose another pose": "请去掉该项，或改用其他 --dialect",
    "write 127.0.0.1, or 0.0.0.0 for all addresses": "请填写 127.0.0.1，或用 0.0.0.0 监听所有地址",
    "the certificate {file} and its key cannot be used: {why}": "证书 {file} 及其私钥不可用：{why}",
    "give a certificate and its key as PEM files, the key without a password": (
        "请给出 PEM 格式的证书与私钥，私钥不设密码"
    ),
    "cannot listen on {host} port {port}: {why}": "无法在 {host} 端口 {port} 上监听：{why}",
    "Address already in use": "地址已被占用",
    "Cannot assign requested address": "本机没有该地址",
    "choose another port, 0 for a free one": "请更换端口，或用 0 自动选择空闲端口",
    "KV events cannot be published at {address} plus {rank} ({why})": (
        "无法在 {address}（端口号加 {rank}）上发布 KV 事件（{why}）"
    ),
    "write tcp://*:PORT with a port that is free, and as many behind it as there are ranks": (
        "请填写 tcp://*:PORT，该端口及其后与 DP 数相同个数的端口须空闲"
    ),
    "no tokenizer folder at {folder}": "{folder} 不是 Tokenizer 目录",
    "{folder} holds no fast tokenizer": "{folder} 中没有 Fast Tokenizer",
    "give a folder with tokenizer.json": "请指定含 tokenizer.json 的目录",
    "give a folder with tokenizer.json, or embedded": "请指定含 tokenizer.json 的目录，或 embedded",
    "give the name under which the model is served": "请填写模型的服务名称",
    # As a child process
    "the reference engine is not ready after {seconds} s; its stderr: {said}": (
        "参考引擎在 {seconds} s 后仍未就绪；其 stderr：{said}"
    ),
    "the reference engine ended with exit code {code}; its stderr: {said}": (
        "参考引擎已退出，退出码 {code}；其 stderr：{said}"
    ),
    "the reference engine printed {line}; its stderr: {said}": "参考引擎输出了 {line}；其 stderr：{said}",
    "the reference engine {what}; its stderr: {said}": "参考引擎 {what}；其 stderr：{said}",
    "run python -m prefixcache.reference by hand to see more": (
        "请手动运行 python -m prefixcache.reference 以查看详情"
    ),
    # Fault plans
    "is no list of rules": "不是规则列表",
    "is one rule, not a list of rules": "是单条规则，而非规则列表",
    "begin each rule with '- ', e.g. `- requests: 3`, and indent its other lines by two blanks": (
        "每条规则请以 '- ' 开头，如 `- requests: 3`，其余各行缩进两个空格"
    ),
    "write seconds as a number, or forever": "请填写秒数，或 forever",
    "write `- requests: 3` and what happens": "请写 `- requests: 3` 及要发生的事",
    "{part} is no number of a request": "{part} 不是请求序号",
    'write 3, "4-7", "10-" or a list of these': '请填写 3、"4-7"、"10-" 或其列表',
    "{part} ends before it begins": "{part} 的终点小于起点",
    "write the smaller number first": "请先写较小的数",
    "holds a line end": "含有换行符",
    "write one line": "请写成一行",
    "{value} is no path of a request": "{value} 不是请求路径",
    "write it from its first slash, without a query": "请从第一个斜杠写起，不含查询参数",
    "{value} is no block of headers": "{value} 不是 HTTP 头的键值映射",
    "write `name: value` lines": "请逐行写 `name: value`",
    "{name} is no name of a header": "{name} 不是有效的 HTTP 头名称",
    "use letters, digits and '-'": "请使用字母、数字与 '-'",
    "the value of {name} is not a text": "{name} 的值不是文本",
    "write a text or a number": "请填写文本或数值",
    "needs a moment": "缺少时刻",
    "write either after_events or after_bytes": "请填写 after_events 或 after_bytes 其中之一",
    "write before_headers, {{after_events: N}} or {{after_bytes: N}}": (
        "请填写 before_headers、{{after_events: N}} 或 {{after_bytes: N}}"
    ),
    "needs a content": "缺少内容",
    "write either what or data": "请填写 what 或 data 其中之一",
    "nothing happens by this rule": "该规则未规定任何事",
    "write what is to happen, e.g. status: 503": "请填写要发生的事，如 status: 503",
    "there is no body": "没有 body",
    "write the body it is for": "请填写其所属的 body",
    "the engine has no series {name}": "引擎没有指标序列 {name}",
    "write a name of its /metrics page": "请填写其 /metrics 页面上的名称",
}
