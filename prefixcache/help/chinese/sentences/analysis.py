"""Runs that are compared and reported, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

ANALYSIS: dict[str, str] = {
    # Run directories
    "{path} is not a readable run directory: {reason}": "{path} 不是可读取的运行目录：{reason}",
    "there is no folder {path}": "目录 {path} 不存在",
    "it lacks dataset/manifest.json or runtime/": "缺少 dataset/manifest.json 或 runtime/",
    "dataset/request_metadata.jsonl has no request": "dataset/request_metadata.jsonl 中没有请求",
    "{path} is not a readable run directory: {file} is not JSON": "{path} 不是可读取的运行目录：{file} 不是 JSON",
    "{path} is not a readable run directory: the passes of {file} are no list of objects": (
        "{path} 不是可读取的运行目录：{file} 的 passes 不是对象列表"
    ),
    "Give the directory that `prefixcache run` wrote (--run-dir)": "请指定 `prefixcache run` 输出的目录（--run-dir）",
    "{file} cannot be read: line {line} is not JSON": "无法读取 {file}：第 {line} 行不是 JSON",
    "{file} cannot be read: line {line} is not a JSON object": "无法读取 {file}：第 {line} 行不是 JSON 对象",
    "{file} cannot be read: a value is of the wrong type ({reason})": "无法读取 {file}：有值的类型错误（{reason}）",
    "the times of a request run backwards": "某条请求的时间戳倒退",
    # KV events
    "no KV events were recorded in the pass {name}": "轮次 {name} 没有记录 KV 事件",
    "run again with --kv-events": "请带 --kv-events 重新运行",
    "{file} is not there: the run recorded no KV events": "缺少 {file}：该次运行没有记录 KV 事件",
    "run again with --kv-events tcp://HOST:PORT": "请带 --kv-events tcp://HOST:PORT 重新运行",
    # Runs that are compared
    "no run is given": "未指定运行",
    "Give the folders of one or more runs": "请指定一个或多个运行目录",
    "{path} is given twice": "重复指定了 {path}",
    "Give another run, or one run alone to compare its passes": (
        "请指定另一次运行；若要对比同一运行的各轮次，只指定一次"
    ),
    "{labels} labels ({different} different) stand beside {runs} runs": (
        "给出了 {labels} 个标签（其中 {different} 个互不相同），而运行有 {runs} 个"
    ),
    "Give one for each --run, in the same order, or none": "请按 --run 的顺序逐一给出互不相同的标签，或全部省略",
    "Give e.g. {example}": "请填写数值，如 {example}",
    "{value} is not between 0 and 1": "{value} 不在 0 与 1 之间",
    "{path} has one pass, {name}, and stands alone": "{path} 只有一个轮次 {name}，且没有另一次运行可供对比",
    "Give a second --run, or a run of a compare dataset, which has a cold and a hot pass": (
        "请再指定一个 --run，或指定 compare 数据集的运行（含冷、热缓存两个轮次）"
    ),
    # Thresholds
    "{text} cannot be read: {term} is no threshold": "无法解析 {text}：{term} 不是阈值",
    "{text} is no threshold": "{text} 不是阈值",
    "{text} cannot be read: {name} is unknown, known are {known}": (
        "无法解析 {text}：未知的名称 {name}，可选值：{known}"
    ),
    "{text} cannot be read: {metric} is given twice": "无法解析 {text}：{metric} 重复给出",
    "{text} cannot be read: the limit of {metric} is not above 0": "无法解析 {text}：{metric} 的阈值须大于 0",
    "Write for example ttft=0.5,tpot=50ms,e2e=3: seconds, or milliseconds with ms": (
        "请按此格式填写：ttft=0.5,tpot=50ms,e2e=3（默认单位为秒，毫秒加 ms）"
    ),
    # Loads of a search
    "no load is given": "未给出负载",
    "Give a number above 0": "请填写大于 0 的数",
    "{share} is not above 0 and at most 1": "{share} 须大于 0 且不超过 1",
    "Give a share of requests, e.g. {share}": "请填写达标请求的比例，如 {share}",
    "--low {low} is above --high {high}": "--low {low} 大于 --high {high}",
    "Swap them": "请交换二者",
    "there is no multiple of {step} from {low} to {high}": "{low} 至 {high} 之间没有 {step} 的整数倍",
    "Give --high above --low, or a smaller --resolution": "请使 --high 大于 --low，或减小 --resolution",
    "Give 0 or more points": "请填写不小于 0 的点数",
    # Exports
    "{name} is no format": "不支持的格式 {name}",
    "{file} does not tell the format": "无法由 {file} 的扩展名判断格式",
    "give one of {choices}": "可选值：{choices}",
    "{path} lies inside the run's own {folder}": "{path} 位于运行目录自身的 {folder} 内",
    "{path} is the run's report": "{path} 是该次运行的报告",
    "{path} is a file of the dataset in {folder}": "{path} 是 {folder} 中数据集的文件",
    "files of a run or a dataset are never overwritten": "运行与数据集的文件不会被覆盖",
    "Excel cannot hold this table: {reason}": "Excel 无法容纳该表：{reason}",
    "{columns} columns are more than a sheet holds ({most})": "{columns} 列超过工作表上限 {most}",
    "cell {cell} has {size} characters, Excel takes {most}": "单元格 {cell} 有 {size} 个字符，Excel 上限为 {most}",
    "more rows than a sheet holds ({most} and a header)": "行数超过工作表上限（{most} 行及表头）",
    "write csv or parquet instead; nothing is cut off": "请改用 csv 或 parquet；数据不会被截断",
    "the run's dataset has no {file} and no shards that can be read, so there are no prompts": (
        "该次运行的数据集没有 {file}，也没有可读取的分片，因此没有 Prompt"
    ),
    "leave --with-prompts out": "请去掉 --with-prompts",
    "{language} is not a language of the report": "报告不支持语言 {language}",
    "Choose one of {choices}": "可选值：{choices}",
}
