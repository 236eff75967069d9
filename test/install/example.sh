#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the C example against an install tree and compiles and runs a network
# with it: in one process, and from the file that it wrote.
# usage: example.sh CMAKE EXAMPLES PREFIX BUILD C_COMPILER
set -eu
cmake=$1 examples=$2 prefix=$3 build=$4 compiler=$5
rm -rf "$build"
"$cmake" -S "$examples/c" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_C_COMPILER="$compiler" \
  -DCMAKE_C_FLAGS="-std=c11 -Wall -Wextra -Wpedantic -Werror" >/dev/null
"$cmake" --build "$build" >/dev/null

model=$examples/digits/digits.onnx
"$build/compile-and-run" "$model" "$build/digits.dlc" >"$build/once.txt"
"$build/run" "$build/digits.dlc" >"$build/again.txt"
cat "$build/once.txt"
cmp "$build/once.txt" "$build/again.txt"
# A name, the shape and ten scores.
grep -Eq '^[^:]+: 1 10:( -?[0-9]+\.[0-9]{4}){10}$' "$build/once.txt"

# The installed command line writes the same bytes.
"$prefix/bin/dlc" compile "$model" -o "$build/cli.dlc" >/dev/null
cmp "$build/digits.dlc" "$build/cli.dlc"

if "$build/compile-and-run" "$build/once.txt" 2>"$build/error.txt"; then
  echo "expected a failure for a model that is none"
  exit 1
fi
grep -q '^error: .*once.txt' "$build/error.txt"

# A network of MXNet gives what MXNet computed.
inputs=$examples/../../test/Frontend/MXNet/Inputs
"$prefix/bin/dlc" compile "$inputs/net-symbol.json" --params "$inputs/net-0000.params" --shape data=2x2x8x8 -o "$build/net.dlc"
"$build/predict" "$build/net.dlc" "$inputs/data.npy" >"$build/scores.txt"
od -An -v -tf4 -w12 -j128 "$inputs/softmax_output.npy" |
  awk '{ printf "%.4f %.4f %.4f\n", $1, $2, $3 }' >"$build/expected.txt"
diff "$build/expected.txt" "$build/scores.txt"
if "$build/predict" "$build/once.txt" "$inputs/data.npy" 2>"$build/error.txt"; then
  echo "expected a failure for a program that is none"
  exit 1
fi
grep -q '^error: .*once.txt' "$build/error.txt"

# Gradients of B * A + 1 by A = 1 2 3 and B = 4 5 6, from an executor and from a
# symbol.
"$build/train" >"$build/train.txt"
cat >"$build/expected.txt" <<'END'
D_output: 5 11 19
gradient of B: 1 2 3
gradient of A: 4 5 6
gradient_output0: 4 5 6
gradient_output1: 1 2 3
END
diff "$build/expected.txt" "$build/train.txt"
