#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks programs on an NVIDIA GPU. Where DLC is built:
#
#   gpu-check.sh prepare BUILD FOLDER [TARGET]
#
# puts into FOLDER the program `dlc` (which needs libstdc++ and zlib, no LLVM),
# networks compiled for a GPU (cuda:sm_80, or TARGET) and for the CPU, and this
# script: some MB in all, which any machine with a driver and Python takes:
#
#   FOLDER/gpu-check.sh run
#
# It runs small networks and compares their outputs with the CPU's (floats of 32
# bits within 2e-5 of the largest value, of f16 within 2e-3, of bf16 within 2e-2),
# takes the GPU's own time for large ones, and leaves all in FOLDER/results.md.
# Where names end in _library, products are cuBLASLt's and convolutions cuDNN's,
# if these are found; all others are generated; two_gpus is for machines with two
# GPUs, and remarks say when these copy through the host. Exit code 1 when
# anything differs or fails. On a machine that has the compiler, too, `dlc test
# --target cuda:sm_90 FOLDERS` runs ONNX's conformance tests on the GPU.
set -euo pipefail

unary() { # NAME TYPE OPERATION ATTRIBUTES
  cat >"$1.mlir" <<TEXT
func.func @main(%x: $2 {graph.name = "x"}) -> ($2 {graph.name = "y"}) {
  %y = graph.$3 %x $4 : $2
  return %y : $2
}
TEXT
}

exp_tanh() { # NAME TYPE
  cat >"$1.mlir" <<TEXT
func.func @main(%x: $2 {graph.name = "x"}) -> ($2 {graph.name = "y"}) {
  %0 = graph.exp %x : $2
  %y = graph.tanh %0 : $2
  return %y : $2
}
TEXT
}

transpose() { # NAME ROWS COLUMNS TYPE
  cat >"$1.mlir" <<TEXT
func.func @main(%x: tensor<$2x$3x$4> {graph.name = "x"}) -> (tensor<$3x$2x$4> {graph.name = "y"}) {
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<$2x$3x$4>) -> tensor<$3x$2x$4>
  return %y : tensor<$3x$2x$4>
}
TEXT
}

layer_norm() { # NAME ROWS COLUMNS TYPE
  cat >"$1.mlir" <<TEXT
func.func @main(%x: tensor<$2x$3x$4> {graph.name = "x"}, %s: tensor<$3x$4> {graph.name = "s"}, %b: tensor<$3x$4> {graph.name = "b"}) -> (tensor<$2x$3x$4> {graph.name = "y"}) {
  %y = graph.layer_norm %x, %s, %b {axis = 1 : i64} : (tensor<$2x$3x$4>, tensor<$3x$4>, tensor<$3x$4>) -> tensor<$2x$3x$4>
  return %y : tensor<$2x$3x$4>
}
TEXT
}

matmul() { # NAME ROWS TERMS COLUMNS TYPE
  cat >"$1.mlir" <<TEXT
func.func @main(%a: tensor<$2x$3x$5> {graph.name = "a"}, %b: tensor<$3x$4x$5> {graph.name = "b"}) -> (tensor<$2x$4x$5> {graph.name = "y"}) {
  %y = graph.matmul %a, %b : (tensor<$2x$3x$5>, tensor<$3x$4x$5>) -> tensor<$2x$4x$5>
  return %y : tensor<$2x$4x$5>
}
TEXT
}

# Four in a row, of values around zero: a GPU is slower when it begins.
products() { # NAME SIDE TYPE
  local type="tensor<$2x$2x$3>" i
  {
    echo "func.func @main(%v0: $type {graph.name = \"a\"}, %b: $type {graph.name = \"b\"}) -> ($type {graph.name = \"y\"}) {"
    echo "  %half = graph.constant dense<0.5> : tensor<$3>"
    echo "  %scale = graph.constant dense<0.05> : tensor<$3>"
    echo "  %0 = graph.sub %b, %half : ($type, tensor<$3>) -> $type"
    echo "  %w = graph.mul %0, %scale : ($type, tensor<$3>) -> $type"
    for ((i = 0; i < 4; ++i)); do
      echo "  %v$((i + 1)) = graph.matmul %v$i, %w : ($type, $type) -> $type"
    done
    echo "  return %v4 : $type"
    echo "}"
  } >"$1.mlir"
}

# With a bias and an activation.
linear() { # NAME ROWS TERMS COLUMNS TYPE
  cat >"$1.mlir" <<TEXT
func.func @main(%a: tensor<$2x$3x$5> {graph.name = "a"}, %b: tensor<$3x$4x$5> {graph.name = "b"}, %c: tensor<$4x$5> {graph.name = "c"}) -> (tensor<$2x$4x$5> {graph.name = "y"}) {
  %0 = graph.matmul %a, %b : (tensor<$2x$3x$5>, tensor<$3x$4x$5>) -> tensor<$2x$4x$5>
  %1 = graph.add %0, %c : (tensor<$2x$4x$5>, tensor<$4x$5>) -> tensor<$2x$4x$5>
  %y = graph.gelu %1 {approximate = "tanh"} : tensor<$2x$4x$5>
  return %y : tensor<$2x$4x$5>
}
TEXT
}

# Two convolutions of 3 x 3, with what a residual network has around them.
convolutions() { # NAME BATCH CHANNELS SIDE TYPE
  local image="tensor<$2x$3x$4x$4x$5>" weights="tensor<$3x$3x3x3x$5>"
  cat >"$1.mlir" <<TEXT
func.func @main(%x: $image {graph.name = "x"}) -> ($image {graph.name = "y"}) {
  %w = graph.constant dense<0.03125> : $weights
  %v = graph.constant dense<0.02> : $weights
  %b = graph.constant dense<0.25> : tensor<$3x$5>
  %0 = graph.conv %x, %w, %b {pads = array<i64: 1, 1, 1, 1>} : ($image, $weights, tensor<$3x$5>) -> $image
  %1 = graph.relu %0 : $image
  %2 = graph.conv %1, %v, %b {pads = array<i64: 1, 1, 1, 1>} : ($image, $weights, tensor<$3x$5>) -> $image
  %3 = graph.add %2, %1 : $image
  %y = graph.relu %3 : $image
  return %y : $image
}
TEXT
}

attention() { # NAME MATRICES ROWS COLUMNS TYPE
  local operand="tensor<$2x$3x$4x$5>" keys="tensor<$2x$4x$3x$5>" scores="tensor<$2x$3x$3x$5>"
  cat >"$1.mlir" <<TEXT
func.func @main(%q: $operand {graph.name = "q"}, %k: $operand {graph.name = "k"}, %v: $operand {graph.name = "v"}) -> ($operand {graph.name = "y"}) {
  %c = graph.constant dense<0.125> : tensor<$5>
  %0 = graph.transpose %k {perm = array<i64: 0, 2, 1>} : ($operand) -> $keys
  %1 = graph.matmul %q, %0 : ($operand, $keys) -> $scores
  %2 = graph.mul %1, %c : ($scores, tensor<$5>) -> $scores
  %3 = graph.softmax %2 {axis = 2 : i64} : $scores
  %y = graph.matmul %3, %v : ($scores, $operand) -> $operand
  return %y : $operand
}
TEXT
}

# What the host computes for a GPU, and that back: copies of locked memory.
mixed() { # NAME
  local type='tensor<1000x333xf64>' short='tensor<1000x333xf32>'
  cat >"$1.mlir" <<TEXT
func.func @main(%x: $type {graph.name = "x"}) -> ($type {graph.name = "y"}) {
  %0 = graph.exp %x : $type
  %1 = graph.cast %0 {to = f32} : ($type) -> $short
  %2 = graph.softmax %1 {axis = 1 : i64} : $short
  %3 = graph.cast %2 {to = f64} : ($short) -> $type
  %y = graph.exp %3 : $type
  return %y : $type
}
TEXT
}

# From one GPU to the other and back.
two_gpus() { # NAME
  local type='tensor<1000x333xf32>'
  cat >"$1.mlir" <<TEXT
func.func @main(%x: $type {graph.name = "x"}) -> ($type {graph.name = "y"}) {
  %0 = graph.tanh %x {graph.group = "a"} : $type
  %1 = graph.softmax %0 {axis = 1 : i64, graph.group = "b"} : $type
  %y = graph.add %0, %1 {graph.group = "a"} : $type
  return %y : $type
}
TEXT
}

# Gradients of a convolution of 1 x 1, of the image and of the weights, as they
# are behind and in front of others.
gradients() { # NAME BATCH CHANNELS SIDE TYPE
  local image="tensor<$2x$3x$4x$4x$5>" weights="tensor<$3x$3x1x1x$5>"
  cat >"$1.mlir" <<TEXT
func.func @main(%x: $image {graph.name = "x"}, %w: $weights {graph.name = "w"}) -> ($image {graph.name = "y"}, $weights {graph.name = "dw"}) {
  %g = graph.conv %x, %w : ($image, $weights) -> $image
  %dx = graph.conv_transpose %g, %w : ($image, $weights) -> $image
  %dw = graph.conv_weight_gradient %dx, %g {kernel_shape = array<i64: 1, 1>} : ($image, $image) -> $weights
  %y = graph.conv %dx, %w : ($image, $weights) -> $image
  return %y, %dw : $image, $weights
}
TEXT
}

# Small kernels, one after the other: a product has one of its own.
chain() { # NAME KERNELS
  local type='tensor<64x64xf32>' i
  {
    echo "func.func @main(%v0: $type {graph.name = \"x\"}) -> ($type {graph.name = \"y\"}) {"
    echo "  %w = graph.constant dense<0.015625> : $type"
    for ((i = 0; i < $2; ++i)); do
      echo "  %v$((i + 1)) = graph.matmul %v$i, %w : ($type, $type) -> $type"
    done
    echo "  return %v$2 : $type"
    echo "}"
  } >"$1.mlir"
}

# Networks whose answers are compared, and those that are timed.
answers="elementwise softmax layer_norm transpose matmul matmul_f16 matmul_large_f16 matmul_long_f16 linear_library linear_f16_library conv conv_f16 conv_f16_library gradients_f16 gradients_f16_library attention_f16 attention_long_f16 attention_bf16 mixed two_gpus"
times="relu_256MB exp_tanh_256MB softmax_256MB layer_norm_256MB transpose_256MB matmul_4096_f32 matmul_4096_f16 matmul_4096_bf16 matmul_4096_f32_tf32 matmul_4096_f32_library matmul_4096_f16_library matmul_4096_bf16_library conv_b64_f16 conv_b64_f16_library gradients_b64_f16 gradients_b64_f16_library attention_4096_f16 attention_4096_bf16"
chains="chain_64"

write_networks() {
  unary elementwise 'tensor<1000x333xf32>' tanh ''
  unary softmax 'tensor<1000x333xf32>' softmax '{axis = 1 : i64}'
  layer_norm layer_norm 1000 333 f32
  transpose transpose 1000 333 f32
  matmul matmul 300 500 200 f32
  matmul matmul_f16 256 512 384 f16
  matmul matmul_large_f16 2048 512 512 f16
  matmul matmul_long_f16 64 4096 64 f16
  linear linear_library 300 500 200 f32
  linear linear_f16_library 256 512 384 f16
  convolutions conv 2 32 28 f32
  convolutions conv_f16 2 32 28 f16
  convolutions conv_f16_library 2 32 28 f16
  gradients gradients_f16 2 32 6 f16
  gradients gradients_f16_library 2 32 6 f16
  attention attention_f16 12 128 64 f16
  attention attention_long_f16 140 197 64 f16
  attention attention_bf16 12 300 128 bf16
  mixed mixed
  two_gpus two_gpus
  unary relu_256MB 'tensor<67108864xf32>' relu ''
  exp_tanh exp_tanh_256MB 'tensor<67108864xf32>'
  unary softmax_256MB 'tensor<65536x1024xf32>' softmax '{axis = 1 : i64}'
  layer_norm layer_norm_256MB 65536 1024 f32
  transpose transpose_256MB 8192 8192 f32
  products matmul_4096_f32 4096 f32
  products matmul_4096_f16 4096 f16
  products matmul_4096_bf16 4096 bf16
  products matmul_4096_f32_tf32 4096 f32
  products matmul_4096_f32_library 4096 f32
  products matmul_4096_f16_library 4096 f16
  products matmul_4096_bf16_library 4096 bf16
  convolutions conv_b64_f16 64 128 28 f16
  convolutions conv_b64_f16_library 64 128 28 f16
  gradients gradients_b64_f16 64 256 28 f16
  gradients gradients_b64_f16_library 64 256 28 f16
  attention attention_4096_f16 64 4096 64 f16
  attention attention_4096_bf16 32 4096 128 bf16
  chain chain_64 64
}

# What libraries there are to compute a network, and whether floats are rounded.
libraries() { # NAME
  case "$1" in
  *_library) echo always ;;
  *) echo never ;;
  esac
}
precision() { # NAME
  case "$1" in
  *_tf32) echo tf32 ;;
  *) echo fp32 ;;
  esac
}

# Where groups of operations are.
places() { # NAME
  case "$1" in
  two_gpus) echo --place a=cuda:0 --place b=cuda:1 ;;
  esac
}

prepare() { # BUILD FOLDER TARGET
  local dlc here name
  dlc=$(realpath "$1/bin/dlc")
  here=$(realpath "$(dirname "$0")")
  mkdir -p "$2"
  cp "$dlc" "$here/gpu-check.sh" "$here/../../test/tools/Inputs/near.py" "$2/"
  cd "$2"
  write_networks
  for name in $answers; do
    # shellcheck disable=SC2046 # Words, or none.
    "$dlc" compile "$name.mlir" --target "x86-64,$3" --gpu-libraries "$(libraries "$name")" $(places "$name") -o "$name.gpu.dlc"
    "$dlc" compile "$name.mlir" --target x86-64 -o "$name.cpu.dlc"
  done
  for name in $times $chains; do
    "$dlc" compile "$name.mlir" --target "x86-64,$3" --gpu-libraries "$(libraries "$name")" --precision "$(precision "$name")" -o "$name.gpu.dlc"
  done
  ls -l
}

# What the GPU took for its kernels, or for the fastest of several products:
# microseconds, GF/s and GB/s.
kernel_times() { # NAME
  ./dlc explain "$1.gpu.dlc" --random --runs 10 2>log.txt |
    awk -v name="$1" '
      !/ Generated | Library / || name ~ /^matmul/ && !/matmul /{next}
      name ~ /^matmul/ && us && $1 > us {next}
      name ~ /^matmul/ {us = flops = bytes = 0}
      {us += $1; flops += $1 * $3; bytes += $1 * $4}
      END {if (!us) exit 1
           printf "%.1f | %.0f | %.0f", us, flops / us, bytes / us}'
}

run() {
  cd "$(dirname "$0")"
  local failed=0 name
  {
    echo "# GPU check"
    echo
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
    echo
    echo "| network | answers |"
    echo "|---|---|"
  } >results.md
  for name in $answers; do
    local answer=same
    if [ "$name" = two_gpus ] && [ "$(nvidia-smi --list-gpus 2>/dev/null | wc -l)" -lt 2 ]; then
      echo "| $name | not run: expected two GPUs |" >>results.md
      continue
    fi
    ./dlc run "$name.cpu.dlc" --random --outputs cpu.npz >log.txt 2>&1
    if ! ./dlc run "$name.gpu.dlc" --random --outputs gpu.npz >gpu.txt 2>&1; then
      answer="failed: $(tail -1 gpu.txt)"
    elif ! python3 near.py cpu.npz gpu.npz >log.txt 2>&1; then
      answer="differ: $(tail -1 log.txt)"
    fi
    [ "$answer" = same ] || failed=1
    if [ "$answer" = same ] && grep -q '^remark: ' gpu.txt; then
      answer="same; $(grep '^remark: ' gpu.txt | paste -sd ' ')"
    fi
    echo "| $name | $answer |" >>results.md
  done
  {
    echo
    echo "| network | us | GF/s | GB/s | |"
    echo "|---|---|---|---|---|"
  } >>results.md
  for name in $times; do
    local spent
    if ! spent=$(kernel_times "$name"); then
      spent="failed: $(tail -1 log.txt)"
      failed=1
    else
      spent="$spent | $(grep '^remark: ' log.txt || true)"
    fi
    echo "| $name | $spent |" >>results.md
  done
  {
    echo
    echo "| launches | us to queue each |"
    echo "|---|---|"
  } >>results.md
  for name in $chains; do
    local how each
    for how in recorded plain; do
      local flag=
      [ "$how" = plain ] && flag=--plain-launches
      each=$(./dlc bench "$name.gpu.dlc" --seconds 1 $flag 2>log.txt |
        awk '/^queued /{print $7}') || true
      [ -n "$each" ] || { each="failed: $(tail -1 log.txt)" && failed=1; }
      echo "| $name, $how | $each |" >>results.md
    done
  done
  cat results.md
  return $failed
}

case "$#${1:-}" in
3prepare) prepare "$2" "$3" cuda:sm_80 ;;
4prepare) prepare "$2" "$3" "$4" ;;
1run) run ;;
*)
  echo "usage: gpu-check.sh prepare BUILD FOLDER [TARGET] | gpu-check.sh run" >&2
  exit 2
  ;;
esac
