# Two commands for a newcomer: `make demo` and `make test`. Both set everything up in .venv first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo test check slow bench clean
help: ## Show what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/'

setup: .venv/.installed ## Install x2s with everything the demo and the tests need into .venv

.venv/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "x2s needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv || \
	    { rm -rf .venv; echo "Python cannot make virtual environments here. On Debian or Ubuntu: apt install python3-venv"; exit 1; }
	$(BIN)/pip install --disable-pip-version-check -c constraints.txt -e '.[dev,demo]'
	@touch $@

demo: setup ## Run the main job on real text in six languages and print where the report is
	$(BIN)/x2s run configs/demo.yaml

test: setup ## Run the tests (set X2S_DATA to the folder of real test sets to run all)
	$(BIN)/pytest

slow: setup ## Run the tests that take minutes
	$(BIN)/pytest -m slow

check: setup ## Lint, types, import order
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup ## Run all benchmarks (needs X2S_DATA)
	@failed=""; for name in segmentation extraction vecmap load_vectors quality; do \
	    echo "== $$name"; $(BIN)/python -m benchmarks.$$name || failed="$$failed $$name"; done; \
	test -z "$$failed" || { echo "below requirement:$$failed"; exit 1; }

clean: ## Remove what the demo and the benchmarks made
	rm -rf runs/demo runs/benchmarks
