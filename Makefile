# Everything starts from here. Needs Python >= 3.11 with pip, and make.
#
#   make demo    one whole campaign on the AppWorld engine with the offline model
#   make test    the tests
#
# Both set up what is missing first; the second time that costs nothing.

VENV := .venv
export PYTHONDONTWRITEBYTECODE :=
# A .venv that happens to be active, or a PYTHONPATH, must not leak into ours.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME

.PHONY: demo test benchmark endurance llama tau browser setup environment format lock clean

demo: environment
	@$(VENV)/bin/turtle evolve --attempts-in-flight 6

test: setup
	@$(VENV)/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder --durations 15 \
		-m "not benchmark and not endurance and not llama and not tau and not browser and not live"

benchmark: setup
	@$(VENV)/bin/python -m pytest -m benchmark tests/benchmarks

# Kills and reruns on the real engine, every attack run by stock itself, every column of the escapes' table,
# official data's round trip: over half an hour.
endurance: setup
	@$(VENV)/bin/python -m pytest -m endurance tests

# Our client on a real model server (llama.cpp, SmolLM2-135M): 130 MB more, five minutes of one core.
llama: setup
	@$(VENV)/bin/python -m pytest -m llama tests/llama

# The τ suites on τ-bench itself: installs its environment first (0.7 GB), then a few minutes of one core.
tau: setup
	@$(VENV)/bin/python -m tasks.suites.installation tau_bench .turtle
	@$(VENV)/bin/python -m pytest -m tau tests/tau

# What Prefect's pages show of a campaign, in a headless Chromium (install it first): two minutes.
browser: setup
	@$(VENV)/bin/python -m pytest -m browser tests/browser

# Both environments, and the small world.
setup: environment
	@$(VENV)/bin/python -m tasks.suites.installation appworld .turtle

# Ours alone: the first Python that is new enough makes it. Then Prefect's database.
environment:
	@for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
		if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			$$python -m tasks.environment $(VENV) requirements.lock . || exit; \
			test -e .turtle/prefect/prefect.db || exec $(VENV)/bin/python -m flows.prefect_database; exit; \
		fi; \
	done; echo "turtle: Python >= 3.11 is missing: install it and run make again" >&2; exit 2

format: environment
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

# Versions and hashes, never addresses. Needs uv.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet \
		--upgrade --group dev pyproject.toml -o requirements.lock
	cd deployments/simulators/appworld && uv pip compile --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --quiet --upgrade pyproject.toml -o requirements.lock
	cd deployments/simulators/tau_bench && uv pip compile --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --quiet --upgrade pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --no-deps --generate-hashes --no-emit-index-url \
		--quiet --upgrade tests/llama/requirements.in -o tests/llama/requirements.lock

# All that set-up made; campaigns too.
clean:
	rm -rf $(VENV) .turtle
