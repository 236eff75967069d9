#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes operators.jsonl: what MXNet 1.9.1 computes for every operator.

usage: make_cases.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

One case a line: the symbol as MXNet saves it, its arguments and auxiliary
states by name as [type, shape, elements], and its outputs for inference.
"""

import json
import os
import subprocess
import sys

# The operators' own code, not that of a library with restrictions and faults;
# but recurrent layers, of which only the library's are right, and arithmetic on
# small integers, of which there is little else, in a process of their own.
USES_LIBRARY = len(sys.argv) > 2
os.environ["MXNET_MKLDNN_ENABLED"] = "1" if USES_LIBRARY else "0"
os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"

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
        arguments[name] = mx.nd.array(values.get(name, normal(*[abs(dim) for dim in shape])),
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


def raw(name, *arrays, **attributes):
    """The same through the file, for operators that Python hides."""
    count = len(arrays)
    nodes = [{"op": "null", "name": chr(ord("a") + i), "inputs": []} for i in range(count)]
    nodes.append({"op": name, "name": "op", "attrs": {key: str(value) for key, value in attributes.items()},
                  "inputs": [[i, 0, 0] for i in range(count)]})
    file = {"nodes": nodes, "arg_nodes": list(range(count)), "node_row_ptr": list(range(count + 2)),
            "heads": [[count, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
    is_numpy = name.startswith("_np")
    if is_numpy:
        file["attrs"]["is_np_shape"] = ["int", 1]
    with mx.util.np_shape(is_numpy):
        case(every_output(file), **{node["name"]: array for node, array in zip(nodes, arrays)})


def every_output(file):
    """The symbol of a file with all outputs of its last node that it shows."""
    symbol = mx.sym.load_json(json.dumps(file))
    count = sum(name.startswith("op_") for name in symbol.get_internals().list_outputs())
    last = file["heads"][0][0]
    return mx.sym.load_json(json.dumps(dict(file, heads=[[last, i, 0] for i in range(count)])))


def numpy_elementwise():
    a, b = normal(2, 3), normal(2, 3)
    b[0, 0] = a[0, 0]
    for name in ("absolute cbrt ceil cos cosh degrees exp expm1 fix floor negative radians reciprocal rint sign sin sinh "
                 "square tanh trunc arctan arcsinh logical_not").split():
        raw("_npi_" + name, a)
    for name in "log log10 log1p log2 sqrt".split():
        raw("_npi_" + name, positive(2, 2))
    for name in "arccos arcsin arctanh tan".split():
        raw("_npi_" + name, normal(2, 2) / 4)
    raw("_npi_arccosh", positive(2, 2) + 1)
    raw("_npi_rint", np.array([0.5, 1.5, -0.5, -2.5], "float32"))
    odd = np.array([np.nan, np.inf, -np.inf, 1.5], "float32")
    for name in "isnan isinf isfinite isposinf isneginf nan_to_num".split():
        raw("_npi_" + name, odd)
    raw("_npi_isfinite", whole(2, dtype="int32"))
    raw("_npi_nan_to_num", odd, nan=2.5, posinf=7, neginf=-8)
    raw("_npi_bitwise_not", whole(3, low=-3, dtype="int32"))
    raw("_npi_around", np.array([1.25, -2.5, 0.5, 12.345], "float32"))
    raw("_npi_around", np.array([1.26, -2.54, 12.345], "float32"), decimals=1)
    raw("_npx_relu", a)
    raw("_npx_sigmoid", a)
    for name in "add subtract multiply true_divide mod".split():
        raw("_npi_" + name, a, b[:, :1])
        raw("_npi_" + name, whole(2, 2, low=1, dtype="int32"), whole(2, 2, low=1, dtype="int32"))
        raw("_npi_" + name, whole(2, 2, low=1, dtype="int32"), normal(2, 2))
    raw("_npi_power", np.abs(a), b[:1])
    for name in "copysign arctan2 hypot".split():
        raw("_npi_" + name, a, b[:, :1])
    raw("_npi_arctan2", np.array([0, 0, 1, -1, 2], "float32"), np.array([1, -1, 0, 0, -2], "float32"))
    raw("_npi_ldexp", a, whole(2, 3, low=-2))
    for name in "and", "or", "xor":
        raw("_npi_bitwise_" + name, whole(2, 2, low=-3, dtype="int32"), whole(2, 1, dtype="int32"))
        raw("_npi_bitwise_%s_scalar" % name, whole(2, 2, low=-3, dtype="int32"), scalar=5)
    for name in "equal not_equal greater greater_equal less less_equal".split():
        raw("_npi_" + name, a, b)
        raw("_npi_%s_scalar" % name, a, scalar=float(a[0, 1]), is_int=False)
        raw("_npi_%s_scalar" % name, whole(2, 2, dtype="int32"), scalar=1.5, is_int=False)
    for name in ("add subtract rsubtract multiply true_divide rtrue_divide mod rmod copysign rcopysign arctan2 rarctan2 "
                 "ldexp rldexp").split():
        raw("_npi_%s_scalar" % name, a, scalar=1.5, is_int=False)
        if "arctan" not in name and "ldexp" not in name and "copysign" not in name:
            raw("_npi_%s_scalar" % name, whole(2, 2, low=1, dtype="int32"), scalar=2, is_int=True)
            raw("_npi_%s_scalar" % name, whole(2, 2, low=1, dtype="int32"), scalar=2.5, is_int=False)
    raw("_npi_power_scalar", np.abs(a), scalar=1.5, is_int=False)
    raw("_npi_rpower_scalar", a, scalar=2.5, is_int=False)
    raw("_npi_where", whole(2, 3, high=2), a, b[:, :1])
    raw("_npi_where_lscalar", whole(2, 3, high=2), a, scalar=1.5)
    raw("_npi_where_rscalar", whole(2, 3, high=2), a, scalar=1.5)
    raw("_npi_where_scalar2", whole(2, 3, high=2), x=1.5, y=-2)


def numpy_reductions():
    data = normal(2, 3, 2)
    for name in "_np_sum", "_np_prod", "_np_max", "_np_min", "_npi_mean", "_npi_std", "_npi_var":
        raw(name, data)
        raw(name, data, axis=(0, 2), keepdims=True)
        raw(name, data, axis=-1)
    raw("_np_sum", whole(2, 3, dtype="int32"), axis=0)
    raw("_np_sum", data, axis=1, dtype="float64")
    raw("_npi_mean", whole(2, 3, dtype="int32"), axis=0)
    raw("_npi_std", data, axis=1, ddof=1)
    for name in "_np_all", "_np_any":
        raw(name, whole(2, 3, high=2), axis=1)
        raw(name, whole(2, 3, high=2))
    for name in "_npi_argmax", "_npi_argmin":
        raw(name, data, axis=1)
        raw(name, data, axis=0, keepdims=True)
        raw(name, data)
    raw("moments", data, axes=(0, 2))
    raw("moments", data, axes=(1,), keepdims=True)


def numpy_shapes():
    data = normal(2, 3, 2)
    raw("_np_reshape", data, newshape=(3, -1))
    raw("_np_reshape", data, newshape=(12,))
    for shape in (-2, -1), (-5, 2), (-6, 1, 2, -4), (-2, -2, 1, 2), (4, 3):
        raw("_npx_reshape", data, newshape=shape)
    raw("_npx_reshape", normal(2, 1, 3), newshape=(-2, -3, -2))
    raw("_npx_reshape", data, newshape=(-1, -2), reverse=True)
    raw("_np_squeeze", normal(1, 3, 1))
    raw("_np_squeeze", normal(1, 3, 1), axis=0)
    raw("_np_transpose", data)
    raw("_np_transpose", data, axes=(1, 0, 2))
    raw("_np_moveaxis", data, source=(0,), destination=(2,))
    raw("_np_moveaxis", data, source=(0, 2), destination=(1, 0))
    raw("_np_roll", data, shift=(1,), axis=(1,))
    raw("_np_roll", normal(2, 3), shift=(-2,))
    raw("_npi_flip", data, axis=(0, 2))
    for k in 1, 2, 3:
        raw("_npi_rot90", normal(2, 3), k=k, axes=(0, 1))
    raw("_npi_rot90", data, k=1, axes=(0, 2))
    raw("_npi_diff", normal(2, 4), n=2)
    raw("_npi_diff", normal(3, 2), axis=0)
    raw("_npi_tril", normal(3, 3), k=-1)
    raw("_npi_tril", normal(3))
    raw("_npi_broadcast_to", normal(1, 3), shape=(2, 2, 3))
    a, b = normal(2, 2), normal(2, 2)
    raw("_npi_concatenate", a, b, num_args=2, axis=1)
    raw("_npi_concatenate", a, normal(3), num_args=2, axis="None")
    raw("_npi_stack", a, b, num_args=2, axis=1)
    raw("_npi_vstack", a, b, num_args=2)
    raw("_npi_vstack", normal(2), normal(2), num_args=2)
    raw("_npi_hstack", a, b, num_args=2)
    raw("_npi_dstack", a, b, num_args=2)
    raw("_npi_column_stack", normal(2), a, num_args=2)
    for name in "_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d":
        raw(name, normal(2), a, num_args=2)


def numpy_creation():
    for name in "_npi_zeros", "_npi_ones":
        raw(name, shape=(2, 2), dtype="float32")
    raw("_npi_full_like", normal(2, 2), fill_value=1.5)
    raw("_npi_eye", N=2, M=3, k=1, dtype="float32")
    raw("_eye", N=3, k=-1)
    raw("_npi_identity", shape=(2, 2), dtype="float32")
    raw("_npi_indices", dimensions=(2, 3), dtype="int32")
    raw("_npi_arange", start=1, stop=7, step=2, dtype="float32")
    raw("_npi_arange", start=3, dtype="int32")
    raw("_linspace", start=1, stop=2, num=5)
    raw("_linspace", start=1, stop=2, num=5, endpoint=False)
    raw("_npi_logspace", start=0, stop=2, num=3, base=2, dtype="float32")
    for name in "hanning", "hamming", "blackman":
        raw("_npi_" + name, M=5, dtype="float32")
    raw("_contrib_arange_like", normal(2, 3), start=1, step=2)
    raw("_contrib_arange_like", normal(2, 3), axis=1)
    raw("_contrib_arange_like", normal(2, 3), repeat=2)
    raw("_contrib_index_array", normal(2, 2))
    raw("_contrib_index_array", normal(2, 3), axes=(1,))


def numpy_products():
    raw("_np_dot", normal(2, 3), normal(3, 2))
    raw("_np_dot", normal(3), normal(3))
    raw("_np_dot", normal(2, 2, 3), normal(3))
    raw("_npi_matmul", normal(2, 2, 3), normal(3, 2))
    raw("_npi_matmul", normal(3), normal(3, 2))
    raw("_npi_tensordot", normal(2, 3, 2), normal(3, 2), a_axes_summed=(1, 0), b_axes_summed=(0, 1))
    raw("_npi_tensordot_int_axes", normal(2, 3), normal(3, 2), axes=1)
    raw("_npi_einsum", normal(2, 3), normal(3, 2), num_args=2, subscripts="ij,jk->ik")
    raw("_contrib_interleaved_matmul_selfatt_qk", normal(2, 2, 12), heads=2)
    raw("_contrib_interleaved_matmul_selfatt_valatt", normal(2, 2, 12), normal(4, 2, 2), heads=2)
    raw("_contrib_interleaved_matmul_encdec_qk", normal(2, 2, 4), normal(3, 2, 8), heads=2)
    raw("_contrib_interleaved_matmul_encdec_valatt", normal(3, 2, 8), normal(4, 2, 3), heads=2)
    raw("_contrib_div_sqrt_dim", normal(2, 5))


def distinct(*shape):
    values = np.arange(int(np.prod(shape)), dtype="float32")
    random.shuffle(values)
    return values.reshape(shape) - 2.5


def orders():
    data = distinct(2, 4)
    for kind in "indices", "value", "both", "mask":
        raw("topk", data, k=2, ret_typ=kind)
        raw("topk", data, k=1, ret_typ=kind, axis=0, is_ascend=True, dtype="int32")
    raw("topk", data, k=3, ret_typ="both", axis="None")
    raw("sort", data)
    raw("sort", data, axis=0, is_ascend=False)
    raw("sort", data, axis="None")
    raw("argsort", data)
    raw("argsort", data, axis=0, is_ascend=False, dtype="int32")
    steps, lengths = normal(3, 2, 2), np.array([1, 3], "float32")
    raw("SequenceLast", steps)
    raw("SequenceLast", steps, lengths, use_sequence_length=True)
    raw("SequenceLast", normal(2, 3, 2), lengths, use_sequence_length=True, axis=1)
    raw("SequenceReverse", steps)
    raw("SequenceReverse", steps, lengths, use_sequence_length=True)
    raw("batch_take", normal(3, 2), np.array([0, 1, 1], "int32"))
    raw("scatter_nd", normal(2), np.array([[0, 1], [2, 0]], "float32"), shape=(2, 3))
    raw("scatter_nd", normal(2, 3), np.array([[2, 0]], "int32"), shape=(4, 3))
    raw("_ravel_multi_index", np.array([[0, 1], [2, 0]], "float32"), shape=(2, 3))
    raw("_unravel_index", np.array([5, 2], "float32"), shape=(2, 3))


def matrices():
    for k in 0, 1, -1:
        raw("diag", normal(2, 3), k=k)
        raw("diag", normal(2), k=k)
        raw("_np_diag", normal(3, 3), k=k)
        raw("_np_diag", normal(2), k=k)
        raw("_linalg_extractdiag", normal(2, 3, 3), offset=k)
        raw("_linalg_makediag", normal(2, 2), offset=k)
    raw("diag", normal(2, 3, 2))
    raw("_np_diagonal", normal(2, 3, 2), offset=1, axis1=0, axis2=1)
    raw("_np_trace", normal(3, 3), offset=-1)
    raw("_np_diagflat", normal(2, 2), k=1)
    raw("_linalg_sumlogdiag", positive(2, 3, 3))
    raw("_linalg_syrk", normal(2, 3), alpha=0.5)
    raw("_linalg_syrk", normal(2, 3), transpose=True)
    raw("_linalg_trmm", normal(2, 2), normal(2, 3))
    raw("_linalg_trmm", normal(2, 2), normal(3, 2), rightside=True, lower=False, alpha=2)
    raw("_linalg_trmm", normal(2, 2), normal(2, 3), transpose=True)
    raw("_linalg_det", normal(2, 2, 2))
    raw("khatri_rao", normal(2, 3), normal(3, 3), num_args=2)


def spatial():
    data = normal(1, 2, 5, 6)
    for size in "()", "(3,)", "(2, 4)", "(7, 6)":
        raw("_contrib_AdaptiveAvgPooling2D", data, output_size=size)
    raw("_contrib_BilinearResize2D", data, height=3, width=9)
    raw("_contrib_BilinearResize2D", data, height=7, width=4, align_corners=False)
    raw("_contrib_BilinearResize2D", data, scale_height=2, scale_width=0.5)
    raw("_contrib_BilinearResize2D", data, normal(1, 1, 4, 4), mode="like")
    raw("_contrib_BilinearResize2D", data, mode="to_even_up")
    theta = np.array([[1, 0.25, 0.125, -0.25, 0.75, 0]], "float32")
    raw("GridGenerator", theta, transform_type="affine", target_shape=(3, 4))
    raw("GridGenerator", normal(1, 2, 3, 4), transform_type="warp")
    raw("BilinearSampler", data, np.clip(normal(1, 2, 3, 3), -1.5, 1.5) / 1.5)
    raw("SpatialTransformer", data, theta, target_shape=(4, 4), transform_type="affine", sampler_type="bilinear")
    raw("_contrib_ModulatedDeformableConvolution", normal(1, 2, 4, 4), normal(1, 8, 3, 3) / 4, positive(1, 4, 3, 3),
        normal(2, 2, 2, 2), kernel=(2, 2), num_filter=2, no_bias=True)
    rois = np.array([[0, 0, 0, 3, 3], [0, 1, 2, 5, 4]], "float32")
    raw("ROIPooling", data, rois, pooled_size=(2, 2), spatial_scale=1)
    raw("ROIPooling", data, rois, pooled_size=(2, 3), spatial_scale=0.5)
    raw("_contrib_ROIAlign", data, rois, pooled_size=(2, 2), spatial_scale=1, sample_ratio=2)
    raw("_contrib_ROIAlign", data, rois, pooled_size=(2, 2), spatial_scale=0.5, aligned=True)
    boxes = np.array([[0, 0, 2, 2], [1, 1, 3, 4], [5, 5, 6, 6]], "float32")
    raw("_contrib_box_iou", boxes, boxes[:2] + 0.5)
    raw("_contrib_box_iou", boxes[:, None], boxes, format="center")
    raw("_contrib_box_decode", normal(1, 3, 4) / 4, (boxes[None] + [[[0, 0, 1, 1]]]).astype("float32"), std0=0.1, std2=0.2)
    raw("_contrib_box_decode", normal(1, 3, 4), boxes[None], format="corner", clip=0.5)
    raw("_contrib_MultiBoxPrior", normal(1, 1, 2, 3), sizes=(0.5, 0.25), ratios=(1, 2, 0.5))
    raw("_contrib_MultiBoxPrior", normal(1, 1, 2, 2), sizes=(0.75,), clip=True, offsets=(0.25, 0.5), steps=(0.5, 0.25))


def recurrent():
    def layer(mode, layers=1, bidirectional=False, **attributes):
        gates = {"lstm": 4, "gru": 3}.get(mode, 1)
        size, channels, directions = 2, 3, 2 if bidirectional else 1
        count = sum(gates * size * directions * ((size * directions if i else channels) + size + 2)
                    for i in range(layers))
        state = normal(layers * directions, 2, size) / 2
        arrays = [normal(4, 2, channels) / 2, normal(count) / 2, state]
        arrays += [state[::-1].copy()] if mode == "lstm" else []
        raw("RNN", *arrays, state_size=size, num_layers=layers, mode=mode, bidirectional=bidirectional, **attributes)

    for mode in "rnn_relu", "rnn_tanh", "gru", "lstm":
        layer(mode)
        layer(mode, 2, True, state_outputs=True)


def contrib():
    raw("_contrib_quadratic", normal(2, 2), a=2, b=-1, c=0.5)
    raw("_contrib_gradientmultiplier", normal(2, 2), scalar=-0.5)
    raw("_contrib_round_ste", normal(2, 2))
    raw("_contrib_sign_ste", normal(2, 2))
    raw("_identity_with_attr_like_rhs", normal(2, 2), normal(2, 2))
    raw("amp_multicast", normal(2, dtype="float16"), normal(3), num_outputs=2)
    raw("amp_multicast", normal(2, dtype="float16"), normal(3), num_outputs=2, cast_narrow=True)
    raw("all_finite", normal(2, 2))
    raw("all_finite", np.array([1, np.inf], "float32"))
    raw("multi_all_finite", normal(2), normal(3), num_arrays=2)
    raw("multi_sum_sq", normal(2), normal(3), num_arrays=2)
    raw("Crop", normal(1, 2, 5, 6), num_args=1, h_w=(3, 2), offset=(1, 2))
    raw("Crop", normal(1, 2, 5, 6), normal(1, 1, 3, 4), num_args=2, center_crop=True)


def parts():
    """Splits, and what came later."""
    for part in range(2):
        split = mx.sym._internal._split_v2(mx.sym.var("a"), name="op", indices=(0, 2), axis=1)
        case(split[part], a=normal(2, 5))
    raw("_split_v2", normal(4, 3), indices=(), axis=0, sections=2)
    raw("_split_v2", normal(2, 3), indices=(0, 1), axis=-2, squeeze_axis=True)
    raw("_npi_hsplit", normal(2, 4), indices=(0, 1, 3))
    raw("_npi_hsplit", normal(4), indices=(), sections=2)
    raw("_npi_dsplit", normal(1, 2, 4), axis=2, indices=(0, 3))
    # MXNet 1.9.1 fails to infer its types; it gives its data.
    data, mean = normal(2, 3), positive(3)
    cases.append({"symbol": json.loads(mx.sym.IdentityAttachKLSparseReg(mx.sym.var("a"), name="op").tojson()),
                  "inputs": {"a": encode(data)}, "states": {"op_moving_avg": encode(mean)}, "outputs": [encode(data)]})
    raw("_np_cumsum", normal(2, 3))
    raw("_np_cumsum", normal(2, 3), axis=1)
    raw("_np_cumsum", whole(2, 3, dtype="int32"), axis=0, dtype="float32")
    raw("_contrib_index_copy", normal(4, 2), whole(2, low=0, high=1, dtype="int32") + np.array([3, 1], "int32"), normal(2, 2))


def neighbours():
    first, second = normal(1, 2, 4, 5), normal(1, 2, 4, 5)
    raw("Correlation", first, second)
    raw("Correlation", first, second, kernel_size=3, max_displacement=2, stride2=2, pad_size=2)
    raw("Correlation", first, second, max_displacement=3, stride1=2, stride2=2, pad_size=3, is_multiply=False)
    raw("_contrib_DeformableConvolution", normal(1, 2, 4, 4), normal(1, 8, 3, 3), normal(2, 2, 2, 2), kernel=(2, 2),
        num_filter=2, no_bias=True)
    raw("_contrib_DeformableConvolution", normal(1, 4, 4, 4), normal(1, 36, 2, 2) / 2, normal(2, 2, 3, 3), normal(2),
        kernel=(3, 3), num_filter=2, num_group=2, num_deformable_group=2, stride=(2, 2), pad=(1, 1), dilate=(1, 1))


def control_flow():
    data, state, weight = mx.sym.var("data"), mx.sym.var("state"), mx.sym.var("weight")

    def step(row, states):
        hidden = mx.sym.tanh(mx.sym.FullyConnected(row, weight=weight, num_hidden=3, no_bias=True, name="fc") + states[0])
        return hidden * 2, [hidden]

    out, states = mx.sym.contrib.foreach(step, data, [state])
    case(mx.sym.Group([out] + states), data=normal(4, 2, 3) / 2, state=normal(2, 3), weight=normal(3, 3) / 2)
    # The shape of the weight follows from the data through the body.
    case(out, data=normal(2, 2, 3) / 2, state=normal(2, 3))
    two, _ = mx.sym.contrib.foreach(lambda rows, s: ([rows[0] * rows[1], rows[0] - s], s + 1), [data, weight], state)
    case(mx.sym.Group(two), data=normal(3, 2), weight=normal(3, 2), state=normal(2))
    nested, _ = mx.sym.contrib.foreach(
        lambda row, s: (mx.sym.contrib.foreach(lambda x, t: (x * weight, t), row, [])[0], s), data, [])
    case(nested, data=normal(2, 3, 2), weight=normal(2))

    number, total = mx.sym.var("number"), mx.sym.var("total")
    for most in 4, 9:
        outs, finals = mx.sym.contrib.while_loop(lambda i, s: i < 4, lambda i, s: (
            [mx.sym.broadcast_mul(s, i)], [i + 1, s + mx.sym.broadcast_mul(weight, i)]),
                                                 [number, total], max_iterations=most)
        values = dict(number=np.zeros(1, "float32"), total=normal(2), weight=normal(2))
        # Rows behind the last step are undefined.
        case(mx.sym.Group((list(outs) if most == 4 else []) + list(finals)), **values)
    for sign in -1, 1:
        case(mx.sym.contrib.cond(mx.sym.sum(total) > 0, lambda: total * weight, lambda: total - weight),
             total=sign * positive(2, 3), weight=normal(2, 3))


def densities():
    def probability(*shape):
        return (whole(*shape, low=1, high=8) / 8).astype("float32")

    samples = {"uniform": normal(2, 3), "normal": normal(2, 3), "gamma": positive(2, 3), "exponential": positive(2, 3),
               "poisson": whole(2, 3, high=9), "negative_binomial": whole(2, 3, high=9),
               "generalized_negative_binomial": whole(2, 3, high=9)}
    parameters = {"uniform": [-positive(2), positive(2)], "normal": [normal(2), positive(2)],
                  "gamma": [positive(2), positive(2)], "exponential": [positive(2)], "poisson": [positive(2)],
                  "negative_binomial": [whole(2, low=1, high=6), probability(2)],
                  "generalized_negative_binomial": [positive(2), positive(2)]}
    for is_log in False, True:
        for name, own in parameters.items():
            op("random_pdf_" + name, samples[name], *own, is_log=is_log)
        rows = probability(2, 3, 4)
        op("random_pdf_dirichlet", rows / rows.sum(-1, keepdims=True), positive(2, 4), is_log=is_log)
    # Without dimensions of their own, and with two.
    op("random_pdf_gamma", positive(3), positive(3), positive(3))
    op("random_pdf_poisson", whole(2, 2, 3), positive(2, 2), is_log=True)
    op("random_pdf_gamma", np.array([[0.01, 30]], "float32"), np.array([25], "float32"), np.array([1], "float32"))
    op("random_pdf_dirichlet", np.array([0.25, 0.75], "float32"), positive(2))


def detections():
    def boxes(*shape):
        """Corners in the unit square, of which many overlap."""
        low = random.randint(0, 10, shape + (2,)) / 16
        return np.concatenate([low, low + random.randint(3, 8, shape + (2,)) / 16], -1)

    def rows(*shape, classes=3):
        """Classes, scores of which some are equal, and boxes."""
        ids = random.randint(-1, classes, shape + (1,))
        return np.concatenate([ids, random.randint(0, 12, shape + (1,)) / 8, boxes(*shape)], -1).astype("float32")

    data = rows(2, 9)
    nms = "_contrib_box_nms"
    raw(nms, data)
    raw(nms, data, id_index=0, overlap_thresh=0.25)
    raw(nms, data, id_index=0, force_suppress=True, background_id=1, valid_thresh=0.3)
    raw(nms, data, topk=4, overlap_thresh=0.1)
    raw(nms, data, topk=0, out_format="center")
    raw(nms, data, valid_thresh=5)
    raw(nms, data, overlap_thresh=0)
    raw(nms, data, overlap_thresh=0.3, out_format="center")
    raw(nms, np.round(data * 16 - 3), in_format="center", overlap_thresh=0.2, valid_thresh=0)
    raw(nms, np.round(data * 16 - 3), in_format="center", out_format="corner", overlap_thresh=0.2, id_index=0)
    raw(nms, data.reshape(1, 2, 3, 3, 6)[..., [2, 3, 4, 5, 1]], coord_start=0, score_index=4, overlap_thresh=0.2)
    raw(nms, data[0].astype("float64"), overlap_thresh=0.2)
    holes = data[0].copy()
    holes[[1, 4], 1] = np.nan
    holes[2, 1] = np.inf
    holes[5, 4:] = holes[5, 2:4] - 1
    raw(nms, holes, overlap_thresh=0.2)

    matching = "_contrib_bipartite_matching"
    scores = (random.randint(0, 8, (2, 4, 3)) / 8).astype("float32")
    raw(matching, scores, threshold=0.3)
    raw(matching, scores, threshold=0.6, is_ascend=True)
    raw(matching, scores[0], threshold=0, topk=1)
    raw(matching, scores[1].T.copy(), threshold=2)

    anchors = boxes(1, 8).astype("float32")
    logits = normal(2, 3, 8)
    logits[0, :, :4] = logits[0, :, :1]
    chances = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    moves = normal(2, 32) / 4
    detection = "_contrib_MultiBoxDetection"
    raw(detection, chances, moves, anchors)
    raw(detection, chances, moves, anchors, threshold=0.4, nms_threshold=0.3, force_suppress=True, clip=False)
    raw(detection, chances, moves, anchors, nms_topk=3, nms_threshold=0.2, variances=(0.2, 0.1, 0.3, 0.2))
    raw(detection, chances, moves, anchors, nms_topk=5, threshold=0.5, background_id=1)
    raw(detection, chances, moves, anchors, nms_threshold=2, threshold=0.4)
    raw(detection, chances, moves, anchors, threshold=1)
    raw(detection, chances, 0 * moves, anchors[:, [0, 0, 1, 1, 2, 2, 3, 3]], nms_threshold=1)
    raw(detection, np.where(chances > 0.6, np.nan, chances), moves, anchors)

    labels = np.concatenate([whole(2, 3, 1), boxes(2, 3)], -1).astype("float32")
    labels[0, 2:] = -1
    target = "_contrib_MultiBoxTarget"
    raw(target, anchors, labels, logits)
    raw(target, anchors, labels, logits, overlap_threshold=0.2, negative_mining_ratio=1.5, ignore_label=-2)
    raw(target, anchors, labels, logits, negative_mining_ratio=3, negative_mining_thresh=0.4, variances=(1, 1, 0.5, 2))
    raw(target, anchors, labels, logits, overlap_threshold=-1)
    raw(target, anchors, np.full((1, 2, 5), -1, "float32"), logits[:1])
    raw(target, anchors, np.concatenate([labels[:, :1], labels[:, :1], labels], 1), logits)

    samples = np.array([[1, -1, 0, 1], [0.25, 1, 0.75, -1]], "float32")
    raw("_contrib_box_encode", samples, whole(2, 4, high=3), boxes(2, 4).astype("float32"),
        boxes(2, 3).astype("float32"), normal(4) / 8, positive(4))

    maps = dict(scales="(2, 4)", ratios="(0.5, 1)", feature_stride=8, rpn_min_size=4)
    chances, moves = positive(2, 8, 2, 3) / 4, normal(2, 16, 2, 3) / 8
    info = np.array([[16, 24, 1], [9, 22, 1.5]], "float32")
    one = [chances[:1], moves[:1], info[:1]]
    for name, arrays in ("_contrib_Proposal", one), ("_contrib_MultiProposal", [chances, moves, info]):
        raw(name, *arrays, rpn_pre_nms_top_n=20, rpn_post_nms_top_n=6, output_score=True, **maps)
        raw(name, *arrays, rpn_pre_nms_top_n=0, rpn_post_nms_top_n=12, threshold=0.3, **maps)
    raw("_contrib_Proposal", *one, rpn_post_nms_top_n=9, iou_loss=True, output_score=True, **maps)
    raw("_contrib_Proposal", *one, rpn_post_nms_top_n=5, output_score=True, scales="(2,)", ratios="(0.5, 1, 2, 3)",
        feature_stride=8, rpn_min_size=20)

    # Of which differences tell the gradient.
    alone = rows(8)
    alone[:, 1] = distinct(8) + 3
    raw(nms, alone, overlap_thresh=0.21)


def parts_of_regions():
    rois = np.array([[0, 0, 0, 3, 3], [1, 1.5, 2, 5, 4], [0, 2, 1, 1, 0], [1, 7, 6, 9, 9]], "float32")
    raw("_contrib_PSROIPooling", normal(2, 4, 4, 6), rois, spatial_scale=1, output_dim=1, pooled_size=2)
    raw("_contrib_PSROIPooling", normal(2, 8, 3, 4), rois, spatial_scale=0.5, output_dim=2, pooled_size=3, group_size=2)
    raw("_contrib_ROIAlign", normal(2, 6, 3, 4), rois[:2], pooled_size=(2, 3), spatial_scale=0.5, sample_ratio=2,
        position_sensitive=True)
    raw("_contrib_ROIAlign", normal(2, 4, 5, 5), rois[:2], pooled_size=(2, 2), spatial_scale=1, position_sensitive=True,
        aligned=True)
    turned = np.array([[0, 3, 2.5, 4, 3, 0], [1, 2.5, 3, 5, 2.5, 30], [1, 4, 1, 3, 6, -75], [0, 0.25, 5, 0.5, 9, 190]],
                      "float32")
    raw("_contrib_RROIAlign", normal(2, 2, 4, 5), turned, pooled_size=(2, 2), spatial_scale=1, sampling_ratio=2)
    raw("_contrib_RROIAlign", normal(2, 1, 4, 4), turned, pooled_size=(3, 2), spatial_scale=0.75, sampling_ratio=1)


def states_in_bodies():
    data, state = mx.sym.var("data"), mx.sym.var("state")

    def norm(x, name):
        return mx.sym.BatchNorm(x, fix_gamma=False, name=name)

    out, states = mx.sym.contrib.foreach(lambda row, s: (norm(row, "bn") + s[0], [s[0] * 0.5]), data, [state])
    case(mx.sym.Group([out] + states), data=normal(3, 2, 2), state=normal(2, 2))
    for sign in -1, 1:
        numbers = {"%s_%s" % (branch, name): positive(3) for branch in ("then", "other")
                   for name in ("gamma", "beta", "moving_mean", "moving_var")}
        case(mx.sym.contrib.cond(mx.sym.sum(state) > 0, lambda: norm(data, "then"), lambda: norm(data, "other") * 2),
             data=normal(2, 3), state=sign * positive(2), **numbers)


def quantized():
    def one(value):
        return np.array([value], "float32")

    def small(*shape, dtype="int8"):
        low, high = (-128, 128) if dtype == "int8" else (0, 256)
        return random.randint(low, high, shape).astype(dtype)

    # Halves go to even integers; what is too large, to the end.
    data = (random.randint(-300, 300, (3, 8)) / 255).astype("float32")
    quantize = "_contrib_quantize_v2"
    for kind in "int8", "uint8", "auto":
        raw(quantize, data, out_type=kind)
        raw(quantize, data, out_type=kind, min_calib_range=-0.75, max_calib_range=1)
        raw(quantize, data, out_type=kind, min_calib_range=0, max_calib_range=0.5)
    for kind in "int8", "uint8":
        raw(quantize, small(5, dtype=kind), out_type=kind)
        raw(quantize, small(5, dtype=kind), out_type=kind, min_calib_range=-1, max_calib_range=2)
        raw("_contrib_quantize", data, one(-0.75), one(1), out_type=kind)
        raw("_contrib_dequantize", small(2, 6, dtype=kind), one(-0.75), one(0.5))
    sums = random.randint(-1 << 28, 1 << 28, (2, 6)).astype("int32")
    for kind in "int8", "uint8":
        raw("_contrib_requantize", sums, one(-3), one(2), out_type=kind)
        raw("_contrib_requantize", sums, one(-3), one(2), out_type=kind, min_calib_range=-0.125, max_calib_range=0.25)
    raw("_contrib_requantize", sums, one(-3), one(2), out_type="auto", min_calib_range=0, max_calib_range=0.25)

    ranges = [one(-1), one(0.75), one(-2), one(1.5)]
    biased = ranges + [one(-0.5), one(0.25)]
    for kind in "int8", "uint8":
        full = "_contrib_quantized_fully_connected"
        raw(full, small(3, 4, dtype=kind), small(2, 4), small(2), *biased, num_hidden=2)
        raw(full, small(2, 2, 3, dtype=kind), small(2, 6), *ranges, num_hidden=2, no_bias=True)
    convolution = "_contrib_quantized_conv"
    image = small(2, 2, 4, 5, dtype="uint8")
    raw(convolution, image, small(3, 2, 3, 3), small(3), *biased, kernel=(3, 3), num_filter=3)
    raw(convolution, image, small(4, 2, 2, 3), *ranges, kernel=(2, 3), num_filter=4, no_bias=True, stride=(2, 1),
        pad=(1, 0))

    for kind in "int8", "uint8":
        image = small(1, 2, 5, 5, dtype=kind)
        for pool in "max", "avg":
            raw("_contrib_quantized_pooling", image, *ranges[:2], kernel=(2, 3), stride=(2, 2), pool_type=pool)
            raw("_contrib_quantized_pooling", image, *ranges[:2], kernel=(3, 3), stride=(2, 2), pad=(1, 1),
                pool_type=pool, count_include_pad=False)
            raw("_contrib_quantized_pooling", image, *ranges[:2], kernel=(2, 2), stride=(2, 2), pool_type=pool,
                pooling_convention="full")
            raw("_contrib_quantized_pooling", image, *ranges[:2], kernel=(1, 1), global_pool=True, pool_type=pool)
        raw("_contrib_quantized_act", small(2, 5, dtype=kind), *ranges[:2], act_type="relu")
        raw("_contrib_quantized_flatten", small(2, 2, 3, dtype=kind), *ranges[:2])
        raw("_contrib_quantized_batch_norm", small(2, 3, 2, 2, dtype=kind), positive(3), normal(3), normal(3),
            positive(3), *ranges[:2], min_calib_range=-4, max_calib_range=3, eps=0.25)
    raw("_contrib_quantized_embedding", np.array([[1, 0], [3, 1]], "float32"), small(3, 2), *ranges[:2], input_dim=3,
        output_dim=2)

    a, b, c, d = small(2, 6), small(2, 6), small(2, 6, dtype="uint8"), small(2, 6, dtype="uint8")
    for first, second in (a, b), (a, c), (c, b), (c, d):
        raw("_contrib_quantized_concat", first, second, *ranges, num_args=2)
        raw("_contrib_quantized_elemwise_add", first, second, *ranges, min_calib_range=-1.5, max_calib_range=2.5)
    raw("_contrib_quantized_concat", a, b, c, *ranges, one(0), one(2), num_args=3, dim=0)
    raw("_contrib_quantized_elemwise_add", a, b, *ranges)
    raw("_contrib_quantized_elemwise_add", c, d, *ranges)
    raw("_contrib_quantized_elemwise_mul", a, b, *ranges)
    raw("_contrib_quantized_elemwise_mul", a, b, *ranges, min_calib_range=-1, max_calib_range=0.5)
    raw("_contrib_quantized_elemwise_mul", a, b, *ranges, enable_float_output=True)


def fused(name, body, *arrays, **attributes):
    """An operator that is its subgraph."""
    count = len(arrays)
    nodes = [{"op": "null", "name": chr(ord("a") + i), "inputs": []} for i in range(count)]
    inner = json.loads(body.tojson())
    nodes.append({"op": name, "name": "op", "attrs": {key: str(value) for key, value in attributes.items()},
                  "inputs": [[i, 0, 0] for i in range(count)],
                  "subgraphs": [{key: inner[key] for key in ("nodes", "arg_nodes", "node_row_ptr", "heads")}]})
    file = {"nodes": nodes, "arg_nodes": list(range(count)), "node_row_ptr": list(range(count + 2)),
            "heads": [[count, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}}
    case(every_output(file), **{node["name"]: array for node, array in zip(nodes, arrays)})


def fused_layers():
    def one(value):
        return np.array([value], "float32")

    def small(*shape, dtype="int8"):
        low, high = (-128, 128) if dtype == "int8" else (0, 256)
        return random.randint(low, high, shape).astype(dtype)

    data, other = mx.sym.var("data0"), mx.sym.var("other0")
    measured = {"min_calib_range": -3, "max_calib_range": 5}
    relu = {"act_type": "relu", "name": "relu"}

    def convolution(**attributes):
        return mx.sym.Convolution(data, kernel=(2, 2), num_filter=4, name="conv", **attributes)

    name = "_sg_mkldnn_conv"
    weight, bias, norm = normal(4, 2, 2, 2) / 4, normal(4) / 4, [positive(4), normal(4), normal(4), positive(4)]
    plain = convolution()
    normed = mx.sym.BatchNorm(convolution(no_bias=True), fix_gamma=False, name="bn")
    both = mx.sym.BatchNorm(plain, eps=0.25, name="bn")
    fused(name, mx.sym.Activation(normed, **relu), normal(1, 2, 3, 4), weight, *norm, with_bn=True, with_act=True)
    fused(name, mx.sym.Activation(plain + other, **relu), normal(1, 2, 3, 4), weight, bias, normal(1, 4, 2, 3),
          with_sum=True, with_postsum_act=True)
    for kind in "uint8", "int8":
        image = small(2, 2, 3, 4, dtype=kind)
        ranges = [one(0 if kind == "uint8" else -1.5), one(2)]
        # What is added has the type of the result, where that is measured.
        signed, unsigned = small(2, 4, 2, 3), small(2, 4, 2, 3, dtype="uint8")
        for options in measured, {}:
            fused(name, plain, image, weight, bias, *ranges, quantized=True, **options)
            fused(name, mx.sym.Activation(normed, **relu), image, weight, *norm, *ranges, quantized=True, with_bn=True,
                  with_act=True, **options)
            fused(name, both + other, image, weight, bias, *norm, signed, *ranges, one(-1), one(1), quantized=True,
                  with_bn=True, with_sum=True, **options)
            fused(name, mx.sym.Activation(plain + other, **relu), image, weight, bias, unsigned, *ranges, one(-1), one(1),
                  quantized=True, with_sum=True, with_postsum_act=True, **options)
        fused(name, mx.sym.clip(plain, a_min=0, a_max=5), image, weight, bias, *ranges, quantized=True, with_act=True,
              min_calib_range=0, max_calib_range=5)
    # MXNet takes the scale of group i for channel i: right for one channel each.
    depthwise = mx.sym.Convolution(data, kernel=(2, 2), num_filter=2, num_group=2, no_bias=True, name="conv")
    fused(name, depthwise, image, weight[:2, :1], *ranges, quantized=True, **measured)

    name = "_sg_mkldnn_fully_connected"
    weight, bias = normal(3, 4) / 4, normal(3) / 4
    plain = mx.sym.FullyConnected(data, num_hidden=3, name="fc")
    bare = mx.sym.FullyConnected(data, num_hidden=3, no_bias=True, flatten=False, name="fc")
    fused(name, mx.sym.Activation(plain, **relu), normal(2, 4), weight, bias, with_eltwise=True)
    for kind in "uint8", "int8":
        rows, ranges = small(2, 4, dtype=kind), [one(0 if kind == "uint8" else -1.5), one(2)]
        whole = [rows, small(3, 4), small(3), *ranges, one(-0.75), one(0.5), one(-0.25), one(1)]
        for options in measured, {"enable_float_output": True}, {}:
            fused(name, plain, *whole, quantized=True, **options)
            fused(name, mx.sym.Activation(plain, **relu), *whole, quantized=True, with_eltwise=True, **options)
            fused(name, bare, small(2, 2, 4, dtype=kind), *whole[1:2], *whole[3:7], quantized=True, **options)
            if options:
                fused(name, plain, rows, weight, bias, *ranges, quantized=True, channel_wise_quantize=True, **options)
                fused(name, mx.sym.Activation(plain, act_type="sigmoid", name="f"), *whole, quantized=True,
                      with_eltwise=True, **options)


def small_regions():
    """Of which differences tell the gradient."""
    rois = np.array([[0, 0, 1, 3, 2], [0, 1, 0, 2, 1]], "float32")
    raw("_contrib_PSROIPooling", normal(1, 4, 3, 4), rois, spatial_scale=1, output_dim=1, pooled_size=2)


def special_functions():
    numbers = np.array([0.25, 0.5, 1, 1.5, 2.5, 7, 20.25, 34, -0.25, -0.75, -1.5, -2.75, -7.125], "float32")
    op("gamma", numbers)
    op("gammaln", numbers)
    op("gammaln", np.array([1e-3, 100, 1e6, 3e30, np.inf, -100.5, -4, 0], "float32"))
    op("gamma", np.array([1e-3, 36, -4, 0], "float32"))
    op("erfinv", np.array([0, 1e-4, -0.25, 0.5, -0.75, 0.9375, -0.99609375, 0.9999847, 1, -1, 1.5], "float32"))
    raw("_npx_gamma", normal(2, 3))
    raw("_npx_gammaln", normal(2, 3))
    raw("_npx_erfinv", normal(2, 3) / 4)


def pixels():
    def image(*shape, dtype="uint8"):
        return random.randint(0, 256, shape).astype(dtype)

    raw("_image_to_tensor", image(3, 4, 3))
    raw("_image_to_tensor", image(2, 3, 2, 1, dtype="float32"))
    raw("_image_normalize", normal(3, 2, 4), mean=(0.5, 0.25, 1), std=(2, 0.5, 0.25))
    raw("_image_normalize", normal(2, 1, 3, 2), mean=(0.5,), std=(2,))
    raw("_image_crop", image(5, 6, 3), x=1, y=2, width=3, height=2)
    raw("_image_crop", normal(2, 4, 3, 1), x=0, y=1, width=3, height=3)
    # Of odd extents MXNet forgets the middle.
    for name in "_image_flip_left_right", "_image_flip_top_bottom":
        raw(name, image(2, 4, 3))
        raw(name, normal(4, 2, 1))
    # NumPy's names are of the same.
    raw("_npx__image_normalize", normal(3, 2, 2), mean=(0.5,), std=(2,))


def columns():
    raw("im2col", normal(2, 2, 4, 5), kernel=(2, 3))
    raw("im2col", normal(1, 2, 5, 4), kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 1))
    raw("col2im", normal(2, 12, 9), kernel=(2, 3), output_size=(4, 5))
    raw("col2im", normal(1, 12, 12), kernel=(3, 2), stride=(2, 1), dilate=(1, 2), pad=(1, 1), output_size=(5, 4))
    raw("col2im", normal(1, 4, 6), kernel=(2, 2), stride=(2, 2), output_size=(5, 6))


def sparse_arrays():
    data = normal(4, 3) * whole(4, 1, high=2)
    for kind in "row_sparse", "csr", "default":
        raw("cast_storage", data, stype=kind)
    rows = mx.sym.cast_storage(mx.sym.var("data"), stype="row_sparse")
    retained = mx.sym.sparse.retain(rows, mx.sym.var("indices"), name="op")
    case(retained, data=normal(4, 3), indices=np.array([3, 1], "float32"))
    for options in {"axis": 1}, {"axis": 1, "keepdims": True}, {"axis": 0}:
        case(mx.sym._internal._square_sum(rows, name="op", **options), data=normal(4, 3))
    weight = mx.sym.cast_storage(mx.sym.var("weight"), stype="row_sparse")
    case(mx.sym.contrib.SparseEmbedding(mx.sym.var("data"), weight, input_dim=4, output_dim=2, name="op"),
         data=whole(2, 3), weight=normal(4, 2))


def triangles():
    for name in "_linalg_extracttrian", "_linalg_maketrian":
        for options in {}, {"offset": 1}, {"offset": -1}, {"lower": False}:
            raw(name, normal(2, 3, 3) if "extract" in name else normal(2, 3 if "offset" in options else 6), **options)


def fused_norms():
    x, options = mx.sym.var("data"), {"fix_gamma": False, "eps": 0.25, "name": "bn"}
    case(mx.sym.contrib.BatchNormWithReLU(x, **options), data=normal(2, 3, 2, 2))
    case(mx.sym.contrib.BatchNormWithReLU(x, axis=1, name="bn"), data=normal(2, 3, 2, 2))


def fused_attention():
    def one(value):
        return np.array([value], "float32")

    def small(*shape, low=-128, high=128, dtype="int8"):
        return random.randint(low, high, shape).astype(dtype)

    data, weights = mx.sym.var("data0"), mx.sym.var("weights0")
    scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(data, heads=2, name="qk")
    context = mx.sym.contrib.interleaved_matmul_selfatt_valatt(data, weights, heads=2, name="valatt")
    name, other = "_sg_mkldnn_selfatt_qk", "_sg_mkldnn_selfatt_valatt"
    fused(name, scores, normal(3, 2, 24), heads=2)
    fused(other, context, normal(3, 2, 24), normal(4, 3, 3), heads=2)
    ranges = [one(-1.5), one(1), one(0), one(1)]
    for options in {"enable_float_output": True}, {"min_calib_range": -2, "max_calib_range": 1.25}, {}:
        whole = [small(3, 2, 24), small(4, 3, 3, low=0, high=256, dtype="uint8"), *ranges]
        # Sums of scores have no range: MXNet forgets it.
        if options:
            fused(name, scores, whole[0], *ranges[:2], heads=2, quantized=True, **options)
        fused(other, context, *whole, heads=2, quantized=True, **options)


def pads():
    data = normal(2, 3, 2)
    for mode, widths in (("constant", ((1, 0), (0, 2), (2, 1))), ("edge", ((1, 2), (0, 3), (1, 1))),
                         ("reflect", ((1, 0), (2, 2), (1, 0))), ("symmetric", ((2, 0), (3, 1), (0, 1)))):
        raw("_npi_pad", data, pad_width=widths, mode=mode)
    raw("_npi_pad", normal(2, 2), pad_width=((0, 1), (1, 1)), constant_value=2.5)


ALL = (activations, unary, binary, contractions, convolutions, pools, norms, losses, joins, shapes, movements, reductions,
       indexing, creation, corners, alignments, numpy_elementwise, numpy_reductions, numpy_shapes, numpy_creation,
       numpy_products, orders, matrices, spatial, contrib, parts, neighbours,
       control_flow, densities, detections, states_in_bodies, parts_of_regions, pads,
       small_regions, special_functions, pixels, columns, sparse_arrays, triangles)
for make in (recurrent, quantized, fused_layers, fused_attention, fused_norms) if USES_LIBRARY else ALL:
    make()
with open(sys.argv[1], "a" if USES_LIBRARY else "w") as file:
    for each in cases:
        file.write(json.dumps(each, separators=(",", ":")) + "\n")
print(len(cases), "cases")
if not USES_LIBRARY:
    subprocess.run([sys.executable, __file__, sys.argv[1], "library"], check=True)
