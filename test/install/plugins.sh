#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the example plug-ins against an install tree and loads them into the
# installed dlc-opt.
# usage: plugins.sh CMAKE SOURCE PREFIX BUILD CXX_COMPILER
set -eu
cmake=$1 source=$2 prefix=$3 build=$4 compiler=$5
# Kept from run to run: the headers of MLIR take long to compile.
"$cmake" -S "$source" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS=-Werror >/dev/null
"$cmake" --build "$build" >"$build/log.txt" 2>&1 || {
  cat "$build/log.txt"
  exit 1
}
opt=$prefix/bin/dlc-opt

expect() { # TEXT FILE
  grep -qF -- "$1" "$2" || {
    echo "expected '$1', got:"
    cat "$2"
    exit 1
  }
}

cat >"$build/pass.mlir" <<'IR'
func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %a = graph.relu %x : tensor<2x3xf32>
  %b = graph.add %a, %x : tensor<2x3xf32>
  %y = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
IR
"$opt" --load-pass-plugin="$build/CountOperations.so" \
  --pass-pipeline='builtin.module(example-count-operations)' \
  "$build/pass.mlir" >/dev/null 2>"$build/pass.txt"
expect 'remark: 2 elementwise operations' "$build/pass.txt"

cat >"$build/dialect.mlir" <<'IR'
func.func @main() -> tensor<f32> {
  %a = "example.answer"() : () -> tensor<f32>
  %y = graph.relu %a : tensor<f32>
  return %y : tensor<f32>
}
IR
"$opt" --load-dialect-plugin="$build/Example.so" "$build/dialect.mlir" \
  >"$build/dialect.txt"
expect '"example.answer"() : () -> tensor<f32>' "$build/dialect.txt"

# The plug-in's verifier is at work, and without it the dialect is unknown.
sed 's/tensor<f32>/tensor<2xf32>/g' "$build/dialect.mlir" >"$build/invalid.mlir"
if "$opt" --load-dialect-plugin="$build/Example.so" "$build/invalid.mlir" \
  >/dev/null 2>"$build/invalid.txt"; then
  echo "expected the verifier to refuse rank 1"
  exit 1
fi
expect 'expected a tensor of rank 0, got' "$build/invalid.txt"
if "$opt" "$build/dialect.mlir" >/dev/null 2>"$build/unknown.txt"; then
  echo "expected an unknown dialect without the plug-in"
  exit 1
fi
expect 'example' "$build/unknown.txt"
