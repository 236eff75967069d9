#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes nnvm.jsonl: what operators of NNVM's compiler mean, computed here.

usage: make_nnvm_cases.py OUTPUT      (numpy)

No build of NNVM is left to ask, so that these answers are not another
program's: they are the formulas of its documentation and of topi's kernels,
written down once more in NumPy. The files have the form that
nnvm.graph.create(symbol).json() has; a line has the form of operators.jsonl.
"""

import json
import sys

import numpy as np

random = np.random.RandomState(11)
cases = []


def normal(*shape):
    values = random.uniform(-3, 3, shape)
    return (np.round(values * 8) / 8 + 1 / 32).astype("float32")


def positive(*shape):
    return np.abs(normal(*shape)) + np.float32(0.25)


def whole(*shape, high, dtype="int32"):
    return random.randint(0, high, shape).astype(dtype)


def encode(array):
    array = np.asarray(array)
    values = array.reshape(-1).tolist()
    return [str(array.dtype), list(array.shape), [float("%.9g" % v) for v in values] if array.dtype.kind == "f" else values]


def case(op, expected, *arrays, names="data weight bias d e f", states=(), **attributes):
    """The operator on variables of these values; results that it does not show are none of the heads."""
    expected = expected if isinstance(expected, list) else [expected]
    names = names.split()[:len(arrays)]
    nodes = [{"op": "null", "name": name, "inputs": []} for name in names]
    # What only NNVM has, so that the file is known as its.
    nodes.append({"op": "full", "name": "other", "attrs": {"shape": "(1,)", "fill_value": "1"}, "inputs": []})
    inputs = [[i, 0, 0] for i in range(len(arrays))]
    nodes.append({"op": op, "name": "op", "attrs": {key: str(value) for key, value in attributes.items()}, "inputs": inputs})
    last = len(nodes) - 1
    file = {"nodes": nodes, "arg_nodes": list(range(len(arrays))), "node_row_ptr": list(range(last + 2)),
            "heads": [[last, i, 0] for i in range(len(expected))]}
    values = dict(zip(names, arrays))
    cases.append({"symbol": file, "inputs": {name: encode(value) for name, value in values.items() if name not in states},
                  "states": {name: encode(values[name]) for name in states},
                  "outputs": [encode(np.asarray(value)) for value in expected]})


def layers():
    data, weight, bias = normal(2, 5), normal(3, 5), normal(3)
    case("dense", data @ weight.T + bias, data, weight, bias, units=3)
    rows = normal(2, 2, 5)
    case("dense", rows @ weight.T, rows, weight, units=3, use_bias=False)
    x = normal(2, 3, 2, 2)
    gamma, beta, mean, var = normal(3), normal(3), normal(3), positive(3)

    def norm(x, axis, eps=1e-5, gamma=gamma, beta=beta):
        shape = [1] * 4
        shape[axis] = 3
        g, b, m, v = (each.reshape(shape) for each in (gamma, beta, mean, var))
        return ((x - m) / np.sqrt(v + np.float32(eps)) * g + b).astype("float32")

    own = {"names": "data gamma beta moving_mean moving_var", "states": ("moving_mean", "moving_var")}
    case("batch_norm", norm(x, 1), x, gamma, beta, mean, var, **own)
    last = x.transpose(0, 2, 3, 1).copy()
    case("batch_norm", norm(last, 3, 0.25), last, gamma, beta, mean, var, axis=3, epsilon=0.25, **own)
    case("batch_norm", norm(x, 1, gamma=np.ones(3)), x, gamma, beta, mean, var, scale=False, **own)
    case("batch_norm", norm(x, 1, beta=np.zeros(3)), x, gamma, beta, mean, var, center=False, **own)
    case("dropout", x, x, rate=0.25)
    case("relu", np.maximum(data, 0), data)
    case("leaky_relu", np.where(data > 0, data, data * np.float32(0.125)), data, alpha=0.125)
    alpha = normal(3)
    case("prelu", np.where(x > 0, x, x * alpha.reshape(1, 3, 1, 1)), x, alpha)
    case("prelu", np.where(last > 0, last, last * alpha), last, alpha, axis=3)
    e = np.exp(x - x.max(1, keepdims=True))
    case("softmax", e / e.sum(1, keepdims=True), x, axis=1)
    e = np.exp(data - data.max(-1, keepdims=True))
    case("log_softmax", np.log(e / e.sum(-1, keepdims=True)), data)
    squares = np.pad(x.astype("float64") ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    near = sum(squares[:, i:i + 3] for i in range(3))
    scaled = (x / (2 + 0.5 / 3 * near) ** 0.75).astype("float32")
    case("lrn", scaled, x, size=3, axis=1, alpha=0.5, beta=0.75, bias=2)
    case("lrn", scaled.transpose(0, 2, 3, 1), last, size=3, axis=3, alpha=0.5, beta=0.75, bias=2)
    small = x / 64
    total = np.maximum((small ** 2).sum(1, keepdims=True), np.float32(0.01))
    case("l2_normalize", small / np.sqrt(total), small, eps=0.01, axis="(1,)")


def convolve(x, w, stride=(1, 1), pad=(0, 0), dilate=(1, 1), groups=1):
    """NCHW, OIHW."""
    x = np.pad(x.astype("float64"), ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    n, c, h, wide = x.shape
    o, i, kh, kw = w.shape
    oh = (h - dilate[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (wide - dilate[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((n, o, oh, ow))
    for f in range(o):
        first = f // (o // groups) * i
        for a in range(oh):
            for b in range(ow):
                part = x[:, first:first + i, a * stride[0]:a * stride[0] + dilate[0] * (kh - 1) + 1:dilate[0],
                         b * stride[1]:b * stride[1] + dilate[1] * (kw - 1) + 1:dilate[1]]
                y[:, f, a, b] = (part * w[f]).sum((1, 2, 3))
    return y


def spread(x, w, stride=(1, 1), pad=(0, 0), more=(0, 0), groups=1):
    """The reverse: weights are (in, out / groups, height, width)."""
    n, c, h, wide = x.shape
    _, o, kh, kw = w.shape
    y = np.zeros((n, o * groups, stride[0] * (h - 1) + kh + more[0], stride[1] * (wide - 1) + kw + more[1]))
    for i in range(c):
        first = i // (c // groups) * o
        for a in range(h):
            for b in range(wide):
                y[:, first:first + o, a * stride[0]:a * stride[0] + kh, b * stride[1]:b * stride[1] + kw] += \
                    x[:, i, a, b].reshape(n, 1, 1, 1).astype("float64") * w[i]
    return y[:, :, pad[0]:y.shape[2] - pad[0], pad[1]:y.shape[3] - pad[1]]


def convolutions():
    x, w, b = normal(1, 4, 4, 5), normal(2, 4, 3, 2), normal(4)
    column = b[:2].reshape(1, -1, 1, 1)
    case("conv2d", (convolve(x, w) + column).astype("float32"), x, w, b[:2], channels=2, kernel_size="(3, 2)")
    y = convolve(x, w, (2, 1), (1, 2), (1, 2)).astype("float32")
    case("conv2d", y, x, w, channels=2, kernel_size="(3, 2)", strides="(2, 1)", padding="(1, 2)", dilation="(1, 2)",
         use_bias=False)
    case("conv2d", y.transpose(0, 2, 3, 1), x.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy(), channels=2,
         kernel_size="(3, 2)", strides="(2, 1)", padding="(1, 2)", dilation="[1, 2]", use_bias="False", layout="NHWC",
         kernel_layout="HWIO")
    case("conv2d", y.transpose(0, 2, 3, 1), x, w, channels=2, kernel_size="(3, 2)", strides="(2, 1)", padding="(1, 2)",
         dilation="(1, 2)", use_bias="0", out_layout="NHWC")
    halves = normal(4, 2, 2, 3)
    case("conv2d", (convolve(x, halves, pad=(1, 1), groups=2) + b.reshape(1, -1, 1, 1)).astype("float32"), x, halves, b,
         channels=4, kernel_size="(2, 3)", padding="(1,)", groups=2)
    own = normal(4, 1, 2, 2)
    case("conv2d", convolve(x, own, groups=4).astype("float32"), x, own, channels=4, kernel_size="(2, 2)", groups=4,
         use_bias=False)
    a, k = whole(1, 2, 3, 3, high=9, dtype="int8"), whole(2, 2, 2, 2, high=5, dtype="int8")
    case("conv2d", convolve(a, k).astype("int32"), a, k, channels=2, kernel_size="(2, 2)", use_bias=False,
         out_dtype="int32")
    w = normal(4, 2, 3, 2)
    column = b[:2].reshape(1, -1, 1, 1)
    y = (spread(x, w, (2, 1), (1, 0), (1, 0)) + column).astype("float32")
    options = {"channels": 2, "kernel_size": "(3, 2)", "strides": "(2, 1)", "padding": "(1, 0)", "output_padding": "(1, 0)"}
    case("conv2d_transpose", y, x, w, b[:2], **options)
    case("conv2d_transpose", y.transpose(0, 2, 3, 1), x.transpose(0, 2, 3, 1).copy(), w, b[:2], layout="NHWC", **options)
    w = normal(4, 1, 2, 2)
    case("conv2d_transpose", spread(x, w, groups=2).astype("float32"), x, w, channels=2, kernel_size="(2, 2)", groups=2,
         use_bias=False)


def pool(x, kind, size, stride=(1, 1), pad=(0, 0, 0, 0), ceil=False, counts=False):
    """NCHW; `pad` is top, left, bottom, right."""
    n, c, h, w = x.shape
    extents = [(h + pad[0] + pad[2], size[0], stride[0]), (w + pad[1] + pad[3], size[1], stride[1])]
    oh, ow = ((full - each + (step - 1 if ceil else 0)) // step + 1 for full, each, step in extents)
    y = np.zeros((n, c, oh, ow))
    for a in range(oh):
        for b in range(ow):
            top, left = a * stride[0] - pad[0], b * stride[1] - pad[1]
            part = x[:, :, max(top, 0):min(top + size[0], h), max(left, 0):min(left + size[1], w)].astype("float64")
            if kind == "max":
                y[:, :, a, b] = part.max((2, 3))
            else:
                count = size[0] * size[1] if counts else part.shape[2] * part.shape[3]
                y[:, :, a, b] = part.sum((2, 3)) / count
    return y.astype("float32")


def pools():
    x = normal(1, 2, 5, 7)
    for kind in "max", "avg":
        name = kind + "_pool2d"
        case(name, pool(x, kind, (2, 3)), x, pool_size="(2, 3)")
        case(name, pool(x, kind, (3, 3), (2, 2), (1, 1, 1, 1)), x, pool_size="(3, 3)", strides="(2, 2)", padding="(1, 1)")
        case(name, pool(x, kind, (3, 2), (2, 3), (1, 0, 1, 0), ceil=True), x, pool_size="(3, 2)", strides="(2, 3)",
             padding="(1, 0)", ceil_mode=True)
        case(name, pool(x, kind, (3, 3), (2, 2), (0, 0, 1, 2)), x, pool_size="(3, 3)", strides="(2, 2)",
             padding="(0, 0, 1, 2)")
        last = x.transpose(0, 2, 3, 1).copy()
        case(name, pool(x, kind, (2, 2), (2, 2)).transpose(0, 2, 3, 1), last, pool_size="(2, 2)", strides="(2, 2)",
             layout="NHWC")
        whole = x.max((2, 3), keepdims=True) if kind == "max" else x.mean((2, 3), keepdims=True)
        case("global_" + name, whole, x)
        case("global_" + name, whole.transpose(0, 2, 3, 1), last, layout="NHWC")
    case("avg_pool2d", pool(x, "avg", (3, 3), (2, 2), (1, 1, 1, 1), counts=True), x, pool_size="(3, 3)", strides="(2, 2)",
         padding="(1, 1)", count_include_pad=True)
    case("avg_pool2d", pool(x, "avg", (2, 2), (2, 2), (1, 1, 1, 1), ceil=True, counts=True), x, pool_size="(2, 2)",
         strides="(2, 2)", padding="(1, 1)", ceil_mode=True, count_include_pad=True)
    case("avg_pool2d", pool(x, "avg", (3, 3), (2, 2), (1, 0, 0, 1), counts=True), x, pool_size="(3, 3)", strides="(2, 2)",
         padding="(1, 0, 0, 1)", count_include_pad=True)
    x, last = x[:, :, :2, :3].copy(), last[:, :2, :3].copy()
    case("upsampling", x.repeat(2, 2).repeat(2, 3), x, scale=2)
    case("upsampling", last.repeat(3, 1).repeat(3, 2), last, scale=3, layout="NHWC")


def shapes():
    x = normal(2, 3, 4)
    case("flatten", x.reshape(2, 12), x)
    case("reshape", x.reshape(6, 4), x, shape="(-3, 0)")
    case("reshape", x.reshape(2, 3, 2, 2), x, shape="(0, 0, -4, 2, -1)")
    case("reshape", x.reshape(4, 6), x, shape="[4, -1]")
    case("transpose", x.transpose(2, 1, 0), x)
    case("transpose", x.transpose(1, 0, 2), x, axes="(1, 0, 2)")
    case("expand_dims", x[:, None, None], x, axis=1, num_newaxis=2)
    case("expand_dims", x[:, :, None, None], x, axis=-2, num_newaxis=2)
    case("squeeze", x[:1, :, :1].reshape(3), x[:1, :, :1].copy())
    case("squeeze", x[:1, :, :1].reshape(1, 3), x[:1, :, :1].copy(), axis="(2,)")
    case("pad", np.pad(x, ((0, 1), (1, 0), (2, 2)), constant_values=1.5), x, pad_value=1.5,
         pad_width="((0, 1), (1, 0), (2, 2))")
    for widths in ((1, 2), (0, 1)), ((0, 0), (0, 0), (1, 0), (0, 2)), ((1, 0), (0, 2), (1, 1), (0, 0)), \
            ((0, 1), (1, 0), (0, 0), (1, 0), (0, 1)):
        y = normal(*(1, 2, 2, 1, 2)[:len(widths)])
        case("pad", np.pad(y, widths), y, pad_width=widths)
    y = normal(2, 2, 4)
    case("concatenate", np.concatenate([x, y], 1), x, y)
    case("concatenate", np.concatenate([x, x, x], 2), x, x, x, axis=2)
    case("split", np.split(x, 3, 1), x, indices_or_sections=3)
    case("split", np.split(x, [1, 3], 2), x, indices_or_sections="(1, 3)", axis=2)
    case("split", np.split(x, [1], 1), x, indices_or_sections="(1,)")
    case("flip", x[::-1], x)
    case("flip", x[:, :, ::-1], x, axis=2)
    case("strided_slice", x[0:2, 1:3], x, begin="(0, 1)", end="(2, 3)")
    case("strided_slice", x[:, 2:0:-1, 1:4:2], x, begin="(0, 2, 1)", end="(2, 0, 4)", stride="(1, -1, 2)")
    case("slice_like", x[:1, :2, :3], x, normal(1, 2, 3))
    case("slice_like", x[:, :2], x, normal(1, 2, 3), axis="(1,)")
    at = whole(2, 2, high=4)
    case("take", x.reshape(-1)[at], x, at, names="data indices")
    case("take", x[:, :, at], x, at, names="data indices", axis=2)
    case("expand_like", np.broadcast_to(y[0, 0][None, :, None], (2, 4, 3)), y[0, 0].copy(), normal(2, 4, 3), axis="(0, 2)")
    case("reshape_like", x.reshape(4, 6), x, normal(4, 6))
    case("broadcast_to", np.broadcast_to(x[:1], (2, 3, 4)), x[:1].copy(), shape="(2, 0, 0)")
    case("cast", x.astype("int32"), x, dtype="int32")
    case("matmul", x @ y[0].T, x, y[0].copy(), transpose_b=True)


def elements():
    x, y = normal(2, 3), normal(2, 3)
    for name, function in ("tanh", np.tanh), ("exp", np.exp), ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), \
            ("abs", np.abs), ("negative", np.negative), ("copy", lambda x: x), ("block_grad", lambda x: x), \
            ("zeros_like", np.zeros_like), ("ones_like", np.ones_like), ("sigmoid", lambda x: 1 / (1 + np.exp(-x))):
        case(name, function(x), x)
    case("log", np.log(np.abs(x)), np.abs(x))
    case("sqrt", np.sqrt(np.abs(x)), np.abs(x))
    half = np.array([0.5, 1.5, -0.5, -2.5], "float32")
    case("round", np.trunc(half + np.sign(half) / 2), half)
    case("clip", np.clip(x, -1, 1.5), x, a_min=-1, a_max=1.5)
    for name, function in ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide):
        case("elemwise_" + name, function(x, y), x, y)
        case("broadcast_" + name, function(x, y[:, :1]), x, y[:, :1].copy())
        case("__%s_symbol__" % name, function(x, y), x, y)
        case("__%s_scalar__" % name, function(x, np.float32(1.5)), x, scalar=1.5)
    case("__rsub_scalar__", np.float32(1.5) - x, x, scalar=1.5)
    case("__rdiv_scalar__", np.float32(1.5) / x, x, scalar=1.5)
    case("__pow_scalar__", np.abs(x) ** np.float32(1.5), np.abs(x), scalar=1.5)
    case("__rpow_scalar__", np.float32(1.5) ** x, x, scalar=1.5)
    same = y.copy()
    same[0] = x[0]
    for name, function in ("equal", np.equal), ("not_equal", np.not_equal), ("greater", np.greater), ("less", np.less), \
            ("greater_equal", np.greater_equal), ("less_equal", np.less_equal):
        case("broadcast_" + name, function(x, same).astype("float32"), x, same)
    case("broadcast_max", np.maximum(x, y[:1]), x, y[:1].copy())
    case("broadcast_min", np.minimum(x, y[:1]), x, y[:1].copy())
    case("broadcast_pow", np.abs(x) ** y[:1], np.abs(x), y[:1].copy())
    case("greater", (x > y).astype("float32"), x, y, names="lhs rhs")
    case("less", (x < y).astype("float32"), x, y, names="lhs rhs")
    case("elemwise_sum", x + y + x, x, y, x, num_args=3)
    flags = whole(2, 3, high=2, dtype="float32")
    case("where", np.where(flags != 0, x, y), flags, x, y, names="condition x y")
    places = np.array([[0, 1], [2, 0]], "float32")
    case("gather_nd", x[[0, 1], [2, 0]], x, places, names="data indices")
    case("full", np.full((2, 3), 1.5, "float32"), shape="(2, 3)", fill_value=1.5)
    case("full", np.full((2,), 3, "int32"), shape="(2,)", fill_value=3, dtype="int32")
    case("zeros", np.zeros((2, 3), "float32"), shape="(2, 3)")
    case("ones", np.ones((2, 3), "int32"), shape="(2, 3)", dtype="int32")
    case("full_like", np.full((2, 3), 1.5, "float32"), x, fill_value=1.5)


def reductions():
    x = normal(2, 3, 4)
    for name in "sum", "max", "min", "mean", "prod":
        function = getattr(np, name)
        case(name, function(x).reshape(1), x)
        case(name, function(x, 1), x, axis=1)
        case(name, function(x, (0, 2), keepdims=True), x, axis="(0, 2)", keepdims=True)
        case(name, function(x, (0, 2)), x, axis="(1,)", exclude=True)
    for name in "argmax", "argmin":
        function = getattr(np, name)
        case(name, function(x).reshape(1).astype("int32"), x)
        case(name, function(x, 1).astype("int32"), x, axis=1)
        case(name, function(x, 2).astype("float32")[:, :, None], x, axis="(2,)", keepdims=True, dtype="float32")


for make in layers, convolutions, pools, shapes, elements, reductions:
    make()
with open(sys.argv[1], "w") as file:
    for each in cases:
        file.write(json.dumps(each, separators=(",", ":")) + "\n")
print(len(cases), "cases")
