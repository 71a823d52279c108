"""What real engines need: a virtual environment of pinned packages, a tiny model, a server process.

`python -m tests.real.environment` builds all of it and prints where it lies.
"""
