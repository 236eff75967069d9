#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes each target of a sanitized build on top of its committed seeds. What
# it finds is kept in BUILD/fuzz/TARGET and built upon next time; an input that
# fails is left there too, and fails the run.
# usage: fuzz.sh BUILD SECONDS_PER_TARGET
set -euo pipefail
[ $# -eq 2 ] || {
  echo "usage: fuzz.sh BUILD SECONDS_PER_TARGET" >&2
  exit 2
}
cd "$(dirname "$0")/../.."
build=$1
seconds=$2
export ASAN_OPTIONS=allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1

shopt -s nullglob
targets=("$build"/bin/*Fuzzer)
[ ${#targets[@]} -gt 0 ] || {
  echo "fuzz: expected fuzz targets in $build/bin, found none" >&2
  exit 1
}
failed=()
for target in "${targets[@]}"; do
  name=$(basename "$target")
  corpus="$build/fuzz/$name"
  seeds=$(cat "$target.seeds")
  mkdir -p "$corpus"
  "$target" "$corpus" ${seeds:+"$seeds"} -max_total_time="$seconds" -seed=1 \
    -rss_limit_mb=4096 -timeout=20 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$corpus/" >"$corpus.log" 2>&1 || {
    tail -40 "$corpus.log"
    echo "fuzz: $name failed; its input is in $corpus"
    failed+=("$name")
    continue
  }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
  echo "$name: $runs inputs in $seconds s, no failure"
done
[ ${#failed[@]} -eq 0 ] || {
  echo "fuzz: failed: ${failed[*]}" >&2
  exit 1
}
