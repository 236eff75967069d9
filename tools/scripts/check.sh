#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every test of a build: unit tests, lit, lints and C programs through
# ctest; the fuzz targets of FUZZ_BUILD, where given, for a moment each; the
# ONNX conformance folders; the end-to-end networks; models that go out as ONNX.
# usage: check.sh BUILD [FUZZ_BUILD]
set -euo pipefail
[ $# -ge 1 ] && [ $# -le 2 ] || {
  echo "usage: check.sh BUILD [FUZZ_BUILD]" >&2
  exit 2
}
cd "$(dirname "$0")/../.."
build=$1
fuzz=${2:-}
export ASAN_OPTIONS=allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
jobs=$(nproc)

failed=()
step() {
  local name=$1 begin=$SECONDS
  shift
  echo "== $name"
  "$@" || failed+=("$name")
  echo "== $name: $((SECONDS - begin)) s"
}

data=$(.venv/bin/python -c \
  'import onnx, os; print(os.path.dirname(onnx.__file__))')/backend/test/data
kinds=(node simple pytorch-converted pytorch-operator light)

step ctest ctest --test-dir "$build" --output-on-failure \
  --timeout 1200 -j "$jobs"
if [ -n "$fuzz" ]; then
  step fuzz tools/scripts/fuzz.sh "$fuzz" "${FUZZ_SECONDS:-5}"
fi
step conformance "$build/bin/dlc" test --jobs "$jobs" --minimum 1600 \
  --expected-failures test/conformance/expected-failures.txt \
  "${kinds[@]/#/$data/}"
step end-to-end .venv/bin/python test/e2e/run.py --dlc "$build/bin/dlc"
step end-to-end-cuda env LD_LIBRARY_PATH="$build/test/runtime/Device/CUDA/FakeDriver" \
  .venv/bin/python test/e2e/run.py --dlc "$build/bin/dlc" --target cuda:sm_80
step export .venv/bin/python test/e2e/export.py --dlc "$build/bin/dlc"

if [ ${#failed[@]} -gt 0 ]; then
  echo "check: failed: ${failed[*]}"
  exit 1
fi
echo "check: all passed"
