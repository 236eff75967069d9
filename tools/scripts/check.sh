#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every test of a build: unit tests, lit, lints and C programs through
# ctest, a short fuzz of each fuzz target that was built, then the ONNX
# conformance folders and the end-to-end networks.
# usage: check.sh BUILD [--sanitized]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
sanitized=${2:-}
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
jobs=$(nproc)

failed=()
step() {
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

step ctest ctest --test-dir "$build" --output-on-failure -j "$jobs"
if [ "$sanitized" = --sanitized ]; then
  step fuzz tools/scripts/fuzz.sh "$build" "${FUZZ_SECONDS:-20}"
fi
data=$(.venv/bin/python -c \
  'import onnx, os; print(os.path.dirname(onnx.__file__))')/backend/test/data
kinds=(node simple pytorch-converted pytorch-operator light)
# Under the sanitizers the machine code of every model would take hours: the
# operators of the plain families stand for all.
[ "$sanitized" = --sanitized ] && kinds=(simple pytorch-operator)
step conformance "$build/bin/dlc" test --jobs "$jobs" \
  --expected-failures test/conformance/expected-failures.txt \
  "${kinds[@]/#/$data/}"
if [ "$sanitized" != --sanitized ]; then
  step end-to-end .venv/bin/python test/e2e/run.py --dlc "$build/bin/dlc"
fi

if [ ${#failed[@]} -gt 0 ]; then
  echo "check: failed: ${failed[*]}"
  exit 1
fi
echo "check: all passed"
