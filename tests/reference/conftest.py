"""A toy tokenizer, and engines that listen on real sockets inside the test process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from prefixcache.reference.options import EngineOptions
from prefixcache.reference.server import build_app

WORDS = "also the quiet river bread house apple winter garden stone paper candle morning letter window silver"
CHAT_TEMPLATE = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
MODEL = "toy"
B = 4
"""Tokens of a block, unless a test starts its engine with others."""


def save_tokenizer(folder: Path, chat_template: str | None) -> str:
    """A byte-level BPE that knows the words above, some of them with a space in front."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<|end|>", "<|start|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    backend.train_from_iterator([WORDS] * 5, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|end|>")
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tokenizer(tmp_path_factory.mktemp("toy"), CHAT_TEMPLATE)


@pytest.fixture(scope="session")
def templateless(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tokenizer(tmp_path_factory.mktemp("templateless"), None)


class Running:
    """An engine that listens, a client to it, and its counters."""

    def __init__(self, url: str, client: httpx.Client, app: Starlette) -> None:
        self.url = url
        self.app = app
        self.client = client

    def complete(self, prompt: object, *, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        body = {"model": MODEL, "prompt": prompt, "max_tokens": 1, **fields}
        return self.client.post("/v1/completions", json=body, headers=headers)

    def cached(self, prompt: object, **fields: Any) -> int:
        answer = self.complete(prompt, **fields)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"])

    def samples(self) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
        """Every series of /metrics but those that tell the time or describe the process."""
        page = self.client.get("/metrics").text
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
            if not sample.name.startswith("process_")
        }

    def total(self, name: str, **labels: str) -> float:
        """Sum of the vllm:NAME series that carry the labels."""
        wanted = set(labels.items())
        found = [v for (series, has), v in self.samples().items() if series == f"vllm:{name}" and wanted <= has]
        assert found, f"no series {name} {labels}"
        return sum(found)

    def until(self, condition: Callable[[], bool], seconds: float = 10) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come true"
            time.sleep(0.005)


@contextmanager
def listening(options: EngineOptions) -> Iterator[Running]:
    app = build_app(options)
    config = uvicorn.Config(app, port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, timeout=30, limits=httpx.Limits(max_connections=64)) as client:
            yield Running(url, client, app)
    finally:
        server.should_exit = True
        thread.join()


def ids(start: int, length: int) -> list[int]:
    return [10 + (start + step) % 240 for step in range(length)]


def events(answer: httpx.Response) -> list[Any]:
    """The JSON of a stream's events; the end mark must be there and last."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    blocks = answer.text.split("\n\n")
    assert blocks[-2:] == ["data: [DONE]", ""]
    assert all(block.startswith("data: ") for block in blocks[:-1])
    return [json.loads(block.removeprefix("data: ")) for block in blocks[:-2]]


Start = Callable[..., Running]


@pytest.fixture
def start(toy: str) -> Iterator[Start]:
    """Start an engine with blocks of 4 tokens (unless told otherwise) that ends with the test."""
    with ExitStack() as stack:

        def started(**fields: object) -> Running:
            settings = {"tokenizer": toy, "model": MODEL, "block_size": B, "num_blocks": 1000, **fields}
            return stack.enter_context(listening(EngineOptions(**settings)))  # type: ignore[arg-type]

        yield started
