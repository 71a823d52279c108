"""Configuration keys of the content: tokenizer, text sources, prompt form, collisions. Key: model class and field."""

from __future__ import annotations

from prefixcache.help.words import Words

CONTENT: dict[str, Words] = {
    "TokenizerConfig.path": Words(
        "Folder or hub name of the served model's tokenizer; embedded is the small one shipped here.",
        "被测模型 Tokenizer 的目录或 Hub 名称；embedded 为随产品提供的小型 Tokenizer。",
        rfc="3.2.1",
        flag="--tokenizer",
    ),
    "TokenizerConfig.revision": Words("Revision of a hub name.", "Hub 上的版本。", rfc="3.4.2"),
    "TokenizerConfig.trust_remote_code": Words(
        "Let transformers run the tokenizer's own code.", "是否允许 transformers 执行 Tokenizer 自带代码。", rfc="3.2.1"
    ),
    # Sources
    "SourceConfig.source": Words(
        "Text of suffixes and, unless prefix.source differs, of master prefixes.",
        "Suffix 的文本来源；未设 prefix.source 时也用于主 Prefix。",
        rfc="2.6",
        flag="--source",
    ),
    "SourceConfig.mode": Words(
        "Samples are joined until the length is reached.", "多样本拼接，直至达到目标长度。", rfc="3.3.13"
    ),
    "SourceConfig.path": Words(
        "Local file (.jsonl, .csv, .parquet, .txt), or folder with train.jsonl.",
        "本地文件（.jsonl、.csv、.parquet、.txt），或含 train.jsonl 的目录。",
        rfc="2.6",
        flag="--source NAME=PATH",
    ),
    "SourceConfig.name": Words(
        "Hub name of a data set that the package datasets loads.",
        "由 datasets 加载的 Hub 数据集名称。",
        rfc="2.6",
        default=("openai/gsm8k for gsm8k", "gsm8k 默认为 openai/gsm8k"),
    ),
    "SourceConfig.subset": Words(
        "Configuration of the hub data set.", "Hub 数据集的子集（configuration）。", rfc="2.6"
    ),
    "SourceConfig.split": Words("Split of the hub data set.", "Hub 数据集的划分（split）。", rfc="2.6"),
    "SourceConfig.revision": Words("Revision of the hub data set.", "Hub 数据集的版本。", rfc="3.4.2"),
    "SourceConfig.fields": Words(
        "Columns of a sample, joined by line ends.",
        "样本中使用的字段，以换行拼接。",
        rfc="3.3.13",
        default=(
            "question, answer for gsm8k; text or the only column else",
            "gsm8k 为 question、answer；其他为 text 或唯一一列",
        ),
    ),
    "SourceConfig.selection": Words(
        "Which samples a text begins with.", "样本选择方式：文本从哪些样本开始。", rfc="3.3.13"
    ),
    "SourceConfig.start_index": Words(
        "With selection index: the sample of request 0, counted in the source's order.",
        "selection 为 index 时，请求 0 使用的样本序号。",
        rfc="3.3.13",
        unit="index",
    ),
    "SourceConfig.samples": Words(
        "With selection fixed or fixed_cycle: the samples, by their number in the source.",
        "selection 为 fixed 或 fixed_cycle 时指定的样本序号。",
        rfc="3.3.13",
        unit="index",
    ),
    "SourceConfig.separator": Words("Text between samples.", "样本之间的分隔符。", rfc="3.3.13"),
    "SourceConfig.allow_repeat": Words(
        "Let samples repeat where the source is too small; else that is an error.",
        "数据源不足时是否允许样本重复；否则报错。",
        rfc="3.3.13",
    ),
    "SuffixConfig.divergence_block": Words(
        "A block unique to each request stops the match exactly at the planned prefix; it cannot be switched off.",
        "请求级唯一分叉 Block，使匹配恰好停止在规划位置；不可关闭。",
        rfc="3.3.11",
    ),
    "SuffixConfig.collision_detection": Words(
        "What must be unique, what is diagnosed, and what is done about collisions.",
        "Block 冲突检测：唯一性约束、风险诊断与处理方式。",
        rfc="3.3.14",
    ),
    # Prompt
    "PromptConfig.format": Words(
        "completion: text for /v1/completions; chat: messages for /v1/chat/completions.",
        "completion：发送到 /v1/completions 的文本；chat：发送到 /v1/chat/completions 的消息。",
        rfc="3.3.22",
    ),
    "PromptConfig.system": Words(
        "Text with which every prompt of every group begins; with chat a system message.",
        "所有请求共有的开头文本；chat 格式下为 system 消息。",
    ),
    "PromptConfig.form": Words(
        "Send text or token ids; auto uses ids only where no text encodes to them exactly.",
        "以文本或 Token ID 发送；auto 仅在文本无法精确还原 Token 时使用 ID。",
        rfc="3.2.1",
    ),
    "OutputConfig.prompts": Words(
        "both: texts and token ids; ids: no text anywhere; text: no ids in the JSONL files, the shards keep them.",
        "both：文本与 Token ID；ids：任何文件均不保存文本；text：JSONL 不含 ID，由 Parquet 分片保存。",
        rfc="3.4.1",
        flag="--prompts",
    ),
    "OutputConfig.formats": Words(
        "Files that hold the prompts: Parquet shards, data.jsonl and warmup.jsonl, or both.",
        "保存 Prompt 的文件：Parquet 分片、data.jsonl 与 warmup.jsonl，或两者。",
        rfc="3.2.5",
        flag="--formats",
    ),
    # Collisions
    "CollisionConfig.enabled": Words("Collision detection is always on.", "冲突检测始终启用。", rfc="3.3.14"),
    "CollisionConfig.cache_match_semantics": Words(
        "What the server compares: chained block hashes, blocks anywhere, or chunks cut by content.",
        "服务端缓存匹配语义：父链 Hash、独立 Block，或内容定义分块。",
        rfc="3.3.14",
    ),
    "CollisionConfig.first_non_shared_block_unique": Words(
        "The first block after the shared prefix is unique behind it; holds by construction and is checked.",
        "公共 Prefix 之后的首个非共享 Block 必须唯一；由构造保证并经校验。",
        rfc="3.3.14",
    ),
    "CollisionConfig.window_blocks": Words(
        "Length of the repeated-window diagnostic.", "连续 Block 窗口重复诊断的窗口长度。", rfc="3.3.14", unit="blocks"
    ),
    "CollisionConfig.max_retries": Words(
        "Repairs tried per request before on_collision applies.", "每条请求的最大冲突修复次数。", rfc="3.3.15"
    ),
    "CollisionConfig.on_collision": Words(
        "What happens to collisions that no repair removed.", "修复失败后的处理方式。", rfc="3.3.15"
    ),
    "CollisionConfig.chunk": Words(
        "How a server with content_defined_chunk cuts prompts.",
        "content_defined_chunk 语义下服务端的分块参数。",
        rfc="3.3.14",
    ),
    "ChunkConfig.min": Words(
        "Shortest chunk.", "最短分块。", rfc="3.3.14", unit="tokens", default=("the hit unit", "命中粒度")
    ),
    "ChunkConfig.mean": Words(
        "Mean chunk length, forced cuts left out.",
        "平均分块长度（不计强制切分）。",
        rfc="3.3.14",
        unit="tokens",
        default=("twice the shortest", "最短分块的两倍"),
    ),
    "ChunkConfig.max": Words(
        "Longest chunk: a cut is forced there.",
        "最长分块，到此强制切分。",
        rfc="3.3.14",
        unit="tokens",
        default=("four times the mean", "平均值的四倍"),
    ),
    "ChunkConfig.window": Words(
        "Tokens the rolling hash looks at.",
        "滚动 Hash 的窗口长度。",
        rfc="3.3.14",
        unit="tokens",
        default=("8, or the shortest chunk if that is smaller", "8；若最短分块更小则取其值"),
    ),
}
