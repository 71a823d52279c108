"""inference-perf's shared-prefix generator."""

from common import timed, wanted
from inference_perf.config import APIConfig, APIType, CustomTokenizerConfig, DataConfig, DataGenType, SharedPrefix
from inference_perf.datagen.synthetic.shared_prefix_datagen import SharedPrefixDataGenerator
from inference_perf.utils.custom_tokenizer import CustomTokenizer

want = wanted()
tokenizer = CustomTokenizer(CustomTokenizerConfig(pretrained_model_name_or_path=want.tokenizer))


def generate() -> list[str]:
    shape = SharedPrefix(
        num_groups=want.groups,
        num_prompts_per_group=want.prompts // want.groups,
        system_prompt_len=want.shared,
        question_len=want.own,
        output_len=16,
        seed=1,
    )
    data = DataConfig(type=DataGenType.SharedPrefix, shared_prefix=shape)
    return SharedPrefixDataGenerator(APIConfig(type=APIType.Completion), data, tokenizer).prompts


timed("inference-perf", want, generate)
