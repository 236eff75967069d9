#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes optimizers.jsonl: what MXNet 1.9.1's optimizers do to one weight.

usage: make_optimizers.py OUTPUT      (Python 3.8, mxnet==1.9.1, numpy<1.24)

One case a line: the optimizer and its numbers by DLC's names, the weight at
first, the gradients of a few updates, and the weight after each of them.
"""

import json
import os
import sys

os.environ["MXNET_MKLDNN_ENABLED"] = "0"

import mxnet as mx
import numpy as np

random = np.random.RandomState(5)
UPDATES = 4


def numbers(array):
    return [float("%.9g" % v) for v in np.asarray(array).reshape(-1)]


def begin():
    weight = random.uniform(-1, 1, (2, 3)).astype("float32")
    gradients = [random.uniform(-2, 2, (2, 3)).astype("float32") for _ in range(UPDATES)]
    return weight, gradients


def line(options, rate, weight, gradients, results):
    return {"options": options, "rate": rate, "weight": numbers(weight),
            "gradients": [numbers(g) for g in gradients],
            "results": [numbers(r) for r in results]}


def case(name, ours, theirs, rate=0.05, decay=0.0, rescale=1.0, clip=None):
    """`ours` are the numbers by DLC's names, `theirs` by MXNet's."""
    optimizer = mx.optimizer.create(name[1], learning_rate=rate, wd=decay, rescale_grad=rescale,
                                    clip_gradient=clip, **theirs)
    weight, gradients = begin()
    array = mx.nd.array(weight)
    state = optimizer.create_state(0, array)
    results = []
    for gradient in gradients:
        optimizer.update(0, array, mx.nd.array(gradient), state)
        results.append(array.asnumpy())
    options = dict(ours, name=name[0], weightDecay=decay, rescale=rescale)
    if clip is not None:
        options["clip"] = clip
    return line(options, rate, weight, gradients, results)


def adamw(decay, rescale=1.0, clip=-1.0):
    """The operator adamw_update, with Adam's correction as its learning rate."""
    rate, beta1, beta2 = 0.05, 0.9, 0.999
    weight, gradients = begin()
    w, m, v = mx.nd.array(weight), mx.nd.zeros((2, 3)), mx.nd.zeros((2, 3))
    results = []
    for t, gradient in enumerate(gradients, 1):
        corrected = (1 - beta2 ** t) ** 0.5 / (1 - beta1 ** t)
        mx.nd.contrib.adamw_update(w, mx.nd.array(gradient), m, v, mx.nd.array([rescale]), out=w,
                                   lr=corrected, eta=rate, beta1=beta1, beta2=beta2,
                                   epsilon=1e-8, wd=decay, clip_gradient=clip)
        results.append(w.asnumpy())
    options = {"name": "adamw", "weightDecay": decay, "rescale": rescale}
    if clip > 0:
        options["clip"] = clip
    return line(options, rate, weight, gradients, results)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rough = dict(decay=0.1, rescale=0.5, clip=0.4)
    cases = [adamw(0), adamw(0.1, 0.5, 0.4)]
    table = [
        (("sgd", "sgd"), {}, {}),
        (("sgd", "sgd"), {"momentum": 0.9}, {"momentum": 0.9}),
        (("nag", "nag"), {"momentum": 0.9}, {"momentum": 0.9}),
        (("nag", "nag"), {"momentum": 0}, {"momentum": 0.0}),
        (("adam", "adam"), {}, {}),
        (("adam", "adam"), {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3},
         {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}),
        (("rmsprop", "rmsprop"), {}, {}),
        (("rmsprop", "rmsprop"), {"isCentered": True, "gamma1": 0.95}, {"centered": True, "gamma1": 0.95}),
        (("adagrad", "adagrad"), {}, {}),
        (("adadelta", "adadelta"), {}, {}),
        (("ftrl", "ftrl"), {}, {}),
        (("ftrl", "ftrl"), {"l1": 0.1, "beta": 0.5}, {"lamda1": 0.1, "beta": 0.5}),
        (("lamb", "lamb"), {}, {}),
        (("lamb", "lamb"), {"lowerBound": 1.5, "upperBound": 2.5}, {"lower_bound": 1.5, "upper_bound": 2.5}),
        (("signum", "signum"), {}, {}),
        (("signum", "signum"), {"momentum": 0}, {"momentum": 0.0}),
        (("signum", "signum"), {"decoupledDecay": 0.2}, {"wd_lh": 0.2}),
    ]
    for name, ours, theirs in table:
        cases.append(case(name, ours, theirs))
        cases.append(case(name, ours, theirs, **rough))
    with open(sys.argv[1], "w") as file:
        for each in cases:
            file.write(json.dumps(each) + "\n")


main()
