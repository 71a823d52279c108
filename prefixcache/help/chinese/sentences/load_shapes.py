"""What is wrong with the text of a load, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

LOAD_SHAPES: dict[str, str] = {
    "write closed:16, constant:200, poisson:200, gamma:200,burstiness=0.5, rates:10x30s,50x30s, "
    "ramp:10..200,seconds=60 or trace:FILE": (
        "请写为 closed:16、constant:200、poisson:200、gamma:200,burstiness=0.5、rates:10x30s,50x30s、"
        "ramp:10..200,seconds=60 或 trace:FILE"
    ),
    "no load shape is named": "未指定负载形式",
    "{kind} is no load shape": "没有负载形式 {kind}",
    "after {kind} nothing is said": "{kind} 之后缺少参数",
    # Numbers
    "the rate {text} is no number from 0 to {most}": "请求速率 {text} 不是 0 至 {most} 之间的数",
    "the scale {text} is no number from 0 to {most}": "scale {text} 不是 0 至 {most} 之间的数",
    "the burstiness {text} is no number from 0 to {most}": "burstiness {text} 不是 0 至 {most} 之间的数",
    "the duration {text} is no number from 0 to {most}": "时长 {text} 不是 0 至 {most} 之间的数",
    "the rate {text} is not above 0": "请求速率 {text} 须大于 0",
    "the scale {text} is not above 0": "scale {text} 须大于 0",
    "the burstiness {text} is not above 0": "burstiness {text} 须大于 0",
    "the duration {text} is not above 0": "时长 {text} 须大于 0",
    "the concurrency {text} is no whole number": "并发 {text} 不是整数",
    "the seed {text} is no whole number": "seed {text} 不是整数",
    "the concurrency {value} is not from 1 to {most}": "并发 {value} 不在 1 至 {most} 之间",
    "the duration {text} has no unit": "时长 {text} 缺少单位",
    "write e.g. 200 or 0.5": "请填写如 200 或 0.5",
    "write e.g. 30s, 500ms, 2m or 1h": "请填写如 30s、500ms、2m 或 1h",
    # Rates and ramps
    "gamma has no burstiness": "gamma 缺少 burstiness",
    "a rate of 0 without an end would wait for ever": "速率为 0 且没有时长，将一直等待",
    "write e.g. 0x10s before another rate": "请在另一速率之前写如 0x10s",
    "all rates are 0": "所有请求速率均为 0",
    "both rates are 0": "两个请求速率均为 0",
    "write at least one above 0": "请至少填写一个大于 0 的速率",
    "write at least one above 0, e.g. rates:10x30s,50x30s": "请至少填写一个大于 0 的速率，如 rates:10x30s,50x30s",
    "{value} names no two rates": "{value} 未给出两个请求速率",
    "ramp has no seconds": "ramp 缺少 seconds",
    "write how long it lasts, e.g. ramp:10..200,seconds=60": "请填写持续时间，如 ramp:10..200,seconds=60",
    "the curve {curve} is unknown": "未知的 curve {curve}",
    "the unit {unit} is unknown": "未知的 unit {unit}",
    "choose one of {known}": "可选值：{known}",
    "an exponential ramp cannot touch the rate 0": "exponential 的 ramp 不能从 0 开始或降到 0",
    "write rates above 0 or curve=linear": "请填写大于 0 的速率，或用 curve=linear",
    # Stages and options
    "stage {number} is empty": "第 {number} 段为空",
    "stage {number} of {count} has no duration": "第 {number} 段（共 {count} 段）缺少时长",
    "{kind} has no option {name}": "{kind} 没有选项 {name}",
    "leave it out; known are {known}": "请去掉该项；可用选项：{known}",
    "leave it out; there are none": "请去掉该项；它没有选项",
    "the option {name} stands there twice": "选项 {name} 重复给出",
    "write it once": "请只写一次",
    "the option {name} has no value": "选项 {name} 缺少值",
    # A trace
    "trace names no file": "trace 未指定文件",
    "the trace {path} cannot be replayed: {what}": "无法重放 Trace {path}：{what}",
    "it holds no request": "其中没有请求",
    "it lasts {seconds} s": "时长达 {seconds} s",
    "line {number} is not JSON": "第 {number} 行不是 JSON",
    "it has no column {column}": "没有列 {column}",
    "line {number} has no number as {column}": "第 {number} 行的 {column} 不是数值",
    "row {number} has no number as {column}": "第 {number} 行的 {column} 不是数值",
    "the column of type {dtype} has no number as {column}": "列 {column} 的类型为 {dtype}，不是数值",
    "name a file that can be read": "请指定可读取的文件",
    "name a trace with at least one": "请指定至少含一条请求的 Trace",
    "name the unit of its times, e.g. unit=ns, or a scale": "请指定其时间单位，如 unit=ns，或指定 scale",
    "name a file with a JSON object a line": "请指定每行一个 JSON 对象的文件",
    "write column=NAME, one of {known}": "请写 column=NAME，可选列：{known}",
    "name a Parquet, CSV or JSON Lines file": "请指定 Parquet、CSV 或 JSON Lines 文件",
    "name the key of the times with column=NAME": "请用 column=NAME 指定时间所在的列",
}
