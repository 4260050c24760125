# Services and series write to the first two, wherever they come from. With
# the third, every process would compile all modules of its service again.
unexport PYTHONPATH VIRTUAL_ENV PYTHONDONTWRITEBYTECODE
# Python 3.11 runs every test. A Python counts only if it answers: pyenv puts
# names on the PATH that only print an error.
ifndef PYTHON
PYTHON := $(shell for name in python3.11 python3.13 python3.12; do \
	$$name -V >/dev/null 2>&1 && { echo $$name; break; }; done)
endif
# tox looks for this version on the PATH, and uv must not download another one.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
FOLDER := $(shell $(PYTHON) -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null)
export OPP_PYTHON := python$(VERSION)
export PATH := $(FOLDER):$(PATH)
export UV_PYTHON_DOWNLOADS := never
# tox makes the environments, in .tox/; tox itself lives in .make/. The stamp
# names the Python that made it.
TOX = .make/bin/tox
STAMP = .make/$(OPP_PYTHON)
# The newest services, and what tox makes environments of.
NEWEST = .tox/functional-2026.2/made
RECIPE = tox.ini setup.cfg pyproject.toml requirements.txt test-requirements.txt $(wildcard constraints/*.txt)
# What `make cover` measures, and with what.
COVERED = unit,client,functional-2024.1,functional-2026.2
COVERAGE = coverage==7.17.3

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-latest cover mutants env unit cloud-test lint check docs dist sample clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-13s %s\n", $$1, $$2}' Makefile

$(STAMP): constraints/make.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 answers on the PATH: install one (Debian: apt-get install python3.11-venv), or name one with make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@test -n "$(VERSION)" || { echo "\"$(PYTHON)\" does not run: name another Python with make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@grep -q "Python :: $(VERSION)$$" setup.cfg || { echo "\"$(PYTHON)\" is Python $(VERSION), which setup.cfg does not name: name another Python with make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "installing tox in .make/, with Python $(VERSION) ..." >&2
	@$(PYTHON) -m venv --clear .make
	@.make/bin/python -m pip install --quiet --disable-pip-version-check -r constraints/make.txt
	@touch $@

# tox takes some seconds to see that nothing has changed.
$(NEWEST): $(STAMP) $(RECIPE)
	@echo "installing Nova, Heat and Senlin in $(@D)/; the first time, this can take minutes ..." >&2
	@$(TOX) run -qq --notest -e functional-2026.2
	@touch $@

demo: $(NEWEST) ## run the three plug-ins in the three real services (ARGS="--help")
	@.tox/functional-2026.2/bin/python -W ignore -m demo $(ARGS)

test: $(STAMP) ## run all tests on both version sets (ARGS="-e unit": a part)
	@.make/bin/python -m tools.run_tests $(ARGS)

test-all: export OPP_ALL = 1
test-all: export OPP_SENLIN = senlin_plugins
test-all: export OPP_CLIENT = client
test-all: export OPP_NOVA = nothing
test-all: export OPP_HEAT = test_(other_heat|example_provider)
test-all: test ## the same with every test on both sets and long random runs

test-latest: $(STAMP) ## the newest services that the index has, in place of 2026.2
	@$(TOX) run --workdir .tox/latest -x testenv.constraints=constraints/tools.txt -e functional-2026.2 $(ARGS)

env: $(STAMP) ## make environments without running anything (ENV=unit,cloud)
	@$(TOX) run -q --notest -e $(ENV)

unit: $(STAMP) ## run the tests of the pure modules
	@$(TOX) run -q -e unit

cover: export OPP_COVER = $(CURDIR)/tools/cover:$(CURDIR)/.cover/lib
cover: $(STAMP) ## measure lines and branches, in every process of the tests
	@rm -rf .cover
	@mkdir -p .cover/data
	@.make/bin/python -m pip install --quiet --disable-pip-version-check --target .cover/lib $(COVERAGE)
	@.make/bin/python -m tools.run_tests -e $(COVERED)
	@PYTHONPATH=.cover/lib .make/bin/python -m coverage combine --quiet --data-file .cover/data/coverage
	@PYTHONPATH=.cover/lib .make/bin/python -m coverage report --skip-covered --data-file .cover/data/coverage

mutants: $(STAMP) ## see that unit tests notice random mistakes (ARGS="--random 200 --seed N")
	@$(TOX) run -qq --notest -e unit
	@.make/bin/python -u -m tools.mutants $(ARGS)

cloud-test: $(NEWEST) ## boot a cloud of two regions on loopback and test on it
	@.make/bin/python -m tools.run_tests -e cloud

lint: $(STAMP) ## style, layering, release notes and types
	@$(TOX) run -q -m lint

check: $(STAMP) ## style, layering, types, documentation and release notes
	@$(TOX) run -q -m check

docs: $(STAMP) ## build documentation and release notes into doc/build/html
	@$(TOX) run -q -e docs

dist: $(STAMP) ## build sdist and wheel into dist/, as for a release
	@$(TOX) run -q -e dist

sample: $(STAMP) ## write etc/*.conf.sample from the option modules
	@$(TOX) run -q -e genconfig

clean: ## remove what make created
	rm -rf .make .tox .cover .cloud .demo build dist etc doc/build *.egg-info .hypothesis .mypy_cache .ruff_cache
