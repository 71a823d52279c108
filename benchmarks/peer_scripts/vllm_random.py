"""vLLM's RandomDataset: one random prefix for all, then token numbers in a row."""

from common import timed, wanted
from transformers import AutoTokenizer
from vllm.benchmarks.datasets import RandomDataset

want = wanted()
tokenizer = AutoTokenizer.from_pretrained(want.tokenizer)
numbers = {"num_requests": want.prompts, "prefix_len": want.shared, "input_len": want.own, "output_len": 16}
timed(
    "vllm",
    want,
    lambda: [item.prompt for item in RandomDataset(random_seed=1).sample(tokenizer=tokenizer, **numbers)],
)
