# SPDX-License-Identifier: Apache-2.0
# The developer's verbs. `make run` and `make check` set the machine up first.

PYTHON := .venv/bin/python
BUILD := build
JOBS ?= $(shell nproc)

.PHONY: all build run check asan tsan bench fuzz fuzzers setup format clean

all: build

setup:
	@tools/scripts/setup.sh

build:
	@command -v ninja >/dev/null && command -v clang++-22 >/dev/null || \
	  { echo "missing tools: run 'make setup' first" >&2; exit 1; }
	@[ -f $(BUILD)/build.ninja ] || cmake --preset release >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) $(addprefix --target ,$(TARGETS))

# Compiles and runs a trained network on real data, trains it, then ResNet-50.
run: setup
	@$(MAKE) --no-print-directory build TARGETS=dlc
	@$(PYTHON) tools/scripts/run.py --dlc $(BUILD)/bin/dlc

# Every test of the release build, and the fuzz targets for a moment.
check: setup
	@$(MAKE) --no-print-directory build fuzzers
	@tools/scripts/check.sh $(BUILD) $(BUILD)/asan

# The suite under AddressSanitizer and UBSan.
asan: setup
	@$(MAKE) --no-print-directory $(BUILD)/asan/build.ninja
	@cmake --build $(BUILD)/asan -j $(JOBS)
	@tools/scripts/check.sh $(BUILD)/asan

$(BUILD)/%/build.ninja:
	@cmake --preset $* >/dev/null

fuzzers:
	@$(MAKE) --no-print-directory $(BUILD)/asan/build.ninja
	@cmake --build $(BUILD)/asan -j $(JOBS) --target fuzzers

# What several threads of the runtime share, under ThreadSanitizer.
tsan: setup
	@$(MAKE) --no-print-directory $(BUILD)/tsan/build.ninja
	@cmake --build $(BUILD)/tsan -j $(JOBS) --target threaded-tests
	@TSAN_OPTIONS=allocator_may_return_null=1 \
	  ctest --test-dir $(BUILD)/tsan -L threads --timeout 300 --output-on-failure

# Fuzzes each target for FUZZ_SECONDS (default 600) on top of the seeds.
fuzz: setup
	@$(MAKE) --no-print-directory fuzzers
	@tools/scripts/fuzz.sh $(BUILD)/asan $${FUZZ_SECONDS:-600}

# DLC beside ONNX Runtime and OpenVINO, then its engine beside MXNet's.
bench: setup
	@$(MAKE) --no-print-directory build
	@tools/benchmarks/bench.sh $(BUILD)/bin/dlc
	@tools/benchmarks/bench.sh $(BUILD)/bin/dlc --engine

format:
	@git ls-files '*.cpp' '*.h' '*.c' | xargs clang-format-22 -i

clean:
	@rm -rf $(BUILD)
