# SPDX-License-Identifier: Apache-2.0
"""Writes a network of integers of 8 bits whose batch and extents are open, with
images and rows: make_quantized.py SEED FILE.mlir. Scales are powers of two and
offsets lie between what these make, so that nothing depends on how often a
product is rounded."""

import random
import sys

from make_open import Network


class Quantized(Network):
    def integers(self, shape, low, high, element):
        def nest(shape):
            if not shape:
                return str(self.random.randint(low, high))
            return "[" + ", ".join(nest(shape[1:]) for _ in range(shape[0])) + "]"
        return self.constant(nest(shape), f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>")

    def zero_point(self, element):
        return self.integers([], *((-7, 7) if element == "i8" else (120, 136)), element)

    def quantize(self, x, element):
        scale = self.constant(self.random.choice(("0.03125", "0.0625")), "tensor<f32>")
        return self.op("quantize_linear", [x, scale, self.zero_point(element)], x[1].replace("f32", element))

    def dequantize(self, x, element):
        scale = self.constant("0.0625", "tensor<f32>")
        return self.op("dequantize_linear", [x, scale, self.zero_point(element)], x[1].replace(element, "f32"))

    def requantize(self, sums, columns, trailing, element):
        """Of sums of `columns` columns, with `trailing` dimensions behind those."""
        def factor(values):
            shape = self.random.choice(([], [columns] + trailing * [1]))

            def nest(shape):
                if not shape:
                    return self.random.choice(values)
                return "[" + ", ".join(nest(shape[1:]) for _ in range(shape[0])) + "]"
            return self.constant(nest(shape), f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>")
        return self.op("requantize", [sums, factor(("0.015625", "0.0078125", "0.03125")),
                                      factor(("0.001953125", "3.251953125", "-9.748046875")),
                                      self.zero_point(element)], sums[1].replace("i32", element))

    def other(self):
        return self.random.choice(("i8", "ui8"))

    def conv(self, x, channels, element):
        groups, more = self.random.choice(((1, 16), (1, 24), (1, 5), (channels, channels)))
        kernel, pads = self.random.choice(((1, 0), (3, 1), (3, 0)))
        stride = self.random.randint(1, 2)
        w = self.integers([more, channels // groups, kernel, kernel], -90, 90, "i8")
        zeros = self.random.choice(([], [more]))
        sums = self.op(f"integer_conv {{group = {groups} : i64, pads = array<i64: {pads}, {pads}, {pads}, {pads}>, "
                       f"strides = array<i64: {stride}, {stride}>}}",
                       [x, w, self.zero_point(element), self.integers(zeros, 0, 0, "i8")],
                       f"tensor<?x{more}x?x?xi32>")
        to = self.other()
        return self.requantize(sums, more, 2, to), more, to

    def residual(self, x, channels, element):
        w = self.integers([channels, channels, 3, 3], -90, 90, "i8")
        sums = self.op("integer_conv {pads = array<i64: 1, 1, 1, 1>}",
                       [x, w, self.zero_point(element), self.integers([], 0, 0, "i8")],
                       f"tensor<?x{channels}x?x?xi32>")
        rounded = self.requantize(sums, channels, 2, element)
        pair = [self.dequantize(x, element), self.dequantize(rounded, element)]
        self.random.shuffle(pair)
        return self.quantize(self.op("relu", [self.op("add", pair, pair[0][1])], pair[0][1]), element)


def main():
    network = Quantized(int(sys.argv[1]))
    channels, terms = network.random.choice((3, 8, 16)), network.random.choice((5, 32))
    image, rows = f"tensor<?x{channels}x?x?xf32>", f"tensor<?x?x{terms}xf32>"
    element = network.other()
    x = network.quantize(("%x", image), element)
    for _ in range(network.random.randint(2, 5)):
        if network.random.random() < 0.3:
            x = network.residual(x, channels, element)
        else:
            x, channels, element = network.conv(x, channels, element)
    x = network.dequantize(x, element)
    z = network.quantize(("%z", rows), "ui8")
    sums = network.op("integer_matmul", [z, network.integers([terms, 20], -90, 90, "i8"), network.zero_point("ui8"),
                                         network.integers([], 0, 0, "i8")], "tensor<?x?x20xi32>")
    to = network.other()
    z = network.dequantize(network.requantize(sums, 20, 0, to), to)
    with open(sys.argv[2], "w", encoding="ascii") as out:
        out.write(f'func.func @main(%x: {image} {{graph.name = "x", graph.dims = ["batch", "", "height", "width"]}}, '
                  f'%z: {rows} {{graph.name = "z", graph.dims = ["batch", "length", ""]}}) -> '
                  f'({x[1]} {{graph.name = "y"}}, {z[1]} {{graph.name = "w"}}) {{\n')
        out.write("\n".join(network.lines))
        out.write(f"\n  return {x[0]}, {z[0]} : {x[1]}, {z[1]}\n}}\n")


if __name__ == "__main__":
    main()
