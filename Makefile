# `make up` builds and starts Dashcam, `make test` runs all tests; `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# Arguments for the program that a target runs, as in: make up ARGS='--watch ~/agents'
ARGS ?=

.PHONY: help build up test check format bench

help: ## Lists the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 16

build: ## Builds the release binary; its path is the last line
	@. .ci/env; \
	cargo build --release --locked $$features --bin dashcam; \
	echo "$$CARGO_TARGET_DIR/release/dashcam"

up: ## Builds, then starts `dashcam up $(ARGS)`
	@. .ci/env; \
	cargo build --release --locked $$features --bin dashcam; \
	exec "$$CARGO_TARGET_DIR/release/dashcam" up $(ARGS)

test: ## Runs all tests, after getting what they need; ARGS goes to the test runner
	@.ci/test $(ARGS)

check: ## Format, clippy, docs, dependencies, and the rules of the house
	@.ci/check

format: ## Formats all sources
	@cargo fmt --all

bench: ## Runs the benchmarks; ARGS goes to cargo bench
	@. .ci/env; \
	cargo bench --locked --workspace $$features $(ARGS)
