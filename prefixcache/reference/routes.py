"""The HTTP routes: read, ask the engine, write."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from array import array
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prefixcache.reference import native, protocol
from prefixcache.reference.engine import Engine
from prefixcache.reference.options import HIDDEN
from prefixcache.reference.protocol import RequestError
from prefixcache.reference.responses import CachedTokens, GenerationResponse, Reply

Handler = Callable[[Request], Awaitable[Response]]
ENGINE_NAME = "prefixcache-reference"


def json_response(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def get(path: str, handler: Handler) -> Route:
    return Route(path, handler, methods=["GET"])


def post(path: str, handler: Handler) -> Route:
    return Route(path, handler, methods=["POST"])


class Routes:
    """Handlers of one engine, in vLLM's ways; the other dialects say what they do otherwise."""

    owner = "vllm"
    tells = CachedTokens.OF_ONE_PROMPT

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.options = engine.options
        self.vocabulary = engine.vocabulary
        self.started = int(time.time())

    def table(self) -> list[Route]:
        found = [
            post("/v1/completions", self.completions),
            post("/v1/chat/completions", self.chat),
            post("/generate", self.generate),
            get("/v1/models", self.models),
            post("/tokenize", self.tokenize),
            post("/detokenize", self.detokenize),
            get("/health", self.health),
            get("/version", self.version),
            get("/metrics", self.metrics),
            get("/server_info", self.server_info),
        ]
        return found + self.reset_routes()

    def reset_routes(self) -> list[Route]:
        if self.options.reset_does == "absent":
            return []
        return [post("/reset_prefix_cache", self.reset_prefix_cache)]

    def error_body(self, error: RequestError) -> dict[str, Any]:
        return error.body

    def rank(self, request: Request, body: Mapping[str, Any]) -> int | None:
        """The data-parallel rank that a request pins."""
        return protocol.read_rank(request.headers.get("x-data-parallel-rank"))

    def card(self) -> dict[str, Any]:
        """The model."""
        return {
            "id": self.options.model,
            "object": "model",
            "created": self.started,
            "owned_by": self.owner,
            "root": self.options.model,
            "parent": None,
            "max_model_len": self.options.context_len,
        }

    async def completions(self, request: Request) -> Response:
        body = await self._body(request)
        sampling = protocol.read_sampling(body, chat=False)
        prompts = protocol.read_prompts(body.get("prompt"))
        special = protocol.flag(body, "add_special_tokens", True)
        ids = await self._encoded(prompts, special)
        return self._generate(request, body, False, ids, sampling)

    async def chat(self, request: Request) -> Response:
        body = await self._body(request)
        sampling = protocol.read_sampling(body, chat=True)
        return self._generate(request, body, True, [await self._chat_ids(body)], sampling)

    async def generate(self, request: Request) -> Response:
        body = await self._body(request)
        sampling = native.read_sampling(body)
        prompts, batch = native.read_prompts(body)
        ids = await self._encoded(prompts, True)
        rank = native.read_rank(body, request.headers.get("x-data-parallel-rank"))
        changed = asyncio.Event()
        sequences = self.engine.submit(ids, sampling, rank, changed.set)
        reply = native.NativeReply(sampling, sequences, batch, self.options.stamp)
        return GenerationResponse(self.engine, reply, changed)

    async def models(self, request: Request) -> Response:
        return json_response({"object": "list", "data": [self.card()]})

    async def tokenize(self, request: Request) -> Response:
        body = await self._body(request)
        if "messages" in body:
            ids = await self._chat_ids(body)
        elif isinstance(prompt := body.get("prompt"), str):
            [ids] = await self._encoded([prompt], protocol.flag(body, "add_special_tokens", True))
        else:
            raise RequestError("prompt: Input should be a valid string", param="prompt")
        tokens = ids.tolist()
        strings = self.vocabulary.token_strings(tokens) if protocol.flag(body, "return_token_strs") else None
        return json_response(
            {
                "count": len(tokens),
                "max_model_len": self.options.context_len,
                "tokens": tokens,
                "token_strs": strings,
            }
        )

    async def detokenize(self, request: Request) -> Response:
        body = await self._body(request)
        ids = protocol.token_ids(body.get("tokens"), "tokens")
        return json_response({"prompt": self.vocabulary.decode(ids)})

    async def health(self, request: Request) -> Response:
        return Response()

    async def version(self, request: Request) -> Response:
        return json_response({"version": self.options.traits.version})

    async def metrics(self, request: Request) -> Response:
        page = self.engine.metrics
        return Response(page.page(), headers={"content-type": page.content_type})

    async def reset_prefix_cache(self, request: Request) -> Response:
        """200 in any case; whether it worked is in the body, and counters stay as they are."""
        return json_response({"success": self.engine.asked_to_reset()})

    async def server_info(self, request: Request) -> Response:
        facts = {"engine": ENGINE_NAME, **dataclasses.asdict(self.options)}
        for place in ("faults", "tls_cert", "tls_key", *HIDDEN):  # files of the machine are nobody's business
            del facts[place]
        facts["block_size"] = self.options.claimed_block
        facts["max_model_len"] = self.options.context_len
        facts["tokenizer_sha256"] = self.vocabulary.sha256
        return json_response(facts)

    async def _body(self, request: Request) -> dict[str, Any]:
        body = protocol.read_body(await request.body(), request.headers.get("content-type", ""))
        model = body.get("model")
        if model is not None and not isinstance(model, str):
            raise RequestError("model: Input should be a valid string", param="model")
        if model and model != self.options.model:
            raise RequestError(f"The model `{model}` does not exist.", status=404, kind="NotFoundError", param="model")
        return body

    async def _encoded(self, prompts: list[str | array[int]], add_special_tokens: bool) -> list[array[int]]:
        def encode() -> list[array[int]]:
            return [
                self.vocabulary.encode(prompt, add_special_tokens) if isinstance(prompt, str) else prompt
                for prompt in prompts
            ]

        chars = sum(len(prompt) for prompt in prompts if isinstance(prompt, str))
        return await self.vocabulary.off_loop(chars, encode) if chars else encode()

    async def _chat_ids(self, body: dict[str, Any]) -> array[int]:
        """Ids of a conversation; the template has its say about special tokens, so none are added by default."""
        messages = protocol.read_messages(body)
        extra = body.get("chat_template_kwargs") or {}
        if not isinstance(extra, dict):
            raise RequestError("chat_template_kwargs: Input should be a valid dictionary", param="chat_template_kwargs")
        settings = {
            "tools": body.get("tools"),
            "add_generation_prompt": protocol.flag(body, "add_generation_prompt", True),
            "continue_final_message": protocol.flag(body, "continue_final_message"),
            **extra,
        }
        special = protocol.flag(body, "add_special_tokens")

        def encode() -> array[int]:
            try:
                text = self.vocabulary.render_chat(messages, **settings)
            except Exception as error:  # templates raise what they like
                raise RequestError(f"The chat template refused the messages: {error}", param="messages") from error
            return self.vocabulary.encode(text, special)

        return await self.vocabulary.off_loop(sum(len(message.get("content") or "") for message in messages), encode)

    def _generate(
        self,
        request: Request,
        body: Mapping[str, Any],
        chat: bool,
        prompts: list[array[int]],
        sampling: protocol.Sampling,
    ) -> Response:
        changed = asyncio.Event()
        sequences = self.engine.submit(prompts, sampling, self.rank(request, body), changed.set)
        tells = self.tells if self.options.usage_cached else CachedTokens.NULL
        reply = Reply(chat, self.options.model, sampling, sequences, self.options.stamp, tells)
        return GenerationResponse(self.engine, reply, changed)
