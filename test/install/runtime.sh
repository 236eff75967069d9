#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Uses an installed runtime: no compiler is found, and none is loaded.
# usage: runtime.sh CMAKE SOURCE PREFIX BUILD C_COMPILER
set -eu
cmake=$1 source=$2 prefix=$3 build=$4 compiler=$5
rm -rf "$build"
"$cmake" -S "$source" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$compiler" >/dev/null
"$cmake" --build "$build" >/dev/null
output=$("$build/version")
echo "$output"
case $output in
[0-9]*.[0-9]*.[0-9]*" 2") ;;
*)
  echo "expected a version and 'not found' (2), got '$output'"
  exit 1
  ;;
esac
if ldd "$build/version" | grep -E 'LLVM|MLIR'; then
  echo "expected a runtime without LLVM"
  exit 1
fi
