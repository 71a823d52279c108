"""vLLM's PrefixRepetitionRandomDataset: random prefixes, each with random suffixes."""

from common import timed, wanted
from transformers import AutoTokenizer
from vllm.benchmarks.datasets import PrefixRepetitionRandomDataset

want = wanted()
tokenizer = AutoTokenizer.from_pretrained(want.tokenizer)
numbers = {
    "num_requests": want.prompts,
    "prefix_len": want.shared,
    "suffix_len": want.own,
    "num_prefixes": want.groups,
    "output_len": 16,
}
timed(
    "vllm",
    want,
    lambda: [item.prompt for item in PrefixRepetitionRandomDataset(random_seed=1).sample(tokenizer, **numbers)],
)
