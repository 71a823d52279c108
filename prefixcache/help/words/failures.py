"""Kinds of a request's failure (``failure`` in request_results.jsonl): code → (English, Chinese), a few words each."""

from __future__ import annotations

from prefixcache.help.words import Words

KINDS: dict[str, tuple[str, str]] = {
    "dns": ("the host's name is not known", "域名无法解析"),
    "refused": ("the connection was refused", "连接被拒绝"),
    "connect_timeout": ("no connection in time", "建立连接超时"),
    "connect": ("no connection, for another reason", "无法建立连接"),
    "tls": ("TLS failed", "TLS 失败"),
    "proxy": ("the proxy failed", "代理失败"),
    "keepalive_closed": ("a kept connection was closed before an answer", "复用的连接在应答前被关闭"),
    "disconnected": ("a new connection was closed before an answer", "新连接在应答前被关闭"),
    "reset": ("broken off within the answer by an error", "应答中途出错断开"),
    "incomplete": ("broken off within the answer by a regular end", "应答未完成即正常断开"),
    "first_byte_timeout": ("no first byte in time", "首字节超时"),
    "idle_timeout": ("nothing came for too long", "长时间无数据"),
    "total_timeout": ("not ended in time", "总时限超时"),
    "malformed_http": ("what came is no HTTP", "应答不是合法的 HTTP"),
    "malformed_event": ("an event of the stream cannot be read", "流中有无法解析的事件"),
    "error_in_stream": ("the stream told an error", "流中报告了错误"),
    "no_stream": ("the answer is no stream", "应答不是流"),
    "unfinished": ("the stream ended without its last event", "流缺少结束事件"),
    "cancelled": ("stopped by the client", "被客户端取消"),
}
"""An answer with an error status has a kind of its own, ``http_429`` and the like."""
FAILURES: dict[str, Words] = {
    kind: Words(f"Kind of failure: {english}.", f"失败类型：{chinese}。", rfc="3.4.4")
    for kind, (english, chinese) in KINDS.items()
}
HTTP = "http_"


def kind_name(kind: str, at: int) -> str:
    """The code and, in Chinese (``at`` 1), its few words; in English the code alone says as much."""
    if at == 0:
        return kind
    if kind.startswith(HTTP):
        return f"{kind}（HTTP {kind.removeprefix(HTTP)}）"
    return f"{kind}（{KINDS[kind][at]}）" if kind in KINDS else kind
