"""Datasets that are read, checked, reordered, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

DATASET: dict[str, str] = {
    # A folder that is no dataset, or a damaged one
    "{path} is not a folder": "{path} 不是目录",
    "name the folder `generate` wrote": "请指定 `generate` 输出的目录",
    "name the folder that `prefixcache generate` wrote": "请指定 `prefixcache generate` 输出的目录",
    "{folder} holds no manifest.json: it is no dataset, or its generation did not finish or was refused": (
        "{folder} 中没有 manifest.json：它不是数据集，或其生成未完成或被拒绝"
    ),
    "run `prefixcache generate` with this --output again and see validation_report.json": (
        "请以同一 --output 重新执行 `prefixcache generate`，并查看 validation_report.json"
    ),
    "manifest.json cannot be read ({reason})": "无法读取 manifest.json（{reason}）",
    "generate the dataset again": "请重新生成数据集",
    "{folder} is the dataset folder of a run made with --without-prompts: prompts are not stored in it": (
        "{folder} 是以 --without-prompts 运行所留的数据集目录：其中未保存 Prompt"
    ),
    "{file} cannot be written ({reason})": "无法写入 {file}（{reason}）",
    # Prompts of a dataset that is simulated
    "its prompts cannot be read ({reason})": "无法读取其中的 Prompt（{reason}）",
    "a simulation needs the token ids of every prompt, in shards/ or in data.jsonl; generate the dataset again, or "
    "name the folder that `prefixcache generate` wrote": (
        "仿真需要每条 Prompt 的 Token ID（位于 shards/ 或 data.jsonl）；请重新生成数据集，"
        "或指定 `prefixcache generate` 输出的目录"
    ),
    "{prompts} prompts, request_metadata.jsonl has {rows} rows": (
        "Prompt 有 {prompts} 条，而 request_metadata.jsonl 有 {rows} 行"
    ),
    "run `prefixcache validate` and generate the dataset again": "请执行 `prefixcache validate`，并重新生成数据集",
    "request_metadata.jsonl lacks {column}": "request_metadata.jsonl 缺少列 {column}",
    "{prompts} prompts, the files hold {found}": "应有 {prompts} 条 Prompt，文件中为 {found} 条",
    # inspect
    "data.jsonl is missing or does not belong to request_metadata.jsonl": (
        "data.jsonl 缺失，或与 request_metadata.jsonl 不对应"
    ),
    "request_metadata.jsonl cannot be read ({reason})": "无法读取 request_metadata.jsonl（{reason}）",
    "`prefixcache validate` says what is damaged": "请执行 `prefixcache validate` 查看损坏之处",
    "{position} is beyond the last request, #{last}": "{position} 超出最后一条请求 #{last}",
    "give a position from #0 to #{last}": "请填写 #0 至 #{last} 之间的位置",
    "{count} requests end with {ending}: {names}": "{count} 条请求的 ID 以 {ending} 结尾：{names}",
    "{count} requests end with {ending}: {names} and {more} more": (
        "{count} 条请求的 ID 以 {ending} 结尾：{names} 等（另有 {more} 条）"
    ),
    "give more of the id": "请填写更完整的 ID",
    "there is no request {name}": "没有请求 {name}",
    "near ones: {names}; or give a position as '#0' to '#{last}'": (
        "请从相近的 ID 中选择：{names}；或以 '#0' 至 '#{last}' 指定位置"
    ),
    # reorder
    "{order} is no send order": "{order} 不是发送顺序",
    "write one of {orders}, or a pair such as {pair}": "可选值：{orders}，或“组内/组间”组合，如 {pair}",
    "{name} is no order {where}": "{name} 不是{where}顺序",
    "within a group": "组内",
    "across groups": "组间",
    "an order by prefix length ({order}) with {policy} routes over {domains} cache domains would move requests between "
    "domains by their planned prefixes": (
        "按 Prefix 长度排序（{order}）时，{policy} 路由会使请求因计划 Prefix 在 {domains} 个缓存域之间移动"
    ),
    "order by input length, or generate the dataset with routing.policy bound or sticky": (
        "请按输入长度排序，或以 routing.policy 为 bound 或 sticky 重新生成数据集"
    ),
    "{path} exists and is not empty": "{path} 已存在且不为空",
    "name a new folder": "请指定新目录",
    "{path} lies inside the dataset": "{path} 位于数据集目录内",
    "name a folder elsewhere": "请指定其他位置的目录",
    "name a folder on a disk with free space that you may write": "请指定有写权限且磁盘空间充足的目录",
    "the dataset was written without its Parquet shards, which hold the canonical rows": (
        "该数据集未输出 Parquet 分片，而重排以分片为准"
    ),
    "generate it again with --formats parquet,jsonl": "请以 --formats parquet,jsonl 重新生成",
    "{file} was changed (its SHA-256 differs)": "{file} 已被修改（SHA-256 不符）",
    "{file} holds {found} requests instead of {wanted}": "{file} 有 {found} 条请求，应为 {wanted} 条",
    "{file} was edited, not only re-ordered": "{file} 的内容已被修改，不只是重新排序",
    "the certificate does not hold: the token ids hit otherwise than the watermarks of the new order say": (
        "理论仿真证明不成立：真实 Token 的命中与新顺序的缓存水位不一致"
    ),
    "check the dataset with `prefixcache validate`": "请用 `prefixcache validate` 检查数据集",
    "in this order {hits} tokens hit, {points} pp off the target": (
        "按此顺序理论命中 {hits} Token，与目标偏差 {points} 个百分点"
    ),
    # Traces of requests
    "{file} holds no requests": "{file} 中没有请求",
    "name a trace with one request a line": "请指定每行一条请求的 Trace",
    "line {line} is no JSON ({reason})": "第 {line} 行不是 JSON（{reason}）",
    "write one JSON object a line; NaN is none": "请每行填写一个 JSON 对象；NaN 不是合法值",
    "line {line} is no JSON object": "第 {line} 行不是 JSON 对象",
    'write {{"timestamp": …, "input_length": …, "hash_ids": […]}}': (
        '请写为 {{"timestamp": …, "input_length": …, "hash_ids": […]}}'
    ),
    "line {line} has no {field}": "第 {line} 行缺少 {field}",
    "every request needs {fields}": "请为每条请求补全 {fields}",
    "line {line} has timestamp {value}, which is no time": "第 {line} 行的 timestamp 为 {value}，不是有效时刻",
    "write a number from 0": "请填写不小于 0 的数",
    "line {line} has hash_ids {value}, which is no list": "第 {line} 行的 hash_ids 为 {value}，不是列表",
    "write a list of whole numbers": "请填写整数列表",
    "line {line} has {field} {value}, which is no length": "第 {line} 行的 {field} 为 {value}，不是有效长度",
    # validate: form and seal of the manifest
    "manifest.json: {problem}": "manifest.json：{problem}",
    "validation_report.json: {problem}": "validation_report.json：{problem}",
    "manifest.json: {field} is 0": "manifest.json：{field} 为 0",
    "manifest.json: passes are {passes}, which execution_mode {mode} does not have": (
        "manifest.json：轮次为 {passes}，与 execution_mode {mode} 不符"
    ),
    "manifest.json: {field} are not those of groups[]": "manifest.json：{field} 与 groups[] 不一致",
    "manifest.json was changed after it was written: manifest_digest is not that of its content": (
        "manifest.json 写出后被修改：manifest_digest 与内容不符"
    ),
    "manifest.json {place}: {field} is {found}, it should be {wanted}": (
        "manifest.json {place}：{field} 为 {found}，应为 {wanted}"
    ),
    "manifest.json files: {file} is listed, it should be no file of a dataset": (
        "manifest.json files：列有 {file}，而它不属于数据集"
    ),
    "rows of all shards": "所有分片的行数",
    "{place} is {value}, not one of {choices}": "{place} 为 {value}，可选值：{choices}",
    "{place} is {value}, which is malformed": "{place} 为 {value}，格式有误",
    "{place} is {value}, out of range": "{place} 为 {value}，超出取值范围",
    "{place} has {count} entries": "{place} 有 {count} 项，数量不符",
    "the file": "文件内容",
    "nothing more can be checked with what the files state ({reason})": "文件中的数值使后续检查无法进行（{reason}）",
    # validate: rows
    "row {row} is no object": "第 {row} 行不是 JSON 对象",
    "row {row}: {field} is no whole number": "第 {row} 行：{field} 不是整数",
    "row {row}: {field} is no text": "第 {row} 行：{field} 不是文本",
    "row {row} is {request}, the metadata's is another request": (
        "第 {row} 行为 {request}，与 request_metadata.jsonl 的请求不同"
    ),
    "row {row}: prompt_token_ids are there in some rows and not in others": (
        "第 {row} 行：部分行有 prompt_token_ids，部分行没有"
    ),
    "row {row} is {request}, which has no token ids in the shards": ("第 {row} 行为 {request}，其 Token ID 不在分片中"),
    "{file}: row {row} is no object": "{file}：第 {row} 行不是 JSON 对象",
    "{file}: row {row}: {field} is no whole number": "{file}：第 {row} 行：{field} 不是整数",
    "{file}: row {row}: {field} is no text": "{file}：第 {row} 行：{field} 不是文本",
    "{file}: row {row} is {request}, the metadata's is another request": (
        "{file}：第 {row} 行为 {request}，与 request_metadata.jsonl 的请求不同"
    ),
    "{file}: row {row}: prompt_token_ids are there in some rows and not in others": (
        "{file}：第 {row} 行：部分行有 prompt_token_ids，部分行没有"
    ),
    "{file}: row {row} is {request}, which has no token ids in the shards": (
        "{file}：第 {row} 行为 {request}，其 Token ID 不在分片中"
    ),
    # validate: figures
    "{request}: max_tokens {found}, output_len {wanted}": "{request}：max_tokens 为 {found}，output_len 为 {wanted}",
    "{request}: {found} token ids, input_len {wanted}": "{request}：Token ID 有 {found} 个，input_len 为 {wanted}",
    "{request}: order_index {found} in row {row}": "{request}：位于第 {row} 行，order_index 为 {found}",
    "{request}: prefix + divergence + suffix + tail = {found}, input_len {wanted}": (
        "{request}：Prefix + 分叉 + Suffix + 尾部 = {found}，input_len 为 {wanted}"
    ),
    "request ids are not unique": "请求 ID 有重复",
    "the send order is not the one the report was made for (order_digest differs)": (
        "发送顺序与校验报告所依据的不同（order_digest 不符）"
    ),
    "{found} requests, the manifest says {wanted}": "请求有 {found} 条，Manifest 记录为 {wanted} 条",
    "{found} input tokens, the manifest says {wanted}": "输入 Token 共 {found} 个，Manifest 记录为 {wanted} 个",
    "planned prefixes are not multiples of the hit unit {unit}": "计划 Prefix 长度不是命中粒度 {unit} 的整数倍",
    "planned prefixes are shorter than the {head} tokens that all prompts share": (
        "计划 Prefix 短于所有 Prompt 共有的 {head} 个 Token"
    ),
    "{request}: {field} {found}, recomputed {wanted}": "{request}：{field} 为 {found}，重新计算为 {wanted}",
    "{request} ({name}): planned {planned}, token ids hit {found}": (
        "{request}（{name}）：计划命中 {planned} Token，真实 Token 命中 {found}"
    ),
    "the dataset holds no tokenizer.json; name the tokenizer with --tokenizer": (
        "数据集中没有 tokenizer.json；请用 --tokenizer 指定 Tokenizer"
    ),
    "prompts are token ids only, there is no text to encode": "Prompt 仅为 Token ID，无文本可 Encode",
    "no text was kept (output.prompts: ids), there is no text to encode": (
        "未保留文本（output.prompts: ids），无文本可 Encode"
    ),
    "{prompts} prompts re-encoded, {tokens} tokens (gigatoken, equal to the tokenizer)": (
        "已重新 Encode {prompts} 条 Prompt，{tokens} Token（由 gigatoken 执行，结果与 Tokenizer 一致）"
    ),
    # validate: collisions
    "{request}: collision_status {found} is not so": "{request}：collision_status {found} 与实际不符",
    "{request}: has a block that must be unique and is not": "{request}：含有必须唯一却重复的 Block",
    "{request}: has a chunk that must be unique and is not": "{request}：含有必须唯一却重复的 Chunk",
    "{request}: has a block that is not unique": "{request}：含有重复的 Block",
    "{request}: has a chunk that is not unique": "{request}：含有重复的 Chunk",
    "group {group}: its master prefix shares a block with another": (
        "Group {group}：其主 Prefix 与其他组含有相同的 Block"
    ),
    "group {group}: its master prefix shares a chunk with another": (
        "Group {group}：其主 Prefix 与其他组含有相同的 Chunk"
    ),
}
