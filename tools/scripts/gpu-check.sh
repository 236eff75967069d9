#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks programs on an NVIDIA GPU. Where DLC is built:
#
#   gpu-check.sh prepare BUILD FOLDER
#
# puts into FOLDER the program `dlc` (which needs libstdc++ and zlib, no LLVM),
# networks compiled for a GPU and for the CPU, the answers of the CPU, and this
# script: some MB in all, which any machine with a driver takes:
#
#   FOLDER/gpu-check.sh run
#
# It runs every network, compares its outputs with the CPU's (within 2e-5 of
# the largest value), takes times, and leaves all in FOLDER/results.md. Exit
# code 1 when anything differs or fails.
set -euo pipefail

# Elementwise, softmax, a matrix product (17 GFLOP) and a convolution (3.7
# GFLOP); sizes fill a GPU.
networks() {
  cat <<'TEXT'
elementwise tensor<8388608xf32> -> %0 = graph.exp %x : tensor<8388608xf32>; %y = graph.tanh %0 : tensor<8388608xf32>
softmax tensor<8192x1024xf32> -> %y = graph.softmax %x {axis = 1 : i64} : tensor<8192x1024xf32>
matmul tensor<2048x2048xf32> -> %y = graph.matmul %x, %x : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
conv tensor<16x64x56x56xf32> %w: tensor<64x64x3x3xf32> -> %y = graph.conv %x, %w {pads = array<i64: 1, 1, 1, 1>} : (tensor<16x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<16x64x56x56xf32>
TEXT
}

write_network() { # NAME TYPE WEIGHTS BODY
  local weights=${3:+, $3 {graph.name = \"w\"\}}
  {
    echo "func.func @main(%x: $2 {graph.name = \"x\"}$weights) -> ($2 {graph.name = \"y\"}) {"
    tr ';' '\n' <<<"$4"
    echo "return %y : $2"
    echo "}"
  } >"$1.mlir"
}

prepare() { # BUILD FOLDER
  local dlc here name type rest weights
  dlc=$(realpath "$1/bin/dlc")
  here=$(realpath "$(dirname "$0")")
  mkdir -p "$2"
  cp "$dlc" "$here/gpu-check.sh" "$here/../../test/tools/Inputs/near.py" "$2/"
  cd "$2"
  networks | while read -r name type rest; do
    weights=${rest%%->*}
    write_network "$name" "$type" "${weights% }" "${rest#*-> }"
    "$dlc" compile "$name.mlir" --target x86-64,cuda:sm_80 -o "$name.gpu.dlc"
    "$dlc" compile "$name.mlir" --target x86-64 -o "$name.cpu.dlc"
  done
  ls -l
}

# Milliseconds of the median run, as `dlc bench` prints it.
time_of() {
  ./dlc bench "$1" --seconds 3 2>&1 | sed -n "s/.*median *\([0-9.]*\) ms.*/\1/p" | head -1
}

run() {
  cd "$(dirname "$0")"
  local failed=0 name
  {
    echo "# GPU check"
    echo
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
    echo
    echo "| network | answers | GPU ms | CPU ms |"
    echo "|---|---|---|---|"
  } >results.md
  for name in $(networks | cut -d' ' -f1); do
    local answers=same
    ./dlc run "$name.cpu.dlc" --random --outputs cpu.npz >/dev/null
    if ! ./dlc run "$name.gpu.dlc" --random --outputs gpu.npz >log.txt 2>&1; then
      answers="failed: $(tail -1 log.txt)"
    elif ! python3 near.py cpu.npz gpu.npz >log.txt 2>&1; then
      answers="differ: $(tail -1 log.txt)"
    fi
    [ "$answers" = same ] || failed=1
    echo "| $name | $answers | $(time_of "$name.gpu.dlc") | $(time_of "$name.cpu.dlc") |" \
      >>results.md
  done
  cat results.md
  return $failed
}

case "$#${1:-}" in
3prepare) prepare "$2" "$3" ;;
1run) run ;;
*)
  echo "usage: gpu-check.sh prepare BUILD FOLDER | gpu-check.sh run" >&2
  exit 2
  ;;
esac
