# SPDX-License-Identifier: Apache-2.0
"""Networks of small integers, and layers that are their subgraphs."""

import mxnet as mx
import numpy as np

from .recorder import fused, normal, one, positive, random, raw, small


def quantized():
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


def fused_layers():
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


def fused_attention():
    data, weights = mx.sym.var("data0"), mx.sym.var("weights0")
    scores = mx.sym.contrib.interleaved_matmul_selfatt_qk(data, heads=2, name="qk")
    context = mx.sym.contrib.interleaved_matmul_selfatt_valatt(data, weights, heads=2, name="valatt")
    name, other = "_sg_mkldnn_selfatt_qk", "_sg_mkldnn_selfatt_valatt"
    fused(name, scores, normal(3, 2, 24), heads=2)
    fused(other, context, normal(3, 2, 24), normal(4, 3, 3), heads=2)
    ranges = [one(-1.5), one(1), one(0), one(1)]
    for options in {"enable_float_output": True}, {"min_calib_range": -2, "max_calib_range": 1.25}, {}:
        whole = [small(3, 2, 24), small(4, 3, 3, dtype="uint8"), *ranges]
        # Sums of scores have no range: MXNet forgets it.
        if options:
            fused(name, scores, whole[0], *ranges[:2], heads=2, quantized=True, **options)
        fused(other, context, *whole, heads=2, quantized=True, **options)
