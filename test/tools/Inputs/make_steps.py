# SPDX-License-Identifier: Apache-2.0
"""Writes a network of what libraries compute in several steps, whose weights are
constant or are inputs and whose other extents are open: make_steps.py FILE."""

import random
import sys


def dense(shape):
    if not shape:
        return f"{random.uniform(-.5, .5):.4f}"
    return "[" + ", ".join(dense(shape[1:]) for _ in range(shape[0])) + "]"


def main(path):
    random.seed(9)
    lines, results = [], []

    def constant(name, *shape):
        kind = "tensor<" + "x".join(map(str, shape)) + "xf32>"
        lines.append(f"  %{name} = graph.constant dense<{dense(shape)}> : {kind}")
        return kind

    def result(name, operation, kind):
        lines.append(f"  %{name} = graph.{operation} -> {kind}")
        results.append((name, kind))

    t, u, v = constant("t", 6, 4, 3, 2), constant("u", 6, 5, 4), constant("v", 7, 3, 3, 3, 3)
    image, row, volume = "tensor<?x6x?x?xf32>", "tensor<?x6x?xf32>", "tensor<?x3x?x?x?xf32>"
    weights, heads = "tensor<6x2x3x3xf32>", "tensor<?x?x3x8xf32>"
    result("groups", f"conv_transpose %image, %t {{group = 2 : i64, strides = array<i64: 2, 1>, "
           f"dilations = array<i64: 1, 2>, pads = array<i64: 1, 0, 0, 1>}} : ({image}, {t})", "tensor<?x8x?x?xf32>")
    result("given", f"conv_transpose %image, %weights {{strides = array<i64: 2, 2>, "
           f"output_padding = array<i64: 1, 1>}} : ({image}, {weights})", "tensor<?x2x?x?xf32>")
    result("row", f"conv_transpose %wave, %u {{strides = array<i64: 3>}} : ({row}, {u})", "tensor<?x5x?xf32>")
    result("volume", f"conv %cube, %v {{pads = array<i64: 1, 1, 1, 1, 1, 1>, strides = array<i64: 1, 2, 1>}} : "
           f"({volume}, {v})", "tensor<?x7x?x?x?xf32>")
    result("most", "max_pool %cube {kernel_shape = array<i64: 2, 3, 2>, strides = array<i64: 2, 1, 2>, "
           f"ceil_mode = true}} : ({volume})", "tensor<?x3x?x?x?xf32>")
    result("mean", "avg_pool %cube {kernel_shape = array<i64: 3, 3, 3>, pads = array<i64: 1, 1, 1, 1, 1, 1>} : "
           f"({volume})", "tensor<?x3x?x?x?xf32>")
    result("scores", f"einsum %heads, %heads {{equation = \"bqhd,bkhd->bhqk\"}} : ({heads}, {heads})",
           "tensor<?x3x?x?xf32>")
    inputs = [("image", image, '"batch", "", "height", "width"'), ("wave", row, '"batch", "", "width"'),
              ("cube", volume, '"batch", "", "height", "height", "width"'), ("weights", weights, '"", "", "", ""'),
              ("heads", heads, '"batch", "width", "", ""')]
    with open(path, "w") as file:
        file.write("func.func @main(" +
                   ", ".join(f'%{name}: {kind} {{graph.name = "{name}", graph.dims = [{dims}]}}'
                             for name, kind, dims in inputs) + ") -> (" +
                   ", ".join(f'{kind} {{graph.name = "{name}"}}' for name, kind in results) + ") {\n" +
                   "\n".join(lines) + "\n  return " + ", ".join("%" + name for name, _ in results) + " : " +
                   ", ".join(kind for _, kind in results) + "\n}\n")


main(sys.argv[1])
