# SPDX-License-Identifier: Apache-2.0
"""Prints a function that convolves images of 14x14 and 7x7 with the same
constant weights: make_shared.py CHANNELS."""

import random
import sys

channels = int(sys.argv[1])
random.seed(7)
count = channels * channels * 9
large, small = (f"tensor<1x{channels}x{size}x{size}xf32>" for size in (14, 7))
weights = f"tensor<{channels}x{channels}x3x3xf32>"
numbers = ", ".join(f"{random.uniform(-0.1, 0.1):.6e}" for _ in range(count))
pads = "{pads = array<i64: 1, 1, 1, 1>}"
print(f'func.func @main(%x: {large} {{graph.name = "x"}}) -> ({small} {{graph.name = "y"}}) {{')
print(f"  %f = graph.constant dense<[{numbers}]> : tensor<{count}xf32>")
print(f"  %s = graph.constant dense<[{channels}, {channels}, 3, 3]> : tensor<4xi64>")
print(f"  %w = graph.reshape %f, %s : (tensor<{count}xf32>, tensor<4xi64>) -> {weights}")
print(f"  %0 = graph.conv %x, %w {pads} : ({large}, {weights}) -> {large}")
print(f"  %1 = graph.max_pool %0 {{kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}} : ({large}) -> {small}")
print(f"  %2 = graph.conv %1, %w {pads} : ({small}, {weights}) -> {small}")
print(f"  return %2 : {small}")
print("}")
