# Each target creates the environment .venv if it does not exist.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test docs clean

demo: .venv/ready
	$(BIN)/vpr demo
	$(BIN)/vpr segment src/vpr/examples/sintel.mp4 --out demo-events

test: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 -q

# A broken link or an unknown name in the API reference is an error.
docs: .venv/ready-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html."

clean:
	rm -rf .venv site .pytest_cache .mypy_cache .ruff_cache .hypothesis

# torch is installed first, in a pinned version: as a dependency, pip would choose a CUDA build.
.venv/ready: pyproject.toml constraints.txt
	@echo "Creating .venv and installing torch (about a minute) …"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt torch==$$(sed -n 's/^torch==//p' constraints.txt) numpy
	$(BIN)/pip install -q -c constraints.txt -e ".[figures,features]"
	touch $@

.venv/ready-dev: .venv/ready
	$(BIN)/pip install -q -c constraints.txt -e ".[dev]"
	touch $@

.venv/ready-docs: .venv/ready
	$(BIN)/pip install -q -c constraints.txt -e ".[docs]"
	touch $@
