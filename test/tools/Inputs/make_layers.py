# SPDX-License-Identifier: Apache-2.0
"""Writes a network of a recurrent layer, products and convolutions of floats and
of bytes, whose weights are constant and whose other extents are open:
make_layers.py FILE."""

import random
import sys

def dense(shape, element, draw):
    """A constant of random elements."""
    if not shape:
        return str(draw())
    return "[" + ", ".join(dense(shape[1:], element, draw) for _ in range(shape[0])) + "]"


def main(path):
    random.seed(5)
    lines = []

    def constant(name, shape, element):
        type = "tensor<" + "x".join(map(str, [*shape, element])) + ">"
        draw = (lambda: f"{random.uniform(-.2, .2):.6f}") if element == "f32" else (lambda: random.randint(-90, 90))
        lines.append(f"  %{name} = graph.constant dense<{dense(shape, element, draw)}> : {type}")
        return type

    w, r = constant("w", (2, 160, 24), "f32"), constant("r", (2, 160, 40), "f32")
    m, b = constant("m", (80, 20), "f32"), constant("b", (24, 70), "i8")
    k, l = constant("k", (20, 6, 3, 3), "f32"), constant("l", (12, 6, 3, 3), "i8")
    none = ", ".join(["%n"] * 5)
    lines += [
        "  %n = graph.none : none",
        "  %whole = graph.constant dense<[0, 0, 80]> : tensor<3xi64>",
        "  %scale = graph.constant dense<0.02> : tensor<f32>",
        "  %zero = graph.constant dense<128> : tensor<ui8>",
        "  %none = graph.constant dense<0> : tensor<i8>",
        f"  %y:3 = graph.lstm %x, %w, %r, {none} {{direction = \"bidirectional\", hidden_size = 40 : i64}} : "
        f"(tensor<?x?x24xf32>, {w}, {r}, none, none, none, none, none) -> "
        "(tensor<?x2x?x40xf32>, tensor<2x?x40xf32>, tensor<2x?x40xf32>)",
        "  %p = graph.transpose %y#0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x?x40xf32>) -> tensor<?x?x2x40xf32>",
        "  %q = graph.reshape %p, %whole : (tensor<?x?x2x40xf32>, tensor<3xi64>) -> tensor<?x?x80xf32>",
        f"  %z = graph.matmul %q, %m : (tensor<?x?x80xf32>, {m}) -> tensor<?x?x20xf32>",
        "  %qb = graph.quantize_linear %x, %scale, %zero : (tensor<?x?x24xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x?x24xui8>",
        f"  %i = graph.integer_matmul %qb, %b, %zero, %none : (tensor<?x?x24xui8>, {b}, tensor<ui8>, tensor<i8>) -> tensor<?x?x70xi32>",
        "  %fi = graph.cast %i {to = f32} : (tensor<?x?x70xi32>) -> tensor<?x?x70xf32>",
        f"  %c = graph.conv %image, %k {{pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}} : (tensor<?x6x?x?xf32>, {k}) -> tensor<?x20x?x?xf32>",
        "  %cb = graph.quantize_linear %image, %scale, %zero : (tensor<?x6x?x?xf32>, tensor<f32>, tensor<ui8>) -> tensor<?x6x?x?xui8>",
        f"  %j = graph.integer_conv %cb, %l, %zero, %none {{pads = array<i64: 1, 1, 1, 1>}} : (tensor<?x6x?x?xui8>, {l}, tensor<ui8>, tensor<i8>) -> tensor<?x12x?x?xi32>",
        "  %fj = graph.cast %j {to = f32} : (tensor<?x12x?x?xi32>) -> tensor<?x12x?x?xf32>",
    ]
    with open(path, "w") as file:
        file.write('func.func @main(%x: tensor<?x?x24xf32> {graph.name = "x", graph.dims = ["length", "batch", ""]}, '
                   '%image: tensor<?x6x?x?xf32> {graph.name = "image", graph.dims = ["batch", "", "height", "width"]}) -> '
                   '(tensor<?x?x20xf32> {graph.name = "z"}, tensor<?x?x70xf32> {graph.name = "i"}, '
                   'tensor<?x20x?x?xf32> {graph.name = "c"}, tensor<?x12x?x?xf32> {graph.name = "j"}) {\n' +
                   "\n".join(lines) + "\n  return %z, %fi, %c, %fj : tensor<?x?x20xf32>, tensor<?x?x70xf32>, "
                   "tensor<?x20x?x?xf32>, tensor<?x12x?x?xf32>\n}\n")


main(sys.argv[1])
