# Every target works on a bare machine with python3 and make: it first builds .venv from the locked requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_WORKERS ?= 2

.PHONY: env check test test-real demo bench bench-full bench-load fidelity lock clean

env: $(STAMP)

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check uv

$(STAMP): requirements/dev.txt pyproject.toml | $(BIN)/uv
	$(BIN)/uv pip sync --quiet --python $(BIN)/python requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --editable .
	touch $(STAMP)

lock: $(BIN)/uv   ## recompile the locked requirements from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
		pyproject.toml -o requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
		--extra dev pyproject.toml -c requirements/run.txt -o requirements/dev.txt

check: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m tests.imports

test: env   ## all tests but those of test-real; a real vLLM is among them, built on first use where it can be had
	$(BIN)/pytest -q -n $(PYTEST_WORKERS) --dist loadgroup

test-real: env   ## every test against real engines: vLLM with two ranks, other blocks, an external tier; SGLang
	$(BIN)/pytest -q -m real tests/real

BENCH := outputs/benchmarks

bench: env   ## the figures that take minutes
	$(BIN)/python -m benchmarks.generation --runs 3

bench-full: env   ## all figures and the peers' generators; prints the READMEs' tables. BENCH_PEERS: flags of benchmarks.peers
	mkdir -p $(BENCH)
	$(BIN)/python -m benchmarks.generation --full --runs 3 --json > $(BENCH)/generation.jsonl
	$(BIN)/python -m benchmarks.peers $(BENCH_PEERS) --json > $(BENCH)/peers.jsonl
	$(BIN)/python -m benchmarks.readme $(BENCH)/generation.jsonl $(BENCH)/peers.jsonl

bench-load: env   ## load generators against one server, and 10,000 requests in open loop
	$(BIN)/python -m benchmarks.load
	$(BIN)/python -m benchmarks.load.open_loop

fidelity: env   ## plays scenarios on real engines and writes docs/fidelity.md: the best part of an hour
	$(BIN)/python -m benchmarks.fidelity

demo: env
	$(BIN)/prefixcache demo

clean:
	rm -rf $(VENV) outputs build dist
