#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeded ONNX networks for benchmarks and end-to-end tests.

usage: models.py OUTDIR [--seed N] [NAME...]

Weights are random but scaled so that activations keep a sane range; the same
seed and NumPy give the same files.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


class Network:
    """A graph under construction; every method returns a value's name."""

    def __init__(self, name, seed):
        self.name = name
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []
        self.inputs, self.outputs = [], []
        self.count = 0

    def weight(self, array):
        self.count += 1
        name = f"w{self.count}"
        array = np.asarray(array, order="C")
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def ints(self, *values):
        return self.weight(np.array(values, np.int64))

    def scalar(self, value):
        return self.weight(np.float32(value))

    def normal(self, shape, scale):
        values = self.random.standard_normal(shape, dtype=np.float32)
        return self.weight(values * np.float32(scale))

    def uniform(self, low, high, shape):
        return self.weight(self.random.uniform(low, high, shape).astype(np.float32))

    def op(self, kind, *inputs, **attributes):
        self.count += 1
        result = f"t{self.count}"
        self.nodes.append(helper.make_node(
            kind, list(inputs), [result], name=f"{kind}_{self.count}", **attributes))
        return result

    def input(self, name, element, shape):
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def output(self, value, name, shape):
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def save(self, folder):
        graph = helper.make_graph(self.nodes, self.name, self.inputs,
                                  self.outputs, self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, os.path.join(folder, f"{self.name}.onnx"))

    # Layers.

    def conv(self, x, ic, oc, kernel, stride=1, group=1, gain=2.0):
        fan = ic // group * kernel * kernel
        weight = self.normal((oc, ic // group, kernel, kernel), (gain / fan) ** 0.5)
        return self.op("Conv", x, weight, kernel_shape=[kernel, kernel],
                       strides=[stride, stride], pads=[kernel // 2] * 4, group=group)

    def batch_norm(self, x, c):
        return self.op("BatchNormalization", x, self.uniform(0.7, 1.1, c),
                       self.uniform(-0.1, 0.1, c), self.uniform(-0.1, 0.1, c),
                       self.uniform(0.8, 1.2, c), epsilon=1e-5)

    def linear(self, x, i, o, scale=None):
        y = self.op("MatMul", x, self.normal((i, o), scale or i ** -0.5))
        return self.op("Add", y, self.normal(o, 0.02))

    def layer_norm(self, x, c):
        return self.op("LayerNormalization", x, self.uniform(0.8, 1.2, c),
                       self.uniform(-0.1, 0.1, c), axis=-1, epsilon=1e-12)

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.scalar(2 ** 0.5)))
        gate = self.op("Add", erf, self.scalar(1))
        return self.op("Mul", self.op("Mul", x, gate), self.scalar(0.5))


def resnet50(name, seed, batch=1):
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [batch, 3, 224, 224])
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, 64, 7, 2), 64))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks, first_stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            wide = 4 * width
            y = g.op("Relu", g.batch_norm(g.conv(x, channels, width, 1), width))
            y = g.op("Relu", g.batch_norm(g.conv(y, width, width, 3, stride), width))
            y = g.batch_norm(g.conv(y, width, wide, 1, gain=0.5), wide)
            if block == 0:
                x = g.batch_norm(g.conv(x, channels, wide, 1, stride, gain=1.0), wide)
            x = g.op("Relu", g.op("Add", y, x))
            channels = wide
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    x = g.op("Gemm", x, g.normal((1000, 2048), 0.02),
             g.weight(np.zeros(1000, np.float32)), transB=1)
    g.output(g.op("Softmax", x, axis=-1), "prob", [batch, 1000])
    return g


def mobilenetv2(name, seed):
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, 224, 224])

    def relu6(value):
        return g.op("Clip", value, g.scalar(0), g.scalar(6))

    x = relu6(g.batch_norm(g.conv(x, 3, 32, 3, 2), 32))
    channels = 32
    for expand, width, blocks, first_stride in [
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
            (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y, hidden = x, channels * expand
            if expand != 1:
                y = relu6(g.batch_norm(g.conv(y, channels, hidden, 1), hidden))
            y = relu6(g.batch_norm(g.conv(y, hidden, hidden, 3, stride, group=hidden), hidden))
            y = g.batch_norm(g.conv(y, hidden, width, 1, gain=1.0), width)
            x = g.op("Add", x, y) if stride == 1 and channels == width else y
            channels = width
    x = relu6(g.batch_norm(g.conv(x, 320, 1280, 1), 1280))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    x = g.op("Gemm", x, g.normal((1000, 1280), 0.05),
             g.weight(np.zeros(1000, np.float32)), transB=1)
    g.output(x, "logits", [1, 1000])
    return g


def bert(name, seed, layers=12, hidden=768, heads=12, inner=3072, length=128,
         vocabulary=30522):
    g = Network(name, seed)
    ids = g.input("input_ids", TensorProto.INT64, [1, length])
    mask = g.input("attention_mask", TensorProto.INT64, [1, length])
    x = g.op("Gather", g.normal((vocabulary, hidden), 0.02), ids)
    x = g.layer_norm(g.op("Add", x, g.normal((1, length, hidden), 0.02)), hidden)
    mask = g.op("Cast", g.op("Unsqueeze", mask, g.ints(1, 2)), to=TensorProto.FLOAT)
    mask = g.op("Mul", g.op("Sub", g.scalar(1), mask), g.scalar(-1e4))
    split = g.ints(1, length, heads, hidden // heads)
    joined = g.ints(1, length, hidden)
    for _ in range(layers):
        q, k, v = [g.op("Reshape", g.linear(x, hidden, hidden), split) for _ in range(3)]
        q = g.op("Transpose", q, perm=[0, 2, 1, 3])
        k = g.op("Transpose", k, perm=[0, 2, 3, 1])
        v = g.op("Transpose", v, perm=[0, 2, 1, 3])
        scores = g.op("Div", g.op("MatMul", q, k), g.scalar((hidden // heads) ** 0.5))
        weights = g.op("Softmax", g.op("Add", scores, mask), axis=-1)
        y = g.op("Transpose", g.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        y = g.linear(g.op("Reshape", y, joined), hidden, hidden)
        x = g.layer_norm(g.op("Add", x, y), hidden)
        y = g.linear(g.gelu(g.linear(x, hidden, inner)), inner, hidden)
        x = g.layer_norm(g.op("Add", x, y), hidden)
    g.output(x, "hidden", [1, length, hidden])
    return g


def minilm(name, seed):
    return bert(name, seed, layers=6, hidden=384, heads=12, inner=1536, length=32)


def mlp(name, seed, batch=64, width=1024, layers=8):
    g = Network(name, seed)
    x = g.input("x", TensorProto.FLOAT, [batch, width])
    for _ in range(layers):
        x = g.op("Relu", g.linear(x, width, width, scale=(2 / width) ** 0.5))
    g.output(x, "y", [batch, width])
    return g


def elementwise(name, seed, size=1 << 22):
    """Bound by memory for a library: 12 pointwise operations, softmax, norm."""
    g = Network(name, seed)
    shape = [size // 1024, 1024]
    x = g.input("x", TensorProto.FLOAT, shape)
    y = g.input("y", TensorProto.FLOAT, shape)
    z = g.op("Add", g.op("Mul", x, y), x)
    for _ in range(3):
        z = g.op("Sub", g.op("Mul", g.op("Tanh", z), y), g.op("Mul", x, g.scalar(0.3)))
    z = g.op("Softmax", z, axis=-1)
    g.output(g.layer_norm(g.op("Add", z, x), 1024), "z", shape)
    return g


NETWORKS = {
    "resnet50": resnet50,
    "mobilenetv2": mobilenetv2,
    "bert_base": bert,
    "mlp": mlp,
    "elementwise": elementwise,
    "resnet50_b8": lambda name, seed: resnet50(name, seed, batch=8),
    "minilm_l6_s32": minilm,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", default=[], metavar="NAME",
                        help=f"default: all of {', '.join(NETWORKS)}")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in NETWORKS:
            parser.error(f"expected one of {', '.join(NETWORKS)}, got {name}")
    os.makedirs(arguments.folder, exist_ok=True)
    for offset, (name, build) in enumerate(NETWORKS.items()):
        if not arguments.names or name in arguments.names:
            build(name, arguments.seed + offset).save(arguments.folder)


if __name__ == "__main__":
    main()
