"""The reference engine: a server with a real block cache, for proofs without an accelerator.

It shares no code with the models of the cache, the planner or the content rooms: where its counters equal a plan, two
independent programs agree.
"""
