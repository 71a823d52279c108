"""What a server really does with prefixes: measured with prompts of its own, beside what the server says of itself."""
