"""Chinese forms of what runners, stores and addresses say (docs/scaling.md)."""

from __future__ import annotations

SCALE_FORMS: tuple[tuple[str, str], ...] = (
    # Addresses
    (r"holds a user name or a password", "含有用户名或密码"),
    (
        r"leave them out; credentials come from the environment, e\.g\. (\S+) and (\S+)",
        "请删除；凭据由环境变量提供，例如 {0} 与 {1}",
    ),
    (r"has a query, a fragment or a chain of addresses", "含有查询串、片段或串联地址"),
    (r"name a folder alone, e\.g\. (\S+)", "请仅填写目录，例如 {0}"),
    (r"names no folder", "未指明目录"),
    (r"name one, e\.g\. (\S+)", "请填写一个，例如 {0}"),
    (r"(\S+) looks like an address that was made a path", "{0} 看似被当作路径的网络地址"),
    (r"pass an address as text", "请以文本形式传入地址"),
    (r"addresses that begin with (\S+) need a package more", "以 {0} 开头的地址需要额外的软件包"),
    (r"addresses that begin with (\S+) are unknown", "不支持以 {0} 开头的地址"),
    (r"write a folder, or s3://…", "请填写目录或 s3://…"),
    (r"install (\S+?)", "请安装 {0}"),
    (r"install fsspec and its package for (\S+)", "请安装 fsspec 及其 {0} 支持包"),
    (
        r"check that the bucket or folder exists, the endpoint \(e\.g\. AWS_ENDPOINT_URL\) and the credentials in the "
        r"environment; the same command again goes on from what is whole",
        "请检查存储桶或目录是否存在、环境变量中的 Endpoint（如 AWS_ENDPOINT_URL）与凭据；"
        "重新执行同一命令会从完好的部分继续",
    ),
    # Stores
    (r"(\S+) holds files that are no dataset of this tool, e\.g\. (.+)", "{0} 中有不属于本工具数据集的文件，例如 {1}"),
    (r"name an empty or a new folder", "请指定空目录或新目录"),
    (r"(\S+) is not in (\S+)", "{1} 中没有 {0}"),
    (r"start it again", "请重新执行"),
    (r"(\S+) came damaged from (\S+)", "从 {1} 取得的 {0} 已损坏"),
    (r"remove (\S+) and start it again", "请删除 {0} 后重新执行"),
    (r"(\S+) holds no dataset: it has no (\S+)", "{0} 中没有数据集：缺少 {1}"),
    (
        r"name the address that `generate --output` was given; a dataset is there once its upload has ended",
        "请填写 `generate --output` 所用的地址；上传结束后数据集才可用",
    ),
    (r"(\S+) holds a (\S+) that is none of this tool(?:: it lists (.+))?", "{0} 中的 {1} 不是本工具生成的"),
    (r"name the address of a dataset", "请填写数据集的地址"),
    # What a full disk or a killed worker leaves
    (r"(\S+): (\d+) of (\d+) shards are whole and kept", "{0}：{2} 个分片中 {1} 个完好并已保留"),
    (r"(\S+) and what follows is missing", "缺少 {0} 及其后的阶段"),
    (r"(\S+) is missing", "缺少 {0}"),
    (r"(\S+): No space left on device", "{0}：磁盘空间已满"),
    (r"(\S+): File too large", "{0}：超出文件大小限制"),
    (r"(\S+): Disk quota exceeded", "{0}：超出磁盘配额"),
    (
        r"(\S+): could not be written in full, the disk is full or a limit on files is reached",
        "{0}：未能完整写入，磁盘已满或达到文件限制",
    ),
    (
        r"free space on the disk, raise the limit, or name a folder on another disk",
        "请释放磁盘空间、提高限制，或改用其他磁盘上的目录",
    ),
    (r"the same command again goes on from what is whole", "重新执行同一命令会从完好的部分继续"),
    (
        r"a worker process was killed, e\.g\. by the system for want of memory",
        "一个工作进程被终止，例如因内存不足被系统终止",
    ),
    (
        r"a worker process of (\S+) was killed, e\.g\. by the system for want of memory",
        "{0} 的一个工作进程被终止，例如因内存不足被系统终止",
    ),
    (r"free memory, or use fewer workers \(--workers\)", "请释放内存，或减少工作进程（--workers）"),
    # Runners and workers
    (r"(\S+) is unknown", "未知的 {0}"),
    (r"write one of ((?:(?!, or ).)+)", "可选值：{0}"),
    (r"(\S+) needs the package (\S+), which is not installed", "{0} 需要软件包 {1}，尚未安装"),
    (r"(\S+) run on this machine and take no address", "{0} 在本机运行，不接受地址"),
    (r"leave it out, or write runner dask or ray", "请删除该项，或将 runner 设为 dask 或 ray"),
    (r"is no address of (\S+)", "不是 {0} 的地址"),
    (r"write e\.g\. (\S+)", "例如：{0}"),
    (
        r"PREFECT_API_URL is not set, so every worker of (\S+) would start a Prefect server of its own",
        "未设置 PREFECT_API_URL，{0} 的每个工作进程都会自行启动 Prefect 服务",
    ),
    (
        r"set it to a running server \(`prefect server start`\)",
        "请将其设为正在运行的服务（`prefect server start`）",
    ),
    (r"(\S+)(?: at (\S+))? cannot be reached or started: (.+)", "{0} {1} 无法连接或启动：{2}"),
    (
        r"start the cluster and check its address and version; see docs/scaling\.md",
        "请启动集群并检查其地址与版本；见 docs/scaling.md",
    ),
    (r"the workers of (\S+) could not run it: (.+)", "{0} 的工作进程无法执行：{1}"),
    (
        r"the worker on (\S+) has another version of prefixcache: (.+)",
        "{0} 上的工作进程安装了另一版本的 prefixcache：{1}",
    ),
    (r"install the same version on every worker", "请在所有工作节点安装相同版本"),
    (r"the worker on (\S+) does not see (.+)", "{0} 上的工作进程看不到 {1}"),
    (
        r"give every worker the dataset's folder under the same path, or write to an address such as (\S+)",
        "请让所有工作节点以相同路径访问数据集目录，或输出到 {0} 之类的地址",
    ),
)
