# What a person can do here. Each target does what it says on a machine with python3, make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NAME ?= growth
# Most tests wait for a control plane or a clock: three at a time, as two leave a third of two cores
# idle. What stays in one process stands in tests/spreading.py, the order of files in tests/order.py.
SPREAD ?= -n 3 --dist loadscope --no-loadscope-reorder
# Where much is computed, or processes are started again and again, tracing takes three times as long.
HEAVY := tests/differential tests/faults tests/simulation tests/solver tests/stories tests/thread
QUICK := -m "not long" $(SPREAD)
.DEFAULT_GOAL := help
.PHONY: help setup up down demo programs pictures test quick test-long lint format bench coverage crds requirements clean

help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## make .venv from the pinned requirements

$(VENV)/.ready: requirements/dev.txt requirements/bootstrap.txt requirements/install.py pyproject.toml
	@$(PYTHON) requirements/install.py --venv $(VENV)
	@touch $@

up: setup ## start a local cluster (NAME=growth) and print its KUBECONFIG
	@$(BIN)/python -m kwok up --name $(NAME)

down: setup ## remove the local cluster (NAME=growth)
	@$(BIN)/python -m kwok down --name $(NAME)

programs: setup ## build what real machines need, once (KUBE_VERSION=1.31.14: another control plane)
	@$(BIN)/python -m kwok programs $(if $(KUBE_VERSION),--kube-version $(KUBE_VERSION),--nodes)
	@$(if $(KUBE_VERSION),,$(BIN)/python -m tests.machines.image)

pictures: setup ## draw docs/pictures anew (the dashboard needs a Prometheus: on PATH, or built)
	@$(BIN)/python -m tests.pictures

demo: setup ## see the product do its main job on a real control plane (KEEP=1 leaves it running)
	@$(BIN)/python -m kwok demo $(if $(KEEP),--keep)

lint: setup ## style, types, and who may import whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: setup ## let ruff write the code its way
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

test: setup ## what CI runs: lint, and every test that is not long (ORDER=7 draws another order)
	@$(MAKE) --no-print-directory --jobs=2 lint quick

# Beside lint: most tests wait for a control plane or a clock, and leave the processor to others.
quick: setup
	@$(BIN)/python -m kwok programs
	@$(BIN)/python -m tests.manifests.programs helm promtool
	@$(BIN)/python -m tests.hetzner.talos_schema
	@$(BIN)/python -m pytest $(QUICK) --durations=20 --durations-min=5

test-long: setup ## every test, the long forms too (FUZZ_SECONDS=60 for each of three targets)
	@$(BIN)/python requirements/install.py --venv $(VENV) --fuzzer
	@$(BIN)/python -m pytest

coverage: setup ## which lines the tests that are not long run, where tracing is cheap
	@$(BIN)/python -m kwok programs
	@$(BIN)/coverage run -m pytest $(QUICK) $(addprefix --ignore=,$(HEAVY))
	@$(BIN)/coverage combine --quiet && $(BIN)/coverage report

bench: setup ## what is claimed about speed and cost, measured here
	@$(BIN)/python -m benchmarks

crds: setup ## write the generated manifests and docs/reference/*.md anew
	@$(BIN)/python -m generators

requirements: setup ## pin the newest versions that pyproject.toml allows
	@PATH="$(CURDIR)/$(VENV)/.uv/bin:$$PATH" requirements/compile --upgrade

clean: ## remove what was made here (the programs' cache stays)
	@rm -rf $(VENV) dist build .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
