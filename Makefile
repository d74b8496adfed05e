# Every target sets up what it needs. A machine only needs Python 3.11-3.13 with venv and pip.
#
# requirements.lock pins the base, data and test dependencies. To renew it: install `.[data,test]`
# and `setuptools` into an empty environment, then write down `pip freeze --all` without pip and
# without hanse itself.
#
# requirements-torch.lock pins torch and what it brings along, which only the monitor BACE needs: its
# tests are skipped without it. To renew it: `make torch` after changing its first line, then write
# down what `pip freeze` lists and requirements.lock does not. requirements-rl.lock does the same for
# RLlib, which only learning (`policies`) needs, requirements-morl.lock for what two baselines import.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run test test-cluster torch rl morl lint format bench clean

ARGS ?=
BIN := .venv/bin
SOURCES := actors services policies monitors tests
STAMP := .venv/.installed
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# Does this interpreter really run, is it 3.11, 3.12 or 3.13, and can it make environments?
SUITS := -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
# The first one that suits; looked up only when an environment has to be made.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	if $$python $(SUITS) >/dev/null 2>&1; then echo $$python; break; fi; done)

help: ## Print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: $(STAMP) ## Run an economy (ARGS="..." is passed on to `hanse run`)
	@$(BIN)/hanse run $(ARGS)

test: export RAY_USAGE_STATS_ENABLED = 0
test: export RAY_AUTH_MODE = disabled
# A process of tests for each processor; none of them needs several for its arithmetic.
test: export OMP_NUM_THREADS = 1
test: lint ## Lint, check the format and the types, run the tests (with ALL=1 the slow ones, too)
	$(BIN)/mypy
	$(BIN)/python -m pytest --numprocesses auto --dist loadgroup $(if $(ALL),,-m "not slow")

# It makes network namespaces, hence root. What is missing is said as the reason of a skip.
test-cluster: export HANSE_TEST_CLUSTER = $(if $(ALL),all,1)
test-cluster: $(STAMP) ## Test a cluster: three hosts in namespaces, ssh, ray up (root, minutes; more with ALL=1)
	$(BIN)/python -m pytest -rs tests/cluster

# On Linux the usual index serves a build of torch with several gigabytes of CUDA libraries beside
# it, of no use to models of this size. So pip is asked first what it would take.
torch: $(STAMP) ## Install torch (CPU build), which the monitor BACE needs
	@$(PIP_INSTALL) --dry-run --report .venv/torch.json -r requirements-torch.lock
	@! grep -Eq '"name": "(nvidia-|triton)' .venv/torch.json || { \
	echo "pip would take a CUDA build of torch, several gigabytes. Name an index of CPU builds" >&2; \
	echo "(see the install page of PyTorch) in PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS." >&2; exit 1; }
	@$(PIP_INSTALL) -r requirements-torch.lock

rl: torch ## Install RLlib, gymnasium and what else learning needs, with torch
	@$(PIP_INSTALL) -c requirements.lock -r requirements-rl.lock

morl: rl ## Install Envelope and CAPQL of morl-baselines, what BECON is compared with from outside
	@$(PIP_INSTALL) --no-deps -r requirements-morl.lock

lint: $(STAMP) ## Lint and check the format
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

format: $(STAMP) ## Format the code and apply the safe fixes of the linter
	$(BIN)/ruff check --fix-only --quiet $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

bench: $(STAMP) ## Run the benchmarks (ARGS="..." is passed on to `tests.bench`)
	@$(BIN)/python -m tests.bench $(ARGS)

clean: ## Remove .venv, caches and build artefacts (runs/ stays)
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# What is byte-compiled only when it is first imported, if ever.
SELDOM := /(tests?|mypyc?|setuptools|ray/(data|rllib|serve|train|tune))/

# A working .venv is updated in place; a missing or broken one is made anew. pip byte-compiles
# everything on one core, which takes as long as installing it, so compileall does the useful part
# on all cores; what it cannot compile does not matter.
$(STAMP): requirements.lock pyproject.toml
	@$(BIN)/python $(SUITS) >/dev/null 2>&1 && $(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	python="$(PYTHON)"; \
	if [ -z "$$python" ] || ! "$$python" $(SUITS) >/dev/null 2>&1; then \
	echo "Hanse needs Python 3.11, 3.12 or 3.13 with venv and pip (found: '$$python')." >&2; \
	echo "Choose one with: make PYTHON=/path/to/python3" >&2; exit 1; fi; \
	echo "Setting up .venv with $$("$$python" --version) (once, about a minute) ..." >&2; \
	"$$python" -m venv --clear .venv; }
	@$(PIP_INSTALL) -r requirements.lock
	@$(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -qq -j 0 -x '$(SELDOM)' .venv/lib || true
	@touch $@
