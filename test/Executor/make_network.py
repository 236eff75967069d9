#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what MXNet 1.9.1 computes with small networks, forward and backward.

usage: make_network.py FOLDER     (needs mxnet 1.9.1, Python 3.8, numpy < 1.24)

Writes NAME-symbol.json and NAME.npz for each network: arguments and auxiliary
states by name, "head", "out", "grad:<argument>", the gradients that
backward(head) adds to ones, and "new:<state>", what the run leaves in a state.

Also parallel.npz, of the second network in a Module on two devices, three rows
of the batch on one and two on the other: gradients summed over the devices, and
states that the executors' get_params() reads out, after three runs.
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


def training():
    """Layers that do something else while training."""
    data, label = mx.sym.var("data"), mx.sym.var("label")
    x = mx.sym.Convolution(data, num_filter=4, kernel=(3, 3), no_bias=True, name="conv")
    x = mx.sym.BatchNorm(x, fix_gamma=False, momentum=0.8, name="bn")
    x = mx.sym.Activation(x, act_type="relu", name="relu")
    x = mx.sym.FullyConnected(x, num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(x, label, name="out")


def write(folder, name, symbol):
    random = np.random.RandomState(7)
    names, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    shapes, outputs, state_shapes = symbol.infer_shape(data=(2, 3, 6, 6))
    values = {n: random.randn(*s).astype("f4") for n, s in zip(names, shapes)}
    if "label" in values:
        values["label"] = np.array([2, 0], "f4")
    head = random.randn(*outputs[0]).astype("f4")
    for state, shape in zip(states, state_shapes):
        values[state] = np.abs(random.randn(*shape)).astype("f4")
    executor = symbol.bind(
        mx.cpu(), {n: mx.nd.array(values[n]) for n in names},
        args_grad={n: mx.nd.ones(values[n].shape) for n in names}, grad_req="add",
        aux_states={n: mx.nd.array(values[n]) for n in states})
    out = executor.forward(is_train=True)[0].asnumpy()
    executor.backward([mx.nd.array(head)])
    for n in names:
        values["grad:" + n] = executor.grad_dict[n].asnumpy()
    for n in states:
        values["new:" + n] = executor.aux_dict[n].asnumpy()
    symbol.save(os.path.join(folder, name + "-symbol.json"))
    np.savez(os.path.join(folder, name + ".npz"), head=head, out=out, **values)


def write_parallel(folder):
    random = np.random.RandomState(11)
    symbol, shape = training(), (5, 3, 6, 6)
    module = mx.mod.Module(symbol, context=[mx.cpu(0), mx.cpu(1)], work_load_list=[3, 2],
                           data_names=["data"], label_names=["label"])
    module.bind([("data", shape)], [("label", shape[:1])], inputs_need_grad=True)
    shapes, _, state_shapes = symbol.infer_shape(data=shape)
    values = {n: random.randn(*s).astype("f4")
              for n, s in zip(symbol.list_arguments(), shapes)}
    values["label"] = np.array([2, 0, 1, 1, 0], "f4")
    states = symbol.list_auxiliary_states()
    for state, s in zip(states, state_shapes):
        values[state] = np.abs(random.randn(*s)).astype("f4")
    parameters = [n for n in values if n not in states + ["data", "label"]]
    module.init_params(arg_params={n: mx.nd.array(values[n]) for n in parameters},
                       aux_params={n: mx.nd.array(values[n]) for n in states})
    batch = mx.io.DataBatch([mx.nd.array(values["data"])], [mx.nd.array(values["label"])])
    for _ in range(3):
        module.forward_backward(batch)
    group = module._exec_group
    for name, terms in zip(group.param_names, group.grad_arrays):
        values["grad:" + name] = sum(term.asnumpy() for term in terms)
    values["grad:data"] = module.get_input_grads()[0].asnumpy()
    # Module.get_params() asks the devices only after update().
    means = {n: mx.nd.zeros(values[n].shape) for n in states}
    group.get_params({n: mx.nd.zeros(values[n].shape) for n in parameters}, means)
    for name, state in means.items():
        values["new:" + name] = state.asnumpy()
    np.savez(os.path.join(folder, "parallel.npz"), out=module.get_outputs()[0].asnumpy(),
             **values)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1], "network", network())
    write(sys.argv[1], "training", training())
    write_parallel(sys.argv[1])
