PYTHON ?=
export PYTHON
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test conformance crash-test soak fuzz lint check bench bench-peers bench-search lock clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Create or renew .venv (every other target does this first)
	@scripts/setup

demo: setup ## A conversation with a small model on this machine, no key and no network needed
	@.venv/bin/agentframework demo

test: setup ## Run the tests, one process a core (make test PYTEST_ARGS="tests/permissions -x")
	@.venv/bin/python -m pytest -n auto $(PYTEST_ARGS)

soak: setup ## A thousand shell calls and 300 MB of output: nothing may be left of them (some minutes)
	SOAK_CALLS=1000 .venv/bin/python -m pytest -q tests/soak $(PYTEST_ARGS)

fuzz: setup ## Hostile command lines for a minute, and new generated ones against bash
	.venv/bin/python tests/permissions/shellfuzz.py
	AF_SHELL_SEED=$$RANDOM$$RANDOM .venv/bin/python -m pytest -q -n auto tests/permissions/test_shell_against_bash.py

conformance: setup ## The provider checks on a llama.cpp server with a small model, over three APIs (two minutes)
	@.venv/bin/python -m pytest -m "live or not live" tests/providers/test_conformance_llama.py $(PYTEST_ARGS)

crash-test: setup ## Kill sessions at 300 moments and go on with them (the tests do it at 12), and writers of files at 50
	@AF_CRASH_ROUNDS=300 .venv/bin/python -m pytest tests/session/test_crashes.py
	@AF_KILLS=50 .venv/bin/python -m pytest tests/tools_builtin/test_write_atomic.py

lint: setup ## Style, layers and types
	.venv/bin/ruff check
	.venv/bin/lint-imports --no-cache
	.venv/bin/basedpyright

check: lint test ## All that a change has to pass

bench: setup ## Our cost as ratios to the bare SDKs, measured here and now
	.venv/bin/python benchmarks/run.py

bench-peers: setup ## The same with other frameworks (installs them, each apart)
	.venv/bin/python benchmarks/run.py --peers

bench-search: setup ## What Grep and Glob add to the bare ripgrep, on 20,000 files
	.venv/bin/python benchmarks/search.py

lock: ## Renew the locked versions of all dependencies
	@scripts/lock

clean: ## Remove what the other targets made
	rm -rf .venv dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
