#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what MXNet 1.9.1 computes with a small network, forward and backward.

usage: make_network.py FOLDER     (needs mxnet 1.9.1, Python 3.8, numpy < 1.24)

Writes network-symbol.json and network.npz: arguments by name, "head", "out",
and "grad:<argument>", the gradients that backward(head) adds to ones.
"""
import os
import sys

os.environ["MXNET_MKLDNN_ENABLED"] = "0"
import mxnet as mx
import numpy as np


def network():
    data = mx.sym.var("data")
    x = mx.sym.Convolution(data, num_filter=4, kernel=(3, 3), pad=(1, 1), name="conv1")
    x = mx.sym.Activation(x, act_type="relu", name="relu1")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool1")
    y = mx.sym.Convolution(x, num_filter=4, kernel=(1, 1), no_bias=True, name="conv2")
    x = mx.sym.elemwise_add(x, mx.sym.tanh(y, name="tanh"), name="sum")
    x = mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool2")
    x = mx.sym.FullyConnected(x, num_hidden=3, name="fc")
    return mx.sym.log_softmax(x, name="out")


def main(folder):
    symbol, random = network(), np.random.RandomState(7)
    names = symbol.list_arguments()
    shapes, outputs, _ = symbol.infer_shape(data=(2, 3, 6, 6))
    values = {n: random.randn(*s).astype("f4") for n, s in zip(names, shapes)}
    head = random.randn(*outputs[0]).astype("f4")
    executor = symbol.bind(
        mx.cpu(), {n: mx.nd.array(v) for n, v in values.items()},
        args_grad={n: mx.nd.ones(v.shape) for n, v in values.items()}, grad_req="add")
    out = executor.forward(is_train=True)[0].asnumpy()
    executor.backward([mx.nd.array(head)])
    for name in names:
        values["grad:" + name] = executor.grad_dict[name].asnumpy()
    symbol.save(os.path.join(folder, "network-symbol.json"))
    np.savez(os.path.join(folder, "network.npz"), head=head, out=out, **values)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
