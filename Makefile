# make run starts Hermes, make test tests it. `make help` lists the rest.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

bin := .venv/bin
stamp := .venv/.installed
WORKERS ?= auto

.PHONY: help run test fire check format bench lock clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: $(stamp) ## start Hermes; without a Slack token with a local workspace (ARGS="--debug" passes options on)
	@exec $(bin)/hermes-bot run $(ARGS)

test: check ## everything: check, then all tests with branch coverage (TESTS="tests/bus" runs a part, WORKERS=0 in one process)
	@deploy/system-packages.sh
	@deploy/js-client.sh
	$(bin)/pytest --numprocesses=$(WORKERS) --dist=loadfile --cov --cov-report=term $(TESTS)

fire: $(stamp) ## the bus under fire for forty minutes: kills, broken servers, full disks, jumping clocks (ARGS="--kills 20" for less)
	@PYTHONPATH=. nice $(bin)/python -m tests.fire $(ARGS)

check: $(stamp) ## formatting, lint, types and layers
	$(bin)/ruff format --check --quiet .
	$(bin)/ruff check --quiet .
	$(bin)/mypy
	$(bin)/lint-imports

format: $(stamp) ## format the code and mend what lint can mend
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

bench: $(stamp) ## print the benchmarks' figures, as ratios where there is a yardstick
	@tests/benchmarks/yardsticks.sh $(CURDIR)/$(bin)/python
	@for benchmark in tests/benchmarks/bench_*.py; do echo "== $$benchmark"; PYTHONPATH=. $(bin)/python $$benchmark; done

lock: $(stamp) ## pin the newest packages that pyproject.toml allows (ARGS="--upgrade-package NAME" for one)
	@deploy/lock.sh $(bin)/python $(ARGS)

clean: ## remove the environment and what tools left behind; data/ stays
	rm -rf .venv .venv-bench .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage* htmlcov dist build

$(stamp): requirements.lock deploy/torch.txt deploy/venv.sh pyproject.toml
	@deploy/venv.sh
	@touch $@
