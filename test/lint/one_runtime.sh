#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that a library has no copy of the parts of the runtime that have state.
# usage: one_runtime.sh NM LIBRARY
symbols=$("$1" -C --defined-only "$2") || exit 1
# Every library of ours has it and exports it no more than what follows.
if ! echo "$symbols" | grep -q 'dlc::rt::makeError'; then
  echo "$2: expected its symbols, among them dlc::rt::makeError" >&2
  exit 1
fi
found=$(echo "$symbols" | grep -E 'dlc::rt::(Execution|Program|WorkerPool|Engine|TaskGraphRunner|Heap|StorageManager)::')
[ -z "$found" ] && exit 0
echo "$2: expected none of" >&2
echo "$found" | head -5 >&2
exit 1
