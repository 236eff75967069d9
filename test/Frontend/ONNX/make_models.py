#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models of these tests into the folder Inputs.

The models are committed; run this after a change here. It needs the Python
package onnx 1.22. Sources are in ONNX's text form where that can say it, else
in Python.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, parser

FOLDER = pathlib.Path(__file__).parent / "Inputs"

# name -> text of a model
TEXTS = {}


def text(name, body, ir=8, opset=13, domains=()):
    imports = "".join(f', "{domain}" : 1' for domain in domains)
    TEXTS[name] = f'<ir_version: {ir}, opset_import: ["" : {opset}{imports}]>\n{body}'


text(
    "basic",
    """agraph (float[N, 3] x) => (float[N, 4] y)
    <float[3, 4] w = {1,2,3,4,5,6,7,8,9,10,11,12}, float[4] unused = {1,2,3,4}>
    {
      product = MatMul(x, w)
      y = Relu(product)
    }""",
)
text(
    "quantized-convolutions",
    """agraph (uint8[1, 4, 5, 5] x, int8[4, 4, 3, 3] w, int8[4, 1, 3, 3] v, int32[4] b) => (uint8[1, 4, 3, 3] y, uint8[1, 4, 3, 3] z)
    <float sx = {0.5}, uint8 zx = {3}, float[4] sw = {1,2,3,4}, int8[4] zw = {0,1,2,3}, int8 zero = {2}, float sy = {0.25}, uint8 zy = {7}>
    {
      y = QLinearConv(x, sx, zx, w, sw, zw, sy, zy, b)
      z = QLinearConv<group = 4>(x, sx, zx, v, sw, zero, sy, zy, b)
    }""",
)
text(
    "quantized-bias",
    """agraph (uint8[1, 4, 5, 5] x, int8[4, 4, 3, 3] w, int32[4, 1] b) => (uint8[1, 4, 3, 3] y)
    <float s = {0.5}, uint8 z = {3}, int8 zero = {0}>
    {
      y = QLinearConv(x, s, z, w, s, zero, s, z, b)
    }""",
)
text(
    "microsoft",
    """agraph (uint8[2, 3] x, uint8[2, 3] y, int8[3, 4] w, float[2, 3] f) => (uint8[2, 3] a, float[2, 4] g, float[2, 4] d, float[2, 3] n)
    <float s = {0.5}, uint8 z = {3}, int8 zero = {0}, float[4] bias = {1,2,3,4}, float[3] gamma = {1,2,3}>
    {
      a = com.microsoft.QLinearAdd(x, s, z, y, s, , s, z)
      g = com.microsoft.QGemm(x, s, z, w, s, zero)
      d = com.microsoft.DynamicQuantizeMatMul(f, w, s, , bias)
      n = com.microsoft.SkipLayerNormalization<epsilon = 0.5>(f, f, gamma)
    }""",
    opset=17,
    domains=["com.microsoft"],
)
text(
    "microsoft-pool",
    """agraph (uint8[1, 2, 4, 4] x) => (uint8[1, 2, 2, 2] y)
    <float s = {0.5}, uint8 z = {3}, int8[2, 1, 1, 1] w = {1, 2}, int8 zw = {0}>
    {
      p = com.microsoft.QLinearAveragePool<kernel_shape = [2, 2], strides = [2, 2]>(x, s, z, s, z)
      f = DequantizeLinear(p, s, z)
      v = DequantizeLinear(w, s, zw)
      c = Conv<group = 2>(f, v)
      y = QuantizeLinear(c, s, z)
    }""",
    opset=17,
    domains=["com.microsoft"],
)
text(
    "microsoft-lstm",
    """agraph (float[3, 1, 2] x) => (float[3, 1, 1, 1] y)
    <int8[1, 2, 4] w = {1, 2, 3, 4, 5, 6, 7, 8}, int8[1, 1, 4] r = {1, 2, 3, 4},
     float[1] sw = {0.5}, float[1, 4] sr = {1, 2, 3, 4}, int8[1] zw = {1}>
    {
      y = com.microsoft.DynamicQuantizeLSTM<hidden_size = 1>(x, w, r, , , , , , sw, zw, sr)
    }""",
    opset=17,
    domains=["com.microsoft"],
)
text(
    "microsoft-missing",
    """agraph (uint8[2, 3] x) => (uint8[2, 3] y)
    <float s = {0.5}, uint8 z = {3}>
    {
      y = com.microsoft.QLinearSigmoid(x, s, z)
    }""",
    domains=["com.microsoft"],
)
text(
    "shapes",
    """agraph (float[2, 3, 4] x) => (float[6, 4] y)
    {
      s = Shape(x)
      zero = Constant<value_int = 0>()
      one = Constant<value_int = 1>()
      a = Gather(s, zero)
      b = Gather(s, one)
      ab = Mul(a, b)
      axis = Constant<value_ints = [0]>()
      v = Unsqueeze(ab, axis)
      rest = Constant<value_ints = [-1]>()
      shape = Concat<axis = 0>(v, rest)
      y = Reshape(x, shape)
    }""",
)
text(
    "legacy-broadcast",
    """agraph (float[2, 3, 4, 5] x, float[3] b, float[5] c) => (float[2, 3, 4, 5] z)
    {
      y = Add<broadcast = 1, axis = 1>(x, b)
      z = Mul<broadcast = 1>(y, c)
    }""",
    ir=3,
    opset=6,
)
text(
    "legacy-softmax",
    """agraph (float[2, 3, 4] x) => (float[2, 3, 4] y, float[2, 3, 4] z)
    {
      y = Softmax<axis = 1>(x)
      z = Softmax<axis = 2>(x)
    }""",
    opset=11,
)
text(
    "legacy-pad-slice",
    """agraph (float[2, 3] x) => (float[2, 4] z)
    {
      y = Pad<pads = [0, 1, 0, 2], value = 1.5>(x)
      z = Slice<starts = [1], ends = [5], axes = [1]>(y)
    }""",
    opset=9,
)
text(
    "legacy-upsample",
    """agraph (float[1, 1, 2, 2] x) => (float[1, 1, 4, 6] y)
    {
      y = Upsample<mode = "nearest", scales = [1.0, 1.0, 2.0, 3.0]>(x)
    }""",
    opset=7,
)
text(
    "auto-pad",
    """agraph (float[1, 3, 7, 7] x, float[8, 3, 3, 3] w) => (float[1, 8, 4, 4] y, float[1, 8, 4, 4] z)
    {
      y = Conv<auto_pad = "SAME_UPPER", strides = [2, 2]>(x, w)
      z = Conv<auto_pad = "SAME_LOWER", strides = [2, 2], kernel_shape = [3, 3]>(x, w)
    }""",
)
text(
    "attention",
    """agraph (float[2, 5, 24] q, float[2, 6, 8] k, float[2, 6, 8] v) => (float[2, 5, 24] y)
    {
      y = Attention<q_num_heads = 6, kv_num_heads = 2, is_causal = 1>(q, k, v)
    }""",
    ir=10,
    opset=23,
)
text(
    "outputs",
    """agraph (float[2] x) => (float[2] x, float[2] w, float[2] y, float[2] y2)
    <float[2] w = {1, 2}>
    {
      y = Neg(x)
      y2 = Identity(y)
    }""",
)
text(
    "scalars",
    """agraph (float x, float[0, 3] empty) => (float y, float[0, 3] z)
    <float c = {2.5}>
    {
      y = Mul(x, c)
      z = Add(empty, c)
    }""",
)
text(
    "optional-inputs",
    """agraph (float[4] x, float high) => (float[4] y)
    {
      y = Clip(x, , high)
    }""",
)
text(
    "names",
    """agraph (float[2] "input:0/with space") => (float[2] "out put")
    {
      "a/b:c" = Neg("input:0/with space")
      "out put" = Abs("a/b:c")
    }""",
)
text(
    "symbols",
    """agraph (float[batch, seq, 8] x, float[batch, 8] m) => (float[batch, seq, 8] y)
    {
      axes = Constant<value_ints = [1]>()
      column = Unsqueeze(m, axes)
      y = Add(x, column)
    }""",
)
text(
    "branch",
    """agraph (float[2] x) => (float[2] y)
    {
      yes = Constant<value = bool {1}>()
      y = If(yes) <then_branch = g1 () => (float[2] a) { a = Neg(x) },
                   else_branch = g2 () => (float[2] b) { b = Abs(x) }>
    }""",
)
text(
    "branch-data",
    """agraph (float[2] x, bool positive) => (float[2] y)
    {
      y = If(positive) <then_branch = g1 () => (float[2] a) { a = Neg(x) },
                        else_branch = g2 () => (float[2] b) { b = Abs(x) }>
    }""",
)
text(
    "branch-shapes",
    """agraph (float[2] x, bool positive) => (float[n] y)
    {
      y = If(positive) <then_branch = g1 () => (float[2] a) { a = Neg(x) },
                        else_branch = g2 () => (float[4] b) { b = Concat<axis = 0>(x, x) }>
    }""",
)
text(
    "branch-indices",
    """agraph (float[4] x, int64[2] i, bool positive) => (float[2] y)
    {
      y = If(positive) <then_branch = g1 () => (float[2] a) { a = Gather(x, i) },
                        else_branch = g2 () => (float[2] b) <int64[2] j = {3, -4}> { b = Gather(x, j) }>
    }""",
)
text(
    "stft-real",
    """agraph (float[2, 32] x) => (float[2, 5, 9, 2] y)
    {
      step = Constant<value = int64 {4}>()
      length = Constant<value = int64 {16}>()
      y = STFT(x, step, , length)
    }""",
    opset=17,
)
text(
    "topk-v1",
    """agraph (float[3, 4] x) => (float[3, 2] y, int64[3, 2] i)
    { y, i = TopK<k = 2>(x) }""",
    opset=9,
)
text(
    "lstm",
    """agraph (float[5, 2, 3] x, float[1, 16, 3] w, float[1, 16, 4] r) => (float[1, 2, 4] h)
    { , h = LSTM<hidden_size = 4>(x, w, r) }""",
    opset=14,
)
text(
    "scan",
    """agraph (float[2] zero, float[3, 2] x) => (float[2] last, float[3, 2] sums)
    { last, sums = Scan(zero, x) <num_scan_inputs = 1, scan_output_directions = [1], body =
        g (float[2] s, float[2] a) => (float[2] t, float[2] copy) { t = Add(s, a) copy = Neg(t) }> }""",
)
text(
    "opset-28",
    """agraph (float[2] a, float[2] b, float[1, 1, 4, 4] x) => (float[2] y, float[1, 4, 2, 2] z)
    { y = SwiGLU<alpha = 2.0>(a, b)
      z = SpaceToDepth<blocksize = 2, mode = "DCR">(x) }""",
    opset=28,
    ir=14,
)
text(
    "opset-28-mode",
    """agraph (float[1, 1, 4, 4] x) => (float[1, 4, 2, 2] z)
    { z = SpaceToDepth<blocksize = 2, mode = "CRD">(x) }""",
    opset=28,
)
text(
    "loop-steps",
    """agraph (float[2] x, float[4] z) => (float[2] y, float[3, 2] all, float[2] twice, float[2] none)
    {
      length = Shape(z)
      one = Constant<value = int64[1] {1}>()
      three = Sub(length, one)
      n = Squeeze(three)
      c = Constant<value = bool {1}>()
      y, all = Loop(n, c, x) <body = g (int64 i, bool k, float[2] a) => (bool k2, float[2] b, float[2] s)
        { k2 = Identity(k) f = Cast<to = 1>(i) b = Add(a, f) s = Neg(b) }>
      two = Constant<value = int64 {1}>()
      twice = Loop(, c, x) <body = h (int64 i, bool k, float[2] a) => (bool k2, float[2] b)
        { k2 = Less(i, two) b = Mul(a, x) }>
      zero = Constant<value = int64 {0}>()
      none = Loop(zero, , x) <body = l (int64 i, bool k, float[2] a) => (bool k2, float[2] b)
        { k2 = Identity(k) b = Exp(a) }>
    }""",
)
# Bad models.
text("unknown-operator", "agraph (float[2] x) => (float[2] y) { y = Frobnicate(x) }")
text("removed-operator", "agraph (float[1,1,2,2] x, float[4] s) => (float[1,1,2,2] y) { y = Upsample(x, s) }")
text("too-early", "agraph (float[2] x) => (float[2] y) { y = Gelu(x) }")
text("unknown-attribute", "agraph (float[2] x) => (float[2] y) { y = Relu<slope = 1.0>(x) }")
text("wrong-attribute-kind", "agraph (float[2, 2] x) => (float[2, 2] y) { y = Softmax<axis = 1.0>(x) }")
text("missing-input", "agraph (float[2] x) => (float[2] y) { y = Add(x) }")
text("too-many-inputs", "agraph (float[2] x) => (float[2] y) { y = Relu(x, x) }")
text("too-many-outputs", "agraph (float[2] x) => (float[2] y) { y, z = Relu(x) }")
text("unknown-value", "agraph (float[2] x) => (float[2] y) { y = Add(x, nobody) }")
text("unsorted", "agraph (float[2] x) => (float[2] y) { y = Neg(z)\n z = Abs(x) }")
text("cycle", "agraph (float[2] x) => (float[2] y) { a = Add(x, b)\n b = Abs(a)\n y = Abs(b) }")
text("defined-twice", "agraph (float[2] x) => (float[2] y) { y = Neg(x)\n y = Abs(x) }")
text("new-opset", "agraph (float[2] x) => (float[2] y) { y = Neg(x) }", opset=29)
text("old-ir", "agraph (float[2] x) => (float[2] y) { y = Neg(x) }", ir=2)
text("wrong-rank", "agraph (float[2] x, float[2, 2] w) => (float[2] y) { y = Conv(x, w) }")
text("wrong-shapes", "agraph (float[2] x, float[3] w) => (float[3] y) { y = Add(x, w) }")
text("output-type", "agraph (float[2] x) => (int64[2] y) { y = Neg(x) }")
text("strings", "agraph (string[2] x) => (string[2] y) { y = StringNormalizer(x) }")
text("float8", "agraph (float8e4m3fn[2] x) => (float[2] y) { y = Cast<to = 1>(x) }", ir=10, opset=19)
text(
    "huge-splat",
    """agraph () => (float[1125899906842624] y)
    {
      shape = Constant<value_ints = [1125899906842624]>()
      y = ConstantOfShape<value = float[1] {1}>(shape)
    }""",
)
text("symbol-twice", "agraph (float[N, N] x) => (float[N, N] y) { y = Neg(x) }")
text("output-twice", "agraph (float[2] x) => (float[2] y, float[2] y) { y = Neg(x) }")
text("random", "agraph () => (float[2] y) { y = RandomNormal<shape = [2]>() }")
text(
    "loop",
    """agraph (int64 n, bool c, float[2] x) => (float[2] y)
    { y = Loop(n, c, x) <body = g (int64 i, bool k, float[2] a) => (bool k2, float[2] b)
        { k2 = Identity(k) b = Neg(a) }> }""",
)
text(
    "loop-condition",
    """agraph (float[2] x) => (float[2] y)
    { n = Constant<value = int64 {4}>()
      c = Constant<value = bool {1}>()
      y = Loop(n, c, x) <body = g (int64 i, bool k, float[2] a) => (bool k2, float[2] b)
        { m = ReduceMax<keepdims = 0>(a) z = Constant<value = float {0}>() k2 = Less(m, z) b = Neg(a) }> }""",
)
text(
    "loop-long",
    """agraph (float[2] x) => (float[2] y)
    { n = Constant<value = int64 {65}>()
      y = Loop(n, , x) <body = g (int64 i, bool k, float[2] a) => (bool k2, float[2] b)
        { k2 = Identity(k) b = Neg(a) }> }""",
)
text(
    "loop-nothing",
    """agraph (float[2] x) => (float[2] y, float[n, 2] all)
    { n = Constant<value = int64 {0}>()
      y, all = Loop(n, , x) <body = g (int64 i, bool k, float[2] a) => (bool k2, float[2] b, float[2] s)
        { k2 = Identity(k) b = Neg(a) s = Identity(b) }> }""",
)

# Whole models, for functions and other domains.
MODELS = {
    "function": """<ir_version: 8, opset_import: ["" : 13, "my" : 1]>
agraph (float[2] x) => (float[2] y, float[2] z)
{
  y = my.scaled<alpha = 0.5>(x)
  z = my.scaled(x)
}
<domain: "my", opset_import: ["" : 13]>
scaled <alpha: float = 0.25> (a) => (b)
{
  t = LeakyRelu<alpha: float = @alpha>(a)
  b = Neg(t)
}""",
    "many-faults": """<ir_version: 8, opset_import: ["" : 13, "my" : 1]>
agraph (float[2] x, float[3] long) => (float[2] y, float[2] z)
{ a = Convv(x) b = Relu(a) c = Selu<slope = 1.0>(x) d = Add(x, long) e = my.f(x) y = Neg(b) z = Neg(e) }
<domain: "my", opset_import: ["" : 13]> f (t) => (r) { q = Frobnicate(t) r = Neg(q) }""",
    "function-cycle": """<ir_version: 8, opset_import: ["" : 13, "my" : 1]>
agraph (float[2] x) => (float[2] y) { y = my.f(x) }
<domain: "my", opset_import: ["" : 13, "my" : 1]> f (a) => (b) { b = my.g(a) }
<domain: "my", opset_import: ["" : 13, "my" : 1]> g (a) => (b) { b = my.f(a) }""",
    "other-domain": """<ir_version: 8, opset_import: ["" : 13, "ai.onnx.ml" : 3]>
agraph (float[2] x) => (float[2] y) { y = ai.onnx.ml.Binarizer(x) }""",
    "two-opsets": """<ir_version: 8, opset_import: ["" : 13, "ai.onnx" : 17]>
agraph (float[2] x) => (float[2] y) { y = Neg(x) }""",
    "function-opset": """<ir_version: 8, opset_import: ["" : 13, "my" : 1]>
agraph (float[2] x) => (float[2] y) { y = my.f(x) }
<domain: "my", opset_import: ["" : 999]> f (a) => (b) { b = Neg(a) }""",
    "no-opset": """<ir_version: 8, opset_import: ["my" : 1]>
agraph (float[2] x) => (float[2] y) { y = Neg(x) }""",
}


def function_bomb():
    """Each of 40 functions calls the next one twice: 2^40 nodes."""
    imports = '<domain: "my", opset_import: ["" : 13, "my" : 1]>'
    bodies = [
        f"{imports} f{i} (a) => (c) {{ b = my.f{i + 1}(a) c = my.f{i + 1}(b) }}"
        for i in range(40)
    ]
    bodies.append(f"{imports} f40 (a) => (b) {{ b = Neg(a) }}")
    return (
        '<ir_version: 8, opset_import: ["" : 13, "my" : 1]>\n'
        "agraph (float[2] x) => (float[2] y) { y = my.f0(x) }\n"
        + "\n".join(bodies)
    )


def tensors(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def model(nodes, inputs, outputs, initializers=(), ir=8, opset=13, **kwargs):
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, ir_version=ir, opset_imports=imports, **kwargs)


def built():
    """Models that the text form cannot express."""
    x, y = tensors("x"), tensors("y")
    w = numpy_helper.from_array(np.array([1, 2], np.float32), "w")
    add = helper.make_node("Add", ["x", "w"], ["y"], name="sum")
    # IR 3 lists initializers as inputs; later versions mean a default.
    yield "ir3-initializer", model([add], [x, tensors("w")], [y], [w], ir=3, opset=8)
    yield "default-value", model([add], [x, tensors("w")], [y], [w], ir=8)
    # A default of another size, and of another type, than its input.
    longer = helper.make_tensor_value_info("w", TensorProto.FLOAT, [3])
    yield "default-size", model([add], [x, longer], [y], [w])
    integers = helper.make_tensor_value_info("w", TensorProto.INT32, [2])
    yield "default-type", model([add], [x, integers], [y], [w])
    newline = helper.make_node("Frobnicate", ["x"], ["y"], name="two\nlines\x1b")
    yield "newline-name", model([newline], [x], [y])
    wrong = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3], raw_data=b"12345678")
    yield "initializer-size", model([add], [x], [y], [wrong])
    negative = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[-2])
    yield "initializer-dims", model([add], [x], [y], [negative])
    huge = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**40, 2**40])
    yield "initializer-overflow", model([add], [x], [y], [huge])
    external = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], data_location=1)
    external.external_data.add(key="location", value="weights.bin")
    external.external_data.add(key="offset", value="4")
    external.external_data.add(key="length", value="8")
    yield "external", model([add], [x], [y], [external])
    outside = TensorProto()
    outside.CopyFrom(external)
    outside.external_data[0].value = "../make_models.py"
    yield "external-outside", model([add], [x], [y], [outside])
    itself = TensorProto()
    itself.CopyFrom(external)
    itself.external_data[0].value = "external-itself.onnx"
    yield "external-itself", model([add], [x], [y], [itself])
    typeless = helper.make_tensor_value_info("x", TensorProto.FLOAT, None)
    negation = helper.make_node("Neg", ["x"], ["y"])
    yield "unknown-rank", model([negation], [typeless], [y])
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, [2])
    yield "sequence-input", model([negation], [sequence], [y])
    bad = helper.make_tensor_value_info("x", TensorProto.FLOAT, [-2])
    yield "negative-dim", model([negation], [bad], [y])
    open_ = helper.make_tensor_value_info("x", TensorProto.FLOAT, [-1, "?", "?"])
    open_y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["?", "?", "?"])
    yield "open-dims", model([negation], [open_], [open_y])
    big = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2**40, 2**40])
    yield "overflowing-dim", model([negation], [big], [y])
    yield "duplicate-input", model([negation], [x, x], [y])
    large = numpy_helper.from_array(np.arange(1024, dtype=np.float32), "w")
    wide = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1024])
    wide_y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1024])
    yield "resource", model([add], [wide], [wide_y], [large])


def main():
    FOLDER.mkdir(exist_ok=True)
    MODELS["function-bomb"] = function_bomb()
    for name, source in {**TEXTS, **MODELS}.items():
        onnx.save(parser.parse_model(source), FOLDER / f"{name}.onnx")
    for name, value in built():
        (FOLDER / f"{name}.onnx").write_bytes(value.SerializeToString())
    (FOLDER / "weights.bin").write_bytes(np.array([9, 1, 2], np.float32).tobytes())
    whole = (FOLDER / "basic.onnx").read_bytes()
    (FOLDER / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (FOLDER / "noise.onnx").write_bytes(bytes(range(255, 155, -1)))
    (FOLDER / "empty.onnx").write_bytes(b"")


if __name__ == "__main__":
    main()
