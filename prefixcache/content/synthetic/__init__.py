"""Word problems with worked answers, made from nothing but a seed: the text source that needs no network."""

from prefixcache.content.synthetic.generator import sample, samples
from prefixcache.content.synthetic.sentence import FILLERS, SENTENCE_SLOTS
from prefixcache.content.synthetic.words import COMMON_WORDS

__all__ = ["COMMON_WORDS", "FILLERS", "SENTENCE_SLOTS", "sample", "samples"]
