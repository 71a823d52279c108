"""What the Python interface, the pipeline, help and artifacts' versions refuse, in Chinese: as in
:mod:`prefixcache.help.chinese.sentences`.
"""

from __future__ import annotations

API: dict[str, str] = {
    # Requests, groups and plans
    "there is no request": "没有请求",
    "create requests from lengths first": "请先由长度创建请求",
    "the groups have no requests": "各 Group 均没有请求",
    "allocate requests first": "请先将请求分配到 Group",
    "list every group there, or use PrefixPlanner with config=": "请在该处列出全部 Group，或在 PrefixPlanner 中使用 "
    "config=",
    "{value} is below {least}": "{value} 小于 {least}",
    "plan prefixes first": "请先规划 Prefix",
    "a prefix of {prefix} tokens does not fit into the request's {tokens}": "{prefix} Token 的 Prefix 超出该请求的 "
    "{tokens} Token",
    "plan 0 to {most} tokens, or a longer request": "请规划 0 至 {most} Token，或使用更长的请求",
    "allocate groups first": "请先分配 Group",
    "is capacity: the steps of this interface simulate caches that never evict": "为 capacity：该接口的各步骤只模拟"
    "从不淘汰的缓存",
    "call generate_prefix_cache_dataset(config, ...), which plans and proves for a capacity": "请调用 "
    "generate_prefix_cache_dataset(config, ...)，它按给定容量规划并验证",
    # Content
    "has no content": "没有内容",
    "generate the content first": "请先生成内容",
    "have no content": "没有内容",
    "call MasterPrefixGenerator.generate first": "请先调用 MasterPrefixGenerator.generate",
    "{planned} requests are planned, the dataset has {requests}": "规划了 {planned} 条请求，而数据集有 {requests} 条",
    "plan request_count requests": "请按 request_count 规划请求数",
    "is another than the masters' configuration has": "与生成主 Prefix 时所用配置不一致",
    "pass that one": "请传入该配置中的 suffix",
    "{count} requests collide": "{count} 条请求存在冲突",
    "use longer inputs or a larger source": "请增加输入长度，或使用更大的数据源",
    "is planned otherwise than the configuration says": "该请求的规划与配置不一致",
    "plan with the configuration's own values (seed, PrefixPlanner.plan(..., config=config))": "请按配置自身的值规划"
    "（seed，PrefixPlanner.plan(..., config=config)）",
    # Verdicts, writing and runs
    "per-group targets have no one ratio to compare with": "按 Group 设定目标时，没有可供比较的单一命中率",
    "read ValidationReport.load(dataset), which judges every group": "请读取 ValidationReport.load(dataset)，"
    "它逐个 Group 判定",
    "order, hits or designed ratio are not those of the content that was made": "顺序、命中或设计命中率与已生成的内容"
    "不一致",
    "simulate the requests as RequestOrderPlanner.merge_groups gives them, in the target's pass": "请按 "
    "RequestOrderPlanner.merge_groups 返回的顺序，在目标所属轮次中模拟请求",
    "are not those of the dataset": "不是该数据集的请求",
    "pass the requests written there": "请传入该数据集中的请求",
    "{file} cannot be read ({kind})": "无法读取 {file}（{kind}）",
    "name a folder that `prefixcache generate` wrote": "请指定由 `prefixcache generate` 生成的目录",
    "global, dp_local, instance_local": "可选值：global、dp_local、instance_local",
    "write cold, hot or replay": "请填写 cold、hot 或 replay",
    "the simulation has no request": "模拟结果中没有请求",
    "simulate requests first": "请先模拟请求",
    "write a ratio, e.g. 0.5 for 50 %": "请填写比值，例如 50 % 填 0.5",
    "none of the endpoints gave metrics": "所有端点均未给出 Metrics",
    "check the addresses": "请检查地址",
    "these metrics are not of a run": "这些指标并非来自一次运行",
    "use PrefixCacheBenchmarkRunner's": "请使用 PrefixCacheBenchmarkRunner 返回的指标",
    "is not of the dataset that was run": "不属于所运行的数据集",
    "load the run's own manifest": "请加载该次运行自身的 Manifest",
    "validate the run's dataset": "请校验该次运行的数据集",
    "is not of this run": "不属于该次运行",
    # Pipeline
    "the dataset is not what was planned: {reason}": "数据集与规划不符：{reason}",
    "see validation_report.json; please report it, this is a defect of the generator or the tokenizer": "详见 "
    "validation_report.json；这是生成器或 Tokenizer 的缺陷，请反馈",
    "the plan misses the target by {points} percentage points": "规划与目标相差 {points} 个百分点",
    "the plan misses the target by {points} percentage points: {reason}": "规划与目标相差 {points} 个百分点：{reason}",
    "use longer inputs, fewer requests or a larger source, or write on_collision: accept_with_warning to get the "
    "dataset with the hits that the simulator finds": "请增加输入长度、减少请求数或使用更大的数据源；"
    "或写 on_collision: accept_with_warning，按模拟所得的命中生成数据集",
    # What the system refuses
    "check the path, its permissions and the free space": "请检查路径、权限与剩余空间",
    "No such file or directory": "文件或目录不存在",
    "No such file": "文件不存在",
    "Permission denied": "权限不足",
    "Is a directory": "是目录",
    "Not a directory": "不是目录",
    "File exists": "文件已存在",
    "File name too long": "文件名过长",
    "Read-only file system": "文件系统只读",
    "No space left on device": "磁盘空间已满",
    "Too many open files": "打开的文件过多",
    "{path}: No such file or directory": "{path}：文件或目录不存在",
    "{path}: Permission denied": "{path}：权限不足",
    "{path}: Is a directory": "{path}：是目录",
    "{path}: Not a directory": "{path}：不是目录",
    "{path}: File exists": "{path}：文件已存在",
    "{path}: File name too long": "{path}：文件名过长",
    "{path}: Read-only file system": "{path}：文件系统只读",
    "{path}: Too many open files": "{path}：打开的文件过多",
    # Versions of artifacts
    "{file} has schema_version {version}, which is no whole number from {first}: this package reads "
    "{known}": "{file} 的 schema_version 为 {version}，须为不小于 {first} 的整数：当前版本可读取 {known}",
    "{file} has schema_version {version}, this package reads {known}": "{file} 的 schema_version 为 {version}，"
    "当前版本只能读取 {known}",
    "{file} has schema_version {version}, which is no whole number from {first}: this package reads 1 to "
    "{newest}": "{file} 的 schema_version 为 {version}，须为不小于 {first} 的整数：当前版本可读取 1 至 {newest}",
    "{file} has schema_version {version}, this package reads 1 to {newest}": "{file} 的 schema_version 为 {version}，"
    "当前版本只能读取 1 至 {newest}",
    "make the file again": "请重新生成该文件",
    "update prefixcache, or use the version that wrote the file": "请升级 prefixcache，或使用写出该文件的版本",
    # Help and the starter
    "nothing is known of {query}": "没有关于 {query} 的说明",
    "did you mean {names}?": "是否要找 {names}？",
    "`prefixcache explain` lists everything": "`prefixcache explain` 列出全部条目",
    "write en or zh, here or in the variable {variable}": "请填写 en 或 zh，亦可用环境变量 {variable} 指定",
    "{value} is no length": "{value} 不是有效长度",
    "write one number such as 4096, or 1024..8192": "请填写一个数（如 4096）或范围（如 1024..8192）",
    "{value} is no ratio": "{value} 不是有效比值",
    "write a number from 0 to 1, such as 0.5": "请填写 0 至 1 之间的数，如 0.5",
    "write a whole number of at least {least}": "请填写不小于 {least} 的整数",
    "{value} is no mode": "{value} 不是有效模式",
}
