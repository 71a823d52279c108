"""SGLang's native route ``/generate``: its fields, and its answers with the text so far in every event.

Names and forms are those of SGLang 0.5 (``srt/managers/io_struct.py``, ``tokenizer_manager.py``): the answer is an
object, or a list of them where a list of prompts or several samples were asked for; a stream's events carry the whole
text up to their token.
"""

from __future__ import annotations

import time
import uuid
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from prefixcache.reference import protocol
from prefixcache.reference.protocol import RequestError, Sampling
from prefixcache.reference.responses import DONE, stamped
from prefixcache.reference.sequence import Sequence

DEFAULT_MAX_NEW_TOKENS = 128
UNSUPPORTED = ("input_embeds", "image_data", "audio_data", "video_data", "return_logprob", "return_hidden_states")
UNSUPPORTED_SAMPLING = ("stop", "stop_token_ids", "stop_regex", "json_schema", "regex", "ebnf", "structural_tag")


def read_sampling(body: Mapping[str, Any]) -> Sampling:
    """What ``sampling_params`` and the fields beside it ask for."""
    for name in UNSUPPORTED:
        if body.get(name) not in (None, False, [], ""):
            raise RequestError(f"The reference engine does not support `{name}`", param=name)
    given = body.get("sampling_params")
    if given is not None and not isinstance(given, dict):
        raise RequestError("sampling_params: the reference engine takes one object", param="sampling_params")
    given = given or {}
    for name in UNSUPPORTED_SAMPLING:
        if given.get(name) not in (None, False, [], ""):
            raise RequestError(f"The reference engine does not support `{name}`", param=name)
    salt = "".join(part for name in ("cache_salt", "extra_key") if (part := _text(body, name)) is not None)
    asked = {
        "min_tokens": given.get("min_new_tokens"),
        "ignore_eos": given.get("ignore_eos"),
        "temperature": given.get("temperature"),
        "n": given.get("n"),
        "stream": body.get("stream"),
        "cache_salt": salt or None,
    }
    known = {name: value for name, value in asked.items() if value is not None}
    limit = given.get("max_new_tokens", DEFAULT_MAX_NEW_TOKENS)
    return protocol.read_sampling({**known, "max_tokens": limit}, chat=False)


def read_prompts(body: Mapping[str, Any]) -> tuple[list[str | array[int]], bool]:
    """The prompts, and whether they came as a list of several."""
    text, ids = body.get("text"), body.get("input_ids")
    if (text is None) == (ids is None):
        raise RequestError("Either text, input_ids or input_embeds should be provided.", param="text")
    if text is not None and not (isinstance(text, str) or (isinstance(text, list) and _all(text, str))):
        raise RequestError("text: Input should be a text or a list of texts", param="text")
    if ids is not None and not (isinstance(ids, list) and (_all(ids, int) or _all(ids, list))):
        raise RequestError("input_ids: Input should be token ids or a list of lists of them", param="input_ids")
    prompts = protocol.read_prompts(text if text is not None else ids)
    return prompts, isinstance(text, list) or (isinstance(ids, list) and isinstance(ids[0], list))


def read_rank(body: Mapping[str, Any], header: str | None) -> int | None:
    """The pinned rank, from the body (``routed_dp_rank``, formerly ``data_parallel_rank``) or the header."""
    for name in ("routed_dp_rank", "data_parallel_rank"):
        value = body.get(name)
        if value is not None:
            if isinstance(value, bool) or not isinstance(value, int):
                raise RequestError(f"{name}: Input should be a valid integer", param=name)
            return value
    return protocol.read_rank(header)


class NativeReply:
    """One call's answer in the making.

    Args:
        sampling: what was asked for.
        sequences: sample by sample, those of a prompt side by side.
        batch: whether prompts came as a list.
        stamp: whether events carry the server's clock.
    """

    def __init__(self, sampling: Sampling, sequences: list[Sequence], batch: bool, stamp: bool = False) -> None:
        self.sampling = sampling
        self.sequences = sequences
        self._many = batch or len(sequences) > 1
        self._ids = [uuid.uuid4().hex for _ in sequences]
        self._sent = [0] * len(sequences)
        self._texts = [""] * len(sequences)
        self._stamp = stamp
        self._started = time.perf_counter()

    def whole(self) -> Any:
        """The object or, of several, the list of objects."""
        for index, sequence in enumerate(self.sequences):
            self._texts[index] = "".join(sequence.texts[: sequence.emitted])
        found = [self._object(index, sequence.emitted) for index, sequence in enumerate(self.sequences)]
        return found if self._many else found[0]

    def events(self) -> Iterable[bytes]:
        """The events of all tokens that have come since the last call, one event a token."""
        return stamped(self._events()) if self._stamp else self._events()

    def ending(self) -> bytes:
        return DONE

    def _events(self) -> Iterator[bytes]:
        for index, sequence in enumerate(self.sequences):
            for position in range(self._sent[index], sequence.emitted):
                self._texts[index] += sequence.texts[position]
                found = self._object(index, position + 1)
                if self._many:
                    found["index"] = index
                yield b"data: " + orjson.dumps(found) + b"\n\n"
            self._sent[index] = sequence.emitted

    def _object(self, index: int, emitted: int) -> dict[str, Any]:
        sequence = self.sequences[index]
        last = emitted == len(sequence.output) and sequence.finished
        meta: dict[str, Any] = {
            "id": self._ids[index],
            "finish_reason": _finish(sequence) if last else None,
            "prompt_tokens": len(sequence.prompt),
            "weight_version": "default",
            "completion_tokens": emitted,
            "cached_tokens": sequence.cached or 0,
        }
        if last:
            meta["e2e_latency"] = time.perf_counter() - self._started
        return {"text": self._texts[index], "output_ids": sequence.output[:emitted], "meta_info": meta}


def _finish(sequence: Sequence) -> dict[str, Any]:
    if sequence.finish == "length":
        return {"type": "length", "length": len(sequence.output)}
    return {"type": "stop", "matched": sequence.output[-1]}


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise RequestError(f"{name}: Input should be a valid string", param=name)
    return value


def _all(values: list[Any], kind: type) -> bool:
    return bool(values) and all(isinstance(value, kind) for value in values)
