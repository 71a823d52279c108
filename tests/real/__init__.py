"""The product against real engines on the CPU: vLLM and SGLang with a tiny model and a real tokenizer."""
