"""AIPerf's prompt generator with its default corpus (sonnets) and a pool of prefixes."""

from aiperf.common import random_generator
from aiperf.common.tokenizer import Tokenizer
from aiperf.config.dataset.content import PrefixPromptConfig, PromptConfig
from aiperf.dataset.generator.prompt import PromptGenerator
from common import timed, wanted

want = wanted()
random_generator.init(1)
tokenizer = Tokenizer.from_pretrained(want.tokenizer)


def generate() -> list[str]:
    pool = PrefixPromptConfig(pool_size=want.groups, length=want.shared)
    prompts = PromptGenerator(prompts=PromptConfig(), prefix_prompts=pool, tokenizer=tokenizer)
    prompts.initialize_prefix_pool()
    return [prompts.generate(mean=want.own, stddev=0, with_prefix=True) for _ in range(want.prompts)]


timed("aiperf", want, generate)
