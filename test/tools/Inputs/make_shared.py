# SPDX-License-Identifier: Apache-2.0
"""Writes a network whose convolutions share weights, but not their windows:
make_shared.py known|open FILE.mlir. The sizes of images are known, or are open
and come as the inputs x (7x7), y (28x28) and z (30x30) have them."""

import random
import struct
import sys

is_open = {"known": False, "open": True}[sys.argv[1]]
numbers = random.Random(7)


def tensor(*shape):
    if len(shape) == 4 and is_open:
        shape = (*shape[:2], "?", "?")
    return "tensor<" + "x".join(map(str, shape)) + "xf32>"


def constant(name, *shape):
    count = 1
    for extent in shape:
        count *= extent
    scale = (shape[0] / count) ** 0.5
    values = b"".join(
        struct.pack("<f", numbers.gauss(0, scale))
        for _ in range(count))
    kind = "tensor<" + "x".join(map(str, shape)) + "xf32>"
    return f'  %{name} = graph.constant dense<"0x{values.hex().upper()}"> : {kind}'


lines = [constant("p", 64, 64, 1, 1), constant("w", 64, 64, 3, 3),
         constant("s", 64, 3, 7, 7)]
results, kinds = [], []


def conv(name, x, given, weights, kind, got, stride=1, pads=(0, 0, 0, 0)):
    windows = ", ".join(map(str, pads))
    lines.append(
        f"  %{name} = graph.conv %{x}, %{weights} {{pads = array<i64: {windows}>, "
        f"strides = array<i64: {stride}, {stride}>}} : ({given}, {kind}) -> {got}")


point, three, seven = ("tensor<64x64x1x1xf32>", "tensor<64x64x3x3xf32>",
                       "tensor<64x3x7x7xf32>")
# A few tiles in steps of one, many in steps of two.
for x, size, stride in ("x", 7, 1), ("y", 28, 2):
    after = size // stride
    conv(x + "0", x, tensor(1, 64, size, size), "p", point, tensor(1, 64, size, size))
    conv(x + "1", x + "0", tensor(1, 64, size, size), "w", three,
         tensor(1, 64, after, after), stride, (1, 1, 1, 1))
    conv(x + "2", x + "1", tensor(1, 64, after, after), "p", point,
         tensor(1, 64, after, after))
    results.append(x + "2")
    kinds.append(tensor(1, 64, after, after))
# First layers, with even padding in front and odd.
for name, pad in ("za", 3), ("zb", 2):
    after = (30 + 2 * pad - 7) // 2 + 1
    conv(name + "0", "z", tensor(1, 3, 30, 30), "s", seven,
         tensor(1, 64, after, after), 2, (pad,) * 4)
    conv(name, name + "0", tensor(1, 64, after, after), "p", point,
         tensor(1, 64, after, after))
    results.append(name)
    kinds.append(tensor(1, 64, after, after))

with open(sys.argv[2], "w") as out:
    arguments = ", ".join(
        f'%{name}: {tensor(1, channels, size, size)} {{graph.name = "{name}"}}'
        for name, channels, size in (("x", 64, 7), ("y", 64, 28), ("z", 3, 30)))
    out.write(f"func.func @main({arguments}) -> ({', '.join(kinds)}) {{\n")
    out.write("\n".join(lines))
    out.write("\n  return " + ", ".join("%" + name for name in results))
    out.write(" : " + ", ".join(kinds) + "\n}\n")
