# SPDX-License-Identifier: Apache-2.0
"""Writes a network of images whose batch, height and width are open, made of
what has kernels for any shape: make_open.py SEED FILE.mlir."""

import random
import sys

UNARY = ("relu", "sigmoid", "tanh", "exp", "abs", "neg", "silu", "gelu", "erf", "hard_swish", "sqrt")
BINARY = ("add", "sub", "mul", "max", "min")


class Network:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.count = 0

    def op(self, text, operands, result):
        """One operation; operands and results are (name, type)."""
        self.count += 1
        name = f"%v{self.count}"
        names = ", ".join(operand[0] for operand in operands)
        types = ", ".join(operand[1] for operand in operands)
        head, _, attributes = text.partition(" ")
        self.lines.append(f"  {name} = graph.{head} {names} {attributes} : ({types}) -> {result}")
        return name, result

    def constant(self, value, kind):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = graph.constant dense<{value}> : {kind}")
        return name, kind

    def weights(self, shape):
        def nest(shape):
            if not shape:
                return f"{self.random.uniform(-1, 1):.3f}"
            return "[" + ", ".join(nest(shape[1:]) for _ in range(shape[0])) + "]"
        return self.constant(nest(shape), f"tensor<{'x'.join(map(str, shape))}xf32>")

    def elementwise(self, x):
        """A few operations of the type of x, some with constants that broadcast."""
        channels = int(x[1].split("x")[1])
        y = x
        for _ in range(self.random.randint(1, 4)):
            if self.random.random() < 0.5:
                kind = self.random.choice(UNARY)
                y = self.op(kind, [self.op("abs", [y], y[1]) if kind == "sqrt" else y], y[1])
                continue
            other = self.random.choice((x, self.weights([1]), self.weights([channels, 1, 1]),
                                        self.weights([1, channels, 1, 1])))
            pair = [y, other]
            self.random.shuffle(pair)
            y = self.op(self.random.choice(BINARY), pair, y[1])
        if self.random.random() < 0.3:  # Not on what rounding decides.
            bits = "[" + ", ".join(self.random.choice(("[[true]]", "[[false]]")) for _ in range(channels)) + "]"
            y = self.op("select", [self.constant(bits, f"tensor<{channels}x1x1xi1>"), y, x], y[1])
        return y

    def block(self, x, channels):
        kind = self.random.choice(("pool", "mean", "conv", "transposed", "concat", "softmax", "pad", "gate",
                                   "residual", "residual", "conv", "conv", "split", "resize", "sized"))
        open_ = f"tensor<?x{channels}x?x?xf32>"
        if kind in ("pool", "mean"):
            stride = self.random.randint(1, 2)
            name = "max_pool" if kind == "pool" else "avg_pool"
            return self.op(f"{name} {{kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, "
                           f"strides = array<i64: {stride}, {stride}>}}", [x], open_), channels
        if kind == "conv":
            more = self.random.choice((3, 17, 16, 24, 32))
            pads, stride = self.random.choice(((1, 1), (1, 2), (0, 1)))
            kernel = 3 if pads else 1
            w = self.weights([more, channels, kernel, kernel])
            return self.op(f"conv {{pads = array<i64: {pads}, {pads}, {pads}, {pads}>, "
                           f"strides = array<i64: {stride}, {stride}>}}", [x, w],
                           f"tensor<?x{more}x?x?xf32>"), more
        if kind == "residual":
            group = self.random.choice((1, channels))
            w = self.weights([channels, channels // group, 3, 3])
            y = self.op(f"conv {{group = {group} : i64, pads = array<i64: 1, 1, 1, 1>}}", [x, w], open_)
            if self.random.random() < 0.7:
                pair = [x, y]
                self.random.shuffle(pair)
                y = self.op("add", pair, open_)
            return self.op(self.random.choice(UNARY[:3] + UNARY[6:10]), [y], open_), channels
        if kind == "transposed":
            kernel, stride = self.random.choice(((2, 2), (3, 2), (4, 2), (3, 1), (5, 3)))
            pad = self.random.randint(0, kernel - stride)
            w = self.weights([channels, 4, kernel, kernel])
            return self.op(f"conv_transpose {{strides = array<i64: {stride}, {stride}>, "
                           f"pads = array<i64: {pad}, 0, 0, {pad}>}}", [x, w], "tensor<?x4x?x?xf32>"), 4
        if kind == "split" and channels % 16 == 0:
            sizes = self.constant(f"[{channels - 16}, 16]" if channels > 16 else "[8, 8]", "tensor<2xi64>")
            half = max(channels - 16, 8), min(channels, 16) if channels > 16 else 8
            self.count += 1
            names = [f"%v{self.count}#{i}" for i in (0, 1)]
            types = [f"tensor<?x{each}x?x?xf32>" for each in half]
            self.lines.append(f"  %v{self.count}:2 = graph.split {x[0]}, {sizes[0]} {{axis = 1 : i64}} : "
                              f"({x[1]}, {sizes[1]}) -> ({types[0]}, {types[1]})")
            return self.op("concat {axis = 1 : i64}", [(names[1], types[1]), (names[0], types[0])],
                           open_), channels
        if kind in ("concat", "split"):
            return self.op("concat {axis = 1 : i64}", [x, self.elementwise(x)],
                           f"tensor<?x{2 * channels}x?x?xf32>"), 2 * channels
        if kind == "gate":
            axes = self.constant("[2, 3]", "tensor<2xi64>")
            mean = self.op("reduce_mean {keepdims = true}", [x, axes], f"tensor<?x{channels}x1x1xf32>")
            return self.op("mul", [self.op("sigmoid", [mean], mean[1]), x], open_), channels
        if kind == "softmax":
            axis = self.random.choice((1, 3))
            return self.op(f"softmax {{axis = {axis} : i64}}", [x], open_), channels
        if kind == "resize":
            self.count += 1
            none = (f"%v{self.count}", "none")
            self.lines.append(f"  {none[0]} = graph.none : none")
            scales = self.constant("[2.0, 2.0]", "tensor<2xf32>")
            return self.op("resize {axes = array<i64: 2, 3>, mode = \"nearest\", nearest_mode = \"floor\", "
                           "coordinate_transformation_mode = \"asymmetric\"}",
                           [x, none, scales, none], open_), channels
        if kind == "sized":  # By what is computed of its own shape.
            shape = self.op("shape", [x], "tensor<4xi64>")
            flat = self.op("flatten {axis = 2 : i64}", [x], "tensor<?x?xf32>")
            return self.op("reshape", [flat, shape], open_), channels
        pads = self.constant("[1, 0, 2, 1]", "tensor<4xi64>")
        axes = self.constant("[2, 3]", "tensor<2xi64>")
        return self.op("pad", [x, pads, self.constant("0.5", "tensor<f32>"), axes], open_), channels


def main():
    network = Network(int(sys.argv[1]))
    channels = network.random.choice((1, 3, 8))
    kind = f"tensor<?x{channels}x?x?xf32>"
    x = ("%x", kind)
    for _ in range(network.random.randint(1, 4)):
        x = network.elementwise(x)
        x, channels = network.block(x, channels)
    y = network.elementwise(x)
    if network.random.random() < 0.3:
        y = network.op("cast {saturate = true, to = f16}", [y], y[1].replace("f32", "f16"))
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write(f'func.func @main(%x: {kind} {{graph.name = "x", '
                  f'graph.dims = ["batch", "", "height", "width"]}}) -> ({y[1]} {{graph.name = "y"}}) {{\n')
        out.write("\n".join(network.lines))
        out.write(f"\n  return {y[0]} : {y[1]}\n}}\n")


if __name__ == "__main__":
    main()
