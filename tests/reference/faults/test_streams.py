"""Forms of event streams: what is on the wire is what the plan says."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.reference.faults.conftest import Faulty, StartFaulty

pytestmark = pytest.mark.engine


def texts(objects: list[Any]) -> list[str]:
    return [choice["text"] for found in objects for choice in found.get("choices", []) if choice["text"]]


@pytest.fixture
def formed(start_faulty: StartFaulty) -> Any:
    """Start an engine all of whose streams have these forms."""

    def started(**form: Any) -> Faulty:
        return start_faulty({"requests": "2-", "stream": form})

    return started


class TestLines:
    @pytest.mark.parametrize(("name", "end"), [("lf", "\n"), ("crlf", "\r\n"), ("cr", "\r")])
    def test_line_ends(self, formed: Any, name: str, end: str) -> None:
        engine = formed(line_end=name, id=True)
        plain, answer = engine.complete(), engine.complete()
        assert answer.body.decode().replace(f"{end}{end}", "|").count("|") == len(plain.events)
        lines = re.split(re.escape(end), answer.body.decode())
        assert [line for line in lines if line[:4] not in ("data", "id: ", "")] == []
        if name != "crlf":
            assert {"\n": b"\r", "\r": b"\n"}[end] not in answer.body

    def test_no_space_behind_the_colon(self, formed: Any) -> None:
        engine = formed(space=False, event="m", id=True, retry=9, comment="c")
        engine.complete()
        lines = engine.complete(tokens=1).body.decode().split("\n")
        assert lines[:6] == [":c", "", "event:m", "id:1", "retry:9", lines[5]]
        assert lines[5].startswith('data:{"id"')

    def test_comments_events_numbers_and_retry(self, formed: Any) -> None:
        engine = formed(comment="ping", event="message", id=True, retry=3000)
        engine.complete()
        blocks = engine.complete(tokens=2).body.decode().split("\n\n")
        assert blocks[0::2] == [": ping", ": ping", ": ping", ""]
        heads = [block.split("data: ")[0] for block in blocks[1::2]]
        assert heads == ["event: message\nid: 1\nretry: 3000\n", "event: message\nid: 2\n", "event: message\nid: 3\n"]

    def test_objects_over_several_lines(self, formed: Any) -> None:
        engine = formed(multi_line=True)
        engine.complete()
        first = engine.complete().body.decode().split("\n\n")[0]
        assert first.count("\ndata: ") > 5
        assert json.loads("\n".join(line.removeprefix("data: ") for line in first.split("\n")))["choices"]

    @pytest.mark.parametrize("comment", [None, "x"])
    def test_a_byte_order_mark(self, formed: Any, comment: str | None) -> None:
        engine = formed(bom=True, **({"comment": comment} if comment else {}))
        engine.complete()
        body = engine.complete().body
        assert body.startswith(b"\xef\xbb\xbf" + (b": x\n\ndata: {" if comment else b"data: {"))
        assert body.count(b"\xef\xbb\xbf") == 1


class TestSizes:
    def test_bytes_of_a_chunk_part_characters(self, formed: Any) -> None:
        engine = formed(chunk_bytes=1, texts=["日本", "🙂"])
        engine.complete()
        answer = engine.complete(tokens=2)
        assert {len(chunk) for chunk in answer.chunks} == {1}
        assert texts(json.loads(event) for event in answer.events[:-1]) == ["日本", "🙂"]  # type: ignore[arg-type]

    @pytest.mark.parametrize(("number", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (0, [5]), (9, [5])])
    def test_events_of_a_write(self, start_faulty: StartFaulty, number: int, sizes: list[int]) -> None:
        answer = start_faulty({"stream": {"events_per_write": number}}, decode_tps=500).complete()
        assert [chunk.count(b"data: ") for chunk in answer.chunks] == sizes

    @pytest.mark.parametrize(("number", "counts"), [(1, [1] * 7), (3, [3, 3, 1]), (9, [7])])
    def test_tokens_of_an_event(self, formed: Any, number: int, counts: list[int]) -> None:
        engine = formed(tokens_per_event=number)
        plain = texts(engine.complete(tokens=7).objects)
        found = engine.complete(tokens=7, return_token_ids=True, stream_options={"include_usage": True}).objects
        tokens = [len(event["choices"][0]["token_ids"]) for event in found if event["choices"]]
        assert tokens == counts
        assert "".join(texts(found)) == "".join(plain)
        assert found[-1]["usage"]["completion_tokens"] == 7
        assert found[-2]["choices"][0]["finish_reason"] == "length"

    def test_texts_in_turn(self, formed: Any) -> None:
        engine = formed(texts=["a", "", "é"])
        engine.complete()
        found = [event["choices"][0]["text"] for event in engine.complete(tokens=5).objects]
        assert found == ["a", "", "é", "a", ""]


class TestEnd:
    def test_no_end_mark(self, formed: Any) -> None:
        engine = formed(done=False)
        engine.complete()
        answer = engine.complete()
        assert answer.ending == "complete"
        assert b"[DONE]" not in answer.body
        assert answer.body.endswith(b"}\n\n")

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize(("last", "ends"), [("blank", 2), ("line", 1), ("none", 0)])
    @pytest.mark.parametrize("done", [True, False])
    def test_the_last_event(self, formed: Any, end: str, last: str, ends: int, done: bool) -> None:
        engine = formed(last=last, done=done, line_end={"\n": "lf", "\r\n": "crlf"}[end])
        engine.complete()
        answer = engine.complete()
        assert answer.ending == "complete"
        assert re.search(r"(\]|\})([\r\n]*)$", answer.body.decode())[2] == end * ends  # type: ignore[index]
        assert answer.body.count(f"{end}{end}".encode()) == 4 + done - (ends < 2)


WHOLE = {
    "prompt_tokens": 40,
    "total_tokens": 43,
    "completion_tokens": 3,
    "prompt_tokens_details": {"cached_tokens": 36},
}


class TestUsage:
    @pytest.mark.parametrize("chat", [False, True])
    @pytest.mark.parametrize("asked", [None, {"include_usage": True}, {"include_usage": False}])
    @pytest.mark.parametrize("where", ["own", "last", "every", "absent"])
    def test_where_it_stands(self, formed: Any, where: str, asked: dict[str, bool] | None, chat: bool) -> None:
        engine = formed(usage=where)
        ask = engine.chat if chat else engine.complete
        ask(3)
        answer = ask(3, **({"stream_options": asked} if asked else {}))
        found = answer.objects
        counts = [event.get("usage") for event in found]
        completed = [count and count["completion_tokens"] for count in counts]
        role = [0] if chat else []
        unsaid = [None] * len(role)
        expected = {
            "own": [*unsaid, None, None, None, 3],
            "last": [*unsaid, None, None, 3],
            "every": [*role, 1, 2, 3],
            "absent": [*unsaid, None, None, None],
        }[where]
        assert completed == expected
        if where == "absent":
            assert b"usage" not in answer.body
        elif not chat:
            assert counts[-1] == WHOLE
        assert answer.events[-1] == "[DONE]"
        assert [bool(event["choices"]) for event in found][-1] is (where != "own")


class TestKinds:
    def test_opening_chunks(self, formed: Any) -> None:
        engine = formed(opening=2)
        engine.chat()
        found = engine.chat(tokens=2).objects
        deltas = [event["choices"][0]["delta"] for event in found]
        assert deltas[:2] == [{"role": "assistant", "content": ""}] * 2
        assert all("role" not in delta and delta["content"] for delta in deltas[2:])
        assert len(deltas) == 4
        assert len({event["id"] for event in found}) == 1
        assert engine.complete(tokens=1).objects[0]["choices"][0]["text"] == ""

    def test_reasoning_and_calls_of_tools(self, formed: Any) -> None:
        engine = formed(reasoning=2, tool_calls=2)
        engine.chat()
        deltas = [event["choices"][0]["delta"] for event in engine.chat(tokens=5).objects]
        assert [sorted(delta) for delta in deltas] == [
            ["content", "role"],
            ["reasoning_content"],
            ["reasoning_content"],
            ["tool_calls"],
            ["tool_calls"],
            ["content"],
        ]
        first, second = (delta["tool_calls"][0] for delta in deltas[3:5])
        assert (first["type"], first["index"], first["function"]["name"]) == ("function", 0, "look_up")
        assert list(second) == ["index", "function"]
        assert second["function"]["arguments"]

    def test_another_name_for_reasoning(self, formed: Any) -> None:
        engine = formed(reasoning=1, reasoning_field="reasoning")
        engine.chat()
        assert engine.chat(tokens=1).objects[1]["choices"][0]["delta"]["reasoning"]

    def test_a_whole_answer_instead_of_a_stream(self, formed: Any) -> None:
        engine = formed(whole=True)
        engine.complete()
        answer = engine.complete(stream_options={"include_usage": True})
        assert answer.headers["content-type"] == "application/json"
        assert json.loads(answer.body)["usage"]["completion_tokens"] == 4


class TestInserted:
    @pytest.mark.parametrize("end", [False, True])
    @pytest.mark.parametrize(
        ("insert", "block"),
        [
            ({"what": "error"}, r'data: \{"error":\{"message":.*"code":500\}\}'),
            ({"what": "error_event"}, r'event: error\ndata: \{"error":.*'),
            ({"what": "not_json"}, r"data: this is \{not JSON"),
            ({"what": "empty_choices"}, r'data: \{"id":"cmpl.*"choices":\[\]\}'),
            ({"what": "no_choices"}, r'data: \{"id":"cmpl[^[]*"model":"toy"\}'),
            ({"what": "comment"}, r": ping"),
            ({"data": "one\ntwo", "event": "e"}, r"event: e\ndata: one\ndata: two"),
            ({"data": {"a": 1}}, r'data: \{"a":1\}'),
        ],
    )
    def test_events_of_ones_own(self, formed: Any, insert: dict[str, Any], block: str, end: bool) -> None:
        engine = formed(insert=[{"after_events": 2, "end": end, **insert}])
        engine.complete()
        answer = engine.complete()
        blocks = answer.body.decode().split("\n\n")
        assert re.fullmatch(block, blocks[2])
        assert len(blocks) == (4 if end else 7)  # the last one is empty
        assert answer.ending == "complete"

    def test_before_the_first_and_several(self, formed: Any) -> None:
        engine = formed(insert=[{"after_events": 3, "data": "b"}, {"after_events": 0, "data": "a"}])
        engine.complete()
        assert [event[:1] for event in engine.complete().events] == ["a", "{", "{", "b", "{", "{", "["]

    def test_an_end_ends_the_engines_work(self, formed: Any) -> None:
        engine = formed(insert=[{"after_events": 1, "what": "error", "end": True}])
        engine.complete()
        assert len(engine.complete(tokens=50).events) == 2


class TestNative:
    def test_lines_and_insertions_are_for_every_route(self, formed: Any) -> None:
        engine = formed(line_end="crlf", comment="c", done=False, insert=[{"after_events": 1, "what": "error"}])
        body = {"input_ids": [20, 21], "sampling_params": {"max_new_tokens": 2}, "stream": True}
        for _ in range(2):
            answer = engine.connect().ask("/generate", body)
        blocks = answer.body.decode().split("\r\n\r\n")
        assert blocks[0::2] == [": c"] * 3 + [""]
        assert ["error" in json.loads(block.removeprefix("data: ")) for block in blocks[1::2]] == [False, True, False]
