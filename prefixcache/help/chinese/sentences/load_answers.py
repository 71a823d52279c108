"""Why a request failed on the wire or in its answer, in Chinese; see :mod:`.sentences`."""

from __future__ import annotations

LOAD_ANSWERS: dict[str, str] = {
    # Before an answer
    "timeout: no connection within {seconds} s": "超时：{seconds} s 内未建立连接",
    "no connection": "无法建立连接",
    "connection timed out": "连接超时",
    "host is down": "主机不在线",
    "temporary failure in name resolution": "域名解析暂时失败",
    "cannot assign requested address": "无法分配本地地址（端口可能已用尽）",
    "too many open files": "打开的文件过多（文件描述符已用尽）",
    "TLS: the certificate is not trusted ({why})": "TLS：证书不受信任（{why}）",
    "the proxy opened no way to the server (an unreadable answer)": "代理未能连通服务端（其响应无法解析）",
    # The answer as bytes
    "timeout: no byte of the answer within {seconds} s": "超时：{seconds} s 内未收到响应的任何字节",
    "timeout: no further byte of the answer within {seconds} s": "超时：{seconds} s 内未收到响应的后续字节",
    "timeout: no complete answer within {seconds} s": "超时：{seconds} s 内未收到完整响应",
    "the server closed the connection without an answer": "服务端未响应即关闭连接",
    "the server closed the connection within the answer": "服务端在响应途中关闭连接",
    "the connection broke within the answer ({why})": "连接在响应途中断开（{why}）",
    "the answer is not HTTP/1.1: {why}": "响应不是 HTTP/1.1：{why}",
    "the server switches to another protocol, which it was not asked for": "服务端擅自切换到其他协议",
    "no end of its headers within {most} bytes": "响应头在 {most} 字节内没有结束",
    "its headers are longer than {most} bytes": "响应头超过 {most} 字节",
    "the compressed answer cannot be read: {why}": "压缩的响应无法解压：{why}",
    "the answer is encoded as {encoding}, although it was asked for as it is": (
        "响应以 {encoding} 编码，而请求的是不压缩的内容"
    ),
    # The answer as events
    "the server reported an error within the stream": "服务端在流中报告错误",
    "the server answered without a stream": "服务端未以流式响应",
    "the stream ended before the answer was finished": "流在响应完成之前结束",
    "an event of the stream is not JSON": "流中有事件不是 JSON",
    "an event of the stream is longer than {most} MiB": "流中有事件超过 {most} MiB",
    "the server gave the answer up ({why})": "服务端放弃了该响应（{why}）",
    "the answer is not as the API says: {what}": "响应不符合 API 规范：{what}",
    "`delta` is no object": "`delta` 不是对象",
    "`choices` is no list of objects": "`choices` 不是对象列表",
    "it cannot be read ({why})": "无法解析（{why}）",
    "the run was stopped": "运行已停止",
}
