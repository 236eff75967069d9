#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes operators.jsonl: what MXNet 1.9.1 computes for every operator.

usage: make_cases.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

One case a line: the symbol as MXNet saves it, its arguments and auxiliary
states by name as [type, shape, elements], and its outputs for inference.
"""

import json
import os
import sys

# The operators' own code, not that of a library with restrictions and faults.
os.environ["MXNET_MKLDNN_ENABLED"] = "0"

import mxnet as mx
import numpy as np

random = np.random.RandomState(7)
cases = []


def normal(*shape, dtype="float32"):
    """Numbers with few digits, away from 0 and from halves."""
    values = random.uniform(-3, 3, shape)
    return (np.round(values * 8) / 8 + 1 / 32).astype(dtype)


def positive(*shape):
    return np.abs(normal(*shape)) + np.float32(0.25)


def whole(*shape, low=0, high=4, dtype="float32"):
    return random.randint(low, high, shape).astype(dtype)


def encode(array):
    array = np.asarray(array)
    values = array.reshape(-1).tolist()
    if array.dtype.kind == "f":
        values = [float("%.9g" % v) if np.isfinite(v) else str(v) for v in values]
    return [str(array.dtype), list(array.shape), values]


def case(symbol, **values):
    """Runs a symbol; variables that are not given get random values."""
    shapes = {name: value.shape for name, value in values.items()}
    arg_shapes, _, aux_shapes = symbol.infer_shape_partial(**shapes)
    arguments, states = {}, {}
    for name, shape in zip(symbol.list_arguments(), arg_shapes):
        arguments[name] = mx.nd.array(values.get(name, normal(*shape)),
                                      dtype=values[name].dtype if name in values else "float32")
    for name, shape in zip(symbol.list_auxiliary_states(), aux_shapes):
        value = positive(*shape) if name.endswith("var") else normal(*shape)
        states[name] = mx.nd.array(values.get(name, value))
    executor = symbol.bind(mx.cpu(), args=arguments, aux_states=states, grad_req="null")
    outputs = executor.forward(is_train=False)
    cases.append({
        "symbol": json.loads(symbol.tojson()),
        "inputs": {name: encode(value.asnumpy()) for name, value in arguments.items()},
        "states": {name: encode(value.asnumpy()) for name, value in states.items()},
        "outputs": [encode(value.asnumpy()) for value in outputs],
    })


def op(name, *arrays, **attributes):
    """Applies an operator to variables called a, b, ... with these values."""
    names = [chr(ord("a") + i) for i in range(len(arrays))]
    function = getattr(mx.sym, name, None) or getattr(mx.sym.contrib, name.replace("_contrib_", ""), None) \
        or getattr(mx.sym._internal, name)
    symbol = function(*[mx.sym.var(n) for n in names], name="op", **attributes)
    case(symbol, **dict(zip(names, arrays)))


def activations():
    for kind in "relu", "sigmoid", "softrelu", "softsign", "tanh":
        op("Activation", normal(2, 3), act_type=kind)
    for kind in "elu", "gelu", "leaky":
        op("LeakyReLU", normal(2, 3), act_type=kind)
    # What the mask holds is chance.
    case(mx.sym.LeakyReLU(mx.sym.var("a"), act_type="rrelu", name="op")[0], a=normal(2, 3))
    op("LeakyReLU", np.abs(normal(2, 3)), act_type="selu")
    op("LeakyReLU", normal(2, 3), act_type="leaky", slope=0.1)
    op("LeakyReLU", normal(2, 3, 2), act_type="prelu")
    op("LeakyReLU", normal(2, 3, 2), normal(1), act_type="prelu")


def unary():
    for name in ("abs cbrt ceil cos cosh degrees erf exp expm1 fix floor negative radians rcbrt reciprocal relu rint "
                 "round sigmoid sign sin sinh softsign square tanh trunc arctan arcsinh _copy BlockGrad "
                 "make_loss zeros_like ones_like hard_sigmoid smooth_l1").split():
        op(name, normal(2, 4))
    for name in "log log10 log1p log2 rsqrt sqrt".split():
        op(name, positive(2, 4))
    for name in "arccos arcsin arctanh tan".split():
        op(name, normal(2, 4) / 4)
    op("arccosh", positive(2, 4) + 1)
    op("expm1", np.array([1e-6, -1e-4, 0.5, 20], "float32"))
    op("log1p", np.array([1e-6, -1e-4, 0.5, 1e6], "float32"))
    op("round", np.array([0.5, 1.5, -0.5, -2.5, 0.49999997], "float32"))
    op("rint", np.array([0.5, 1.5, -0.5, -2.5], "float32"))
    op("logical_not", whole(2, 3, high=2))
    op("clip", normal(2, 4), a_min=-1, a_max=1.5)
    op("Cast", normal(2, 3), dtype="int32")
    op("Cast", whole(2, 3, dtype="int32"), dtype="float64")
    op("amp_cast", normal(2, 3), dtype="float16")


def binary():
    a, b = normal(2, 3), normal(2, 3)
    b[0, 0] = a[0, 0]
    for name in ("add sub mul div mod maximum minimum hypot equal not_equal greater greater_equal lesser "
                 "lesser_equal").split():
        op("broadcast_" + name, a, b[:, :1])
        op("_" + name if name not in ("add", "sub", "mul", "div") else "elemwise_" + name, a, b)
    op("broadcast_power", np.abs(a), b[:1])
    op("_power", np.abs(a), b)
    for name in "and", "or", "xor":
        op("broadcast_logical_" + name, whole(2, 3, high=2), whole(2, 1, high=2))
        op("_logical_" + name, whole(2, 3, high=2), whole(2, 3, high=2))
        op("_logical_%s_scalar" % name, whole(2, 3, high=2), scalar=1)
    for name in ("plus minus rminus mul div rdiv mod rmod maximum minimum hypot equal not_equal greater "
                 "greater_equal lesser lesser_equal").split():
        op("_%s_scalar" % name, a, scalar=float(a[0, 1]))
    op("_power_scalar", np.abs(a), scalar=1.5)
    op("_rpower_scalar", a, scalar=2.5)
    op("_mod", a, np.zeros((2, 3), "float32"))
    op("_plus_scalar", whole(2, 3, dtype="int32"), scalar=2)
    op("elemwise_mul", whole(2, 3, dtype="int32"), whole(2, 3, dtype="int32"))


def contractions():
    case(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc"), data=normal(2, 2, 2))
    case(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, no_bias=True, flatten=False, name="fc"),
         data=normal(2, 2, 3))
    op("dot", normal(2, 3), normal(3, 2))
    op("dot", normal(3, 2), normal(2, 3), transpose_a=True, transpose_b=True)
    op("dot", normal(3), normal(3))
    op("dot", normal(2, 2, 3), normal(3, 2))
    op("batch_dot", normal(2, 2, 3), normal(2, 3, 2))
    op("batch_dot", normal(2, 3, 2), normal(2, 4, 3), transpose_a=True, transpose_b=True)
    op("linalg_gemm", normal(2, 3), normal(3, 2), normal(2, 2), alpha=0.5, beta=2.0)
    op("linalg_gemm2", normal(2, 3), normal(2, 3), transpose_b=True, alpha=2.0)


def convolutions():
    data = mx.sym.var("data")
    convolution = mx.sym.Convolution
    case(convolution(data, kernel=(2, 2), num_filter=2, name="c"), data=normal(1, 2, 4, 4))
    case(convolution(data, kernel=(3, 2), stride=(2, 1), pad=(1, 0), dilate=(1, 2), num_filter=2, no_bias=True,
                     name="c"), data=normal(1, 2, 4, 4))
    case(convolution(data, kernel=(3,), num_filter=4, num_group=2, name="c"), data=normal(2, 2, 5))
    case(convolution(data, kernel=(2, 1, 2), num_filter=1, name="c"), data=normal(1, 1, 2, 2, 3))
    deconvolution = mx.sym.Deconvolution
    case(deconvolution(data, kernel=(3, 3), stride=(2, 2), pad=(1, 1), adj=(1, 1), num_filter=2, name="d"),
         data=normal(1, 2, 3, 3))
    case(deconvolution(data, kernel=(4, 4), stride=(2, 2), target_shape=(6, 6), num_filter=1, no_bias=False, name="d"),
         data=normal(1, 2, 3, 3))
    case(deconvolution(data, kernel=(3,), num_filter=4, num_group=2, name="d"), data=normal(1, 2, 4))


def pools():
    data = normal(1, 2, 5, 6)
    for kind in "max", "avg", "sum", "lp":
        extra = {"p_value": 2} if kind == "lp" else {}
        op("Pooling", data, kernel=(3, 2), stride=(2, 2), pad=(1, 0), pool_type=kind, **extra)
        op("Pooling", data, global_pool=True, kernel=(1, 1), pool_type=kind, **extra)
        op("Pooling", data, kernel=(2, 3), stride=(2, 2), pad=(1, 1), pooling_convention="full", pool_type=kind, **extra)
    op("Pooling", data, kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False)
    op("Pooling", data, kernel=(3, 3), stride=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False,
       pooling_convention="full")
    op("Pooling", normal(1, 2, 7), kernel=(3,), stride=(2,), pool_type="max")
    op("UpSampling", normal(1, 2, 2, 3), scale=2, sample_type="nearest")
    op("UpSampling", normal(1, 1, 2, 3), normal(1, 1, 4, 6), scale=4, sample_type="nearest", num_args=2)
    op("UpSampling", normal(1, 2, 2, 3), normal(1, 2, 4, 6), scale=2, sample_type="nearest", num_args=2,
       multi_input_mode="sum")
    case(mx.sym.UpSampling(mx.sym.var("data"), mx.sym.var("weight"), scale=3, sample_type="bilinear", num_filter=2,
                           num_args=1, name="u"), data=normal(1, 2, 2, 3), weight=normal(2, 1, 5, 5))


def norms():
    data = mx.sym.var("data")
    case(mx.sym.BatchNorm(data, name="bn"), data=normal(2, 3, 2))
    case(mx.sym.BatchNorm(data, fix_gamma=False, eps=1e-5, axis=-1, name="bn"), data=normal(2, 2, 3))
    case(mx.sym.contrib.SyncBatchNorm(data, fix_gamma=False, key="k", name="bn"), data=normal(2, 3, 2))
    case(mx.sym.LayerNorm(data, name="n"), data=normal(2, 3, 4))
    case(mx.sym.LayerNorm(data, axis=1, name="n"), data=normal(2, 3, 4))
    case(mx.sym.GroupNorm(data, num_groups=2, name="n"), data=normal(2, 4, 3))
    case(mx.sym.InstanceNorm(data, name="n"), data=normal(2, 3, 4))
    for mode in "instance", "channel", "spatial":
        op("L2Normalization", normal(2, 3, 4), mode=mode)
    op("LRN", normal(1, 5, 2, 2), nsize=3, alpha=0.1)
    op("Dropout", normal(2, 3), p=0.3)
    for name in "softmax", "softmin", "log_softmax":
        op(name, normal(2, 3))
        op(name, normal(2, 3), axis=0, temperature=2.0)
    op("softmax", normal(2, 3), whole(2, low=1, dtype="int32"), use_length=True, axis=1)
    op("SoftmaxActivation", normal(2, 3))
    op("SoftmaxActivation", normal(2, 3, 2), mode="channel")


def losses():
    data, label = mx.sym.var("data"), mx.sym.var("label")
    case(mx.sym.SoftmaxOutput(data, label, name="s"), data=normal(2, 3), label=whole(2))
    case(mx.sym.SoftmaxOutput(data, label, multi_output=True, name="s"), data=normal(2, 3, 2), label=whole(2, 2))
    case(mx.sym.SoftmaxOutput(data, label, preserve_shape=True, name="s"), data=normal(2, 2, 3), label=whole(2, 2))
    for name in "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput":
        case(getattr(mx.sym, name)(data, label, name="s"), data=normal(2, 3), label=normal(2, 3))
    case(mx.sym.SVMOutput(data, label, name="s"), data=normal(2, 3), label=whole(2))
    op("MakeLoss", normal(2, 3))
    op("softmax_cross_entropy", normal(2, 3), whole(2, high=3))


def joins():
    op("Concat", normal(2, 2), normal(2, 3))
    op("Concat", normal(1, 2), normal(2, 2), normal(1, 2), dim=0)
    op("_rnn_param_concat", normal(3), normal(2), dim=0)
    op("stack", normal(2, 3), normal(2, 3), axis=1)
    op("add_n", normal(2, 3), normal(2, 3), normal(2, 3))
    op("SliceChannel", normal(2, 4), num_outputs=2)
    op("SliceChannel", normal(2, 3), num_outputs=3, axis=1, squeeze_axis=True)
    op("SliceChannel", normal(2, 3), num_outputs=1)


def shapes():
    data = normal(2, 3, 4)
    for shape in (6, 4), (0, -1), (-1, 0), (-2,), (-3, 4), (0, -3), (-4, 1, 2, -2), (0, 0, -4, -1, 2), (4, 0, 2):
        op("Reshape", data, shape=shape)
    for shape in (-1, 0), (0, -3), (6, 4), (-1, 4):
        op("Reshape", data, shape=shape, reverse=True)
    op("Flatten", data)
    op("transpose", data)
    op("transpose", data, axes=(1, 0, 2))
    op("SwapAxis", data, dim1=0, dim2=2)
    op("expand_dims", data, axis=1)
    op("expand_dims", data, axis=-1)
    op("squeeze", normal(1, 3, 1))
    op("squeeze", normal(1, 3, 1), axis=2)
    op("squeeze", normal(1, 1))
    op("broadcast_to", normal(1, 3, 1), shape=(2, 0, 4))
    op("broadcast_axis", normal(1, 3, 1), axis=(0, 2), size=(2, 2))
    op("broadcast_like", normal(1, 3), normal(2, 3))
    op("broadcast_like", normal(1, 3), normal(4, 2), lhs_axes=(0,), rhs_axes=(-1,))
    op("reshape_like", normal(6), normal(2, 3))
    op("reshape_like", normal(6, 2), normal(4, 2, 3), lhs_begin=0, lhs_end=1, rhs_begin=1, rhs_end=3)
    op("shape_array", data)
    op("size_array", data)


def movements():
    data = normal(2, 3, 4)
    op("slice", data, begin=(0, 1), end=(1, 3))
    op("slice", data, begin=(None, None, 3), end=(None, None, 0), step=(1, 2, -1))
    op("slice", data, begin=(-1, None), end=(None, -1))
    op("slice_axis", data, axis=2, begin=1, end=None)
    op("slice_axis", data, axis=-1, begin=-3, end=-1)
    op("slice_like", data, normal(1, 2, 3))
    op("slice_like", data, normal(1, 2), axes=(0,))
    for mode in "constant", "edge", "reflect":
        op("Pad", normal(1, 1, 3, 3), mode=mode, pad_width=(0, 0, 0, 0, 1, 2, 2, 0), constant_value=1.5)
    op("tile", normal(2, 2), reps=(2,))
    op("tile", normal(2, 2), reps=(2, 1, 2))
    op("repeat", normal(2, 2), repeats=2)
    op("repeat", normal(2, 2), repeats=3, axis=1)
    op("reverse", data, axis=(0, 2))
    op("depth_to_space", normal(1, 4, 2, 2), block_size=2)
    op("space_to_depth", normal(1, 1, 4, 2), block_size=2)


def reductions():
    data = normal(2, 3, 2)
    for name in "sum", "mean", "prod", "max", "min":
        op(name, data)
        op(name, data, axis=(0, 2), keepdims=True)
        op(name, data, axis=1, exclude=True)
        op(name, data, axis=-1)
    hole = data.copy()
    hole[0, 0, 0] = np.nan
    op("nansum", hole, axis=0)
    op("nanprod", hole, axis=0)
    op("norm", data)
    op("norm", data, ord=1, axis=(1, 2))
    op("norm", data, axis=1, keepdims=True)
    for name in "argmax", "argmin":
        op(name, data, axis=1)
        op(name, data, axis=-1, keepdims=True)
        op(name, data)
    op("argmax", np.array([1, 3, 3], "float32"), axis=0)
    op("argmax_channel", normal(2, 3))


def indexing():
    case(mx.sym.Embedding(mx.sym.var("data"), input_dim=4, output_dim=2, name="e"),
         data=np.array([[0, 3], [9, 1.6]], "float32"))
    op("take", normal(3, 2), np.array([[0, 2], [5, -1]], "float32"))
    op("take", normal(3, 2), np.array([-1, 3, 2], "float32"), mode="wrap")
    op("take", normal(2, 3), np.array([2, 0], "int32"), axis=1)
    op("pick", normal(2, 3), np.array([2, 0], "float32"))
    op("pick", normal(2, 3), np.array([1, 0, 7], "float32"), axis=0, keepdims=True)
    op("pick", normal(2, 3), np.array([4, -1], "float32"), mode="wrap")
    op("gather_nd", normal(2, 3), np.array([[0, 1, 1], [2, 0, 1]], "float32"))
    op("gather_nd", normal(2, 3), np.array([[1, 0]], "int32"))
    op("one_hot", np.array([0, 2, 5, -1], "float32"), depth=3)
    op("one_hot", np.array([[1]], "int32"), depth=2, on_value=5, off_value=-1, dtype="int32")
    op("where", whole(2, 3, high=2), normal(2, 3), normal(2, 3))
    op("where", whole(2, high=2), normal(2, 3), normal(2, 3))
    op("SequenceMask", normal(3, 2, 2), np.array([1, 3], "float32"), use_sequence_length=True, value=-1)
    op("SequenceMask", normal(2, 3, 2), np.array([2, 0], "float32"), use_sequence_length=True, axis=1)
    op("SequenceMask", normal(2, 2))


def creation():
    op("_zeros", shape=(2, 3))
    op("_ones", shape=(2,), dtype="int32")
    op("_full", shape=(2, 2), value=1.5)
    op("_arange", start=1, stop=7, step=2)
    op("_arange", start=3, repeat=2, dtype="int32")


def corners():
    """Last, so that new cases leave the numbers of others as they are."""
    op("slice_like", normal(2, 3, 4), normal(1, 2, 3, 5), axes=(-1,))
    op("slice_like", normal(2, 2, 3), normal(1, 2), axes=(-3,))
    op("clip", whole(2, 3, low=-4, dtype="int32"), a_min=-1, a_max=float("inf"))
    op("clip", whole(2, 3, low=-4, dtype="int32"), a_min=float("-inf"), a_max=1)
    # Otherwise MXNet refuses to give another type than it sums up in.
    os.environ["MXNET_SAFE_ACCUMULATION"] = "1"
    op("norm", normal(2, 3, dtype="float16"), out_dtype="float32")
    op("norm", np.full((3,), 300, "float16"), axis=0, out_dtype="float32")
    op("norm", normal(2, 3), ord=1, axis=1, out_dtype="float64")
    del os.environ["MXNET_SAFE_ACCUMULATION"]


def alignments():
    """Labels that end early, that repeat, that do not fit."""
    data = normal(4, 2, 3)
    op("CTCLoss", data, np.array([[1, 2], [1, 1]], "float32"))
    op("CTCLoss", data, np.array([[1, 0, 2], [0, 0, 0]], "float32"))
    op("CTCLoss", data, np.array([[0, 1], [1, -1]], "float32"), blank_label="last")
    op("CTCLoss", data, np.array([[1, 2], [1, 2]], "float32"), np.array([4, 3], "float32"),
       use_data_lengths=True)
    case(mx.sym.CTCLoss(data=mx.sym.var("a"), label=mx.sym.var("b"), label_lengths=mx.sym.var("c"),
                        use_label_lengths=True, name="op"),
         a=data, b=np.array([[1, 2], [1, 2]], "float32"), c=np.array([2, 1], "float32"))
    op("CTCLoss", data, np.array([[1, 1, 1], [1, 2, 0]], "float32"))


for make in (activations, unary, binary, contractions, convolutions, pools, norms, losses, joins, shapes, movements,
             reductions, indexing, creation, corners, alignments):
    make()
with open(sys.argv[1], "w") as file:
    for each in cases:
        file.write(json.dumps(each, separators=(",", ":")) + "\n")
print(len(cases), "cases")
