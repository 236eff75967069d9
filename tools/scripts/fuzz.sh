#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes each target of a sanitized build on top of the committed seeds.
# New inputs are kept in BUILD/fuzz; crashes are left there and fail the run.
# usage: fuzz.sh BUILD SECONDS_PER_TARGET
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
seconds=$2
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1

found=0
for target in "$build"/bin/*Fuzzer; do
  [ -x "$target" ] || continue
  found=1
  name=$(basename "$target")
  corpus="$build/fuzz/$name"
  mkdir -p "$corpus"
  seeds=$(find test -type d -name "$name.seeds" | head -1)
  echo "fuzzing $name for $seconds s"
  "$target" "$corpus" ${seeds:+"$seeds"} -max_total_time="$seconds" \
    -rss_limit_mb=4096 -timeout=20 -max_len=65536 -print_final_stats=0 \
    -artifact_prefix="$corpus/" >"$corpus.log" 2>&1 || {
    tail -40 "$corpus.log"
    echo "fuzz: $name failed; its input is in $corpus"
    exit 1
  }
done
[ "$found" = 1 ] || {
  echo "fuzz: expected fuzz targets in $build/bin, found none" >&2
  exit 1
}
