# SPDX-License-Identifier: Apache-2.0
"""Layers: convolutions, pools, normalisations, losses and recurrent ones."""

import mxnet as mx
import numpy as np

from .recorder import case, normal, op, raw, whole


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


def fused_norms():
    x, options = mx.sym.var("data"), {"fix_gamma": False, "eps": 0.25, "name": "bn"}
    case(mx.sym.contrib.BatchNormWithReLU(x, **options), data=normal(2, 3, 2, 2))
    case(mx.sym.contrib.BatchNormWithReLU(x, axis=1, name="bn"), data=normal(2, 3, 2, 2))


def shown_statistics():
    data = mx.sym.var("data")
    shown = dict(output_mean_var=True, name="n")
    case(mx.sym.BatchNorm(data, fix_gamma=False, **shown), data=normal(2, 3, 2))
    case(mx.sym.BatchNorm(data, axis=-1, **shown), data=normal(2, 2, 3))
    case(mx.sym.LayerNorm(data, **shown), data=normal(2, 3, 4))
    case(mx.sym.LayerNorm(data, axis=1, **shown), data=normal(2, 3, 4))
    case(mx.sym.GroupNorm(data, num_groups=2, **shown), data=normal(2, 4, 3, 2))
    case(mx.sym.BatchNorm_v1(data, **shown), data=normal(2, 3, 2, 2))


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
