#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeded ONNX networks for benchmarks and end-to-end tests.

usage: models.py OUTDIR [--seed N] [--others] [--batch N] [--type f16|bf16] [NAME...]

Weights are random but scaled so that activations keep a sane range; the same
seed and NumPy give the same files. With --batch, the convolutional networks
that have one take N images (NAME_bN.onnx); with --type, all floats are short
ones (NAME_f16.onnx).
"""
import argparse
import inspect
import os
import tempfile

import ml_dtypes
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

    def split(self, value, count, **attributes):
        self.count += 1
        parts = [f"t{self.count}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(
            "Split", [value], parts, name=f"Split_{self.count}", **attributes))
        return parts

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


def open_batch(source, target):
    """Copies a model, its first dimensions open as N: those of inputs and
    outputs, and those that reshapes give."""
    model = onnx.load(source)
    graph = model.graph
    for value in [*graph.input, *graph.output]:
        first = value.type.tensor_type.shape.dim[0]
        batch, first.dim_param = first.dim_value, "N"
    shapes = {node.input[1] for node in graph.node if node.op_type == "Reshape"}
    for weight in graph.initializer:
        if weight.name in shapes:
            dims = numpy_helper.to_array(weight).copy()
            if dims[0] == batch:
                dims[0] = 0  # That of the value as it is.
            weight.CopyFrom(numpy_helper.from_array(dims, weight.name))
    onnx.save(model, target)


def shorten(path, kind):
    """Makes the floats of a model `kind`, f16 or bf16."""
    element, dtype = {"f16": (TensorProto.FLOAT16, np.float16),
                      "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16)}[kind]
    model = onnx.load(path)
    graph = model.graph
    # What says how large an image becomes stays f32.
    scales = {name for node in graph.node if node.op_type == "Resize" for name in node.input[1:]}
    for value in [*graph.input, *graph.output]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = element
    for weight in graph.initializer:
        if weight.data_type == TensorProto.FLOAT and weight.name not in scales:
            values = numpy_helper.to_array(weight).astype(dtype)
            weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    for node in graph.node:
        if node.op_type == "Cast" and node.attribute[0].i == TensorProto.FLOAT:
            node.attribute[0].i = element
    if kind == "bf16":  # Which convolutions have from there on.
        model.opset_import[0].version = 22
        model.ir_version = 10
    onnx.checker.check_model(model)
    onnx.save(model, path)


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


# Of each stage: how much wider it is inside, channels, blocks, stride, kernel.
MOBILENETV2 = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3),
               (6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3)]
# Mostly of channels that are no whole blocks of 16.
EFFICIENTNET_LITE = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                     (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]


def mobilenetv2(name, seed, stages=MOBILENETV2, batch=1):
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [batch, 3, 224, 224])

    def relu6(value):
        return g.op("Clip", value, g.scalar(0), g.scalar(6))

    x = relu6(g.batch_norm(g.conv(x, 3, 32, 3, 2), 32))
    channels = 32
    for expand, width, blocks, first_stride, kernel in stages:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y, hidden = x, channels * expand
            if expand != 1:
                y = relu6(g.batch_norm(g.conv(y, channels, hidden, 1), hidden))
            y = relu6(g.batch_norm(
                g.conv(y, hidden, hidden, kernel, stride, group=hidden), hidden))
            y = g.batch_norm(g.conv(y, hidden, width, 1, gain=1.0), width)
            x = g.op("Add", x, y) if stride == 1 and channels == width else y
            channels = width
    x = relu6(g.batch_norm(g.conv(x, 320, 1280, 1), 1280))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    x = g.op("Gemm", x, g.normal((1000, 1280), 0.05),
             g.weight(np.zeros(1000, np.float32)), transB=1)
    g.output(x, "logits", [batch, 1000])
    return g


def bert(name, seed, layers=12, hidden=768, heads=12, inner=3072, length=128,
         vocabulary=30522, is_open=False):
    """With `is_open`, of any number of sequences of any length up to `length`."""
    g = Network(name, seed)
    shape = ["batch", "sequence"] if is_open else [1, length]
    ids = g.input("input_ids", TensorProto.INT64, shape)
    mask = g.input("attention_mask", TensorProto.INT64, shape)
    x = g.op("Gather", g.normal((vocabulary, hidden), 0.02), ids)
    places = g.normal((1, length, hidden), 0.02)
    if is_open:
        count = g.op("Slice", g.op("Shape", ids), g.ints(1), g.ints(2))
        places = g.op("Slice", places, g.ints(0), count, g.ints(1))
    x = g.layer_norm(g.op("Add", x, places), hidden)
    mask = g.op("Cast", g.op("Unsqueeze", mask, g.ints(1, 2)), to=TensorProto.FLOAT)
    mask = g.op("Mul", g.op("Sub", g.scalar(1), mask), g.scalar(-1e4))
    outer = [0, 0] if is_open else [1, length]
    split = g.ints(*outer, heads, hidden // heads)
    joined = g.ints(*outer, hidden)
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
    g.output(x, "hidden", [*shape, hidden])
    return g


def minilm(name, seed, length=32, is_open=False):
    return bert(name, seed, layers=6, hidden=384, heads=12, inner=1536,
                length=length, is_open=is_open)


def minilm_open(name, seed):
    return minilm(name, seed, length=512, is_open=True)


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


# Networks of other kinds, smaller than those above: `--others`.


def vit(name, seed, size=224, patch=16, hidden=384, heads=6, layers=6):
    """A vision transformer, as PyTorch exports one: q, k and v at once."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])
    side = size // patch
    length, head = side * side + 1, hidden // heads
    weight = g.normal((hidden, 3, patch, patch), (3 * patch * patch) ** -0.5)
    x = g.op("Conv", x, weight, g.normal(hidden, 0.02),
             kernel_shape=[patch, patch], strides=[patch, patch])
    x = g.op("Transpose", g.op("Reshape", x, g.ints(1, hidden, side * side)),
             perm=[0, 2, 1])
    x = g.op("Concat", g.normal((1, 1, hidden), 0.02), x, axis=1)
    x = g.op("Add", x, g.normal((1, length, hidden), 0.02))
    for _ in range(layers):
        y = g.linear(g.layer_norm(x, hidden), hidden, 3 * hidden)
        y = g.op("Reshape", y, g.ints(1, length, 3, heads, head))
        y = g.op("Transpose", y, perm=[2, 0, 3, 1, 4])
        q, k, v = [g.op("Gather", y, g.weight(np.int64(i)), axis=0)
                   for i in range(3)]
        scores = g.op("MatMul", g.op("Mul", q, g.scalar(head ** -0.5)),
                      g.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]),
                 g.ints(1, length, hidden))
        x = g.op("Add", x, g.linear(y, hidden, hidden))
        y = g.gelu(g.linear(g.layer_norm(x, hidden), hidden, 4 * hidden))
        x = g.op("Add", x, g.linear(y, 4 * hidden, hidden))
    x = g.op("Gather", g.layer_norm(x, hidden), g.weight(np.int64(0)), axis=1)
    g.output(g.linear(x, hidden, 1000), "logits", [1, 1000])
    return g


def gpt(name, seed, length=128, hidden=512, heads=8, layers=6,
        vocabulary=8192):
    """A decoder over a whole text: causal masks, GELU by tanh."""
    g = Network(name, seed)
    ids = g.input("input_ids", TensorProto.INT64, [1, length])
    embedding = g.normal((vocabulary, hidden), 0.02)
    x = g.op("Add", g.op("Gather", embedding, ids),
             g.normal((1, length, hidden), 0.02))
    causal = g.weight(np.tril(np.ones((1, 1, length, length), bool)))
    head = hidden // heads
    for _ in range(layers):
        y = g.linear(g.layer_norm(x, hidden), hidden, 3 * hidden)
        q, k, v = [g.op("Transpose",
                        g.op("Reshape", part, g.ints(1, length, heads, head)),
                        perm=[0, 2, 1, 3])
                   for part in g.split(y, 3, axis=2)]
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.op("Div", scores, g.scalar(head ** 0.5))
        scores = g.op("Where", causal, scores, g.scalar(-3.4e38))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]),
                 g.ints(1, length, hidden))
        x = g.op("Add", x, g.linear(y, hidden, hidden))
        y = g.linear(g.layer_norm(x, hidden), hidden, 4 * hidden)
        cube = g.op("Pow", y, g.scalar(3))
        inner = g.op("Add", y, g.op("Mul", cube, g.scalar(0.044715)))
        gate = g.op("Tanh", g.op("Mul", inner, g.scalar((2 / np.pi) ** 0.5)))
        y = g.op("Mul", g.op("Mul", y, g.scalar(0.5)),
                 g.op("Add", gate, g.scalar(1)))
        x = g.op("Add", x, g.linear(y, 4 * hidden, hidden))
    x = g.layer_norm(x, hidden)
    x = g.op("MatMul", x, g.op("Transpose", embedding, perm=[1, 0]))
    g.output(x, "logits", [1, length, vocabulary])
    return g


def gpt_step(name, seed, past=256, hidden=512, heads=8, layers=6):
    """One word more, behind `past` ones whose keys and values are given."""
    g = Network(name, seed)
    x = g.input("x", TensorProto.FLOAT, [1, 1, hidden])
    head = hidden // heads
    for layer in range(layers):
        keys, values = [g.input(f"{kind}{layer}", TensorProto.FLOAT,
                                [1, heads, past, head])
                        for kind in ("keys", "values")]
        y = g.linear(g.layer_norm(x, hidden), hidden, 3 * hidden)
        q, k, v = [g.op("Transpose",
                        g.op("Reshape", part, g.ints(1, 1, heads, head)),
                        perm=[0, 2, 1, 3])
                   for part in g.split(y, 3, axis=2)]
        k = g.op("Concat", keys, k, axis=2)
        v = g.op("Concat", values, v, axis=2)
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.op("Mul", scores, g.scalar(head ** -0.5))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]),
                 g.ints(1, 1, hidden))
        x = g.op("Add", x, g.linear(y, hidden, hidden))
        y = g.gelu(g.linear(g.layer_norm(x, hidden), hidden, 4 * hidden))
        x = g.op("Add", x, g.linear(y, 4 * hidden, hidden))
    g.output(g.layer_norm(x, hidden), "y", [1, 1, hidden])
    return g


def unet(name, seed, size=128, width=32, depth=3, batch=1):
    """Down by pooling, up by transposed convolutions, joined by Concat."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [batch, 3, size, size])

    def block(x, ic, oc):
        x = g.op("Relu", g.batch_norm(g.conv(x, ic, oc, 3), oc))
        return g.op("Relu", g.batch_norm(g.conv(x, oc, oc, 3), oc))

    sides, channels = [], 3
    for level in range(depth):
        x = block(x, channels, width << level)
        channels = width << level
        sides.append(x)
        x = g.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = block(x, channels, 2 * channels)
    channels *= 2
    for side in reversed(sides):
        half = channels // 2
        x = g.op("ConvTranspose", x,
                 g.normal((channels, half, 2, 2), (2 / channels) ** 0.5),
                 g.normal(half, 0.02), kernel_shape=[2, 2], strides=[2, 2])
        x = block(g.op("Concat", side, x, axis=1), channels, half)
        channels = half
    x = g.op("Sigmoid", g.conv(x, channels, 1, 1, gain=1.0))
    g.output(x, "mask", [batch, 1, size, size])
    return g


def recurrent(name, seed, kind, gates, steps=64, hidden=256, directions=2):
    """Two layers, in both directions unless otherwise, over one sequence."""
    g = Network(name, seed)
    x = g.input("x", TensorProto.FLOAT, [steps, 1, hidden])
    size, rows = hidden, gates * hidden
    for _ in range(2):
        y = g.op(kind, x, g.normal((directions, rows, size), size ** -0.5),
                 g.normal((directions, rows, hidden), hidden ** -0.5),
                 g.normal((directions, 2 * rows), 0.05), hidden_size=hidden,
                 direction="bidirectional" if directions == 2 else "forward")
        y = g.op("Transpose", y, perm=[0, 2, 1, 3])
        x = g.op("Reshape", y, g.ints(steps, 1, directions * hidden))
        size = directions * hidden
    g.output(x, "y", [steps, 1, size])
    return g


def tcn(name, seed, steps=1024, width=64, layers=8):
    """Dilated convolutions of one dimension with residuals."""
    g = Network(name, seed)
    x = g.input("x", TensorProto.FLOAT, [1, width, steps])
    for layer in range(layers):
        dilation = 1 << layer
        weight = g.normal((width, width, 3), (2 / (3 * width)) ** 0.5)
        y = g.op("Conv", x, weight, g.normal(width, 0.02), kernel_shape=[3],
                 dilations=[dilation], pads=[2 * dilation, 0])
        x = g.op("Add", x, g.op("Relu", y))
    g.output(x, "y", [1, width, steps])
    return g


def conv3d(name, seed, size=32, frames=8):
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, frames, size, size])
    channels = 3
    for width in (32, 64, 128):
        weight = g.normal((width, channels, 3, 3, 3),
                          (2 / (27 * channels)) ** 0.5)
        x = g.op("Relu", g.op("Conv", x, weight, g.normal(width, 0.02),
                              kernel_shape=[3] * 3, pads=[1] * 6))
        x = g.op("MaxPool", x, kernel_shape=[2] * 3, strides=[2] * 3)
        channels = width
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 400), "logits", [1, 400])
    return g


def efficientnet(name, seed, size=160):
    """Inverted residuals with SiLU and squeeze-and-excitation, 5x5 ones too."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])

    def silu(value):
        return g.op("Mul", value, g.op("Sigmoid", value))

    x = silu(g.batch_norm(g.conv(x, 3, 32, 3, 2), 32))
    channels = 32
    for expand, width, blocks, first_stride, kernel in [
            (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5),
            (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5)]:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y, hidden = x, channels * expand
            if expand != 1:
                y = silu(g.batch_norm(g.conv(y, channels, hidden, 1), hidden))
            y = silu(g.batch_norm(
                g.conv(y, hidden, hidden, kernel, stride, group=hidden), hidden))
            squeezed = max(1, channels // 4)
            s = g.op("GlobalAveragePool", y)
            s = silu(g.conv(s, hidden, squeezed, 1))
            s = g.op("Sigmoid", g.conv(s, squeezed, hidden, 1))
            y = g.op("Mul", y, s)
            y = g.batch_norm(g.conv(y, hidden, width, 1, gain=1.0), width)
            x = g.op("Add", x, y) if stride == 1 and channels == width else y
            channels = width
    x = silu(g.batch_norm(g.conv(x, channels, 640, 1), 640))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, 640, 1000), "logits", [1, 1000])
    return g


def shufflenet(name, seed, size=160, groups=4):
    """Grouped 1x1 convolutions, channels shuffled between them."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, 32, 3, 2), 32))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels, side = 32, size // 4
    for width, blocks in [(128, 3), (256, 5), (512, 3)]:
        for block in range(blocks):
            stride = 2 if block == 0 else 1
            made = width - channels if block == 0 else width
            inner = width // 4
            y = g.conv(x, channels, inner, 1, group=groups)
            y = g.op("Relu", g.batch_norm(y, inner))
            y = g.op("Reshape", y, g.ints(1, groups, inner // groups, side, side))
            y = g.op("Transpose", y, perm=[0, 2, 1, 3, 4])
            y = g.op("Reshape", y, g.ints(1, inner, side, side))
            y = g.batch_norm(g.conv(y, inner, inner, 3, stride, group=inner), inner)
            y = g.batch_norm(g.conv(y, inner, made, 1, group=groups), made)
            if block == 0:
                x = g.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2],
                         pads=[1] * 4)
                x, side = g.op("Relu", g.op("Concat", x, y, axis=1)), side // 2
            else:
                x = g.op("Relu", g.op("Add", x, y))
            channels = width
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 1000), "logits", [1, 1000])
    return g


def convnext(name, seed, size=160):
    """7x7 depthwise convolutions, norms over channels that come last."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])

    def last(value):
        return g.op("Transpose", value, perm=[0, 2, 3, 1])

    def first(value):
        return g.op("Transpose", value, perm=[0, 3, 1, 2])

    channels = 48
    weight = g.normal((channels, 3, 4, 4), 48 ** -0.5)
    x = g.op("Conv", x, weight, kernel_shape=[4, 4], strides=[4, 4])
    x = first(g.layer_norm(last(x), channels))
    for width, blocks in [(48, 2), (96, 2), (192, 4), (384, 2)]:
        if width != channels:
            x = first(g.layer_norm(last(x), channels))
            weight = g.normal((width, channels, 2, 2), (4 * channels) ** -0.5)
            x = g.op("Conv", x, weight, kernel_shape=[2, 2], strides=[2, 2])
            channels = width
        for _ in range(blocks):
            y = last(g.conv(x, channels, channels, 7, group=channels))
            y = g.linear(g.layer_norm(y, channels), channels, 4 * channels)
            y = g.linear(g.gelu(y), 4 * channels, channels)
            y = g.op("Mul", y, g.uniform(0.1, 0.3, channels))
            x = g.op("Add", x, first(y))
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 1000), "logits", [1, 1000])
    return g


def detector(name, seed, size=160):
    """One stage, two scales joined by resizing; SiLU or leaky activations."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])

    def layer(value, ic, oc, kernel=3, stride=1):
        value = g.batch_norm(g.conv(value, ic, oc, kernel, stride), oc)
        return g.op("LeakyRelu", value, alpha=0.1)

    x = layer(x, 3, 32, stride=2)
    for ic, oc in [(32, 64), (64, 128)]:
        x = layer(x, ic, oc, stride=2)
        x = g.op("Add", x, layer(layer(x, oc, oc // 2, 1), oc // 2, oc))
    fine = x
    x = layer(x, 128, 256, stride=2)
    x = layer(layer(x, 256, 128, 1), 128, 256)
    pooled = [g.op("MaxPool", x, kernel_shape=[k, k], strides=[1, 1],
                   pads=[k // 2] * 4) for k in (5, 9)]
    x = layer(g.op("Concat", x, *pooled, axis=1), 768, 128, 1)
    up = g.op("Resize", x, "", g.weight(np.array([1, 1, 2, 2], np.float32)),
              mode="nearest", coordinate_transformation_mode="asymmetric",
              nearest_mode="floor")
    x = layer(g.op("Concat", fine, up, axis=1), 256, 128)
    x = g.conv(x, 128, 3 * 25, 1, gain=1.0)
    side = size // 8
    x = g.op("Reshape", x, g.ints(1, 3, 25, side * side))
    x = g.op("Sigmoid", g.op("Transpose", x, perm=[0, 1, 3, 2]))
    g.output(x, "boxes", [1, 3, side * side, 25])
    return g


def generator(name, seed, noise=128):
    """Transposed convolutions of 4x4 with a stride of 2."""
    g = Network(name, seed)
    x = g.input("noise", TensorProto.FLOAT, [1, noise, 1, 1])
    channels, stride, pad = noise, 1, 0
    for width in (256, 128, 64, 32):
        x = g.op("ConvTranspose", x,
                 g.normal((channels, width, 4, 4), (1 / (4 * channels)) ** 0.5),
                 kernel_shape=[4, 4], strides=[stride] * 2, pads=[pad] * 4)
        x = g.op("Relu", g.batch_norm(x, width))
        channels, stride, pad = width, 2, 1
    x = g.op("ConvTranspose", x, g.normal((channels, 3, 4, 4), 0.05),
             kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)
    g.output(g.op("Tanh", x), "image", [1, 3, 64, 64])
    return g


def squeezenet(name, seed, batch=1):
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [batch, 3, 224, 224])

    def relu_conv(value, ic, oc, kernel, stride=1):
        return g.op("Relu", g.conv(value, ic, oc, kernel, stride))

    x, channels = relu_conv(x, 3, 64, 3, 2), 64
    for squeezed, count in [(16, 2), (32, 2), (48, 2), (64, 2)]:
        if squeezed != 64:
            x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
        for _ in range(count):
            s = relu_conv(x, channels, squeezed, 1)
            x = g.op("Concat", relu_conv(s, squeezed, 4 * squeezed, 1),
                     relu_conv(s, squeezed, 4 * squeezed, 3), axis=1)
            channels = 8 * squeezed
    x = g.op("GlobalAveragePool", relu_conv(x, channels, 1000, 1))
    g.output(g.op("Flatten", x), "logits", [batch, 1000])
    return g


def diffusion(name, seed, size=32, width=64, heads=4):
    """A step of a denoiser: Swish, attention over pixels as Einsum, reflected
    borders."""
    g = Network(name, seed)
    x = g.input("latent", TensorProto.FLOAT, [1, 4, size, size])

    def conv(x, ic, oc):
        x = g.op("Pad", x, g.ints(0, 0, 1, 1, 0, 0, 1, 1), mode="reflect")
        return g.op("Conv", x, g.normal((oc, ic, 3, 3), (9 * ic) ** -0.5),
                    g.normal(oc, 0.02), kernel_shape=[3, 3])

    def swish(x):
        return g.op("Mul", x, g.op("Sigmoid", x))

    x = conv(x, 4, width)
    for _ in range(3):
        x = g.op("Add", x, conv(swish(conv(swish(x), width, width)), width,
                                width))
        q, k, v = (g.op("Reshape", g.conv(x, width, width, 1, gain=1.0),
                        g.ints(1, heads, width // heads, size * size))
                   for _ in range(3))
        scores = g.op("Einsum", q, k, equation="bhdi,bhdj->bhij")
        scores = g.op("Mul", scores, g.scalar((width // heads) ** -0.5))
        y = g.op("Einsum", g.op("Softmax", scores, axis=-1), v,
                 equation="bhij,bhdj->bhdi")
        y = g.op("Reshape", y, g.ints(1, width, size, size))
        x = g.op("Add", x, g.conv(y, width, width, 1, gain=1.0))
    g.output(conv(swish(x), width, 4), "noise", [1, 4, size, size])
    return g


def speech(name, seed, samples=10280, width=256):
    """Features of a waveform: steps of five from one channel, Elu, then a
    spectrum along time."""
    g = Network(name, seed)
    x = g.input("wave", TensorProto.FLOAT, [1, 1, samples])
    channels, length = 1, samples
    for kernel, stride in ((10, 5), (3, 2), (3, 2), (3, 2)):
        x = g.op("Conv", x, g.normal((width, channels, kernel),
                                     (channels * kernel) ** -0.5),
                 g.normal(width, 0.02), kernel_shape=[kernel],
                 strides=[stride])
        x = g.op("Elu", x)
        channels, length = width, (length - kernel) // stride + 1
    x = g.op("Unsqueeze", x, g.ints(3))
    x = g.op("DFT", x, axis=2, onesided=1)
    g.output(x, "spectrum", [1, width, length // 2 + 1, 2])
    return g


def segmenter(name, seed, size=32, width=256):
    """Windows of many dilations, most of whose taps are beyond the image, and
    what is assigned to slices."""
    g = Network(name, seed)
    x = g.input("features", TensorProto.FLOAT, [1, width, size, size])
    parts = []
    for dilation in (1, 12, 24, 36):
        y = g.op("Conv", x, g.normal((width, width, 3, 3),
                                     (9 * width) ** -0.5),
                 kernel_shape=[3, 3], pads=[dilation] * 4,
                 dilations=[dilation] * 2)
        parts.append(g.op("Relu", y))
    x = g.conv(g.op("Concat", *parts, axis=1), 4 * width, 16, 1, gain=1.0)
    # x[:, :, 1:, :] = 2 * x[:, :, 1:, :], as exporters write it.
    inner = g.op("Slice", x, g.ints(1), g.ints(size), g.ints(2))
    at = np.stack(np.meshgrid(np.arange(1), np.arange(16),
                              np.arange(1, size), indexing="ij"), -1)
    x = g.op("ScatterND", x, g.weight(at.astype(np.int64)),
             g.op("Mul", inner, g.scalar(2)))
    g.output(x, "y", [1, 16, size, size])
    return g


def xception(name, seed, size=160):
    """Separable convolutions of 728 channels, which are no whole blocks of 16."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, 32, 3, 2), 32))
    x = g.op("Relu", g.batch_norm(g.conv(x, 32, 64, 3), 64))

    def separable(value, ic, oc, stride=1):
        value = g.conv(value, ic, ic, 3, stride, group=ic, gain=1.0)
        return g.batch_norm(g.conv(value, ic, oc, 1), oc)

    channels = 64
    for width, stride in [(128, 2), (256, 2), (728, 2)] + [(728, 1)] * 4 + [(1024, 2)]:
        first = channels if width == 1024 else width
        widths = [channels, first, width] if stride == 2 else [width] * 4
        y = x
        for ic, oc in zip(widths, widths[1:]):
            y = separable(y if ic == 64 else g.op("Relu", y), ic, oc)
        if stride == 2:
            y = g.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
            x = g.batch_norm(g.conv(x, channels, width, 1, 2, gain=1.0), width)
        x = g.op("Add", y, x)
        channels = width
    for width in [1536, 2048]:
        x = g.op("Relu", separable(x, channels, width))
        channels = width
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 1000), "logits", [1, 1000])
    return g


def regnet(name, seed, size=224):
    """Residual convolutions of groups of 16 channels."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, 32, 3, 2), 32))
    channels = 32
    for width, blocks in [(32, 1), (64, 2), (160, 7), (400, 12)]:
        for block in range(blocks):
            stride = 2 if block == 0 else 1
            y = g.op("Relu", g.batch_norm(g.conv(x, channels, width, 1), width))
            y = g.conv(y, width, width, 3, stride, group=width // 16)
            y = g.op("Relu", g.batch_norm(y, width))
            y = g.batch_norm(g.conv(y, width, width, 1, gain=0.5), width)
            if block == 0:
                x = g.batch_norm(g.conv(x, channels, width, 1, stride, gain=1.0), width)
            x = g.op("Relu", g.op("Add", x, y))
            channels = width
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 1000), "logits", [1, 1000])
    return g


def mobileone(name, seed, size=224):
    """Depthwise convolutions and those of one pixel, nothing else."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])
    x = g.op("Relu", g.conv(x, 3, 48, 3, 2))
    channels = 48
    for width, blocks in [(48, 2), (128, 8), (256, 10), (1024, 1)]:
        for block in range(blocks):
            stride = 2 if block == 0 else 1
            x = g.op("Relu", g.conv(x, channels, channels, 3, stride, group=channels))
            x = g.op("Relu", g.conv(x, channels, width, 1))
            channels = width
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 1000), "logits", [1, 1000])
    return g


def densenet(name, seed, size=160, growth=32, batch=1):
    """Every layer reads what all before have made."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [batch, 3, size, size])
    x = g.op("Relu", g.batch_norm(g.conv(x, 3, 64, 7, 2), 64))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, layers in enumerate([6, 12, 24, 16]):
        for _ in range(layers):
            y = g.op("Relu", g.batch_norm(x, channels))
            y = g.op("Relu", g.batch_norm(g.conv(y, channels, 4 * growth, 1), 4 * growth))
            y = g.conv(y, 4 * growth, growth, 3)
            x = g.op("Concat", x, y, axis=1)
            channels += growth
        x = g.op("Relu", g.batch_norm(x, channels))
        if stage < 3:
            x = g.conv(x, channels, channels // 2, 1, gain=1.0)
            x = g.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 1000), "logits", [batch, 1000])
    return g


def inception(name, seed, size=160):
    """Windows of 1x7, 7x1 and 5x5 side by side, of odd numbers of channels."""
    g = Network(name, seed)
    x = g.input("data", TensorProto.FLOAT, [1, 3, size, size])

    def conv(value, ic, oc, kernel, stride=1, pads=None):
        high, wide = kernel
        weight = g.normal((oc, ic, high, wide), (2.0 / (ic * high * wide)) ** 0.5)
        value = g.op("Conv", value, weight, kernel_shape=kernel, strides=[stride] * 2,
                     pads=[high // 2, wide // 2] * 2)
        return g.op("Relu", g.batch_norm(value, oc))

    def pool(value):
        return g.op("AveragePool", value, kernel_shape=[3, 3], strides=[1, 1],
                    pads=[1] * 4)

    x = conv(conv(conv(x, 3, 32, [3, 3], 2), 32, 32, [3, 3]), 32, 64, [3, 3])
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    x = conv(conv(x, 64, 80, [1, 1]), 80, 192, [3, 3])
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])
    channels = 192
    for pooled in [32, 64, 64]:
        wide = conv(conv(x, channels, 48, [1, 1]), 48, 64, [5, 5])
        twice = conv(conv(conv(x, channels, 64, [1, 1]), 64, 96, [3, 3]), 96, 96, [3, 3])
        x = g.op("Concat", conv(x, channels, 64, [1, 1]), wide, twice,
                 conv(pool(x), channels, pooled, [1, 1]), axis=1)
        channels = 224 + pooled
    x = conv(x, channels, 384, [3, 3], 2)
    channels = 384
    for inner in [128, 160, 192]:
        long = conv(conv(conv(x, channels, inner, [1, 1]), inner, inner, [1, 7]),
                    inner, 192, [7, 1])
        x = g.op("Concat", conv(x, channels, 192, [1, 1]), long,
                 conv(pool(x), channels, 192, [1, 1]), axis=1)
        channels = 576
    x = g.op("Flatten", g.op("GlobalAveragePool", x))
    g.output(g.linear(x, channels, 1000), "logits", [1, 1000])
    return g


class Quantized:
    """Another network in 8 bits: as ONNX Runtime's tools make it of two inputs of
    random numbers, in QDQ form, or, `dynamic`, with products alone."""

    def __init__(self, name, seed, build, dynamic=False):
        self.name, self.seed, self.build, self.dynamic = name, seed, build, dynamic

    def save(self, folder):
        import logging
        import onnxruntime
        from onnxruntime import quantization as q
        logging.disable(logging.WARNING)  # Of preparations that are made, or not.
        target = os.path.join(folder, f"{self.name}.onnx")
        with tempfile.TemporaryDirectory() as work:
            network = self.build("floats", self.seed)
            network.save(work)
            floats = os.path.join(work, "floats.onnx")
            if self.dynamic:
                q.quantize_dynamic(floats, target, weight_type=q.QuantType.QInt8)
                return
            # Batch normalisations become part of weights.
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = (
                onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC)
            options.optimized_model_filepath = os.path.join(work, "folded.onnx")
            options.log_severity_level = 3
            onnxruntime.InferenceSession(floats, options,
                                         providers=["CPUExecutionProvider"])
            q.quantize_static(options.optimized_model_filepath, target,
                              self.Inputs(network), quant_format=q.QuantFormat.QDQ,
                              activation_type=q.QuantType.QUInt8,
                              weight_type=q.QuantType.QInt8)

    class Inputs:
        """As a CalibrationDataReader."""

        def __init__(self, network):
            random = np.random.default_rng(network.count)
            self.left = [{value.name: self.of(value, random)
                          for value in network.inputs} for _ in range(2)]

        @staticmethod
        def of(value, random):
            tensor = value.type.tensor_type
            shape = [dim.dim_value for dim in tensor.shape.dim]
            if tensor.elem_type == TensorProto.FLOAT:
                return random.standard_normal(shape).astype(np.float32)
            return np.ones(shape, np.int64)

        def get_next(self):
            return self.left.pop() if self.left else None

        def rewind(self):
            pass


def quantized(build, **options):
    return lambda name, seed: Quantized(name, seed, build, **options)


NETWORKS = {
    "resnet50": resnet50,
    "mobilenetv2": mobilenetv2,
    "bert_base": bert,
    "mlp": mlp,
    "elementwise": elementwise,
    "resnet50_b8": lambda name, seed: resnet50(name, seed, batch=8),
    "minilm_l6_s32": minilm,
}
OTHERS = {
    "vit": vit,
    "gpt": gpt,
    "gpt_step": gpt_step,
    "unet": unet,
    "lstm": lambda name, seed: recurrent(name, seed, "LSTM", 4),
    "lstm_wide": lambda name, seed: recurrent(name, seed, "LSTM", 4, 25, 512, 1),
    "gru": lambda name, seed: recurrent(name, seed, "GRU", 3),
    "tcn": tcn,
    "conv3d": conv3d,
    "efficientnet": efficientnet,
    "shufflenet": shufflenet,
    "convnext": convnext,
    "detector": detector,
    "generator": generator,
    "squeezenet": squeezenet,
    "diffusion": diffusion,
    "speech": speech,
    "segmenter": segmenter,
    "xception": xception,
    "regnet": regnet,
    "mobileone": mobileone,
    "efficientnet_lite": lambda name, seed: mobilenetv2(name, seed, EFFICIENTNET_LITE),
    "densenet": densenet,
    "inception": inception,
    "mobilenetv2_b16": lambda name, seed: mobilenetv2(name, seed, batch=16),
    "unet_b8": lambda name, seed: unet(name, seed, batch=8),
    "squeezenet_b8": lambda name, seed: squeezenet(name, seed, batch=8),
    "densenet_b8": lambda name, seed: densenet(name, seed, batch=8),
}
QUANTIZED = {
    "resnet50_int8": quantized(resnet50),
    "mobilenetv2_int8": quantized(mobilenetv2),
    "minilm_int8": quantized(minilm),
    "mlp_int8": quantized(mlp),
    "minilm_dynamic": quantized(minilm, dynamic=True),
    "mlp_dynamic": quantized(mlp, dynamic=True),
}
OTHERS |= QUANTIZED

# Of any length: compare.py --length says which.
OPEN = {"minilm_open": minilm_open}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*", default=[], metavar="NAME",
                        help=f"default: all of {', '.join(NETWORKS)}; "
                             f"there are also {', '.join(OTHERS | OPEN)}")
    parser.add_argument("--others", action="store_true",
                        help="all of these by default")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, help="of networks that are built for one")
    parser.add_argument("--type", choices=("f16", "bf16"), help="of floats, instead of f32")
    arguments = parser.parse_intermixed_args()
    default = OTHERS if arguments.others else NETWORKS
    known = NETWORKS | OTHERS | OPEN
    for name in arguments.names:
        if name not in known:
            parser.error(f"expected one of {', '.join(known)}, got {name}")
    os.makedirs(arguments.folder, exist_ok=True)
    for offset, (name, build) in enumerate(known.items()):
        if name in (arguments.names or default):
            options = {}
            if arguments.batch:
                if "batch" not in inspect.signature(build).parameters:
                    parser.error(f"{name} has a batch of its own")
                options["batch"] = arguments.batch
                name = f"{name}_b{arguments.batch}"
            if arguments.type:
                name = f"{name}_{arguments.type}"
            build(name, arguments.seed + offset, **options).save(arguments.folder)
            if arguments.type:
                shorten(os.path.join(arguments.folder, f"{name}.onnx"), arguments.type)


if __name__ == "__main__":
    main()
