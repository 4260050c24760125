# Everything below the checkout: environments in .venv/, logs in .demo/,
# the loopback cloud in .cloud/.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
ENVIRONMENTS = $(PYTHON) -m tools.environments
# Services and series write to these, wherever they come from.
unexport PYTHONPATH

.DEFAULT_GOAL := help
.PHONY: help demo test cloud-test check docs charts sample clean python

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' Makefile

python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 is not on the PATH: install it (Debian: apt-get install python3.11-venv) or call make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11))' || { echo "$(PYTHON) cannot be run, or is older than Python 3.11: call make PYTHON=/path/to/python3.11" >&2; exit 2; }

demo: python ## run the three plug-ins in the three real services (ARGS="--help")
	@$(ENVIRONMENTS) 2026.2
	@.venv/2026.2/bin/python -W ignore -m demo $(ARGS)

test: python ## run all tests on both version sets (ARGS="--help")
	@$(PYTHON) -m tools.run_tests $(ARGS)

cloud-test: python ## boot a cloud of two regions on loopback and test on it
	@$(PYTHON) -m tools.run_tests --cloud --only tests/cloud

check: python ## style, types, documentation and release notes
	@$(ENVIRONMENTS) check
	.venv/check/bin/python -m ruff check .
	.venv/check/bin/python -m ruff format --check .
	.venv/check/bin/python -m mypy
	.venv/check/bin/python -m doc8 README.rst CONTRIBUTING.rst constraints/README.rst doc/source
	.venv/check/bin/reno -q lint

docs: python ## build documentation and release notes into doc/build/html
	@$(ENVIRONMENTS) check
	.venv/check/bin/python -m sphinx -W -q -b html doc/source doc/build/html

charts: python ## measure anew (ten minutes) and draw the charts; DRAW=only: draw
	@$(ENVIRONMENTS) 2026.2 charts
ifneq ($(DRAW),only)
	.venv/2026.2/bin/python -W ignore -m benchmarks.scaling_sequence --json doc/source/charts/distribution.json
	.venv/2026.2/bin/python -W ignore -m benchmarks.heat_hints --json doc/source/charts/hints.json > doc/source/benchmarks-heat.out
	.venv/2026.2/bin/python -W ignore -m benchmarks.aggregate_filter --json doc/source/charts/filters.json > doc/source/benchmarks-nova.out
endif
	.venv/charts/bin/python -m tools.charts

sample: python ## write etc/*.conf.sample from the option modules
	@$(ENVIRONMENTS) check
	@mkdir -p etc
	@for name in senlin_plugins nova_filters heat_hints; do \
	  .venv/check/bin/python -m oslo_config.generator --wrap-width 79 --namespace $$name --output-file etc/$$name.conf.sample || exit 1; \
	done

clean: ## remove what make created
	rm -rf .venv .cloud .demo .stestr build dist doc/build *.egg-info .hypothesis .mypy_cache .ruff_cache
