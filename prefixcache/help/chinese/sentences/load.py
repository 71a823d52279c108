"""What a run's options, dataset and folder are refused for, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

LOAD: dict[str, str] = {
    # The dataset: its files, its certificate, its rows
    "{directory} is not a complete dataset: {what}": "{directory} 不是完整的数据集：{what}",
    "manifest.json is missing": "缺少 manifest.json",
    "manifest.json is not JSON in {place}": "manifest.json {place}不是有效的 JSON",
    "line {line}, column {column}": "第 {line} 行第 {column} 列",
    "manifest.json is not a JSON object": "manifest.json 不是 JSON 对象",
    "validation_report.json is not a JSON object": "validation_report.json 不是 JSON 对象",
    "manifest.json lacks {names}": "manifest.json 缺少 {names}",
    "manifest.json names the gating {gating}, known are {known}": (
        "manifest.json 中的门控 {gating} 未知，可选值：{known}"
    ),
    "manifest.json names no files with their sha256": "manifest.json 未列出文件及其 sha256",
    "manifest.json does not name {name} among its files": "manifest.json 的文件列表中没有 {name}",
    "validation_report.json has no certificate and status": (
        "validation_report.json 缺少证书（certificate）与状态（validation_status）"
    ),
    "request_metadata.jsonl has no request": "request_metadata.jsonl 中没有请求",
    "{name} has lines that are no requests": "{name} 中有的行不是请求",
    "row {row} of {name} is not that of a plan": "{name} 第 {row} 行不是规划记录",
    "row {row} of {name} is not request {request} of the plan": "{name} 第 {row} 行不是规划中的请求 {request}",
    "{name} has {rows} rows, the plan {planned}": "{name} 有 {rows} 行，规划为 {planned} 行",
    "{name} has an empty line": "{name} 有空行",
    "line {line} of {name} is no prompt": "{name} 第 {line} 行不是 Prompt",
    "Generate the dataset again, or give the directory that `prefixcache generate` wrote": (
        "请重新生成数据集，或指定 `prefixcache generate` 写出的目录"
    ),
    "the execution mode {mode} cannot be run": "无法运行执行模式 {mode}",
    "Generate the dataset for one of {modes}": "请以其中一种模式重新生成数据集：{modes}",
    "{name} was changed after the dataset was written (its sha256 differs from the manifest's)": (
        "{name} 在数据集写出后被修改（sha256 与 Manifest 不符）"
    ),
    "manifest.json was changed after the dataset was written (manifest_digest is not its own)": (
        "manifest.json 在数据集写出后被修改（manifest_digest 与其内容不符）"
    ),
    "manifest.json was changed after the dataset was written (dataset_digest is not that of its files)": (
        "manifest.json 在数据集写出后被修改（dataset_digest 与其文件不符）"
    ),
    "the requests stand in another order than the one that was simulated and validated (order_digest differs), "
    "so the designed hit ratio is not this order's": (
        "请求顺序与仿真、校验时不同（order_digest 不一致），因此理论命中率不是该顺序下的数值"
    ),
    "Restore the files, and write another send order with `prefixcache reorder --dataset D --order X --output E`, "
    "which simulates and proves it again": (
        "请恢复原文件；更换发送顺序请用 `prefixcache reorder --dataset D --order X --output E`，它会重新仿真并证明"
    ),
    "Edited data makes the plan untrue: generate the dataset again. For another send order: Restore the files, "
    "and write another send order with `prefixcache reorder --dataset D --order X --output E`, which simulates and "
    "proves it again": (
        "数据被修改后规划不再成立，请重新生成数据集。如需更换发送顺序：请恢复原文件，并用 "
        "`prefixcache reorder --dataset D --order X --output E`，它会重新仿真并证明"
    ),
    "the dataset cannot be run: its status is {status} ({reason})": "数据集不可运行：状态为 {status}（{reason}）",
    "the dataset cannot be run: its status is {status}, its certificate does not hold ({reason})": (
        "数据集不可运行：状态为 {status}，理论证书不成立（{reason}）"
    ),
    "no reason is stated in {report}": "{report} 未给出原因",
    "See what `prefixcache validate --dataset D` finds, and generate the dataset again": (
        "请用 `prefixcache validate --dataset D` 查看问题，并重新生成数据集"
    ),
    "the dataset is not the one that was validated: {what}": "数据集与校验时不一致：{what}",
    "the dataset is not the one that was validated: {what} (and {more} more)": (
        "数据集与校验时不一致：{what}（另有 {more} 处）"
    ),
    "manifest.json: expected_hit_tokens of pass {name} is {stated}, it should be {value}": (
        "manifest.json：{name} 轮次的 expected_hit_tokens 为 {stated}，应为 {value}"
    ),
    "manifest.json states what cannot be compared with its report and configuration": (
        "manifest.json 的内容无法与其报告和配置比对"
    ),
    "{directory} holds no dataset, its generation ended with {status}: {reason}": (
        "{directory} 中没有数据集，其生成以 {status} 结束：{reason}"
    ),
    "See suggestions in {report}, change the configuration and generate it again": (
        "请参考 {report} 中的 suggestions 修改配置并重新生成"
    ),
    # A second dataset of the same plan
    "execution mode {mode} has one pass, so there is nothing to keep apart": ("执行模式 {mode} 只有一个轮次，无需隔离"),
    "the variant's {name} is {theirs}, the dataset's {mine}": ("变体数据集的 {name} 为 {theirs}，原数据集为 {mine}"),
    "the variant was built with another tokenizer": "变体数据集使用了另一个 Tokenizer",
    "the variant has {theirs} requests, the dataset {mine}": "变体数据集有 {theirs} 条请求，原数据集为 {mine} 条",
    "the variant has {theirs} warmup prompts, the dataset {mine}": (
        "变体数据集有 {theirs} 条预热请求，原数据集为 {mine} 条"
    ),
    "in place {row} (counted from 0) of its requests the variant plans otherwise ({difference})": (
        "变体数据集位置 {row} 的请求规划不同（{difference}）"
    ),
    "in place {row} (counted from 0) of its warmup prompts the variant plans otherwise ({difference})": (
        "变体数据集位置 {row} 的预热请求规划不同（{difference}）"
    ),
    "the variant's content at request {number} (counted from 0) is the dataset's, so it would be found cached": (
        "变体数据集位置 {number} 的请求内容与原数据集相同，会命中其缓存"
    ),
    "Generate it from the same configuration with another name: `prefixcache generate --config F --output DIR "
    "--set dataset_id=OTHER_NAME` (the name seeds the content, not the lengths)": (
        "请以同一配置、另一名称生成：`prefixcache generate --config F --output DIR --set dataset_id=OTHER_NAME`"
        "（名称只决定内容的随机种子，不影响长度）"
    ),
    "variant needs a second dataset of the same plan": "variant 需要另一个规划相同的数据集",
    "Leave it and --isolation variant out": "请去掉该项与 --isolation variant",
    "a server that cannot empty its cache is restarted and then measured with --isolation none": (
        "无法清空缓存的服务端，请重启后用 --isolation none 测量"
    ),
    "For mode compare generate it with --set dataset_id=OTHER_NAME and give it with --variant-dataset DIR": (
        "compare 模式：请用 --set dataset_id=OTHER_NAME 生成，并用 --variant-dataset DIR 指定"
    ),
    "for any other mode restart the server and choose --isolation none": (
        "其他模式：请重启服务端，并使用 --isolation none"
    ),
    "a variant dataset stands beside isolation {isolation}": "指定了变体数据集，但 isolation 为 {isolation}",
    "Leave out one of the two": "请去掉二者之一",
    # The run directory
    "no run directory is named": "未指定运行目录",
    "Name one, or `.` for the current folder": "请指定目录，当前目录写 `.`",
    "{run_dir} is a file": "{run_dir} 是文件",
    "{run_dir} already holds a finished run": "{run_dir} 中已有完成的运行",
    "the run directory {run_dir} lies inside the dataset {dataset}": "运行目录 {run_dir} 位于数据集 {dataset} 之内",
    "the dataset {dataset} lies inside the dataset folder of the run directory {run_dir}": (
        "数据集 {dataset} 位于运行目录 {run_dir} 的 dataset 目录之内"
    ),
    "{run_dir} is no run directory and holds other files ({names})": (
        "{run_dir} 不是运行目录，其中有其他文件（{names}）"
    ),
    "{run_dir} is no run directory and holds other files ({names} and {more} more)": (
        "{run_dir} 不是运行目录，其中有其他文件（{names} 等，另有 {more} 个）"
    ),
    "{target} exists and is not this dataset": "{target} 已存在，且不是该数据集",
    "the dataset {source} is the run directory's own and holds its prompts": (
        "数据集 {source} 就在该运行目录中，且含有 Prompt"
    ),
    "another run is being written to {run_dir}": "另一运行正在写入 {run_dir}",
    "Choose another --run-dir": "请更换 --run-dir",
    "Choose another --run-dir, or give --overwrite": "请更换 --run-dir，或使用 --overwrite",
    "Choose another --run-dir, or leave out --without-prompts": "请更换 --run-dir，或去掉 --without-prompts",
    "Wait for it, or choose another --run-dir": "请等待其结束，或更换 --run-dir",
    "the run directory {run_dir} cannot be written ({why})": "运行目录 {run_dir} 不可写（{why}）",
    "Give a directory on a disk with free space that you may write": "请指定有写权限且磁盘空间充足的目录",
    "Free some disk space and run again; the rows so far are kept": "请清理磁盘空间后重新运行；已写出的记录均保留",
    "Free some disk space and run again; the rows of request_results.jsonl so far are kept": (
        "请清理磁盘空间后重新运行；request_results.jsonl 中已写出的记录均保留"
    ),
    "Free some disk space and run again; {name} keeps the rows": "请清理磁盘空间后重新运行；记录保留在 {name} 中",
    "{run_dir} holds no runtime/{name}": "{run_dir} 中没有 runtime/{name}",
    "Name the folder of a run; runs of older versions have no such file": ("请指定运行目录；旧版本的运行没有该文件"),
    "The file was changed after it was written; run the dataset again": "该文件在写出后被修改；请重新运行数据集",
    # Options
    "no endpoint was given": "未指定服务端地址",
    "Give --url http://HOST:PORT": "请用 --url http://HOST:PORT 指定",
    "{value} is not above 0": "{value} 须大于 0",
    "Give seconds between two polls": "请填写两次轮询之间的秒数",
    "Give seconds above 0, e.g. 60": "请填写大于 0 的秒数，如 60",
    "{seconds} is no length of time": "{seconds} 不是有效的时长",
    "{load} stands beside a concurrency of {concurrency}": "同时指定了负载 {load} 与并发 {concurrency}",
    "Write closed:N alone": "请只写 closed:N",
    "Leave out --concurrency; --max-in-flight bounds an open loop": (
        "请去掉 --concurrency；开环负载的在途请求数由 --max-in-flight 限制"
    ),
    "a closed loop is bounded by its concurrency": "闭环负载的在途请求数已由并发限定",
    "Leave it out, or give an open load such as poisson:200": "请去掉该项，或指定开环负载，如 poisson:200",
    "Leave it out, or search --over rate": "请去掉该项，或用 --over rate 搜索",
    "{addresses} addresses of KV events stand beside {endpoints} endpoints": (
        "给出了 {addresses} 个 KV 事件地址，服务端地址为 {endpoints} 个"
    ),
    "Give one for each --url, in the same order": "请为每个 --url 按相同顺序各给出一个",
    "what is not recorded cannot be repeated": "未记录 KV 事件，无法补取",
    "Give --kv-events too": "请同时指定 --kv-events",
    "Leave it out, or give fewer": "请去掉该项，或填写更小的数",
    "{name} is what the run itself sends": "{name} 由运行自身发送，不能改写",
    "{name} asks for several answers to a prompt": "{name} 会使一条 Prompt 产生多个响应",
    "it is not JSON in {place}": "{place}不是有效的 JSON",
    "it is no JSON object": "不是 JSON 对象",
    "Write an object, e.g. '{{\"top_k\": 1}}'": "请填写 JSON 对象，如 '{{\"top_k\": 1}}'",
    "Give 0 or a number of attempts": "请填写 0 或重试次数",
    "Give seconds from 0": "请填写不小于 0 的秒数",
    "is given without a Prometheus server": "指定了该项，但未指定 Prometheus 服务",
    "Name it with --prometheus, or leave the selector out": "请用 --prometheus 指定，或去掉 --selector",
    "the dataset's data.jsonl holds no token ids (output.prompts: text)": (
        "数据集的 data.jsonl 中没有 Token ID（output.prompts: text）"
    ),
    "Leave out --send, or generate the dataset with output.prompts: both": (
        "请去掉 --send，或以 output.prompts: both 重新生成数据集"
    ),
    "the dataset holds token ids and no text (output.prompts: ids)": (
        "数据集只有 Token ID，没有文本（output.prompts: ids）"
    ),
    "the dataset holds token ids and no text that gives exactly those": (
        "数据集只有 Token ID，没有能精确还原出它们的文本"
    ),
    "Leave out --send or choose ids": "请去掉 --send，或改为 ids",
    # A search for the highest load
    "Choose concurrency or rate": "可选值：concurrency、rate",
    "a search sets the load itself": "负载由搜索自行设定",
    "Leave out the load and the concurrency": "请去掉负载与并发参数",
    "the dataset has no pass {name}": "数据集没有 {name} 轮次",
    "Give a whole number": "请填写整数",
    "Give a lower one": "请填写更小的值",
    # The processes that send
    "the sender processes did not start ({why})": "发送进程未能启动（{why}）",
    "all sender processes have ended": "所有发送进程均已退出",
    "a sender process ended before it began": "发送进程在开始前退出",
    "a sender process ended in the middle of the run": "发送进程在运行途中退出",
    "the sender process that carried it ended": "承载该请求的发送进程已退出",
    "the processes of this system do not share a monotonic clock": "本系统的进程之间没有共同的单调时钟",
    "Run again, with --processes 1 if it persists": "请重新运行；若仍出现，请用 --processes 1",
}
