# SPDX-License-Identifier: Apache-2.0
"""Prints a function that convolves twice, with a bias, a residual and weights
that are constants: make_conv.py CHANNELS SIZE."""

import random
import sys

channels, size = int(sys.argv[1]), int(sys.argv[2])
random.seed(7)


def numbers(count):
    return ", ".join(f"{random.uniform(-0.1, 0.1):.6e}" for _ in range(count))


image = f"tensor<1x{channels}x{size}x{size}xf32>"
weights = f"tensor<{channels}x{channels}x3x3xf32>"
pads = "{pads = array<i64: 1, 1, 1, 1>}"
print(f'func.func @main(%x: {image} {{graph.name = "x"}}) -> ({image} {{graph.name = "y"}}) {{')
for name in ("v", "w"):
    flat = f"tensor<{channels * channels * 9}xf32>"
    print(f"  %{name}f = graph.constant dense<[{numbers(channels * channels * 9)}]> : {flat}")
    print(f"  %{name}s = graph.constant dense<[{channels}, {channels}, 3, 3]> : tensor<4xi64>")
    print(f"  %{name} = graph.reshape %{name}f, %{name}s : ({flat}, tensor<4xi64>) -> {weights}")
print(f"  %b = graph.constant dense<[{numbers(channels)}]> : tensor<{channels}xf32>")
print(f"  %0 = graph.conv %x, %v, %b {pads} : ({image}, {weights}, tensor<{channels}xf32>) -> {image}")
print(f"  %1 = graph.relu %0 : {image}")
print(f"  %2 = graph.conv %1, %w {pads} : ({image}, {weights}) -> {image}")
print(f"  %3 = graph.add %2, %x : {image}")
print(f"  return %3 : {image}")
print("}")
