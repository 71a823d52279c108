"""Completions, streams and chats over real sockets, with cached tokens worked out by hand."""

from __future__ import annotations

import httpx
import pytest
from tokenizers import Tokenizer

from tests.reference.conftest import MODEL, B, Running, Start, events, ids

pytestmark = pytest.mark.engine


class TestCompletions:
    def test_an_answer_is_a_function_of_the_prompt(self, start: Start) -> None:
        engine = start()
        one, same, other = (engine.complete(ids(s, 9), max_tokens=6).json() for s in (0, 0, 1))
        assert one["choices"][0]["text"] == same["choices"][0]["text"] != other["choices"][0]["text"]
        assert one["object"] == "text_completion"
        assert one["choices"][0]["finish_reason"] == "length"
        assert one["usage"] == {
            "prompt_tokens": 9,
            "total_tokens": 15,
            "completion_tokens": 6,
            "prompt_tokens_details": {"cached_tokens": 0},
        }
        assert same["usage"]["prompt_tokens_details"] == {"cached_tokens": 8}

    def test_the_text_is_what_the_tokenizer_makes_of_the_ids(self, start: Start, toy: str) -> None:
        choice = start().complete("also the", max_tokens=9, return_token_ids=True).json()["choices"][0]
        backend = Tokenizer.from_file(f"{toy}/tokenizer.json")
        assert len(choice["token_ids"]) == 9
        assert backend.decode(choice["token_ids"]) == choice["text"]
        assert backend.encode("also the" + choice["text"]).ids == choice["prompt_token_ids"] + choice["token_ids"]

    def test_text_and_ids_share_the_cache(self, start: Start, toy: str) -> None:
        engine = start()
        text = "also the quiet river bread house apple winter garden stone"
        encoded = Tokenizer.from_file(f"{toy}/tokenizer.json").encode(text).ids
        assert len(encoded) > B
        assert engine.cached(text) == 0
        assert engine.cached(encoded) == (len(encoded) - 1) // B * B

    def test_long_texts_are_encoded_like_short_ones(self, start: Start, toy: str) -> None:
        text = "also the quiet river " * 300
        expected = len(Tokenizer.from_file(f"{toy}/tokenizer.json").encode(text).ids)
        assert start().complete(text).json()["usage"]["prompt_tokens"] == expected

    @pytest.mark.parametrize(("length", "hits"), [(1, 0), (B, 0), (B + 1, B), (4 * B, 3 * B), (4 * B + 1, 4 * B)])
    def test_repeated_prompts(self, start: Start, length: int, hits: int) -> None:
        engine = start()
        assert [engine.cached(ids(0, length)) for _ in range(3)] == [0, hits, hits]
        assert engine.total("prefix_cache_queries_total") == 3 * length
        assert engine.total("prefix_cache_hits_total") == 2 * hits

    def test_outputs_are_cached_but_for_the_last_token(self, start: Start) -> None:
        engine = start()
        first = engine.complete(ids(0, 6), max_tokens=7, return_token_ids=True).json()["choices"][0]
        assert engine.cached([*ids(0, 6), *first["token_ids"], 11, 12, 13]) == 12

    def test_salts_separate_caches(self, start: Start) -> None:
        engine = start()
        salts = [None, "a", "b", "a", None]
        assert [engine.cached(ids(0, 9), cache_salt=salt) for salt in salts] == [0, 0, 0, 8, 8]

    def test_each_prompt_of_a_batch_counts(self, start: Start) -> None:
        engine = start()
        answer = engine.complete([ids(0, 9), ids(0, 9), ids(50, 5)], max_tokens=2).json()
        assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]
        assert answer["choices"][0]["text"] == answer["choices"][1]["text"]
        assert answer["usage"]["prompt_tokens"] == 23
        assert answer["usage"]["completion_tokens"] == 6
        assert answer["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}  # as vLLM: of no use for batches
        assert engine.total("prefix_cache_queries_total") == 23
        assert engine.total("prefix_cache_hits_total") == 8
        assert len(engine.complete(["also the", "quiet"]).json()["choices"]) == 2

    def test_each_choice_counts_as_a_prompt(self, start: Start) -> None:
        engine = start()
        answer = engine.complete(ids(0, 9), n=3, max_tokens=4).json()
        assert len({choice["text"] for choice in answer["choices"]}) > 1
        assert (answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]) == (9, 12)
        assert engine.total("prefix_cache_queries_total") == 27
        assert engine.total("prefix_cache_hits_total") == 16

    def test_without_a_limit_it_stops_by_itself(self, start: Start) -> None:
        engine = start()
        answer = engine.complete(ids(0, 9), max_tokens=None).json()
        assert answer["choices"][0]["finish_reason"] == "stop"
        assert engine.complete(ids(0, 9), max_tokens=None, min_tokens=99).json()["usage"]["completion_tokens"] == 99
        full = start(max_model_len=50).complete(ids(0, 9), max_tokens=None, ignore_eos=True).json()
        assert (full["choices"][0]["finish_reason"], full["usage"]["total_tokens"]) == ("length", 50)


class TestStreams:
    def test_one_event_a_token_then_usage_then_the_end(self, start: Start) -> None:
        engine = start()
        whole = engine.complete(ids(0, 9), max_tokens=5).json()
        chunks = events(engine.complete(ids(0, 9), max_tokens=5, stream=True, stream_options={"include_usage": True}))
        *tokens, last = chunks
        assert "".join(chunk["choices"][0]["text"] for chunk in tokens) == whole["choices"][0]["text"]
        assert [chunk["choices"][0]["finish_reason"] for chunk in tokens] == [None] * 4 + ["length"]
        assert all(chunk["usage"] is None for chunk in tokens)
        assert {chunk["id"] for chunk in chunks} == {last["id"]}
        assert last["choices"] == []
        assert last["usage"] == {**whole["usage"], "prompt_tokens_details": {"cached_tokens": 8}}

    def test_no_usage_unless_asked(self, start: Start) -> None:
        chunks = events(start().complete(ids(0, 9), max_tokens=3, stream=True))
        assert [len(chunk["choices"]) for chunk in chunks] == [1, 1, 1]

    def test_continuous_usage(self, start: Start) -> None:
        options = {"include_usage": True, "continuous_usage_stats": True}
        chunks = events(start().complete(ids(0, 9), max_tokens=3, stream=True, stream_options=options))
        assert [chunk["usage"]["completion_tokens"] for chunk in chunks] == [1, 2, 3, 3]
        assert [chunk["usage"]["total_tokens"] for chunk in chunks] == [10, 11, 12, 12]

    def test_token_ids_in_a_stream(self, start: Start) -> None:
        engine = start()
        whole = engine.complete(ids(0, 9), max_tokens=3, return_token_ids=True).json()["choices"][0]
        chunks = events(engine.complete(ids(0, 9), max_tokens=3, stream=True, return_token_ids=True))
        assert [token for chunk in chunks for token in chunk["choices"][0]["token_ids"]] == whole["token_ids"]
        assert chunks[0]["choices"][0]["prompt_token_ids"] == ids(0, 9)

    def test_a_batch_in_one_stream(self, start: Start) -> None:
        chunks = events(start(decode_tps=500).complete([ids(0, 9), ids(50, 9)], n=2, max_tokens=3, stream=True))
        for index in range(4):
            own = [chunk["choices"][0] for chunk in chunks if chunk["choices"][0]["index"] == index]
            assert [choice["finish_reason"] for choice in own] == [None, None, "length"]

    def test_tokens_arrive_while_the_request_runs(self, start: Start) -> None:
        engine = start(decode_tps=20)
        body = {"prompt": ids(0, 9), "max_tokens": 5, "stream": True}
        with engine.client.stream("POST", "/v1/completions", json=body) as answer:
            seen = []
            for line in answer.iter_lines():
                if line.startswith("data: {"):
                    seen.append(engine.total("generation_tokens_total"))
        assert len(seen) == 5
        assert seen[0] < 5

    def test_a_client_that_leaves_aborts_its_request(self, start: Start) -> None:
        engine = start(decode_tps=5)
        body = {"prompt": ids(0, 9), "max_tokens": 500, "stream": True}
        with engine.client.stream("POST", "/v1/completions", json=body) as answer:
            lines = answer.iter_lines()
            next(lines)
        engine.until(lambda: engine.total("request_success_total", finished_reason="abort") == 1)
        with pytest.raises(httpx.ReadTimeout):
            engine.client.post("/v1/completions", json={**body, "stream": False}, timeout=0.2)
        engine.until(lambda: engine.total("request_success_total", finished_reason="abort") == 2)
        assert engine.total("num_requests_running") == 0
        assert engine.total("kv_cache_usage_perc") == 0
        assert engine.cached(ids(0, 9)) == 8


class TestChat:
    MESSAGES = ({"role": "user", "content": "also the quiet river bread house"},)

    def chat(self, engine: Running, **fields: object) -> httpx.Response:
        return engine.client.post("/v1/chat/completions", json={"model": MODEL, "messages": self.MESSAGES, **fields})

    def test_the_template_makes_the_prompt(self, start: Start, toy: str) -> None:
        engine = start()
        answer = self.chat(engine, max_tokens=3).json()
        text = f"<|start|>user\n{self.MESSAGES[0]['content']}<|end|>\n<|start|>assistant\n"
        encoded = Tokenizer.from_file(f"{toy}/tokenizer.json").encode(text).ids
        tokenized = engine.client.post("/tokenize", json={"messages": self.MESSAGES}).json()
        assert answer["usage"]["prompt_tokens"] == len(encoded) == tokenized["count"]
        assert tokenized["tokens"] == encoded
        assert answer["object"] == "chat.completion"
        assert answer["choices"][0]["message"]["role"] == "assistant"
        assert engine.cached(encoded) == (len(encoded) - 1) // B * B

    def test_a_stream_opens_with_the_role(self, start: Start) -> None:
        engine = start()
        whole = self.chat(engine, max_tokens=3).json()
        chunks = events(self.chat(engine, max_tokens=3, stream=True, stream_options={"include_usage": True}))
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
        assert deltas[0] == {"role": "assistant", "content": ""}
        assert "".join(delta["content"] for delta in deltas) == whole["choices"][0]["message"]["content"]
        assert len(deltas) == 4
        assert chunks[-1]["usage"]["prompt_tokens_details"]["cached_tokens"] > 0

    def test_without_a_limit_it_stops_by_itself(self, start: Start) -> None:
        assert self.chat(start()).json()["choices"][0]["finish_reason"] == "stop"

    def test_a_tokenizer_without_template_gets_a_plain_one(self, start: Start, templateless: str) -> None:
        engine = start(tokenizer=templateless)
        tokens = engine.client.post("/tokenize", json={"messages": self.MESSAGES}).json()["tokens"]
        prompt = engine.client.post("/detokenize", json={"tokens": tokens}).json()["prompt"]
        assert prompt == f"user: {self.MESSAGES[0]['content']}\nassistant:"

    def test_messages_the_template_refuses(self, start: Start) -> None:
        answer = self.chat(start(), chat_template_kwargs={"tokenize": True})
        assert answer.status_code == 400
