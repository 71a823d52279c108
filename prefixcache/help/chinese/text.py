"""Findings and errors in Chinese: forms of English sentences, with the same names and figures.

Messages are made in English where something is found, so that files and `--json` do not depend on a language. What the
terminal shows is put into Chinese here, if its form is known; else it stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from prefixcache.help.chinese.forms_like import LIKE_FORMS
from prefixcache.help.chinese.forms_metrics import METRICS_FORMS
from prefixcache.help.chinese.forms_preflight import PREFLIGHT_FORMS
from prefixcache.help.chinese.forms_probe import PROBE_FORMS
from prefixcache.help.chinese.forms_run import RUN_FORMS
from prefixcache.help.chinese.forms_scale import SCALE_FORMS
from prefixcache.help.chinese.forms_simulate import SIMULATE_FORMS
from prefixcache.help.chinese.sentences import SENTENCES
from prefixcache.help.chinese.sentences.form import Form, forms_of

# Pattern of the whole sentence → template; {0}, {1}, … are its groups.
FORMS: tuple[tuple[str, str], ...] = (
    (r"(.+) \(also wrong: (.+)\)", "{0}（另有错误：{1}）"),
    # RFC 3.4.4, 1-4 and 7: wrong values of a configuration or flag
    (r"(\S+) is above max (\S+)", "{0} 大于最大值 {1}"),
    (r"(\S+) lies outside \[(\S+), (\S+)\]", "{0} 不在区间 [{1}, {2}] 内"),
    (r"\[(\S+), (\S+)\] is empty", "区间 [{0}, {1}] 为空"),
    (r"(.+) is not allowed", "不允许的值 {0}"),
    (r"(.+) is not allowed: its digits are not 0 to 9", "不允许的值 {0}：数字须为半角 0 至 9"),
    (r"(.+) is not allowed: it is text", "不允许的值 {0}：它是文本"),
    (r"is missing", "缺失"),
    (r"unknown key", "未知配置项"),
    (r"is no option of this command", "该命令没有此参数"),
    (r"there is no command (.+)", "没有命令 {0}"),
    (r"has no value", "缺少参数值"),
    # 5 and 6: targets and prefixes
    (
        r"a hit ratio of (\S+) % cannot be reached, (\S+) % at most",
        "目标命中率 {0} % 不可达，最大可达 {1} %",
    ),
    (
        r"a hit ratio of (\S+) % cannot be reached, (\S+) % at most: (.+)",
        "目标命中率 {0} % 不可达，最大可达 {1} %：{2}",
    ),
    (
        r"(\d+) of (\d+) input tokens can hit at most, the target needs (\d+)",
        "{1} 个输入 Token 中最多可命中 {0} 个，目标需要 {2} 个",
    ),
    # 10: collisions
    (
        r"(\d+) requests share (?:blocks|chunks) that must be unique, after up to (\d+) retries",
        "{0} 条请求存在必须唯一却重复的 Block，已重试至多 {1} 次",
    ),
    # 8: tokenizer
    (r"the folder (.+) does not exist", "目录 {0} 不存在"),
    (r"cannot load the tokenizer ([^:]+): (.+)", "无法加载 Tokenizer {0}：{1}"),
    # 9: source
    (
        r"(.+): the source (.+) has (\d+) tokens, too few for a stretch of (\d+) without .*",
        "{0}：数据源 {1} 仅有 {2} 个 Token，不足以提供 {3} 个不重复的 Token",
    ),
    (r"cannot read (.+?): No such file or directory", "无法读取 {0}：文件或目录不存在"),
    (r"cannot read ([^:]+)", "无法读取 {0}"),
    # 11-15: a run
    (r"the metrics page of (\S+) cannot be read \((.+)\)", "Metrics 地址 {0} 不可访问（{1}）"),
    (r"the metrics page of (\S+) answered HTTP (\d+)", "Metrics 地址 {0} 返回 HTTP {1}"),
    (
        r"the metrics page of (\S+) holds no metric",
        "Metrics 地址 {0} 没有指标",
    ),
    (
        r"the cache was not empty when the pass (\S+) began: (.+); the run was stopped",
        "{0} 轮次开始时缓存不为空：{1}；运行已停止",
    ),
    (r"the server (\S+) cannot be reached \((.+)\)", "服务端 {0} 不可访问（{1}）"),
    # validate
    (r"(\S+) is missing", "{0} 缺失"),
    (r"(\S+) has (\d+) bytes, the manifest says (\d+)", "{0} 为 {1} 字节，Manifest 记录为 {2} 字节"),
    (r"(\S+) was changed: its SHA-256 is not the manifest's", "{0} 已被修改：SHA-256 与 Manifest 不符"),
    (r"dataset_digest does not match the list of files", "dataset_digest 与文件列表不符"),
    (r"(\S+) has more rows than (\S+)", "{0} 的行数多于 {1}"),
    (r"(\S+): column (\S+) differs from (\S+)", "{0}：列 {1} 与 {2} 不一致"),
    (r"(\S+): prompts differ from (\S+)", "{0}：Prompt 与 {1} 不一致"),
    (r"(\S+): token ids differ from (\S+)", "{0}：Token ID 与 {1} 不一致"),
    (r"the shards hold (\d+) requests, (\S+) (\d+)", "分片共有 {0} 条请求，{1} 为 {2} 条"),
    (r"(\S+) has (\d+) rows, (\S+) has (\d+)", "{0} 有 {1} 行，{2} 有 {3} 行"),
    (r"(\S+): its text does not encode to its token ids", "{0}：文本 Encode 结果与 Token ID 不一致"),
    (r"(?!the dataset is not the one)(.+): (\S+) is (?!listed)(.+), it should be (.+)", "{0}：{1} 为 {2}，应为 {3}"),
    (r"the figures deserve (\S+), the manifest says (\S+)", "按数值应为 {0}，Manifest 记录为 {1}"),
    (r"(\d+) hit tokens expected, the manifest says (\d+)", "理论命中 {0} Token，Manifest 记录为 {1}"),
    (r"group (\S+) has (\d+) requests, the manifest says (\d+)", "Group {0} 有 {1} 条请求，Manifest 记录为 {2}"),
    # Remedies
    (r"write a number that is at least (\S+)", "请填写不小于 {0} 的数"),
    (r"write a number that is at most (\S+)", "请填写不大于 {0} 的数"),
    (r"write a whole number", "请填写整数"),
    (r"write a number", "请填写数值"),
    (r"write (\S+)", "请写为 {0}"),
    (r"[Ww]rite ([\w.-]+(?:, [\w.-]+)+)", "可选值：{0}"),
    *(
        ("write " + " or ".join([r"([^\s,]+)"] * count), "可选值：" + "、".join(f"{{{n}}}" for n in range(count)))
        for count in range(2, 9)
    ),
    (r"give (-\S+)", "请给出 {0}"),
    (r"write (\d+) without quotes", "请写为 {0}，不加引号"),
    (r"swap them or widen the range", "请交换二者或扩大范围"),
    (r"move the mean or the range", "请调整均值或范围"),
    (r"lower the target", "请降低目标"),
    (r"use longer requests", "请使用更长的请求"),
    (r"use longer requests, or: (.+)", "请使用更长的请求，或：{0}"),
    (
        r"use more or longer requests, switch planning\.block_residual_calibration on, or raise pass_tolerance",
        "请增加请求数或请求长度，开启 planning.block_residual_calibration，或放宽 pass_tolerance",
    ),
    (r"is an address", "是一个网络地址"),
    (
        r"name a folder or a hub name; credentials belong into the environment \(HF_TOKEN, HF_ENDPOINT\)",
        "请填写目录或 Hub 名称；凭据应放在环境变量中（HF_TOKEN、HF_ENDPOINT）",
    ),
    (
        r"(\S+) alone needs the package (.+): install it, or add a tokenizer\.json",
        "仅有 {0} 时需要软件包 {1}：请安装，或补充 tokenizer.json",
    ),
    (r"check the hub's name and the network, or name a folder", "请检查 Hub 名称与网络，或填写目录"),
    (r"lower the target, or: (.+)", "请降低目标，或：{0}"),
    (r"name a folder with tokenizer\.json, or a hub name", "请指定含 tokenizer.json 的目录或 Hub 名称"),
    (
        r"name a folder that holds tokenizer\.json and tokenizer_config\.json",
        "请指定含 tokenizer.json 与 tokenizer_config.json 的目录",
    ),
    (r"check the path and its permissions", "请检查路径及其权限"),
    (
        r"partial_manifest\.json in the dataset's folder keeps what was done and found",
        "已完成的部分与失败原因见数据集目录中的 partial_manifest.json",
    ),
    (
        r"check the path; for GSM8K name a local copy with --source gsm8k=PATH",
        "请检查路径；GSM8K 可用 --source gsm8k=PATH 指定本地副本",
    ),
    (r"(.*); `(.+) --help` lists what can be given", "{0}；可用参数见 `{1} --help`"),
    (r"`(.+) --help` lists what can be given", "可用参数见 `{0} --help`"),
    (r"give (\S+) or (\S+)", "请给出 {0} 或 {1}"),
    (
        r"Check that the server runs and give its metrics page with --metrics-url",
        "请确认服务端正在运行，并用 --metrics-url 指定其 Metrics 页面",
    ),
    (
        r"Check that the server runs at this address; a key goes into the variable PREFIXCACHE_API_KEY",
        "请确认该地址上的服务端正在运行；API Key 通过环境变量 PREFIXCACHE_API_KEY 提供",
    ),
    # Warnings of a configuration
    (
        r"block_size is not given: (\d+) is assumed\. If the server's differs, the hit rate will too",
        "未指定 block_size：按 {0} 计算。若与服务端不同，命中率也会不同",
    ),
    (
        r"no tokenizer is given: the embedded one is used\. .*",
        "未指定 Tokenizer：采用内置的。其数据集仅适用于参考引擎；请用 --tokenizer 指定服务端所用的 Tokenizer",
    ),
)
_COMPILED = tuple(
    (re.compile(pattern), template)
    for pattern, template in (
        *PREFLIGHT_FORMS,
        *FORMS,
        *RUN_FORMS,
        *SCALE_FORMS,
        *SIMULATE_FORMS,
        *LIKE_FORMS,
        *METRICS_FORMS,
        *PROBE_FORMS,
    )
)


_WHOLE = {english: chinese for english, chinese in SENTENCES.items() if "{" not in english}
"""Sentences without a place: no form with places may take their words for values."""


_NAMES = re.compile(r"[\w.-]+(?:, [\w.-]+)+", re.ASCII)
"""A list of names, which is no sentence."""


def chinese_of(text: str) -> str:
    """The sentence in Chinese, without full stop; the given one if its form is not known. Parts may stay English."""
    bare = text.removesuffix(".")
    if (whole := _WHOLE.get(bare)) is not None:
        return whole
    for pattern, template in _COMPILED:
        if found := pattern.fullmatch(bare):
            return template.format(*(_inner(part or "") for part in found.groups()))
    parts = bare.split("; ")
    known = [chinese_of(part) for part in parts] if len(parts) > 1 else parts
    # Where every part is a sentence, only one that has the "; " itself says more: a place would hold the next part.
    each = all(chinese != english for chinese, english in zip(known, parts, strict=True))
    for form in _sentences("; " if each else ""):
        if (places := form.read(bare)) is not None:
            return form.chinese.format(**{name: _inner(value) for name, value in places.items()})
    return text if known == parts else "；".join(known)


@cache
def _sentences(holding: str) -> tuple[Form, ...]:
    """Those with this piece of text, compiled when first looked for, since English needs none."""
    return forms_of({english: chinese for english, chinese in SENTENCES.items() if holding in english})


def _inner(part: str) -> str:
    """A part that is a sentence of its own, such as the first half of a remedy."""
    if _NAMES.fullmatch(part):
        return part.replace(", ", "、")
    return chinese_of(part) if " " in part else part
