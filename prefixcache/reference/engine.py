"""The engine behind the HTTP face: ranks, their routing, and what a prompt is answered with."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

from prefixcache.reference.dialects.face import face_of
from prefixcache.reference.kv_events import EventPublisher
from prefixcache.reference.matching import cache_of
from prefixcache.reference.options import EngineOptions
from prefixcache.reference.protocol import RequestError, Sampling
from prefixcache.reference.scheduler import Rank
from prefixcache.reference.sequence import Sequence
from prefixcache.reference.vocabulary import Vocabulary

NATURAL_LENGTHS = range(8, 64)


class Engine:
    """All ranks of one server."""

    def __init__(self, options: EngineOptions, vocabulary: Vocabulary) -> None:
        self.options = options
        self.vocabulary = vocabulary
        self.metrics = face_of(options.dialect).page(options)
        self.ranks = [
            Rank(
                cache_of(options),
                options.prefill_tps,
                options.decode_tps,
                self.metrics.rank(index, options.model),
                EventPublisher(options, index) if options.kv_events else None,
            )
            for index in range(options.dp)
        ]
        self._cache = self.ranks[0].pool  # any of them: pieces have the same keys in all
        self._turn = 0

    def submit(
        self, prompts: list[array[int]], sampling: Sampling, rank: int | None, notify: Callable[[], None]
    ) -> list[Sequence]:
        """Queue every choice of every prompt, in order; each takes its turn in the round robin unless pinned.

        Raises:
            RequestError: one of them is empty, too long or holds an unknown token; then none is queued.
        """
        if rank is not None and not 0 <= rank < len(self.ranks):
            raise RequestError(f"data_parallel_rank {rank} is out of range [0, {len(self.ranks)}).")
        lengths = [self._check(prompt, sampling) for prompt in prompts]
        sequences = []
        for prompt, limit in zip(prompts, lengths, strict=True):
            for index in range(sampling.n):
                sequence = self._sequence(prompt, index, limit, sampling, notify)
                sequence.rank = self._next_rank() if rank is None else rank
                self.ranks[sequence.rank].submit(sequence)
                sequences.append(sequence)
        return sequences

    def abort(self, sequences: list[Sequence]) -> None:
        for sequence in sequences:
            self.ranks[sequence.rank].abort(sequence)

    def reset(self) -> bool:
        """Every rank that holds no blocks forgets its cache. True if all did."""
        done = [rank.reset() for rank in self.ranks]  # a list: every rank tries, whatever the others say
        return all(done)

    def asked_to_reset(self) -> bool:
        """What the route that empties the cache says it has done; what it does is as the options have it."""
        if self.options.reset_does == "real":
            return self.reset()
        return self.options.reset_does == "pretends"

    def restart(self) -> None:
        """As a new process would be: nothing runs, nothing is cached, all counters are 0."""
        for rank in self.ranks:
            rank.abort_all()
        self.reset()
        self._turn = 0
        self.metrics.restarted()

    def reset_counters(self) -> None:
        self.metrics.reset()

    def drop_series(self, names: tuple[str, ...]) -> None:
        self.metrics.drop(names)

    def _next_rank(self) -> int:
        rank = self._turn
        self._turn = (rank + 1) % len(self.ranks)
        return rank

    def _check(self, prompt: array[int], sampling: Sampling) -> int:
        """The most tokens this prompt may be answered with."""
        room = self.options.context_len - len(prompt)
        if not prompt:
            raise RequestError("The decoder prompt cannot be empty", param="prompt")
        if (largest := max(prompt)) > self.vocabulary.max_token_id:
            raise RequestError(f"Token id {largest} is out of vocabulary", param="prompt")
        asked = 1 if sampling.max_tokens is None else sampling.max_tokens
        if asked > room:
            raise RequestError(
                f"This model's maximum context length is {self.options.context_len} tokens. However, you requested "
                f"{asked} output tokens and your prompt contains {len(prompt)} input tokens, for a total of "
                f"{asked + len(prompt)} tokens. Please reduce the length of the input prompt or the number of "
                "requested output tokens.",
                param="max_tokens",
            )
        return room if sampling.max_tokens is None else sampling.max_tokens

    def _sequence(
        self, prompt: array[int], index: int, limit: int, sampling: Sampling, notify: Callable[[], None]
    ) -> Sequence:
        """Decide the answer. A request with a limit of its own runs to it; one without ends by itself, early."""
        length, finish = limit, "length"
        if sampling.max_tokens is None and not sampling.ignore_eos:
            natural = NATURAL_LENGTHS[sum(prompt) % len(NATURAL_LENGTHS)]
            if (natural := max(natural, sampling.min_tokens)) <= limit:
                length, finish = natural, "stop"
        answer = self.vocabulary.answer(prompt, index, self.options.seed, length)
        output = [self.vocabulary.words[position] for position in answer]
        written = prompt + array("I", output[:-1])
        keys = self._keys(prompt, written, sampling)
        texts = [self.vocabulary.word_texts[position] for position in answer]
        return Sequence(prompt, output, texts, keys, finish, notify, streams=sampling.stream)

    def _keys(self, prompt: array[int], written: array[int], sampling: Sampling) -> list[Any]:
        """By what the cache knows the pieces that it may keep."""
        options = self.options
        if not options.prefix_caching:
            return []
        salt = sampling.cache_salt if options.salted else None
        return self._cache.keys(written if options.outputs_cached else prompt, salt)
