# `make demo` and `make test` set up everything they need: python 3.10 or newer, pip and a package index are enough.
# A package index of CPU builds (PIP_EXTRA_INDEX_URL) saves a large download of torch.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test quick readme docs clean

demo: $(INSTALLED)
	@echo; echo "── What torchlint says about a training script and a model: torchlint check fixtures/demo"
	@$(BIN)/torchlint check --isolated --no-cache --exit-zero --output-format full fixtures/demo
	@echo; echo "── What its fixes would change: torchlint check --diff --unsafe-fixes fixtures/demo/train.py"
	@$(BIN)/torchlint check --isolated --no-cache --exit-zero --diff --unsafe-fixes fixtures/demo/train.py
	@echo; echo "── The shapes in the forward of a model: torchlint shapes fixtures/demo/digits.py"
	@$(BIN)/torchlint shapes fixtures/demo/digits.py || true  # it says that the model fails

test: $(INSTALLED)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

# While you work: all but what counts effort.
quick: $(INSTALLED)
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal -m "not effort"

# Rewrites what README.md shows of rules and output; tests/test_readme.py compares it.
readme: $(INSTALLED)
	$(BIN)/python tests/test_readme.py
	$(BIN)/python docs/picture.py

# Builds the site in build/site and follows its links.
docs: $(INSTALLED)
	@$(BIN)/python -c 'import material' 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	$(BIN)/python docs/build_site.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .torchlint_cache

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@
