"""SGLang's generated-shared-prefix.

Its package's face imports the whole engine and its GPU libraries. The generator needs none of that, so the package is
entered by its path.
"""

import sys
import types
from importlib.metadata import distribution

from common import timed, wanted

package = types.ModuleType("sglang")
package.__path__ = [str(distribution("sglang").locate_file("sglang"))]
sys.modules["sglang"] = package

from sglang.benchmark.datasets.generated_shared_prefix import (  # noqa: E402
    sample_generated_shared_prefix_requests,
)
from transformers import AutoTokenizer  # noqa: E402

want = wanted()
tokenizer = AutoTokenizer.from_pretrained(want.tokenizer)


def generate() -> list[str]:
    rows = sample_generated_shared_prefix_requests(
        num_groups=want.groups,
        prompts_per_group=want.prompts // want.groups,
        system_prompt_len=want.shared,
        question_len=want.own,
        output_len=16,
        range_ratio=1.0,
        tokenizer=tokenizer,
        seed=1,
    )
    return [row.prompt for row in rows]


timed("sglang", want, generate)
