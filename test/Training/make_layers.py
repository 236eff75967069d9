#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes layers.jsonl: what MXNet 1.9.1 computes when training.

usage: make_layers.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

One case a line: the symbol as MXNet saves it, its arguments and auxiliary
states by name as [shape, elements], the gradient of its output, and what
forward(is_train=True) and backward() give: outputs, gradients of the arguments
that are not labels, and the states afterwards.
"""

import json
import os
import sys

# The operators' own code, not that of a library with restrictions and faults.
os.environ["MXNET_MKLDNN_ENABLED"] = "0"

import mxnet as mx
import numpy as np

random = np.random.RandomState(11)
cases = []


def normal(*shape):
    return (np.round(random.uniform(-3, 3, shape) * 8) / 8 + 1 / 32).astype("float32")


def whole(*shape, high=4):
    return random.randint(0, high, shape).astype("float32")


def encode(array):
    array = np.asarray(array)
    return [list(array.shape), [float("%.9g" % v) for v in array.reshape(-1)]]


def case(symbol, **values):
    shapes = {name: value.shape for name, value in values.items()}
    arg_shapes, out_shapes, aux_shapes = symbol.infer_shape(**shapes)
    arguments = {name: mx.nd.array(values.get(name, normal(*shape)))
                 for name, shape in zip(symbol.list_arguments(), arg_shapes)}
    states = {name: mx.nd.array(np.abs(normal(*shape)) + 0.25)
              for name, shape in zip(symbol.list_auxiliary_states(), aux_shapes)}
    inputs = {name: encode(value.asnumpy()) for name, value in arguments.items()}
    old = {name: encode(value.asnumpy()) for name, value in states.items()}
    wanted = [name for name in arguments if not name.endswith("label")]
    gradients = {name: mx.nd.zeros(arguments[name].shape) for name in wanted}
    executor = symbol.bind(mx.cpu(), args=arguments, args_grad=gradients, aux_states=states)
    output = executor.forward(is_train=True)[0].asnumpy()
    head = normal(*out_shapes[0])
    executor.backward([mx.nd.array(head)])
    cases.append({
        "symbol": json.loads(symbol.tojson()), "inputs": inputs, "states": old,
        "head": encode(head), "output": encode(output),
        "gradients": {name: encode(value.asnumpy()) for name, value in gradients.items()},
        "newStates": {name: encode(value.asnumpy()) for name, value in states.items()},
    })


def batch_norms():
    data = mx.sym.var("data")
    for options in ({}, {"fix_gamma": False}, {"fix_gamma": False, "momentum": 0.5, "eps": 0.1},
                    {"fix_gamma": False, "use_global_stats": True}, {"fix_gamma": False, "axis": 2}):
        case(mx.sym.BatchNorm(data, name="bn", **options), data=normal(3, 4, 2, 3))
    case(mx.sym.BatchNorm(data, name="bn", fix_gamma=False), data=normal(6, 3))


def softmax_outputs():
    data, label = mx.sym.var("data"), mx.sym.var("label")

    def one(shape, labels, **options):
        case(mx.sym.SoftmaxOutput(data, label, name="op", **options), data=normal(*shape), label=labels)

    rows = whole(4)
    one((4, 5), rows)
    for normalization in "null", "batch", "valid":
        one((4, 5), rows, normalization=normalization, grad_scale=0.5)
        one((4, 5), rows, normalization=normalization, use_ignore=True, ignore_label=rows[0])
        places = whole(2, 3, 2)
        one((2, 5, 3, 2), places, multi_output=True, normalization=normalization)
        one((2, 5, 3, 2), places, multi_output=True, normalization=normalization,
            use_ignore=True, ignore_label=places[0, 0, 0], grad_scale=2)
        one((2, 3, 5), whole(2, 3), preserve_shape=True, normalization=normalization)
    one((4, 5), rows, smooth_alpha=0.1)
    distribution = np.abs(normal(4, 5))
    one((4, 5), distribution / distribution.sum(1, keepdims=True), grad_scale=3)


def other_losses():
    data, label = mx.sym.var("data"), mx.sym.var("label")
    for name in "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput":
        function = getattr(mx.sym, name)
        case(function(data, label, name="op"), data=normal(4, 3), label=normal(4, 3))
        case(function(data, label, name="op", grad_scale=0.5), data=normal(4, 1), label=normal(4))
    for normalization in "null", "batch", "valid":
        case(mx.sym.MakeLoss(data, name="op", grad_scale=3, valid_thresh=0.5, normalization=normalization),
             data=normal(4, 3))
    for linear in False, True:
        case(mx.sym.SVMOutput(data, label, name="op", use_linear=linear, margin=0.75,
                              regularization_coefficient=0.5),
             data=normal(4, 5), label=whole(4))


def alignments():
    data, label = mx.sym.var("data"), mx.sym.var("label")
    case(mx.sym.CTCLoss(data, label, name="op"), data=normal(5, 2, 4),
         label=np.array([[1, 1, 2], [3, 0, 0]], "float32"))
    case(mx.sym.CTCLoss(data, label, name="op", blank_label="last"), data=normal(5, 2, 4),
         label=np.array([[0, 2, 1], [2, 2, -1]], "float32"))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    batch_norms()
    softmax_outputs()
    other_losses()
    alignments()
    with open(sys.argv[1], "w") as file:
        for each in cases:
            file.write(json.dumps(each) + "\n")


main()
