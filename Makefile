# Everything from a fresh machine: `make crossjudge` runs the main experiment, `make test` the whole suite.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Compiled on purpose: without .pyc files MLflow alone takes 5 s to import instead of 2.
PIP := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pip install --disable-pip-version-check -q

.PHONY: crossjudge test check lint install lock bench ui clean

crossjudge: $(VENV)/base  ## two keyless judges on the built-in fixture, in seconds
	$(BIN)/python -m runner +experiment=crossjudge

test: check  ## everything that is checked offline
	$(BIN)/python -m pytest

check: $(VENV)/test  ## style, types, layers, sizes
	scripts/check

install: $(VENV)/base

ui: $(VENV)/base  ## the runs in a browser
	MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false $(BIN)/mlflow ui --workers 1 --backend-store-uri sqlite:///$(CURDIR)/mlruns/mlflow.db

bench: $(VENV)/base  ## our stores beside a bare loop, on a file of full size; writes docs/benchmarks.md
	$(BIN)/python scripts/bench.py

lock:
	scripts/lock

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/base: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/test: requirements-test.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) --require-hashes -r requirements-test.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/base

clean:
	rm -rf $(VENV) build *.egg-info
