"""Text sources, tokenizers and prompts, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

CONTENT: dict[str, str] = {
    # Markers and unique chunks
    "no words make a chunk of {length} tokens with chunks of {least} to {most} tokens": (
        "Chunk 限定为 {least} 至 {most} Token 时，无法用词语构成 {length} Token 的 Chunk"
    ),
    "{semantics} needs a marker of {words} words in each of its blocks of {unit} tokens, beside {head} tokens before "
    "and {tail} after a text": (
        "{semantics} 要求每个 {unit} Token 的 Block 都含 {words} 个词的唯一标记，并容纳文本前 {head} 个、"
        "文本后 {tail} 个 Token，当前长度不足"
    ),
    "{semantics} needs a marker of {words} words in each of its chunks of {least} tokens at least, beside {head} "
    "tokens before and {tail} after a text": (
        "{semantics} 要求每个 Chunk（最短 {least} Token）都含 {words} 个词的唯一标记，并容纳文本前 {head} 个、"
        "文本后 {tail} 个 Token，当前长度不足"
    ),
    "make it {least} or more, or use cache_match_semantics: chained_prefix": (
        "请设为不小于 {least}，或使用 cache_match_semantics: chained_prefix"
    ),
    # Divergence
    "{groups} prefix groups, but the tokenizer has only {words} safe words that can tell them apart": (
        "配置了 {groups} 个 Prefix Group，但 Tokenizer 仅有 {words} 个可安全切分的词用于区分各组"
    ),
    "use {groups} groups or fewer, or a tokenizer with a larger vocabulary": (
        "请将组数减至 {groups} 以内，或使用词表更大的 Tokenizer"
    ),
    "{requests} requests leave their shared prefix at token {place}, where one hit unit of {unit} tokens tells no more "
    "of them apart than the tokenizer has safe words for that place, {words}": (
        "{requests} 条请求在第 {place} 个 Token 处同时离开公共 Prefix，而 {unit} Token 的命中粒度在该处最多区分 "
        "{words} 条（受 Tokenizer 可安全切分的词数限制）"
    ),
    "write block_size: {size} or more, fewer requests, or more prefix.groups, or use a tokenizer with a larger "
    "vocabulary": "请将 block_size 设为不小于 {size}，减少请求数，增加 prefix.groups，或使用词表更大的 Tokenizer",
    # Separators and samples
    "the separator {separator} merges with the text around it": "分隔符 {separator} 会与前后文本合并为同一 Token",
    "the separator {separator} holds the special token {token}": "分隔符 {separator} 含有特殊 Token {token}",
    "use another, such as a blank line": "请改用其他分隔符，如空行",
    "the source is empty: it has no sample with text": "数据源为空：没有含文本的样本",
    "use a source with text, or check suffix.fields": "请使用含文本的数据源，或检查 suffix.fields",
    "no usable sample: each of the {samples} samples holds the text of a special token, or characters that the "
    "tokenizer does not know or does not keep apart": (
        "没有可用样本：全部 {samples} 个样本都含有特殊 Token 的文本，或含有 Tokenizer 无法识别或无法独立切分的字符"
    ),
    "use another source, or another tokenizer": "请更换数据源或 Tokenizer",
    "sample {number} cannot be used: it holds a special token or characters the tokenizer does not know": (
        "样本 {number} 不可用：含有特殊 Token 或 Tokenizer 无法识别的字符"
    ),
    "list other samples": "请指定其他样本",
    "not enough source text": "数据源文本不足",
    "use a larger source or shorter inputs, or write allow_repeat: true": (
        "请使用更大的数据源或更短的输入，或设 allow_repeat: true"
    ),
    "sample {number} is not in the source (or is empty there): its numbers go from 0 to {last}": (
        "数据源中没有样本 {number}（或该样本为空）：编号范围为 0 至 {last}"
    ),
    "list samples that are there": "请指定数据源中存在的样本",
    # Chat templates and special tokens around a text
    "what the chat template of {name} puts around the user's text depends on that text": (
        "{name} 的 Chat Template 在用户文本前后添加的内容随文本变化，无法精确规划"
    ),
    "write format: completion, or use another template": "请设 format: completion，或更换模板",
    "the chat template of {name} leaves out or changes the system message": (
        "{name} 的 Chat Template 丢弃或改写了 System 消息"
    ),
    "leave out prompt.system, or use another template": "请删除 prompt.system，或更换模板",
    "{name} has no chat template": "{name} 没有 Chat Template",
    "write format: completion, or add chat_template.jinja to the tokenizer's folder": (
        "请设 format: completion，或在 Tokenizer 目录中添加 chat_template.jinja"
    ),
    "the chat template of {name} refuses the messages: {reason}": "{name} 的 Chat Template 拒绝该消息：{reason}",
    "leave out prompt.system if the template knows no system role, or write format: completion": (
        "若模板不支持 system 角色，请删除 prompt.system；或设 format: completion"
    ),
    # Words that a tokenizer keeps apart
    "{name} keeps only {found} words apart from what stands before a prompt, at least {least} are needed": (
        "{name} 仅有 {found} 个词不与 Prompt 前的内容合并，至少需要 {least} 个"
    ),
    "end the system text with a full stop, or use another chat template or tokenizer": (
        "请让 System 文本以句号结尾，或更换 Chat Template 或 Tokenizer"
    ),
    "{name} keeps only {found} words apart, at least {least} are needed to cut text without changing its tokens": (
        "{name} 仅有 {found} 个词可独立切分，至少需要 {least} 个才能在切分文本时保持 Token 不变"
    ),
    "{name} has only {found} ordinary tokens, at least {least} are needed": (
        "{name} 仅有 {found} 个普通 Token，至少需要 {least} 个"
    ),
    "use another tokenizer": "请更换 Tokenizer",
    # Prompts that do not encode back
    "a master prefix does not encode to its tokens whatever its text": (
        "主 Prefix 的文本多次更换后，Encode 结果仍与其 Token 不一致"
    ),
    "{prompts} prompts do not encode to their tokens whatever their suffix; the first is request {request}": (
        "{prompts} 条 Prompt 多次更换 Suffix 后，Encode 结果仍与其 Token 不一致；首条为请求 {request}"
    ),
    "write form: ids to send token ids, or use another tokenizer": ("请设 form: ids 以发送 Token ID，或更换 Tokenizer"),
    # Files of samples
    "{file} is {found}, not {wanted}": "{file} 是 {found}，不是 {wanted}",
    "{file} is not {kind}: {reason}": "{file} 不是 {kind}：{reason}",
    "a Parquet file": "Parquet 文件",
    "packed with {packer}": "{packer} 压缩文件",
    "a ZIP or Excel file": "ZIP 或 Excel 文件",
    "UTF-8 text": "UTF-8 文本",
    "line {line}, column {column}: {reason}": "第 {line} 行第 {column} 列：{reason}",
    "byte {place} is not UTF-8": "第 {place} 字节不是 UTF-8",
    "give it the ending .parquet": "请将扩展名改为 .parquet",
    "unpack it and name the file inside": "请解压后指定其中的文件",
    "unpack it, or save the table as .csv": "请解压，或将表格另存为 .csv",
    "give a .jsonl, .parquet, .csv or .txt file": "请指定 .jsonl、.parquet、.csv 或 .txt 文件",
    "GSM8K is asked for and cannot be reached: {reason}": "配置要求使用 GSM8K，但无法获取：{reason}",
    "there is no such folder, and {answer}": "没有此目录；{answer}",
    "the hub cannot be reached": "Hub 无法访问",
    "the hub says: {reason}": "Hub 返回：{reason}",
    "the text source cannot be reached: {reason}": "无法获取文本数据源：{reason}",
    "the folder {folder} holds nothing, no {file}": "目录 {folder} 为空，缺少 {file}",
    "the folder {folder} holds {names}, no {file}": "目录 {folder} 中只有 {names}，缺少 {file}",
    "the folder {folder} holds {names} and {more} more, no {file}": (
        "目录 {folder} 中只有 {names} 等（另有 {more} 个），缺少 {file}"
    ),
    "{file} does not exist": "{file} 不存在",
    "the hub's {name} ({reason})": "Hub 上的 {name}（{reason}）",
    "name a local copy with --source gsm8k=PATH (a .jsonl file or a folder with train.jsonl), or use --source "
    "synthetic": (
        "请用 --source gsm8k=PATH 指定本地副本（.jsonl 文件或含 train.jsonl 的目录），或改用 --source synthetic"
    ),
    "name a local copy with --source text=PATH, or use --source synthetic": (
        "请用 --source text=PATH 指定本地副本，或改用 --source synthetic"
    ),
    # Fields of a sample
    "which of the columns holds the text? There are: {columns}": "无法确定哪一列是文本，现有列：{columns}",
    "list the columns to use": "请列出要使用的列",
    "sample {number} is not an object": "样本 {number} 不是 JSON 对象",
    "give one JSON object a line": "请每行填写一个 JSON 对象",
    "sample {number} has no text in field {field}; its fields: {fields}": (
        "样本 {number} 的字段 {field} 没有文本；现有字段：{fields}"
    ),
    "choose among the sample's fields": "请从样本现有字段中选择",
    # Tokenizers that cannot be used
    "{name} is a slow (pure Python) tokenizer, which gives no offsets": (
        "{name} 是慢速（纯 Python）Tokenizer，不提供 Offset"
    ),
    "name a folder with a tokenizer.json": "请指定含 tokenizer.json 的目录",
    "sentencepiece and protobuf": "sentencepiece 与 protobuf",
}
