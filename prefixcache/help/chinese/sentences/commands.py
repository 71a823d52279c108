"""What commands, flows and task runners say when something is wrong, in Chinese.

As in :mod:`prefixcache.help.chinese.sentences`.
"""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    # The command line itself
    "is not allowed": "不允许的值",
    "give it": "请给出该项",
    "stands before the command": "写在了命令之前",
    "write it behind": "请写在命令之后",
    "write a value behind it": "请在其后填写参数值",
    "Option {name} does not take a value": "{name} 不带参数值",
    "Got unexpected extra argument(s) ({values})": "多余的参数：{values}",
    "Input should be a valid boolean, unable to interpret input": "请填写 true 或 false",
    "name one, or `.` for the current one": "请指定目录，当前目录写 `.`",
    "is an address, and this takes a folder of this machine": "是网络地址，而此处须为本机目录",
    "no file is named": "未指定文件",
    "unforeseen {kind}: {what}": "意外错误 {kind}：{what}",
    "this is a defect; please report it with the traceback that PREFIXCACHE_DEBUG=1 shows": (
        "这是程序缺陷；请设置 PREFIXCACHE_DEBUG=1 重新运行，并附上显示的 Traceback 反馈"
    ),
    "interrupted by {signal}": "被 {signal} 中断",
    # Commands
    "{output} holds the dataset {there}: {dataset_id} takes its place": (
        "{output} 中已有数据集 {there}：将被 {dataset_id} 替换"
    ),
    "{runner} is a task runner of Prefect's": "{runner} 是 Prefect 的 Task Runner",
    "leave out --no-prefect or --runner": "请去掉 --no-prefect 或 --runner",
    "name another file, or --force to replace it": "请指定其他文件，或用 --force 覆盖",
    "there is no terminal to ask on": "没有可供提问的终端",
    "give {flag}, or --yes to take the defaults (here: {default})": (
        "请给出 {flag}，或用 --yes 采用默认值（此处为 {default}）"
    ),
    "the run was made with another dataset (dataset_digest differs)": "该运行使用的是另一数据集（dataset_digest 不同）",
    "name the run of this dataset, or its own dataset folder": "请指定该数据集的运行，或该运行自身的数据集目录",
    "there is no group {group}": "没有 Group {group}",
    "known ones: {names}": "可选值：{names}",
    "no pages are given": "未给出 Metrics 页面",
    "Give --before FILE --after FILE, or --prometheus URL with --from and --to": (
        "请给出 --before FILE --after FILE，或 --prometheus URL 及 --from 与 --to"
    ),
    "is given beside --prometheus": "与 --prometheus 同时给出",
    "Give saved pages, or --prometheus with --from and --to": "请给出保存的页面，或 --prometheus 及 --from 与 --to",
    "{speed} is not above 0 and at most {most}": "{speed} 须大于 0 且不大于 {most}",
    "{run_dir} ended before its first sample": "{run_dir} 在首个采样之前已结束",
    "Name the folder of another run": "请指定另一运行的目录",
    "write a name": "请填写名称",
    "neither a trace nor a dataset is given": "未给出 Trace 或数据集",
    "{what} are given": "不能同时给出{what}",
    "a trace": "Trace",
    "a dataset": "数据集",
    "a recorded run": "运行记录",
    "a trace and a dataset": " Trace 与数据集",
    "a trace and a recorded run": " Trace 与运行记录",
    "a dataset and a recorded run": "数据集与运行记录",
    "a trace and a dataset and a recorded run": " Trace、数据集与运行记录",
    "give one of them": "请只给出其中之一",
    "does not go with {kind}": "不能与 {kind} 一起使用",
    "leave it out, or give --dataset": "请去掉该项，或改用 --dataset",
    "leave it out, or give --trace": "请去掉该项，或改用 --trace",
    "{count} sizes are given, a dataset is simulated at one": "给出了 {count} 个容量，数据集只按一个容量仿真",
    "write one, or use --sweep for hits against capacity": "请只写一个，或用 --sweep 得到命中随容量的变化",
    # Flows and Prefect
    "give either `config` or `config_file`": "`config` 与 `config_file` 须且只能给出一个",
    "leave one of them empty": "请将其中一个留空",
    "the local Prefect server did not start: {why}": "本地 Prefect 服务未能启动：{why}",
    "it ended with code {code}": "已退出，退出码 {code}",
    "use --no-prefect, or set PREFECT_API_URL to a running server": (
        "请使用 --no-prefect，或将 PREFECT_API_URL 设为正在运行的服务"
    ),
    "no path is named": "未指定路径",
    "name one, or `.` for the current folder": "请指定路径，当前目录写 `.`",
    "{path} is a relative path, and the worker's folder is deleted after the run": (
        "{path} 是相对路径，而 Worker 的目录在运行后会被删除"
    ),
    "give an absolute path on the worker's machine": "请给出 Worker 所在机器上的绝对路径",
    "a Secret block is kept by Prefect, and this runs without it": "Secret Block 由 Prefect 保存，此次运行不经过它",
    "Leave out --no-prefect, or write the value itself": "请去掉 --no-prefect，或直接填写其值",
    "Prefect has no Secret block called {name}": "Prefect 中没有名为 {name} 的 Secret Block",
    "Make it in the Prefect UI under Blocks, or name another one": "请在 Prefect UI 的 Blocks 中创建，或指定另一个",
    "the Secret block {name} holds no text": "Secret Block {name} 中不是文本",
    "Store the key alone in it": "请在其中只保存 API Key",
    "set PREFECT_API_URL to a Prefect server that this machine and all workers reach; see docs/scaling.md": (
        "请将 PREFECT_API_URL 设为本机与所有 Worker 均可访问的 Prefect 服务；见 docs/scaling.md"
    ),
    "look at the workers' logs; each needs this version of prefixcache and enough memory": (
        "请查看各 Worker 的日志；每个 Worker 须安装此版本的 prefixcache 并有足够内存"
    ),
}
