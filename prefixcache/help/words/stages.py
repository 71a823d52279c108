"""Names of stages and of a run's steps, as messages and live displays show them: key → (English, Chinese)."""

from __future__ import annotations

STAGES: dict[str, tuple[str, str]] = {
    # Commands, and what stands before the stages
    "stage.config": ("config", "读取配置"),
    "stage.init": ("init", "生成配置"),
    "stage.inspect": ("inspect", "查看请求"),
    "stage.reorder": ("reorder", "调整发送顺序"),
    "stage.probe": ("probe", "服务探测"),
    "stage.export": ("export", "导出"),
    "stage.explain": ("explain", "解释名称"),
    "stage.report": ("report", "生成报告"),
    "stage.reference engine": ("reference engine", "参考引擎"),
    "stage.fault plan": ("fault plan", "故障计划"),
    # Of a generation
    "stage.probe_tokenizer": ("probe_tokenizer", "检查 Tokenizer"),
    "stage.plan_lengths": ("plan_lengths", "规划长度"),
    "stage.plan_prefixes": ("plan_prefixes", "规划 Prefix"),
    "stage.tokenize_sources": ("tokenize_sources", "Encode 数据源"),
    "stage.build_masters": ("build_masters", "生成主 Prefix"),
    "stage.build_shards": ("build_shards", "生成分片"),
    "stage.hash_blocks": ("hash_blocks", "计算 Block Key"),
    "stage.check_collisions": ("check_collisions", "冲突检测"),
    "stage.simulate": ("simulate", "理论仿真"),
    "stage.validate": ("validate", "校验"),
    "stage.publish": ("publish", "发布数据集"),
    # Of a run
    "stage.preflight": ("preflight", "运行前检查"),
    "stage.engine_warmup": ("engine_warmup", "引擎热身"),
    "stage.isolate": ("isolate", "隔离缓存"),
    "stage.quiesce": ("quiesce", "等待服务空闲"),
    "stage.warmup": ("warmup", "Warmup"),
    "stage.measured": ("measured", "测量"),
    "stage.run_benchmark": ("run_benchmark", "运行测评"),
    "stage.scrape_metrics": ("scrape_metrics", "读取指标"),
}
